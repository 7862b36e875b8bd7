package upstream

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// oldServer serves one tool over HTTP+SSE to those who send the header of the tests. end cuts its streams.
func oldServer(t *testing.T) (url string, streams *atomic.Int32, end func()) {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "hello", Version: "1"}, server.Options{HTTP: server.HTTPOptions{NoHijack: true}})
	server.AddTool(s, mcp.Tool{Name: "hello"}, func(context.Context, *server.Request, struct{}) (string, error) { return "hi", nil })
	h := s.SSEHandler()
	streams = new(atomic.Int32)
	var cut atomic.Value
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Key") != "open sesame" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.Method == http.MethodGet {
			streams.Add(1)
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			cut.Store(cancel)
			r = r.WithContext(ctx)
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		ts.Close()
	})
	return ts.URL + "/sse", streams, func() { cut.Load().(context.CancelFunc)() }
}

// TestSSE connects a server of the transport of 2024, by its type and as what an address of type http turns out to be, and
// connects it again when its stream has ended.
func TestSSE(t *testing.T) {
	for _, kind := range []manager.Transport{manager.SSE, manager.HTTP} {
		t.Run(string(kind), func(t *testing.T) {
			url, streams, end := oldServer(t)
			set := connect(t, 10*time.Second, manager.Server{
				Name: "old", Transport: kind, URL: url, Headers: map[string]string{"X-Key": "open sesame"},
			})
			defer set.Close()
			if text, err := say(t, set, "old", "hello"); err != nil || text != "hi" {
				t.Fatalf("got %q, %v; %+v", text, err, set.Snapshots())
			}
			end()
			limit := time.Now().Add(10 * time.Second)
			for streams.Load() < 2 || set.Snapshots()[0].State != manager.Ready {
				if time.Now().After(limit) {
					t.Fatalf("it is not connected again: %+v", set.Snapshots())
				}
				time.Sleep(10 * time.Millisecond)
			}
			if text, err := say(t, set, "old", "hello"); err != nil || text != "hi" {
				t.Errorf("after the end of its stream: %q, %v", text, err)
			}
		})
	}
}

func TestSSEFailures(t *testing.T) {
	url, _, _ := oldServer(t)
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	sse := func(name, url string) manager.Server {
		return manager.Server{Name: name, Transport: manager.SSE, URL: url}
	}
	set := connect(t, 2*time.Second, sse("auth", url+"?key=hush-hush"), sse("missing", missing.URL+"/sse"), sse("refused", "http://127.0.0.1:1/sse"))
	for i, want := range []string{"HTTP status 401", "HTTP status 404", "connection refused"} {
		snap := set.Snapshots()[i]
		if snap.State == manager.Ready || !strings.Contains(snap.Reason, want) || strings.Contains(snap.Reason, "hush") {
			t.Errorf("%s: %s %q, want %q in it", snap.Name, snap.State, snap.Reason, want)
		}
	}
}
