package manager_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// TestDialsThatGoWrong holds that whatever one Dial does, its server alone suffers: the other one answers at once, the state
// has a reason, and the server is there as soon as its Dial works.
func TestDialsThatGoWrong(t *testing.T) {
	hang := func(ctx context.Context) (*client.Client, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for _, tc := range []struct {
		name   string
		wrong  func(w *world, ctx context.Context, s manager.Server, o client.Options) (*client.Client, error)
		reason string
	}{
		{"hangs", func(_ *world, ctx context.Context, _ manager.Server, _ client.Options) (*client.Client, error) {
			return hang(ctx)
		},
			"not connected within 15s"},
		{"panics", func(*world, context.Context, manager.Server, client.Options) (*client.Client, error) {
			panic("no such luck")
		},
			"no such luck"},
		{"gives nothing", func(*world, context.Context, manager.Server, client.Options) (*client.Client, error) { return nil, nil },
			"neither"},
		{"gives a dead connection", func(w *world, ctx context.Context, s manager.Server, o client.Options) (*client.Client, error) {
			c, err := w.dial(ctx, s, o)
			if err == nil {
				err = c.Close()
			}
			return c, err
		}, "closed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, "good", "bad")
				var mu sync.Mutex
				wrong := true
				var log lockedLog
				m, err := manager.Open(servers("good", "bad"), manager.Options{
					Logger: slog.New(slog.NewTextHandler(&log, nil)),
					Dial: func(ctx context.Context, s manager.Server, o client.Options) (*client.Client, error) {
						mu.Lock()
						now := wrong && s.Name == "bad"
						mu.Unlock()
						if now {
							return tc.wrong(w, ctx, s, o)
						}
						return w.dial(ctx, s, o)
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				mustSay(t, m, "good")
				m.Settled(t.Context())
				synctest.Wait()
				if s := m.Status()[1]; s.State != manager.Failed || !strings.Contains(s.Reason, tc.reason) {
					t.Errorf("%+v", s)
				}
				time.Sleep(5 * time.Minute)
				mustSay(t, m, "good")
				mu.Lock()
				wrong = false
				mu.Unlock()
				time.Sleep(2 * time.Minute)
				mustSay(t, m, "bad")
				if tc.name == "panics" && !strings.Contains(log.text(), "goroutine") {
					t.Errorf("nobody can find the place of the panic: %s", log.text())
				}
			})
		})
	}
}

// TestConnectionThatComesAfterClose holds that a Dial which pays no heed to its context is waited for by Close, and that what
// it brings is closed.
func TestConnectionThatComesAfterClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		var late *client.Client
		m, err := manager.Open(servers("a"), manager.Options{
			Dial: func(_ context.Context, s manager.Server, o client.Options) (*client.Client, error) {
				time.Sleep(time.Minute)
				var err error
				late, err = w.dial(context.Background(), s, o)
				return late, err
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		var heard record
		m.OnEvent(heard.hear)
		time.Sleep(time.Second)
		m.Close()
		select {
		case <-late.Done():
		default:
			t.Error("the connection is left open")
		}
		if got := heard.take(); len(got) > 0 {
			t.Errorf("heard %q of a manager that is closed", got)
		}
	})
}

// TestCloseWhileEverythingHappens closes a manager from several sides while calls run, wait and list, servers die and come
// back, and the configuration changes. Every Close returns after the end of everything; the bubble finds what is left over.
func TestCloseWhileEverythingHappens(t *testing.T) {
	for seed := range 20 {
		bubble(t, func(t *testing.T) {
			var names []string
			for i := range 10 {
				names = append(names, fmt.Sprintf("s%d", i))
			}
			w := newWorld(t, names...)
			w.setAway("s3", true)
			w.host("s4").hang.Store(true)
			m, err := manager.Open(servers(names...), manager.Options{Dial: w.dial, Drain: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			m.OnEvent(func(manager.Event) { time.Sleep(10 * time.Millisecond) })
			stop, halt := context.WithCancel(t.Context())
			var busy sync.WaitGroup
			for i, name := range names {
				busy.Go(func() {
					for stop.Err() == nil {
						_, err := m.Call(stop, manager.Name{Server: name, Name: "echo"}, nil)
						if errors.Is(err, manager.ErrClosed) {
							return
						}
						time.Sleep(7 * time.Millisecond)
					}
				})
				busy.Go(func() {
					for stop.Err() == nil {
						time.Sleep(time.Duration(90+i) * time.Millisecond)
						w.kill(name)
					}
				})
			}
			busy.Go(func() {
				for n := 2; stop.Err() == nil; n = n%9 + 1 {
					if _, err := m.Reload(servers(names[:n]...)); errors.Is(err, manager.ErrClosed) {
						return
					}
					_, _ = m.ListTools(stop)
					time.Sleep(50 * time.Millisecond)
				}
			})
			time.Sleep(time.Duration(seed*seed*10) * time.Millisecond)
			var closing sync.WaitGroup
			for range 3 {
				closing.Go(func() {
					m.Close()
					if got := m.Status(); got != nil {
						t.Errorf("after Close: %+v", got)
					}
				})
			}
			closing.Wait()
			halt()
			busy.Wait()
		})
	}
}

// TestCloseTwiceAtOnce holds that the second of two Close returns no sooner than the first: when all has ended.
func TestCloseTwiceAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		over := make(chan struct{})
		m, err := manager.Open(servers("a"), manager.Options{
			Dial: func(ctx context.Context, _ manager.Server, _ client.Options) (*client.Client, error) {
				<-ctx.Done()
				time.Sleep(time.Second)
				close(over)
				return nil, ctx.Err()
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		go m.Close()
		synctest.Wait()
		m.Close()
		select {
		case <-over:
		default:
			t.Error("Close returned while a server was still being connected")
		}
	})
}
