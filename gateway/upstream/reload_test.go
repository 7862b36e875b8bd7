package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// town dials fakes by what the entry of a server says, each within a second: its command names the tools it has, "" nobody.
type town struct {
	mu    sync.Mutex
	conns []*fake // in the order they were opened
	names []string
	heard []string // states and updates, as they were told
	news  int
}

func (w *town) dial(_ context.Context, s manager.Server) (Conn, error) {
	time.Sleep(time.Second) // in a bubble: nothing is connected at once
	if s.Command == "" {
		return nil, errors.New("nobody at home, and the key is " + s.Env["KEY"])
	}
	f := newFake(tools(strings.Fields(s.Command)...))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns, w.names = append(w.conns, f), append(w.names, s.Name)
	return f, nil
}

// conn is the newest connection to a server.
func (w *town) conn(name string) *fake {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := len(w.names) - 1; i >= 0; i-- {
		if w.names[i] == name {
			return w.conns[i]
		}
	}
	return nil
}

func (w *town) hear(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, what)
}

func (w *town) open(t *testing.T, servers ...manager.Server) *Set {
	set := New(servers, Options{
		Dial: w.dial,
		OnChange: func() {
			w.mu.Lock()
			w.news++
			w.mu.Unlock()
		},
		OnState:  func(s Status) { w.hear(s.Name + " " + string(s.State)) },
		OnUpdate: func(server, uri string) { w.hear(server + " " + uri) },
	})
	set.Start()
	t.Cleanup(set.Close)
	set.Settled(t.Context())
	synctest.Wait()
	return set
}

func entry(name, command string) manager.Server { return manager.Server{Name: name, Command: command} }

// listed shows the servers of a set and their tools.
func listed(set *Set) string {
	var out []string
	for _, s := range set.Snapshots() {
		out = append(out, fmt.Sprintf("%s%v", s.Name, keysOf(s.Lists.Tools)))
	}
	return strings.Join(out, " ")
}

func TestReload(t *testing.T) {
	hidden := entry("a", "x y")
	hidden.DisabledTools, hidden.Description = []string{"y"}, "now with words"
	off := entry("b", "z")
	off.Disabled = true
	before := []manager.Server{entry("a", "x y"), entry("b", "z")}
	for _, tc := range []struct {
		name  string
		after []manager.Server
		want  string // changes
		at    string // what is listed at once
		later string // and when all is connected
		dials int    // in all
	}{
		{"nothing", before, "{[] [] [] [a b]}", "a[x y] b[z]", "a[x y] b[z]", 2},
		{"another order", []manager.Server{before[1], before[0]}, "{[] [] [] [b a]}", "b[z] a[x y]", "b[z] a[x y]", 2},
		{"one more", append(slices.Clone(before), entry("c", "w")), "{[c] [] [] [a b]}", "a[x y] b[z] c[]", "a[x y] b[z] c[w]", 3},
		{"one less", before[:1], "{[] [b] [] [a]}", "a[x y]", "a[x y]", 2},
		{"one off", []manager.Server{before[0], off}, "{[] [b] [] [a]}", "a[x y]", "a[x y]", 2},
		{"another entry", []manager.Server{entry("a", "v"), before[1]}, "{[] [] [a] [b]}", "a[x y] b[z]", "a[v] b[z]", 3},
		{"another entry that fails", []manager.Server{entry("a", ""), before[1]}, "{[] [] [a] [b]}", "a[x y] b[z]", "a[] b[z]", 2},
		{"fewer tools of the same connection", []manager.Server{hidden, before[1]}, "{[] [] [] [a b]}", "a[x] b[z]", "a[x] b[z]", 2},
		{"nobody", nil, "{[] [a b] [] []}", "", "", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &town{}
				set := w.open(t, before...)
				begun := time.Now()
				changes, err := set.Reload(tc.after)
				if err != nil || fmt.Sprint(changes) != tc.want || time.Since(begun) != 0 {
					t.Errorf("got %v, %v after %s, want %s", changes, err, time.Since(begun), tc.want)
				}
				if got := listed(set); got != tc.at {
					t.Errorf("at once: %s, want %s", got, tc.at)
				}
				set.Settled(t.Context())
				synctest.Wait()
				if got := listed(set); got != tc.later || len(w.conns) != tc.dials {
					t.Errorf("later: %s after %d dials, want %s after %d", got, len(w.conns), tc.later, tc.dials)
				}
				for i, f := range w.conns[:2] { // of a and b, idle
					kept := slices.Contains(changes.Kept, w.names[i])
					if f.mu.Lock(); f.closed == kept {
						t.Errorf("%s: closed %v", w.names[i], f.closed)
					}
					f.mu.Unlock()
				}
			})
		})
	}
}

