package upstream

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// hello is a server with one tool, as an HTTP handler.
func hello(t *testing.T, versions []string) http.HandlerFunc {
	s := server.New(mcp.Implementation{Name: "hello", Version: "1"}, server.Options{Versions: versions})
	server.AddTool(s, mcp.Tool{Name: "hello"}, func(context.Context, *server.Request, struct{}) (string, error) { return "hi", nil })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s.Handler().ServeHTTP
}

func TestHTTP(t *testing.T) {
	for name, versions := range map[string][]string{"legacy": mcp.LegacyVersions(), "modern": mcp.ModernVersions()} {
		t.Run(name, func(t *testing.T) {
			var wrong atomic.Int32
			h := hello(t, versions)
			ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("X-Key") != "open sesame" {
					wrong.Add(1)
				}
				h.ServeHTTP(w, r)
			}))
			defer ts.Close()
			set := connect(t, 10*time.Second, manager.Server{
				Name: "web", Transport: manager.HTTP, URL: ts.URL, Headers: map[string]string{"X-Key": "open sesame"},
			})
			defer set.Close()
			if text, err := say(t, set, "web", "hello"); err != nil || text != "hi" {
				t.Errorf("got %q, %v; %+v", text, err, set.Snapshots())
			}
			if n := wrong.Load(); n > 0 {
				t.Errorf("%d requests without the configured header", n)
			}
		})
	}
}

func TestHTTPSessionForgotten(t *testing.T) {
	h := hello(t, mcp.LegacyVersions())
	var forgotten, current atomic.Value
	forgotten.Store("")
	current.Store("")
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("Mcp-Session-Id")
		if id != "" {
			current.Store(id)
		}
		if id != "" && id == forgotten.Load() {
			http.Error(w, "no such session", http.StatusNotFound)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer ts.Close()
	set := connect(t, 10*time.Second, manager.Server{Name: "web", Transport: manager.HTTP, URL: ts.URL})
	defer set.Close()
	time.Sleep(client.Restart{}.WithDefaults().First + 50*time.Millisecond) // a session that is forgotten at once is a failure, and waits its turn
	forgotten.Store(current.Load())
	if text, err := say(t, set, "web", "hello"); err != nil || text != "hi" {
		t.Errorf("got %q, %v; %+v", text, err, set.Snapshots())
	}
}

func TestHTTPFailures(t *testing.T) {
	hole, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := hole.Close(); err != nil {
			t.Error(err)
		}
	}()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/auth":
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
		case "/html":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>hello</html>"))
		default:
			http.Error(w, "oh no", http.StatusInternalServerError)
		}
	}))
	defer ts.Close()
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	web := func(name, url string) manager.Server {
		return manager.Server{Name: name, Transport: manager.HTTP, URL: url}
	}
	set := connect(t, time.Hour,
		web("auth", ts.URL+"/auth?key=hush-hush"), web("html", ts.URL+"/html"), web("error", ts.URL+"/error"),
		web("refused", closed.URL), web("unix", "unix:///tmp/x"))
	late := connect(t, 2*time.Second, web("hole", "http://"+hole.Addr().String()))
	snaps := append(late.Snapshots(), set.Snapshots()...)
	for i, want := range []string{
		"within 2s", "HTTP status 401", "", "500", "connection refused", "dial unix",
	} {
		snap := snaps[i]
		if snap.State == manager.Ready || snap.Reason == "" || !strings.Contains(snap.Reason, want) || strings.Contains(snap.Reason, "hush") {
			t.Errorf("%s: %s %q, want %q in it", snap.Name, snap.State, snap.Reason, want)
		}
		t.Logf("%s: %s", snap.Name, snap.Reason)
	}
}
