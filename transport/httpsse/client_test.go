package httpsse_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/httpsse"
	"github.com/rialto-mcp/rialto/transport/internal/conntest"
)

// far is the other end of a Conn: an HTTP handler with one stream.
type far struct {
	in, out chan []byte
	done    chan struct{}
	once    sync.Once
}

func (f *far) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		frame, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case f.in <- frame:
			w.WriteHeader(http.StatusAccepted)
		case <-f.done:
			http.Error(w, "closed", http.StatusGone)
		}
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "event: endpoint\ndata: /post\n\n")
	for {
		w.(http.Flusher).Flush()
		select {
		case frame := <-f.out:
			fmt.Fprintf(w, "data: %s\n\n", frame)
		case <-f.done:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (f *far) Read(ctx context.Context) ([]byte, error) {
	select {
	case frame := <-f.in:
		return frame, nil
	case <-f.done:
		return nil, transport.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *far) Write(ctx context.Context, frame []byte) error {
	select {
	case f.out <- frame:
		return nil
	case <-f.done:
		return transport.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *far) Close() error {
	f.once.Do(func() { close(f.done) })
	return nil
}

func TestDialContract(t *testing.T) {
	conntest.Run(t, func(t *testing.T) (near, other transport.Conn) {
		f := &far{in: make(chan []byte, 1), out: make(chan []byte), done: make(chan struct{})}
		ts := httptest.NewServer(f)
		t.Cleanup(ts.Close)
		conn, err := httpsse.Dial(t.Context(), ts.URL, httpsse.DialOptions{OnError: func(err error) { t.Error(err) }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return conn, f
	})
}
