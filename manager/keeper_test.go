package manager_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// line is a connection that does nothing but end.
type line struct {
	n       int
	done    chan struct{}
	closing time.Duration // that closing it takes
}

func (l *line) Done() <-chan struct{} { return l.done }
func (l *line) Err() error            { return errors.New("it fell over") }
func (l *line) Close() error          { time.Sleep(l.closing); return nil }

// lines keeps a server whose connections are numbered from 1.
func lines(t *testing.T, closing time.Duration) *manager.Keeper[*line] {
	n := 0
	k := manager.NewKeeper(manager.Server{Name: "a"}, manager.KeeperOptions[*line]{
		Open: func(context.Context) (*line, string, error) {
			n++
			return &line{n: n, done: make(chan struct{}), closing: closing}, "test", nil
		},
		Policy: client.Restart{Stable: time.Nanosecond},
	})
	k.Start()
	t.Cleanup(k.Close)
	<-k.Tried()
	return k
}

// number is the connection that a call is made on now, and how long it has waited for it.
func number(t *testing.T, k *manager.Keeper[*line]) (n int, waited time.Duration) {
	t.Helper()
	begun := time.Now()
	err := k.Do(t.Context(), manager.Attempt{What: "a call"}, func(_ context.Context, conn *line) error { n = conn.n; return nil })
	if err != nil {
		t.Fatal(err)
	}
	return n, time.Since(begun)
}

// TestNoCallOnALostConnection holds that a call made while a lost connection is being closed, which may take its time, waits
// for the next one.
func TestNoCallOnALostConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := lines(t, 3*time.Second)
		conn, err := k.Conn()
		if err != nil {
			t.Fatal(err)
		}
		close(conn.done)
		var down *manager.DownError
		if _, err := k.Conn(); !errors.As(err, &down) {
			t.Errorf("the lost connection is given out: %v", err)
		}
		if n, waited := number(t, k); n != 2 || waited < 3*time.Second || waited > 4*time.Second {
			t.Errorf("the call went out on connection %d after %s", n, waited)
		}
	})
}

// TestDoubt holds that a connection that calls have found to be of no use is replaced once, however many of them say so and
// however late.
func TestDoubt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := lines(t, 0)
		gone := &transport.StatusError{Status: http.StatusNotFound, SessionGone: true}
		first, _ := k.Conn()
		time.Sleep(time.Minute)
		close(first.done)
		for range 3 {
			k.Doubt(first, gone) // it has ended already
		}
		time.Sleep(time.Second)
		for range 3 {
			k.Doubt(first, gone) // and is forgotten
		}
		if n, waited := number(t, k); n != 2 || waited != 0 {
			t.Fatalf("connection %d after %s", n, waited)
		}
		second, _ := k.Conn()
		time.Sleep(time.Minute)
		for range 3 {
			k.Doubt(second, gone)
		}
		if n, _ := number(t, k); n != 3 {
			t.Errorf("after the server has forgotten its session, a call went out on connection %d", n)
		}
	})
}

// TestCallsWaitForARestart holds that a restart costs only the calls under way: those that come while the server is away for
// the first moment wait. When the first try fails they fail, and so do those after them, at once.
func TestCallsWaitForARestart(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{}, servers("a")...)
		time.Sleep(time.Minute)
		w.kill("a")
		synctest.Wait()
		if states(m) != "a failed" {
			t.Errorf("after the kill: %s", states(m))
		}
		mustSay(t, m, "a")
		time.Sleep(time.Minute)
		w.setAway("a", true)
		w.kill("a")
		synctest.Wait()
		var down *manager.DownError
		if _, err := m.Call(t.Context(), name("a", "echo"), nil); !errors.As(err, &down) || down.Reason != "nobody at home" {
			t.Errorf("a call while the first try fails: %v", err)
		}
		begun := time.Now()
		if _, err := m.Call(t.Context(), name("a", "echo"), nil); !errors.As(err, &down) || time.Since(begun) != 0 {
			t.Errorf("a call after that: %v in %s", err, time.Since(begun))
		}
	})
}

