package manager_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// TestWhatARepetitionSays holds that a call whose first try may have been done is never said not to have been begun, whatever
// becomes of the second; and that an answer to the second is an answer.
func TestWhatARepetitionSays(t *testing.T) {
	lost := error(mcp.CodeConnectionClosed)
	answer := &mcp.Error{Code: -32000, Message: "a word of the server", Remote: true}
	for _, tc := range []struct {
		name    string
		tries   []error
		unknown bool
	}{
		{"lost, not reached", []error{lost, mcp.CodeNotConnected, mcp.CodeNotConnected}, true},
		{"lost, sent away", []error{lost, &transport.StatusError{Status: http.StatusTooManyRequests}, mcp.CodeNotConnected}, true},
		{"lost, not let in", []error{lost, &client.AuthError{Status: http.StatusUnauthorized}}, true},
		{"lost, refused by the breaker", []error{lost, &manager.OpenError{}}, true},
		{"lost, answered", []error{lost, answer}, false},
		{"lost, done", []error{lost, nil}, false},
		{"not reached, lost for good", []error{mcp.CodeNotConnected, lost, lost}, true},
		{"never reached", []error{mcp.CodeNotConnected, mcp.CodeNotConnected, mcp.CodeNotConnected}, false},
		{"not let in", []error{&client.AuthError{Status: http.StatusForbidden}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				k, tries := lines(t, 0), 0
				err := k.Do(t.Context(), manager.Attempt{What: "a call", Retry: manager.RetryAlways}, func(context.Context, *line) error {
					tries++
					return tc.tries[tries-1]
				})
				if tries != len(tc.tries) {
					t.Errorf("%d tries", tries)
				}
				var unknown *manager.UnknownOutcomeError
				if errors.As(err, &unknown) != tc.unknown || tc.unknown && manager.NotTaken(err) {
					t.Errorf("got %v", err)
				}
				if last := tc.tries[len(tc.tries)-1]; !tc.unknown && !errors.Is(err, last) {
					t.Errorf("got %v, want %v", err, last)
				}
			})
		})
	}
}

// TestNothingSentSaysNothing holds that callers who come with no time left do not open the breaker of a server that is well.
func TestNothingSentSaysNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{ListWait: -1}, servers("a")...)
		for range 20 {
			time.Sleep(time.Minute) // nothing is kept any more
			ctx, cancel := context.WithDeadline(t.Context(), time.Now())
			if _, err := m.Call(ctx, name("a", "echo"), nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call without time: %v", err)
			}
			cancel()
			if got := toolNames(t, m); len(got) != 4 { // what is known already
				t.Errorf("listed %q", got)
			}
		}
		if s := m.Status()[0]; s.Breaker.Failures != 0 || s.State != manager.Ready {
			t.Errorf("%+v", s)
		}
		mustSay(t, m, "a")
	})
}