func TestReloadRefusesNonsense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{}
		set := w.open(t, entry("a", "x"))
		for _, servers := range [][]manager.Server{{entry("", "x")}, {entry("b", "x"), entry("b", "y")}} {
			if _, err := set.Reload(servers); err == nil || listed(set) != "a[x]" {
				t.Errorf("got %v and %s", err, listed(set))
			}
		}
		set.Close()
		if _, err := set.Reload(nil); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}

// TestReloadWithCalls holds that calls outlive a reload: those of a server that stays for as long as they take, those of one
// that goes until its time is over. New calls find what is configured now.
func TestReloadWithCalls(t *testing.T) {
	for _, tc := range []struct {
		name  string
		after []manager.Server
		takes time.Duration
		done  bool   // the call is finished
		next  string // what a new call meets
	}{
		{"it stays", []manager.Server{entry("a", "x")}, time.Hour, true, "old"},
		{"it goes", nil, 29 * time.Second, true, "unknown"},
		{"it goes, and the call takes too long", nil, 31 * time.Second, false, "unknown"},
		{"it is replaced", []manager.Server{entry("a", "x y")}, 29 * time.Second, true, "new"},
		{"it is replaced, and the call takes too long", []manager.Server{entry("a", "x y")}, 31 * time.Second, false, "new"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &town{}
				set := w.open(t, entry("a", "x"))
				old := w.conn("a")
				release := make(chan struct{})
				old.call = func(c Call) (*Answer, error) {
					if c.Method == mcp.MethodCallTool {
						select {
						case <-time.After(tc.takes):
						case <-release:
							return nil, mcp.CodeConnectionClosed
						}
					}
					return &Answer{Result: []byte(`"old"`)}, nil
				}
				old.onClose = func() { close(release) }
				failed := make(chan error, 1)
				go func() { // ends with the call
					_, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool})
					failed <- err
				}()
				synctest.Wait()
				if _, err := set.Reload(tc.after); err != nil {
					t.Fatal(err)
				}
				set.Settled(t.Context())
				synctest.Wait()
				if now := w.conn("a"); now != old {
					now.call = func(Call) (*Answer, error) { return &Answer{Result: []byte(`"new"`)}, nil }
				}
				answer, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodGetPrompt})
				switch {
				case tc.next == "unknown":
					if !errors.Is(err, manager.ErrUnknownServer) || !errors.Is(err, manager.ErrNotRun) {
						t.Errorf("a new call: %v", err)
					}
				case err != nil || string(answer.Result) != `"`+tc.next+`"`:
					t.Errorf("a new call: %+v, %v", answer, err)
				}
				if err := <-failed; (err == nil) != tc.done {
					t.Errorf("the call under way: %v", err)
				}
			})
		})
	}
}

// TestReloadMeetsACall holds that a call that has found its server just before a reload goes to the one that has its place.
func TestReloadMeetsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{}
		set := w.open(t, entry("a", "x"))
		old := set.find("a")
		if _, err := set.Reload([]manager.Server{entry("a", "y")}); err != nil {
			t.Fatal(err)
		}
		set.Settled(t.Context())
		synctest.Wait()
		w.conn("a").call = func(Call) (*Answer, error) { return &Answer{Result: []byte(`{}`)}, nil }
		if _, err := old.call(t.Context(), Call{Method: mcp.MethodGetPrompt}); !errors.Is(err, manager.ErrUnknownServer) {
			t.Errorf("the old one answers %v", err)
		}
		if _, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodGetPrompt}); err != nil {
			t.Error(err)
		}
	})
}

