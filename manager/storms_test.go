package manager_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// TestManyServersThatFlap has a thousand servers, of which every second one goes again and again: the others answer each call
// at once, no server is tried more often than the pauses allow, and what is told of them in the end is right.
func TestManyServersThatFlap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const many, flaps = 1000, 3
		var names []string
		for i := range many {
			names = append(names, fmt.Sprintf("s%03d", i))
		}
		w := newWorld(t, names...)
		m := w.open(manager.Options{}, servers(names...)...)
		last := make(map[string]manager.State)
		var mu sync.Mutex
		m.OnEvent(func(e manager.Event) {
			mu.Lock()
			defer mu.Unlock()
			if e.Lists == 0 {
				last[e.Server] = e.Status.State
			}
		})
		for range flaps {
			for i := 0; i < many; i += 2 {
				if w.kill(names[i]); i%100 == 0 {
					synctest.Wait() // the listener takes a thousand events at once
				}
			}
			begun := time.Now()
			for i := 1; i < many; i += 100 {
				mustSay(t, m, names[i])
			}
			if took := time.Since(begun); took != 0 {
				t.Fatalf("the others took %s", took)
			}
			time.Sleep(10 * time.Second)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		for i, s := range m.Status() {
			n := w.dials(s.Name)
			mu.Lock()
			told, heard := last[s.Name]
			mu.Unlock()
			flapped := i%2 == 0
			if s.State != manager.Ready || flapped != heard || flapped && told != manager.Ready || flapped && (n < 2 || n > flaps+1) || !flapped && n != 1 {
				t.Fatalf("%+v after %d dials, last heard %q", s.Status, n, told)
			}
		}
	})
}

// TestListenersThatBlock holds that a listener which takes its time, or for ever, holds up neither the servers nor the other
// listeners, and that a hundred thousand changes cost it no more than the thousand events that wait for it.
func TestListenersThatBlock(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{}, servers("a")...)
		release := make(chan struct{})
		var late, prompt atomic.Int64
		m.OnEvent(func(manager.Event) { <-release; late.Add(1) })
		m.OnEvent(func(manager.Event) { prompt.Add(1) })
		calm := servers("a")
		hidden := servers("a")
		hidden[0].DisabledTools = []string{"echo"}
		const changes = 100_000
		memory := func() uint64 {
			runtime.GC()
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			return s.HeapAlloc
		}
		before := memory()
		for i := range changes {
			next := calm
			if i%2 == 0 {
				next = hidden
			}
			if _, err := m.Reload(next); err != nil {
				t.Fatal(err)
			}
			if i%500 == 0 {
				synctest.Wait()
			}
		}
		synctest.Wait()
		if grown := int64(memory()) - int64(before); grown > 2<<20 {
			t.Errorf("%d bytes more after %d changes", grown, changes)
		}
		if n := prompt.Load(); n != changes {
			t.Errorf("the listener that takes them heard %d", n)
		}
		mustSay(t, m, "a")
		close(release)
		synctest.Wait()
		if n := late.Load(); n < 1000 || n > 1002 {
			t.Errorf("the late one heard %d", n)
		}
	})
}

// TestReloadStorm changes the configuration all the time while calls run. A call of a server whose entry stays never fails,
// and each server has one connection in the end.
func TestReloadStorm(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "stays", "a", "b", "c")
		m := w.open(manager.Options{}, servers("stays")...)
		stop, halt := context.WithCancel(t.Context())
		var busy sync.WaitGroup
		var calls atomic.Int32
		for range 10 {
			busy.Go(func() {
				for stop.Err() == nil {
					mustSay(t, m, "stays")
					calls.Add(1)
					time.Sleep(time.Millisecond)
				}
			})
		}
		for i := range 8 {
			busy.Go(func() {
				for n := i; stop.Err() == nil; n++ {
					next := servers("stays", "a", "b", "c")[:1+n%4]
					for j := range next[1:] {
						next[j+1].Args = []string{fmt.Sprint(n % 3)}
					}
					if _, err := m.Reload(next); err != nil {
						t.Error(err)
					}
					time.Sleep(3 * time.Millisecond)
				}
			})
		}
		time.Sleep(300 * time.Millisecond)
		halt()
		busy.Wait()
		if _, err := m.Reload(servers("stays", "a", "b", "c")); err != nil {
			t.Fatal(err)
		}
		m.Settled(t.Context())
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := states(m); got != "stays ready, a ready, b ready, c ready" || w.dials("stays") != 1 || calls.Load() < 1000 {
			t.Errorf("%s; %d dials, %d calls", got, w.dials("stays"), calls.Load())
		}
	})
}

// TestGoneInTheMiddle cuts a server at any step: while it is greeted, listed, called or probed, and in the middle of a reload.
// It comes back each time.
func TestGoneInTheMiddle(t *testing.T) {
	for _, method := range []string{"initialize", "tools/list", "prompts/list", "tools/call"} {
		t.Run(method, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := &puppet{tools: func(int) string { return toolArray("one") }}
				deaths := 0
				p.odd = func(asked string) (string, bool) {
					switch {
					case asked == method && deaths < 3:
						deaths++
						_ = p.end.Close() // by the one who reads it, and once
						return "", true
					case asked == "tools/call":
						return `"result":{"content":[{"type":"text","text":"done"}]}`, true
					}
					return "", false
				}
				m, err := manager.Open(servers("odd"), manager.Options{Dial: p.dial(t)})
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				for range 4 {
					_, _ = m.Call(t.Context(), name("odd", "one"), nil) // it may fail
					time.Sleep(time.Minute)
				}
				time.Sleep(5 * time.Minute)
				synctest.Wait()
				result, err := m.Call(t.Context(), name("odd", "one"), nil)
				p.mu.Lock()
				defer p.mu.Unlock()
				if err != nil || result.Text() != "done" || deaths != 3 || m.Status()[0].State != manager.Ready || m.Status()[0].Tools != 1 {
					t.Errorf("%v, %v after %d deaths; %+v", result, err, deaths, m.Status()[0])
				}
			})
		})
	}
}