// TestRepetitionsAreSpread has a thousand calls lose their server together. They do not come back together.
func TestRepetitionsAreSpread(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const callers = 1000
		k := lines(t, 0)
		time.Sleep(time.Minute)
		first, err := k.Conn()
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		at := make(map[time.Duration]int)
		var calls sync.WaitGroup
		begun := time.Now()
		for range callers {
			calls.Go(func() {
				err := k.Do(t.Context(), manager.Attempt{What: "a call", Retry: manager.RetryAlways}, func(_ context.Context, conn *line) error {
					if conn == first {
						<-conn.done
						return mcp.CodeConnectionClosed
					}
					mu.Lock()
					defer mu.Unlock()
					at[time.Since(begun).Truncate(10*time.Millisecond)]++
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		close(first.done)
		calls.Wait()
		for when, n := range at {
			if n > callers/4 {
				t.Errorf("%d calls came back together, after %s", n, when)
			}
		}
	})
}

// TestRubbishIsNoAnswer holds that a server over HTTP which answers something that is no answer is treated as one that does not
// answer: the outcome of a call is unknown, and the breaker opens. An answer that is too large is one.
func TestRubbishIsNoAnswer(t *testing.T) {
	for name, body := range map[string]string{
		"a page":                      "<html>welcome</html>",
		"nothing":                     "",
		"half an answer":              `{"jsonrpc":"2.0","id":`,
		"an answer to something else": `{"jsonrpc":"2.0","id":99999,"result":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			m, rubbish := rubbishable(t, body, client.Options{})
			rubbish.Store(true)
			var unknown *manager.UnknownOutcomeError
			for range 5 {
				if _, err := m.Call(t.Context(), manager.Name{Server: "web", Name: "echo"}, nil); !errors.As(err, &unknown) {
					t.Errorf("got %v", err)
				}
			}
			if s := m.Status()[0]; s.State != manager.Degraded || s.Breaker.State != manager.BreakerOpen {
				t.Errorf("%+v", s)
			}
		})
	}
	t.Run("too much", func(t *testing.T) {
		m, rubbish := rubbishable(t, `{"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("x", 100_000)+`"}`, client.Options{MaxBodyBytes: 50_000})
		rubbish.Store(true)
		for range 5 {
			if _, err := m.Call(t.Context(), name("web", "echo"), nil); err == nil {
				t.Error("it was taken")
			}
		}
		if s := m.Status()[0]; s.State != manager.Ready {
			t.Errorf("%+v", s)
		}
	})
}

// rubbishable opens a manager over one server that answers body to everything while the flag is set.
func rubbishable(t *testing.T, body string, o client.Options) (*manager.Manager, *atomic.Bool) {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "web", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(context.Context, *server.Request, noInput) (string, error) { return "web", nil })
	h, rubbish := s.Handler(), new(atomic.Bool)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !rubbish.Load() {
			h.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, body) // the client may have gone
	}))
	t.Cleanup(ts.Close)
	m, err := manager.Open([]manager.Server{{Name: "web", Transport: manager.HTTP, URL: ts.URL}}, manager.Options{Client: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	listed := make(chan struct{}, 1)
	defer m.OnToolsChange(func() { listed <- struct{}{} })()
	m.Settled(t.Context())
	if m.Status()[0].Tools == 0 { // they are being read in the background
		<-listed
	}
	mustSay(t, m, "web")
	return m, rubbish
}

// TestRemovedWhileCallsWait takes a server out while calls wait for its restart: those that it takes within the time end well,
// the others are told, and none waits on.
func TestRemovedWhileCallsWait(t *testing.T) {
	for _, back := range []bool{true, false} {
		bubble(t, func(t *testing.T) {
			w := newWorld(t, "a")
			m := w.open(manager.Options{Drain: 3 * time.Second}, servers("a")...)
			time.Sleep(time.Minute)
			w.setAway("a", !back)
			w.kill("a")
			synctest.Wait()
			got := make(chan error, 20)
			for range cap(got) {
				go func() {
					_, err := m.Call(context.Background(), name("a", "echo"), nil)
					got <- err
				}()
			}
			synctest.Wait()
			if _, err := m.Reload(nil); err != nil {
				t.Fatal(err)
			}
			for range cap(got) {
				if err := <-got; (err == nil) != back || err != nil && !errors.Is(err, manager.ErrNotRun) {
					t.Errorf("back %v: %v", back, err)
				}
			}
			time.Sleep(4 * time.Second)
			m.Close()
		})
	}
}

// TestNoOtherTry holds that a server which cannot be spoken to at all is not said to be tried again.
func TestNoOtherTry(t *testing.T) {
	m, err := manager.Open([]manager.Server{{Name: "pipe", Transport: manager.HTTP, URL: "pipe://x"}}, manager.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = m.Call(t.Context(), name("pipe", "echo"), nil)
	var down *manager.DownError
	if !errors.As(err, &down) || !down.Final || strings.Contains(err.Error(), "again") || m.Status()[0].Retry != 0 {
		t.Errorf("got %v, %+v", err, m.Status()[0])
	}
}

// TestHurryIsForNow holds that Hurry shortens the wait at hand, also when a try is under way, and none of later.
func TestHurryIsForNow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{}, servers("a")...)
		hurry := func() {
			t.Helper()
			if err := m.Hurry("a"); err != nil {
				t.Error(err)
			}
		}
		hurry()
		time.Sleep(time.Hour)
		w.kill("a")
		synctest.Wait()
		if w.dials("a") != 1 {
			t.Error("a word of an hour ago has ended the pause after a loss")
		}
		time.Sleep(time.Second)
		w.setAway("a", true)
		w.kill("a")
		time.Sleep(10 * time.Minute)
		before := w.dials("a")
		hurry()
		synctest.Wait()
		if got := w.dials("a"); got != before+1 {
			t.Errorf("%d tries at once", got-before)
		}
	})
}
