package streamhttp

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/engine"
)

// TestOtherServers: a listen stream stays open on HTTP/2, where no connection can be taken over, on TLS, where one can,
// and behind middleware that wraps the writer.
func TestOtherServers(t *testing.T) {
	wrapped := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(wrapper{w}, r) })
	}
	opaque := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(struct{ flusher }{w.(flusher)}, r) })
	}
	cases := []struct {
		name  string
		http2 bool
		wrap  func(http.Handler) http.Handler
	}{
		{"HTTP/2", true, nil}, {"TLS", false, nil}, {"wrapped", false, wrapped}, {"wrapped HTTP/2", true, wrapped}, {"without Unwrap", false, opaque},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			checkLeaks(t)
			w := newHandler(t, Options{})
			srv := w.overTLS(t, c.http2, c.wrap)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body, headers := modern("subscriptions/listen", "", `,"notifications":{"toolsListChanged":true}`)
			req, err := http.NewRequestWithContext(ctx, "POST", srv.URL, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			setHeaders(req, headers)
			resp, err := srv.Client().Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if (resp.ProtoMajor == 2) != c.http2 {
				t.Errorf("spoke %s", resp.Proto)
			}
			stream := readEvents(resp.Body)
			if got := stream.next(); !strings.Contains(got, "acknowledged") {
				t.Errorf("got %s", got)
			}
			w.engine.Announce(engine.ToolsChanged, "")
			if got := stream.next(); !strings.Contains(got, "list_changed") {
				t.Errorf("got %s", got)
			}
			cancel()
			eventually(t, "the listen ends", func() bool { return w.engine.Listens() == 0 && w.handler.Streams() == 0 })
		})
	}
}

type flusher interface {
	http.ResponseWriter
	http.Flusher
}

// wrapper is a writer as middleware makes them.
type wrapper struct{ w http.ResponseWriter }

func (m wrapper) Header() http.Header         { return m.w.Header() }
func (m wrapper) WriteHeader(code int)        { m.w.WriteHeader(code) }
func (m wrapper) Write(p []byte) (int, error) { return m.w.Write(p) }
func (m wrapper) Unwrap() http.ResponseWriter { return m.w }
