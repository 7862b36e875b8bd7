package manager_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// counted counts the bytes that reach a server.
type counted struct {
	net.Listener
	bytes atomic.Int64
}

func (c *counted) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countedConn{conn, &c.bytes}, nil
}

type countedConn struct {
	net.Conn
	bytes *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.bytes.Add(int64(n))
	return n, err
}

// TestRealHungServer is TestHungServerBreaks over real sockets: while the breaker is open not a byte reaches the server.
func TestRealHungServer(t *testing.T) {
	for era, versions := range map[string][]string{"modern": mcp.ModernVersions(), "legacy": mcp.LegacyVersions()} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			hungServer(t, versions)
		})
	}
}

func hungServer(t *testing.T, versions []string) {
	var hang atomic.Bool
	var running, most, calls atomic.Int32
	s := server.New(mcp.Implementation{Name: "hangs", Version: "1"}, server.Options{Versions: versions})
	server.AddTool(s, mcp.Tool{Name: "work"}, func(ctx context.Context, _ *server.Request, in struct {
		Long bool `json:",omitempty"`
	}) (string, error) {
		if in.Long {
			<-ctx.Done()
			return "", ctx.Err()
		}
		calls.Add(1)
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		if hang.Load() {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return "done", nil
	})
	ts := httptest.NewUnstartedServer(s.Handler())
	count := &counted{Listener: ts.Listener}
	ts.Listener = count
	ts.Start()
	defer ts.Close()
	m, err := manager.Open([]manager.Server{{Name: "web", Transport: manager.HTTP, URL: ts.URL}}, manager.Options{
		Breaker: manager.BreakerPolicy{Consecutive: 3, First: 2 * time.Second},
		Client:  client.Options{HTTPClient: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Settled(t.Context())
	work := name("web", "work")
	if result, err := m.Call(t.Context(), work, nil); err != nil || result.Text() != "done" {
		t.Fatalf("at first: %v, %v", result, err)
	}
	hang.Store(true)
	hung := make(chan error, 1)
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	go func() {
		_, err := m.Call(ctx, work, map[string]any{"Long": true})
		hung <- err
	}()
	short := manager.CallOptions{CallOptions: client.CallOptions{Timeout: 300 * time.Millisecond}}
	for range 3 {
		if _, err := m.Call(t.Context(), work, nil, short); !errors.Is(err, mcp.CodeRequestTimeout) {
			t.Fatalf("a call of a server that hangs: %v", err)
		}
	}
	time.Sleep(300 * time.Millisecond) // what is said of the end of the last call arrives
	bytes, before := count.bytes.Load(), calls.Load()
	var callers sync.WaitGroup
	for range 50 {
		callers.Go(func() {
			var open *manager.OpenError
			for range 20 {
				if _, err := m.Call(t.Context(), work, nil, short); !errors.As(err, &open) {
					t.Errorf("with the breaker open: %v", err)
				}
			}
		})
	}
	callers.Wait()
	if m.Status()[0].Breaker.Wait <= 0 {
		t.Skip("this machine is so slow that the breaker's time was over during the test")
	}
	if now := count.bytes.Load(); now != bytes || calls.Load() != before {
		t.Errorf("%d bytes and %d calls reached the server while its breaker was open", now-bytes, calls.Load()-before)
	}
	select {
	case err := <-hung:
		t.Errorf("the call that hangs has ended: %v", err)
	default:
	}
	most.Store(0)
	end := time.Now().Add(3500 * time.Millisecond) // time for one or two probes
	for range 50 {
		callers.Go(func() {
			for time.Now().Before(end) {
				_, _ = m.Call(t.Context(), work, nil, short)
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	callers.Wait()
	if n := calls.Load() - before; n < 1 || n > 2 || most.Load() != 1 {
		t.Errorf("%d probes, %d at once", n, most.Load())
	}
	giveUp()
	if err := <-hung; !errors.Is(err, context.Canceled) {
		t.Errorf("the call that was given up: %v", err)
	}
}