// TestProbes has 50 callers at a breaker that is half-open, some of whom give up or panic. One call goes out at a time, and
// whatever becomes of it, the next one gets its turn.
func TestProbes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := manager.NewKeeper(manager.Server{Name: "a"}, manager.KeeperOptions[*line]{
			Open:    func(context.Context) (*line, string, error) { return &line{done: make(chan struct{})}, "test", nil },
			Breaker: manager.BreakerPolicy{Consecutive: 1, First: 10 * time.Second},
		})
		k.Start()
		defer k.Close()
		<-k.Tried()
		call := func(ctx context.Context, f func(ctx context.Context) error) {
			_ = k.Do(ctx, manager.Attempt{What: "a call", Retry: manager.RetryNever}, func(ctx context.Context, _ *line) error { return f(ctx) })
		}
		hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		late, cancel := context.WithTimeout(t.Context(), time.Second)
		call(late, hang)
		cancel()
		if k.Breaker().State != manager.BreakerOpen {
			t.Fatalf("%+v", k.Breaker())
		}
		time.Sleep(10 * time.Second)
		var out, most, given, panicked atomic.Int32
		var callers sync.WaitGroup
		for i := range 50 {
			callers.Go(func() {
				for range 20 {
					ctx, cancel := context.WithCancel(t.Context())
					time.AfterFunc(10*time.Millisecond, cancel)
					func() {
						defer func() {
							if recover() != nil {
								panicked.Add(1)
							}
						}()
						call(ctx, func(ctx context.Context) error {
							n := out.Add(1)
							defer out.Add(-1)
							if n > most.Load() {
								most.Store(n)
							}
							if i%10 == 0 {
								panic("a caller's own fault")
							}
							given.Add(1)
							return hang(ctx)
						})
					}()
					cancel()
					time.Sleep(time.Duration(1+i) * time.Millisecond)
				}
			})
		}
		callers.Wait()
		if most.Load() != 1 || given.Load() < 20 || panicked.Load() == 0 || k.Breaker().State != manager.BreakerHalfOpen {
			t.Errorf("%d at once, %d gave up, %d panicked, %+v", most.Load(), given.Load(), panicked.Load(), k.Breaker())
		}
		call(t.Context(), func(context.Context) error { return nil })
		if k.Breaker().State != manager.BreakerClosed {
			t.Errorf("after an answer: %+v", k.Breaker())
		}
	})
}

// TestOddNames lists and calls servers and tools whose names hold anything, page by page.
func TestOddNames(t *testing.T) {
	bubble(t, func(t *testing.T) {
		odd := []string{"a/b", "a%2Fb", "%", "/", "ünï ☃", "a b", "\x00\n", "..", "server/name"}
		p := &puppet{tools: func(int) string { return toolArray(odd...) }}
		p.odd = func(asked string) (string, bool) {
			return `"result":{"content":[{"type":"text","text":"done"}]}`, asked == "tools/call"
		}
		m, err := manager.Open(servers(odd...), manager.Options{Dial: func(ctx context.Context, s manager.Server, o client.Options) (*client.Client, error) {
			return p.dial(t)(ctx, s, o)
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		seen := make(map[manager.Name]bool)
		for o := (manager.PageOptions{Size: 7}); ; {
			page, err := m.Tools(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, failed := range page.Failed {
				t.Error(failed)
			}
			for _, item := range page.Items {
				n := item.Name(item.Value.Name)
				if back, err := manager.ParseName(n.String()); err != nil || back != n || seen[n] {
					t.Errorf("%q is read as %q, %v", n, back, err)
				}
				seen[n] = true
				if _, err := m.Call(t.Context(), n, nil); err != nil {
					t.Errorf("%q: %v", n, err)
				}
			}
			if o.Cursor = page.Next; o.Cursor == "" {
				break
			}
		}
		if len(seen) != len(odd)*len(odd) {
			t.Errorf("%d of %d tools", len(seen), len(odd)*len(odd))
		}
	})
}

// TestCallsOfAServerThatIsReplaced calls and lists a server whose entry changes all the time: each goes to the one or to the
// other, and none is told that there is no such server.
func TestCallsOfAServerThatIsReplaced(t *testing.T) {
	w := newWorld(t, "a")
	m, err := manager.Open(servers("a"), manager.Options{Dial: w.dial})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Settled(t.Context())
	stop, halt := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for stop.Err() == nil {
				mustSay(t, m, "a")
				if got := toolNames(t, m); len(got) != 4 {
					t.Errorf("listed %q", got)
				}
			}
		})
	}
	for n := range 500 {
		next := servers("a")
		next[0].Args = []string{fmt.Sprint(n)}
		if _, err := m.Reload(next); err != nil {
			t.Error(err)
		}
		runtime.Gosched()
		if n%10 == 0 {
			mustSay(t, m, "a")
		}
	}
	halt()
	busy.Wait()
}
