package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/demo"
	"github.com/rialto-mcp/rialto/server"
)

// TestFlow holds that the file bounds the calls of a server, and that another bound holds at once and touches no call under way.
func TestFlow(t *testing.T) {
	url, entered, release := gated(t, "one")
	g := follow(t, file(`"servers": {"a": {"maxInFlight": 1, "queue": {"max": 5, "wait": "50ms"}}}`, "a", url))
	g.err.wait(t, "a: ready")
	c, err := client.DialHTTP(t.Context(), g.url, client.Options{})
	check(t, err)
	defer func() { _ = c.Close() }() // the gateway may be gone by then
	first := make(chan error, 1)
	go func() { // ends with release
		_, err := c.CallTool(context.Background(), "one_wait", nil)
		first <- err
	}()
	<-entered
	if _, err := c.CallTool(t.Context(), "one", nil); err == nil || !strings.Contains(err.Error(), "its calls are limited to 1 at once, and this one has waited 50ms for its turn") {
		t.Errorf("a second call: %v", err)
	}
	save(t, g.file, file("", "a", url))
	g.err.wait(t, "settings maxInFlight, queue")
	if _, err := c.CallTool(t.Context(), "one", nil); err != nil {
		t.Errorf("without a bound: %v", err)
	}
	close(release)
	check(t, <-first)
	g.end(t)
}

// TestBreakerOfTheFile holds that the file says when calls are refused, and that another policy holds at once.
func TestBreakerOfTheFile(t *testing.T) {
	url, _, _ := gated(t, "one")
	g := follow(t, file(`"callTimeout": "100ms", "servers": {"a": {"breaker": {"failures": 1, "pause": "1h"}}}`, "a", url))
	g.err.wait(t, "a: ready")
	c, err := client.DialHTTP(t.Context(), g.url, client.Options{})
	check(t, err)
	defer func() { _ = c.Close() }() // the gateway may be gone by then
	if _, err := c.CallTool(t.Context(), "one_wait", nil); err == nil || !strings.Contains(err.Error(), "did not answer tools/call in time") {
		t.Errorf("the call without an answer: %v", err)
	}
	if _, err := c.CallTool(t.Context(), "one", nil); err == nil || !strings.Contains(err.Error(), "it has not answered lately; calls are not sent") {
		t.Errorf("the next one: %v", err)
	}
	save(t, g.file, file(`"servers": {"a": {"breaker": false}}`, "a", url)) // with all the time that a call may take
	g.err.wait(t, "settings breaker, callTimeout")
	if _, err := c.CallTool(t.Context(), "one", nil); err != nil {
		t.Errorf("without a breaker: %v", err)
	}
	g.end(t)
}

// TestHealthOfTheFile holds that a server that answers nothing any more is shown as degraded though nobody calls it, and as ready
// when it answers again.
func TestHealthOfTheFile(t *testing.T) {
	s := demo.Server("1", server.Options{})
	var hangs atomic.Bool
	inner := s.Handler()
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hangs.Load() && r.Header.Get("Mcp-Method") == "server/discover" {
			_, _ = io.Copy(io.Discard, r.Body) // only then the end of the request is noticed
			<-r.Context().Done()
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer ts.Close()
	defer func() { check(t, s.Shutdown(context.Background())) }()
	r := start(t, read(t, file(`"servers": {"a": {"health": {"every": "1s", "timeout": "100ms", "failures": 1}}}`, "a", ts.URL)))
	r.err.wait(t, "a: ready")
	until := func(want string) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			res, err := http.Get(strings.TrimSuffix(r.url, "/mcp") + healthPath)
			check(t, err)
			var health struct{ Servers []struct{ State string } }
			check(t, json.NewDecoder(res.Body).Decode(&health))
			check(t, res.Body.Close())
			if health.Servers[0].State == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("it does not become %s but is %s", want, health.Servers[0].State)
			}
		}
	}
	hangs.Store(true)
	until("degraded")
	r.err.wait(t, "a: degraded: it has left 1 health checks in a row without an answer; the last: no answer within 100ms")
	hangs.Store(false)
	until("ready")
	r.end(t)
}
