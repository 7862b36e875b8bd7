package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// fickle serves the tool flag over HTTP while it is up. Otherwise it answers nothing but 503.
func fickle(t *testing.T, modern bool) (url string, up *atomic.Bool, s *server.Server) {
	t.Helper()
	up = &atomic.Bool{}
	versions := mcp.LegacyVersions()
	if modern {
		versions = mcp.ModernVersions()
	}
	s = server.New(mcp.Implementation{Name: "fickle", Version: "1"}, server.Options{Versions: versions})
	server.AddTool(s, mcp.Tool{Name: "flag"}, func(context.Context, *server.Request, struct{}) (string, error) { return "up", nil })
	inner := s.Handler()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		check(t, s.Shutdown(ctx))
		ts.CloseClientConnections()
		ts.Close()
	})
	return ts.URL, up, s
}

// answers waits until a path answers so.
func answers(t *testing.T, url string, status int, text string) {
	t.Helper()
	var got string
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s, body := get(t, url)
		if got = fmt.Sprint(s, " ", strings.TrimSpace(body)); got == fmt.Sprint(status, " ", text) {
			return
		}
	}
	t.Fatalf("%s answers %s, want %d %s", url, got, status, text)
}

// TestReady holds that /readyz says whether the servers are there that the file requires, that others do not matter, and that a
// change of the file counts at once.
func TestReady(t *testing.T) {
	a, up, _ := fickle(t, true)
	b, _, _ := gated(t, "b")
	up.Store(true)
	f := follow(t, file(`"servers": {"a": {"required": true}}`, "a", a, "b", b, "gone", "http://127.0.0.1:1/"))
	ready := strings.TrimSuffix(f.url, "/mcp") + "/readyz"
	answers(t, ready, http.StatusOK, `{"status":"ready"}`)
	save(t, f.file, file(`"servers": {"b": {"required": true}, "gone": {"required": true}}`, "a", a, "b", b, "gone", "http://127.0.0.1:1/"))
	answers(t, ready, http.StatusServiceUnavailable, `{"status":"not ready","missing":["gone"]}`)
	f.err.wait(t, "settings required")
	f.end(t)
}

// TestReadyTellsStrangersLess holds that who may not call learns no names.
func TestReadyTellsStrangersLess(t *testing.T) {
	section := `"auth": {"tokens": [{"name": "ann", "token": "0123456789abcdef"}]`
	for public, want := range map[string]string{"": `{"status":"not ready"}`, `, "public": ["/readyz"]`: `{"status":"not ready","missing":["gone"]}`} {
		f := follow(t, file(section+public+`}`, "gone", "http://127.0.0.1:1/"))
		save(t, f.file, file(section+public+`}, "servers": {"gone": {"required": true}}`, "gone", "http://127.0.0.1:1/"))
		answers(t, strings.TrimSuffix(f.url, "/mcp")+"/readyz", http.StatusServiceUnavailable, want)
		f.end(t)
	}
}

// TestRequired holds that a gateway does not start without a server that the file requires, and does without others.
func TestRequired(t *testing.T) {
	conf := read(t, file(`"servers": {"gone": {"required": true}}`, "gone", "http://127.0.0.1:1/", "other", "http://127.0.0.1:2/"))
	err := Run(t.Context(), Options{Config: conf, Listen: "127.0.0.1:0", Stderr: &lines{}})
	if err == nil || !strings.Contains(err.Error(), `server "gone" cannot be reached`) || !strings.Contains(err.Error(), "the configuration requires it") {
		t.Errorf("got %v", err)
	}
	g := start(t, read(t, file("", "gone", "http://127.0.0.1:1/")))
	g.end(t)
}

// TestStopWhileRequiredServersAreAwaited holds that a stop before they have answered is a stop in order.
//
// Seen to fail: "server "slow" cannot be reached (), and the configuration requires it".
func TestStopWhileRequiredServersAreAwaited(t *testing.T) {
	asked := make(chan struct{}, 100)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not seen
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	defer slow.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	conf := read(t, file(`"servers": {"slow": {"required": true}}`, "slow", slow.URL))
	ended := make(chan error, 1)
	go func() { // waited for below
		ended <- Run(ctx, Options{Config: conf, Listen: "127.0.0.1:0", Stderr: &lines{}})
	}()
	<-asked
	stop()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

// TestOnDown holds that a server that is down is not listed, or lets lists fail, as the file says, and that clients hear when it
// comes.
func TestOnDown(t *testing.T) {
	eras(t, func(t *testing.T, mode client.Mode, modern bool) {
		for _, onDown := range []string{"hide", "fail"} {
			a, up, _ := fickle(t, modern)
			b, _, _ := gated(t, "b")
			g := follow(t, file(`"onDown": "`+onDown+`", "bundles": {"rest": {"servers": ["b"]}}`, "a", a, "b", b))
			g.err.wait(t, "a: failed")
			g.err.wait(t, "b: ready")
			l := listen(t, g.url, mode)
			_, err := l.ListTools(t.Context(), nil)
			if fails := err != nil; fails != (onDown == "fail") || fails && !strings.Contains(err.Error(), `the list would not be whole, since server "a" is down`) {
				t.Errorf("%s: %v", onDown, err)
			}
			if rest := listen(t, g.url+"/rest", mode); len(rest.tools(t)) != 2 {
				t.Errorf("%s: the bundle without it has %q", onDown, rest.tools(t))
			}
			up.Store(true)
			l.until(t, "flag", "b", "b_wait")
			g.end(t)
		}
	})
}
