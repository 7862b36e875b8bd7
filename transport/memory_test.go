package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/conntest"
)

func TestPairContract(t *testing.T) {
	conntest.Run(t, func(t *testing.T) (near, far transport.Conn) { return transport.Pair(0) })
}

func TestPairContractQueueOfOne(t *testing.T) {
	conntest.Run(t, func(t *testing.T) (near, far transport.Conn) { return transport.Pair(1) })
}

func TestPairFullQueue(t *testing.T) {
	ends := map[string]struct {
		end  func(near, far transport.Conn, cancel func())
		want error
	}{
		"own Close":   {func(near, _ transport.Conn, _ func()) { near.Close() }, transport.ErrClosed},
		"peer Close":  {func(_, far transport.Conn, _ func()) { far.Close() }, io.ErrClosedPipe},
		"context":     {func(_, _ transport.Conn, cancel func()) { cancel() }, context.Canceled},
		"peer's Read": {func(_, far transport.Conn, _ func()) { far.Read(context.Background()) }, nil},
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, far := transport.Pair(1)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if err := near.Write(ctx, []byte("1")); err != nil {
					t.Fatal(err)
				}
				result := make(chan error, 1)
				go func() { result <- near.Write(ctx, []byte("2")) }()
				synctest.Wait() // the second Write waits for room
				select {
				case err := <-result:
					t.Fatalf("Write did not wait: %v", err)
				default:
				}
				c.end(near, far, cancel)
				if err := <-result; !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		})
	}
}

func TestPairReadWaitsInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pair(0)
		go func() {
			time.Sleep(time.Hour)
			far.Write(context.Background(), []byte("late"))
		}()
		if frame, err := near.Read(t.Context()); err != nil || string(frame) != "late" {
			t.Errorf("got %q, %v", frame, err)
		}
	})
}

func ExamplePair() {
	ctx := context.Background()
	client, server := transport.Pair(0)
	client.Write(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	client.Close()
	frame, err := server.Read(ctx)
	fmt.Println(string(frame), err)
	_, err = server.Read(ctx)
	fmt.Println(err)
	// Output:
	// {"jsonrpc":"2.0","id":1,"method":"ping"} <nil>
	// EOF
}
