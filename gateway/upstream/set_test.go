package upstream

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// begin starts a set of one server in a bubble.
func begin(t *testing.T, s *script, opts Options) (set *Set, changes *atomic.Int32) {
	t.Helper()
	changes = new(atomic.Int32)
	opts.Dial = s.dial
	opts.OnChange = func() { changes.Add(1) }
	set = New([]manager.Server{{Name: "a"}, {Name: "off", Disabled: true}}, opts)
	set.Start()
	t.Cleanup(set.Close)
	set.Settled(t.Context())
	return set, changes
}

func names(set *Set) []string { return keysOf(set.Snapshots()[0].Lists.Tools) }

func keysOf(items []Item) (out []string) {
	for _, it := range items {
		out = append(out, it.Key)
	}
	return out
}

func TestRetriesUntilItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{conns: []*fake{nil, nil, nil, newFake(tools("x"))}}
		set, changes := begin(t, s, Options{})
		snap := set.Snapshots()
		if len(snap) != 1 || snap[0].State != manager.Failed || snap[0].Reason != "nobody at home" || snap[0].Retry <= 0 {
			t.Fatalf("after the first try: %+v", snap)
		}
		var down *manager.DownError
		if _, err := set.Call(t.Context(), "a", Call{Method: "tools/call"}); !errors.As(err, &down) || down.Server != "a" || down.Reason != "nobody at home" {
			t.Errorf("a call of a server that is down: %v", err)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if snap := set.Snapshots()[0]; snap.State != manager.Ready || !slices.Equal(names(set), []string{"x"}) {
			t.Errorf("after 10 s: %+v", snap)
		}
		if s.count() != 4 || changes.Load() != 1 {
			t.Errorf("%d dials and %d changes, want 4 and 1", s.count(), changes.Load())
		}
	})
}

func TestPausesGrowToAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{conns: []*fake{nil}}
		begin(t, s, Options{})
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := s.count(); n < 60 || n > 140 {
			t.Errorf("%d tries in an hour", n)
		}
	})
}

func TestReconnectsAndKeepsItsLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newFake(tools("x")), newFake(tools("x"))
		s := &script{conns: []*fake{first, second}}
		set, changes := begin(t, s, Options{})
		time.Sleep(time.Minute)
		first.die("it fell over")
		synctest.Wait()
		snap := set.Snapshots()[0]
		if snap.State != manager.Failed || snap.Reason != "it fell over" || !slices.Equal(names(set), []string{"x"}) {
			t.Errorf("at the loss: %+v", snap)
		}
		if !first.closed {
			t.Error("the lost connection was not closed")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if set.Snapshots()[0].State != manager.Ready || changes.Load() != 1 {
			t.Errorf("a second later: %+v, %d changes", set.Snapshots()[0], changes.Load())
		}
	})
}

func TestListsGoWhenItStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newFake(tools("x"))
		s := &script{conns: []*fake{first, nil}}
		set, changes := begin(t, s, Options{KeepLists: 20 * time.Second})
		first.die("gone")
		time.Sleep(19 * time.Second)
		synctest.Wait()
		if !slices.Equal(names(set), []string{"x"}) {
			t.Error("the lists went too early")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if len(names(set)) != 0 || changes.Load() != 2 {
			t.Errorf("after 21 s: %v, %d changes", names(set), changes.Load())
		}
	})
}

func TestRefreshesOnNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(tools("x"))
		set, changes := begin(t, &script{conns: []*fake{f}}, Options{})
		time.Sleep(time.Second)
		f.change(tools("x", "y"))
		synctest.Wait()
		if !slices.Equal(names(set), []string{"x", "y"}) || changes.Load() != 2 {
			t.Errorf("after a change: %v, %d changes", names(set), changes.Load())
		}
		for range 1000 { // a storm of notices about nothing
			f.change(tools("x", "y"))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if f.listed > 5 || changes.Load() != 2 {
			t.Errorf("after the storm: listed %d times, %d changes", f.listed, changes.Load())
		}
	})
}

// TestDisabledTools holds that what an entry takes away is in no list, whatever changes.
func TestDisabledTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(tools("x", "y"))
		s := &script{conns: []*fake{f}}
		set := New([]manager.Server{{Name: "a", DisabledTools: []string{"y", "z"}}}, Options{Dial: s.dial})
		set.Start()
		t.Cleanup(set.Close)
		set.Settled(t.Context())
		if !slices.Equal(names(set), []string{"x"}) {
			t.Errorf("tools %q", names(set))
		}
		time.Sleep(time.Second)
		f.change(tools("z", "y", "w"))
		synctest.Wait()
		if !slices.Equal(names(set), []string{"w"}) {
			t.Errorf("after a change: tools %q", names(set))
		}
	})
}

// TestEchoOfNotices is about a server that announces a change each time it is asked for its list.
func TestEchoOfNotices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(tools("x"))
		f.echo = true
		_, changes := begin(t, &script{conns: []*fake{f}}, Options{})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if f.listed > 30 || changes.Load() != 1 {
			t.Errorf("listed %d times in ten minutes, %d changes", f.listed, changes.Load())
		}
	})
}

