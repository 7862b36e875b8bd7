package rows

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

// allocsMeter counts what a handler allocates for one modern call, without net/http around it.
type allocsMeter struct{ handler http.Handler }

func openAllocs(_ context.Context, _ *Lab, p Peer) (meter, error) {
	handler, err := p.handler(false)
	return allocsMeter{handler}, err
}

func (m allocsMeter) close() error { return nil }

func (m allocsMeter) measure(ctx context.Context) (float64, error) { return Allocs(ctx, m.handler) }

// Allocs returns the allocations that handler makes for one modern tools/call, the request and the response writer left
// out. It fails when the call does.
func Allocs(ctx context.Context, handler http.Handler) (float64, error) {
	body := wire.Message(wire.Call, true, 0)
	reader := strings.NewReader(body)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/mcp", io.NopCloser(reader))
	if err != nil {
		return 0, err
	}
	request.ContentLength = int64(len(body))
	for _, h := range wire.Headers(wire.Call, true, "") {
		request.Header.Set(h[0], h[1])
	}
	original := request.Body
	w := &memoryWriter{header: http.Header{}}
	call := func() {
		reader.Reset(body)
		request.Body = original
		w.reset()
		handler.ServeHTTP(w, request)
	}
	call()
	if err := wire.Line(wire.Call, true, 0).Check(w.body); err != nil {
		return 0, fmt.Errorf("status %d: %w", w.status, err)
	}
	return testing.AllocsPerRun(200, call), nil
}

// memoryWriter is a response writer that keeps its memory from call to call.
type memoryWriter struct {
	header http.Header
	status int
	body   []byte
}

func (w *memoryWriter) reset() {
	clear(w.header)
	w.status, w.body = 0, w.body[:0]
}

func (w *memoryWriter) Header() http.Header { return w.header }

func (w *memoryWriter) WriteHeader(status int) { w.status = status }

func (w *memoryWriter) Write(b []byte) (int, error) {
	w.body = append(w.body, b...)
	return len(b), nil
}

// Flush makes the writer one that can stream, as that of net/http is.
func (w *memoryWriter) Flush() {}