// TestReloadTellsNothingOfTheOld holds that neither states nor updates nor lists of a server that was taken out are news.
func TestReloadTellsNothingOfTheOld(t *testing.T) {
	for name, after := range map[string][]manager.Server{"gone": nil, "replaced": {entry("a", "x y")}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &town{}
				set := w.open(t, entry("a", "x"))
				set.Watch("a", []string{"memo://1"})
				synctest.Wait()
				old := w.conn("a")
				hold := make(chan struct{})
				old.call = func(Call) (*Answer, error) { <-hold; return &Answer{Result: []byte(`{}`)}, nil }
				go func() { _, _ = set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool}) }() // ends with hold; keeps the old one open
				synctest.Wait()
				if _, err := set.Reload(after); err != nil {
					t.Fatal(err)
				}
				set.Settled(t.Context())
				time.Sleep(time.Second)
				synctest.Wait()
				w.mu.Lock()
				w.heard, w.news = nil, 0
				w.mu.Unlock()
				old.updated("memo://1")
				old.change(tools("x", "new"))
				time.Sleep(time.Second)
				old.die("it fell over")
				close(hold)
				time.Sleep(time.Minute)
				synctest.Wait()
				if len(w.heard) > 0 || w.news > 0 {
					t.Errorf("heard %q and %d changes", w.heard, w.news)
				}
			})
		})
	}
}

// TestReloadKeepsWatching holds that the server which takes the place of another is asked for the same resources.
func TestReloadKeepsWatching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{}
		set := w.open(t, entry("a", "x"))
		set.Watch("a", []string{"memo://1"})
		synctest.Wait()
		if _, err := set.Reload([]manager.Server{entry("a", "y")}); err != nil {
			t.Fatal(err)
		}
		set.Settled(t.Context())
		synctest.Wait()
		now := w.conn("a")
		if !slices.Equal(now.watched, []string{"memo://1"}) {
			t.Fatalf("it is asked for %q", now.watched)
		}
		now.updated("memo://1")
		if !slices.Contains(w.heard, "a memo://1") {
			t.Errorf("heard %q", w.heard)
		}
	})
}

// TestReasonAfterAReload holds that the secrets of an entry stay hidden in what its calls end with after it was taken out.
func TestReasonAfterAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{}
		s := entry("a", "x")
		s.Env = map[string]string{"KEY": "hunter2hunter2"}
		set := w.open(t, s)
		w.conn("a").call = func(Call) (*Answer, error) {
			if _, err := set.Reload(nil); err != nil {
				t.Error(err)
			}
			return nil, errors.New("the key hunter2hunter2 is wrong")
		}
		_, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool})
		if reason := set.Reason("a", err); err == nil || strings.Contains(reason, "hunter2") || !strings.Contains(reason, "is wrong") {
			t.Errorf("%v: %q", err, reason)
		}
	})
}

// TestReloadBeforeStart starts what is configured then, and nothing before.
func TestReloadBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{}
		set := New([]manager.Server{entry("a", "x")}, Options{Dial: w.dial})
		t.Cleanup(set.Close)
		if _, err := set.Reload([]manager.Server{entry("b", "y")}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(w.conns) > 0 {
			t.Error("it is connected")
		}
		set.Start()
		set.Settled(t.Context())
		if got := listed(set); got != "b[y]" || len(w.conns) != 1 {
			t.Errorf("%s after %d dials", got, len(w.conns))
		}
	})
}

// TestLimits holds that other time limits are those of the next call and connection, and that an entry's own comes first.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &town{}
		own := entry("b", "x")
		own.Timeout = 7 * time.Second
		set := w.open(t, entry("a", "x"), own)
		sent := func(server string) string {
			var got Call
			w.conn(server).call = func(c Call) (*Answer, error) { got = c; return &Answer{Result: []byte(`{}`)}, nil }
			if _, err := set.Call(t.Context(), server, Call{Method: mcp.MethodCallTool}); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(got.Timeout, got.Total)
		}
		if got := sent("a") + ", " + sent("b"); got != "0s 0s, 7s 0s" {
			t.Errorf("at first: %s", got)
		}
		if list := w.conn("a").list; list.Timeout >= 0 || list.Total >= 0 {
			t.Errorf("beside the limit for all pages, one page has %s and %s", list.Timeout, list.Total)
		}
		set.Limit(Limits{Connect: 3 * time.Second, Call: 2 * time.Second, Total: time.Minute})
		if got := sent("a") + ", " + sent("b"); got != "2s 1m0s, 7s 1m0s" {
			t.Errorf("then: %s", got)
		}
		set.opts.Dial = func(ctx context.Context, _ manager.Server) (Conn, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		if _, err := set.Reload([]manager.Server{entry("c", "x")}); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		set.Settled(t.Context())
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("connecting took %s", took)
		}
	})
}