// TestClosedKeeper holds that one that is closed shows no connection and takes no calls, whether it was started or not, and
// that it may be closed by many and twice.
func TestClosedKeeper(t *testing.T) {
	for _, started := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			k := manager.NewKeeper(manager.Server{Name: "a"}, manager.KeeperOptions[*line]{
				Open: func(context.Context) (*line, string, error) {
					return &line{done: make(chan struct{}), closing: time.Second}, "test", nil
				},
				OnStatus: func(s manager.Status) {
					if s.State != manager.Ready {
						t.Errorf("told of %+v", s)
					}
				},
			})
			if started {
				k.Start()
				<-k.Tried()
			}
			for range 3 {
				go k.Close()
			}
			k.Close()
			k.Start() // too late
			err := k.Do(t.Context(), manager.Attempt{What: "a call"}, func(context.Context, *line) error { return nil })
			var down *manager.DownError
			if !errors.As(err, &down) || !down.Final {
				t.Errorf("a call: %v", err)
			}
			if s := k.Status(); s.State != manager.Failed || s.Reason != "it was closed" || s.Version != "" {
				t.Errorf("%+v", s)
			}
			k.Retire(t.Context())
		})
	}
}

// TestChangedHandling holds that other pauses and other repetitions hold from then on, on the same connection.
func TestChangedHandling(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := lines(t, 0)
		lost := func() (tries int) {
			err := k.Do(t.Context(), manager.Attempt{What: "a call", Retry: manager.RetryAlways}, func(context.Context, *line) error {
				tries++
				return mcp.CodeConnectionClosed
			})
			if err == nil {
				t.Error("a call without an answer has succeeded")
			}
			return tries
		}
		if n := lost(); n != 3 {
			t.Errorf("%d tries", n)
		}
		conn, err := k.Conn()
		if err != nil {
			t.Fatal(err)
		}
		k.Change(manager.Handling{Retries: -1, Policy: client.Restart{First: time.Hour, Longest: time.Hour, Stable: time.Nanosecond}})
		if n := lost(); n != 1 {
			t.Errorf("%d tries, want none but the first", n)
		}
		if again, err := k.Conn(); err != nil || again != conn {
			t.Errorf("the connection is another: %v", err)
		}
		close(conn.done)
		time.Sleep(29 * time.Minute)
		if s := k.Status(); s.State != manager.Failed || s.Retry < 30*time.Minute {
			t.Errorf("after the loss: %+v", s)
		}
		time.Sleep(31 * time.Minute)
		if s := k.Status(); s.State != manager.Ready {
			t.Errorf("after the pause: %+v", s)
		}
	})
}

// TestClosedByAChange holds that a server whose breaker is turned off is well again, and that this is told without holding up who
// has turned it off.
func TestClosedByAChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		hold := make(chan struct{})
		var told []manager.State
		k := manager.NewKeeper(manager.Server{Name: "a"}, manager.KeeperOptions[*line]{
			Open:    func(context.Context) (*line, string, error) { return &line{done: make(chan struct{})}, "test", nil },
			Breaker: manager.BreakerPolicy{Consecutive: 1},
			OnStatus: func(s manager.Status) {
				if len(told) == 2 {
					<-hold
				}
				told = append(told, s.State)
			},
		})
		k.Start()
		defer k.Close()
		<-k.Tried()
		_ = k.Do(t.Context(), manager.Attempt{Retry: manager.RetryNever}, func(context.Context, *line) error { return mcp.CodeRequestTimeout })
		k.Change(manager.Handling{Breaker: manager.BreakerPolicy{Disabled: true}})
		close(hold)
		synctest.Wait()
		if s := k.Status(); s.State != manager.Ready || len(told) != 3 || told[1] != manager.Degraded || told[2] != manager.Ready {
			t.Errorf("%+v; told %v", s, told)
		}
	})
}

// TestCutOnThisSide holds that calls under way, which are cut since another one has found their connection to be of no use, say
// nothing of the server's health: it was not the server that gave no answer.
func TestCutOnThisSide(t *testing.T) {
	bubble(t, func(t *testing.T) {
		k := manager.NewKeeper(manager.Server{Name: "a"}, manager.KeeperOptions[*line]{
			Open: func(context.Context) (*line, string, error) {
				return &line{done: make(chan struct{}), closing: time.Second}, "test", nil
			},
			Breaker: manager.BreakerPolicy{Consecutive: 3},
		})
		k.Start()
		defer k.Close()
		<-k.Tried()
		call := func(f func() error) {
			_ = k.Do(t.Context(), manager.Attempt{Retry: manager.RetryNever}, func(context.Context, *line) error { return f() })
		}
		cut := make(chan struct{})
		var calls sync.WaitGroup
		for range 3 {
			calls.Go(func() { call(func() error { <-cut; return mcp.CodeConnectionClosed }) })
		}
		synctest.Wait()
		call(func() error { return &client.AuthError{Status: http.StatusUnauthorized} })
		close(cut)
		calls.Wait()
		if b := k.Breaker(); b.Failures != 0 || b.State != manager.BreakerClosed {
			t.Errorf("the breaker has counted them: %+v", b)
		}
	})
}
