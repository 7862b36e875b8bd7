package manager_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestNeedsAuthorization has a server that lets nobody in, then somebody, then nobody again.
func TestNeedsAuthorization(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "guarded", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(context.Context, *server.Request, noInput) (string, error) { return "web", nil })
	h := s.Handler()
	var key atomic.Value
	key.Store("first")
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key.Load().(string) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer ts.Close()
	var token atomic.Value
	token.Store("none")
	m, err := manager.Open([]manager.Server{{Name: "web", Transport: manager.HTTP, URL: ts.URL}}, manager.Options{
		Configure: func(_ manager.Server, o *client.Options) {
			if o.Headers == nil {
				o.Headers = make(http.Header)
			}
			o.Headers.Set("Authorization", "Bearer "+token.Load().(string))
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	listed := make(chan struct{}, 10)
	m.OnEvent(func(e manager.Event) {
		if e.Lists != 0 {
			listed <- struct{}{}
		}
	})
	until := func(state manager.State) manager.ServerStatus {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			status := m.Status()[0]
			if status.State == state {
				return status
			}
			if time.Now().After(end) {
				t.Fatalf("%+v, want %s", status, state)
			}
		}
	}
	if s := until(manager.NeedsAuthorization); !strings.Contains(s.Reason, "authorization") || s.Retry == 0 {
		t.Errorf("%+v", s)
	}
	if _, err := m.Call(t.Context(), name("web", "echo"), nil); !errors.Is(err, manager.ErrNotRun) {
		t.Errorf("a call of a server that lets nobody in: %v", err)
	}
	token.Store("first")
	if err := m.Hurry("web"); err != nil {
		t.Fatal(err)
	}
	until(manager.Ready)
	mustSay(t, m, "web")
	<-listed                     // of all requests in the background the call is to be the one that finds out
	for s.Stats().Listens == 0 { // and this is the last of them
		runtime.Gosched()
	}
	key.Store("second")
	if _, err := m.Call(t.Context(), name("web", "echo"), nil); !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("with a key that no longer fits: %v", err)
	}
	until(manager.NeedsAuthorization)
	if b := m.Status()[0].Breaker; b.Failures != 0 {
		t.Errorf("the breaker has counted it: %+v", b)
	}
	if err := m.Hurry("nobody"); !errors.Is(err, manager.ErrUnknownServer) {
		t.Errorf("hurry for a server that is not there: %v", err)
	}
}
