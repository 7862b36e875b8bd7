package manager_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/quick"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestLostCalls cuts the connection under a call that the server has begun.
func TestLostCalls(t *testing.T) {
	trusting := func(manager.Server) bool { return true }
	for _, tc := range []struct {
		name  string
		tool  string
		trust func(manager.Server) bool
		retry manager.Retry
		again bool
	}{
		{"a tool that says nothing", "echo", trusting, manager.RetrySafe, false},
		{"one that only reads", "read", trusting, manager.RetrySafe, true},
		{"one that may be repeated", "again", trusting, manager.RetrySafe, true},
		{"the same of a server that is not trusted", "read", nil, manager.RetrySafe, false},
		{"the caller allows it", "echo", nil, manager.RetryAlways, true},
		{"the caller forbids it", "read", trusting, manager.RetryNever, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, "a")
				m := w.open(manager.Options{TrustHints: tc.trust}, servers("a")...)
				h := w.host("a")
				h.hang.Store(true)
				go func() {
					time.Sleep(time.Second)
					h.hang.Store(false)
					w.kill("a")
				}()
				o := manager.CallOptions{Retry: tc.retry}
				result, err := m.Call(t.Context(), name("a", tc.tool), nil, o)
				var unknown *manager.UnknownOutcomeError
				switch {
				case tc.again && (err != nil || result.Text() != "a" || h.calls.Load() != 2):
					t.Errorf("%v, %v after %d calls", result, err, h.calls.Load())
				case !tc.again && (!errors.As(err, &unknown) || !errors.Is(err, mcp.CodeConnectionClosed) || h.calls.Load() != 1):
					t.Errorf("%v after %d calls", err, h.calls.Load())
				}
				if !tc.again {
					t.Log(err)
				}
			})
		})
	}
}

// TestCallsThatAreNotRepeated is about failures that come again, or that a repetition would only make longer.
func TestCallsThatAreNotRepeated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{TrustHints: func(manager.Server) bool { return true }}, servers("a")...)
		h := w.host("a")
		result, err := m.Call(t.Context(), name("a", "fail"), nil)
		if err != nil || !result.IsError || h.calls.Load() != 1 {
			t.Errorf("a tool that fails: %v, %v, %d calls", result, err, h.calls.Load())
		}
		if _, err := m.Call(t.Context(), name("a", "nosuch"), nil); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("a tool that is not there: %v", err)
		}
		h.hang.Store(true)
		h.calls.Store(0)
		var unknown *manager.UnknownOutcomeError
		o := manager.CallOptions{CallOptions: client.CallOptions{Timeout: time.Second}}
		if _, err := m.Call(t.Context(), name("a", "read"), nil, o); !errors.As(err, &unknown) || !errors.Is(err, mcp.CodeRequestTimeout) || h.calls.Load() != 1 {
			t.Errorf("a call that runs out of time: %v, %d calls", err, h.calls.Load())
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := m.Call(ctx, name("a", "read"), nil); !errors.Is(err, context.Canceled) || errors.As(err, &unknown) {
			t.Errorf("a caller that gives up: %v", err)
		}
		if s := m.Status()[0]; s.Breaker.Failures != 1 || s.State != manager.Ready {
			t.Errorf("%+v", s)
		}
	})
}

// TestHungServerBreaks holds that the calls of a server that hangs are soon refused, that its state says so, that the call
// that hangs goes on waiting, and that one probe at a time goes out, until it answers again.
func TestHungServerBreaks(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		m := w.open(manager.Options{Breaker: manager.BreakerPolicy{Consecutive: 3, First: 10 * time.Second}}, servers("a", "b")...)
		var heard record
		defer m.OnEvent(heard.hear)()
		h := w.host("a")
		h.hang.Store(true)
		hung := make(chan error, 1)
		ctx, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		go func() {
			_, err := m.Call(ctx, name("a", "echo"), nil, manager.CallOptions{CallOptions: client.CallOptions{Timeout: time.Hour, Total: time.Hour}})
			hung <- err
		}()
		short := manager.CallOptions{CallOptions: client.CallOptions{Timeout: time.Second}}
		for range 3 {
			if _, err := m.Call(t.Context(), name("a", "echo"), nil, short); !errors.Is(err, mcp.CodeRequestTimeout) {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if s := m.Status()[0]; s.State != manager.Degraded || s.Breaker.State != manager.BreakerOpen || s.Reason == "" {
			t.Errorf("%+v", s)
		} else {
			t.Log(s.Reason)
		}
		before := h.calls.Load()
		var open *manager.OpenError
		for range 100 {
			if _, err := m.Call(t.Context(), name("a", "echo"), nil, short); !errors.As(err, &open) {
				t.Fatal(err)
			}
		}
		if n := h.calls.Load(); n != before {
			t.Errorf("%d calls reached the server", n-before)
		}
		mustSay(t, m, "b")
		time.Sleep(11 * time.Second)
		var callers sync.WaitGroup
		for range 50 {
			callers.Go(func() { _, _ = m.Call(t.Context(), name("a", "echo"), nil, short) })
		}
		callers.Wait()
		if n := h.calls.Load(); n != before+1 {
			t.Errorf("%d probes of 50 callers", n-before)
		}
		h.hang.Store(false)
		time.Sleep(21 * time.Second)
		mustSay(t, m, "a")
		synctest.Wait()
		if s := m.Status()[0]; s.State != manager.Ready || s.Reason != "" {
			t.Errorf("in the end %+v", s)
		}
		select {
		case err := <-hung:
			t.Errorf("the call that hangs has ended: %v", err)
		default:
			giveUp()
			<-hung
		}
		if got := fmt.Sprint(heard.take()); got != "[a degraded a ready]" && got != "[a degraded a degraded a degraded a degraded a ready]" {
			t.Errorf("heard %s", got)
		}
	})
}