// TestCallsThatWereNotTaken holds that a call that the server has certainly not taken is repeated on a new connection, and
// any other is not.
func TestCallsThatWereNotTaken(t *testing.T) {
	other := mcp.Errorf(mcp.CodeUnsupportedVersion, "not any more")
	other.Remote = true
	for _, tc := range []struct {
		name     string
		err      error
		repeated bool
	}{
		{"a forgotten session", &transport.StatusError{Status: http.StatusNotFound}, true},
		{"another revision", other, true},
		{"a failing server", &transport.StatusError{Status: http.StatusInternalServerError}, false},
		{"a lost answer", mcp.CodeConnectionClosed, false},
		{"no answer", context.DeadlineExceeded, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, second := newFake(tools("x")), newFake(tools("x"))
				first.call = func(Call) (*Answer, error) { return nil, tc.err }
				second.call = func(Call) (*Answer, error) { return &Answer{Result: []byte(`{}`)}, nil }
				s := &script{conns: []*fake{first, second}}
				set, _ := begin(t, s, Options{})
				time.Sleep(time.Minute)
				_, err := set.Call(t.Context(), "a", Call{Method: "tools/call"})
				if (err == nil) != tc.repeated || (s.count() == 2) != tc.repeated {
					t.Errorf("error %v after %d dials", err, s.count())
				}
			})
		})
	}
}

// TestRepeatsWhatDoesNoHarm cuts the connection under a call that the server has begun.
func TestRepeatsWhatDoesNoHarm(t *testing.T) {
	list := func(string) string {
		return `{"tools":[{"name":"plain"},{"name":"read","annotations":{"readOnlyHint":true}},{"name":"again","annotations":{"idempotentHint":true}},
			{"name":"odd","annotations":{"readOnlyHint":"yes"}}]}`
	}
	for _, tc := range []struct {
		name     string
		method   string
		params   string
		trusted  bool
		repeated bool
	}{
		{"a tool that says nothing", mcp.MethodCallTool, `{"name":"plain"}`, true, false},
		{"one that only reads", mcp.MethodCallTool, `{"name":"read"}`, true, true},
		{"one that may be repeated", mcp.MethodCallTool, `{"name":"again"}`, true, true},
		{"one whose hints cannot be read", mcp.MethodCallTool, `{"name":"odd"}`, true, false},
		{"one that is not listed", mcp.MethodCallTool, `{"name":"other"}`, true, false},
		{"no name", mcp.MethodCallTool, `{}`, true, false},
		{"a server that is not trusted", mcp.MethodCallTool, `{"name":"read"}`, false, false},
		{"a resource", mcp.MethodReadResource, `{"uri":"a://b"}`, false, true},
		{"a prompt", mcp.MethodGetPrompt, `{"name":"read"}`, false, true},
		{"a method that nobody knows", "vendor/do", `{"name":"read"}`, true, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, second := newFake(list), newFake(list)
				first.call = func(Call) (*Answer, error) {
					first.die("it fell over")
					return nil, mcp.CodeConnectionClosed
				}
				second.call = func(Call) (*Answer, error) { return &Answer{Result: []byte(`{}`)}, nil }
				set, _ := begin(t, &script{conns: []*fake{first, second}}, Options{TrustHints: func(manager.Server) bool { return tc.trusted }})
				_, err := set.Call(t.Context(), "a", Call{Method: tc.method, Params: []byte(tc.params)})
				var unknown *manager.UnknownOutcomeError
				if tc.repeated != (err == nil) || !tc.repeated && !errors.As(err, &unknown) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// TestServerThatDoesNotAnswer holds that its calls are soon refused, and that its state says so.
func TestServerThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(tools("x"))
		calls := 0
		f.call = func(Call) (*Answer, error) { calls++; return nil, mcp.CodeRequestTimeout }
		set, _ := begin(t, &script{conns: []*fake{f}}, Options{Breaker: manager.BreakerPolicy{Consecutive: 3}})
		var open *manager.OpenError
		for range 10 {
			refused := calls == 3
			_, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool})
			if err == nil || errors.As(err, &open) != refused {
				t.Errorf("after %d calls: %v", calls, err)
			}
		}
		if calls != 3 {
			t.Errorf("%d calls were sent", calls)
		}
		if s := set.Snapshots()[0]; s.State != manager.Degraded || s.Counts.Tools != 1 {
			t.Errorf("%+v", s.Status)
		}
		f.call = func(Call) (*Answer, error) { return &Answer{Result: []byte(`{}`)}, nil }
		time.Sleep(5 * time.Second)
		if _, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool}); err != nil {
			t.Error(err)
		}
		if s := set.Snapshots()[0]; s.State != manager.Ready || s.Reason != "" {
			t.Errorf("in the end %+v", s.Status)
		}
	})
}

func TestConnectTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := New([]manager.Server{{Name: "a"}}, Options{
			Limits: Limits{Connect: 3 * time.Second},
			Dial: func(ctx context.Context, _ manager.Server) (Conn, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
		})
		set.Start()
		defer set.Close()
		begun := time.Now()
		set.Settled(t.Context())
		if snap := set.Snapshots()[0]; snap.Reason != "not connected within 3s" || time.Since(begun) != 3*time.Second {
			t.Errorf("after %s: %+v", time.Since(begun), snap)
		}
	})
}

func TestCloseBeforeTheFirstTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := New([]manager.Server{{Name: "a"}}, Options{Dial: func(ctx context.Context, _ manager.Server) (Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		set.Start()
		set.Close()
		var down *manager.DownError
		if _, err := set.Call(t.Context(), "a", Call{}); !errors.As(err, &down) {
			t.Errorf("got %v", err)
		}
		if _, err := set.Call(t.Context(), "b", Call{}); !errors.Is(err, manager.ErrUnknownServer) {
			t.Errorf("got %v", err)
		}
	})
}