func TestC078StormOfNotices(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{}, servers("a")...)
		var heard record
		defer m.OnEvent(heard.hear)()
		time.Sleep(time.Second)
		h := w.host("a")
		for i := range 200 {
			server.AddTool(h.s, mcp.Tool{Name: fmt.Sprintf("n%d", i%5)}, func(context.Context, *server.Request, noInput) (string, error) { return "", nil })
			if i != 199 {
				h.s.RemoveTool(fmt.Sprintf("n%d", i%5))
			}
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := m.Status()[0].Tools; got != 5 {
			t.Errorf("%d tools are known", got)
		}
		if got := heard.take(); len(got) == 0 || len(got) > 2 {
			t.Errorf("heard %q", got)
		}
		for range 200 { // there and back again: nothing is different in the end
			server.AddTool(h.s, mcp.Tool{Name: "x"}, func(context.Context, *server.Request, noInput) (string, error) { return "", nil })
			h.s.RemoveTool("x")
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if got := heard.take(); len(got) != 0 {
			t.Errorf("heard %q of a list that is the same", got)
		}
	})
}

func TestC077ListingIsNoNews(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{}, servers("a")...)
		n := 0
		defer m.OnToolsChange(func() {
			n++
			if _, err := m.ListTools(context.Background()); err != nil {
				t.Error(err)
			}
		})()
		for range 20 {
			toolNames(t, m)
			time.Sleep(time.Minute)
			w.kill("a")
			time.Sleep(time.Minute)
		}
		synctest.Wait()
		if n != 0 {
			t.Errorf("%d changes of a list that is the same", n)
		}
	})
}

func TestC074SameNames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "a/b", "a%2Fb")
		server.AddTool(w.host("a").s, mcp.Tool{Name: "b.c"}, func(context.Context, *server.Request, noInput) (string, error) { return "tool", nil })
		m := w.open(manager.Options{}, servers("a", "a/b", "a%2Fb")...)
		for _, listed := range toolNames(t, m) {
			n, err := manager.ParseName(listed)
			if err != nil {
				t.Fatal(err)
			}
			want := n.Server
			if n.Name == "b.c" {
				want = "tool"
			}
			if result, err := m.Call(t.Context(), n, nil); err != nil || n.Name != "fail" && result.Text() != want {
				t.Errorf("%s: %v, %v", listed, result, err)
			}
		}
	})
	back := func(server, tool string) bool {
		if server == "" {
			return true
		}
		n, err := manager.ParseName(name(server, tool).String())
		return err == nil && n == name(server, tool)
	}
	if err := quick.Check(back, nil); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"", "a", "/a", "%zz/a", "%41/a"} {
		if n, err := manager.ParseName(wrong); err == nil {
			t.Errorf("%q is read as %+v", wrong, n)
		}
	}
}

func TestOptionsOfManagers(t *testing.T) {
	if _, err := manager.Open(servers("a", "b"), manager.Options{MaxServers: 1}); err == nil {
		t.Error("more servers than MaxServers")
	}
	if _, err := manager.Open([]manager.Server{{}}, manager.Options{}); err == nil {
		t.Error("a server without a name")
	}
	m, err := manager.Open(nil, manager.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	m.Close()
	if _, err := m.Reload(servers("a")); !errors.Is(err, manager.ErrClosed) {
		t.Errorf("reload after close: %v", err)
	}
	if _, err := m.Call(t.Context(), name("a", "x"), nil); !errors.Is(err, manager.ErrClosed) {
		t.Errorf("call after close: %v", err)
	}
}
