package upstream

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// patient is a server that is asked whether it is well.
type patient struct {
	*fake
	mu    sync.Mutex
	asked int
	ill   error // nil is well
	hangs bool
	busy  bool
}

func (p *patient) Ping(ctx context.Context) error {
	p.mu.Lock()
	p.asked++
	ill, hangs := p.ill, p.hangs
	p.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return ill
}

func (p *patient) Busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.busy
}

func (p *patient) is(edit func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	edit()
}

func (p *patient) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

// ward keeps patients, one after the other.
func ward(t *testing.T, h HealthTuning, way manager.Transport, patients ...*patient) *Set {
	t.Helper()
	n := 0
	set := New([]manager.Server{{Name: "a", Transport: way}}, Options{
		Tunings: map[string]Tuning{"a": {Health: h}},
		Dial: func(context.Context, manager.Server) (Conn, error) {
			p := patients[min(n, len(patients)-1)]
			n++
			return p, nil
		},
	})
	set.Start()
	t.Cleanup(set.Close)
	set.Settled(t.Context())
	return set
}

func newPatient() *patient {
	p := &patient{fake: newFake(tools("x"))}
	p.fake.call = func(Call) (*Answer, error) { return &Answer{Result: []byte(`{}`)}, nil }
	return p
}

func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestHealth holds that a server is degraded after so many questions without an answer, and ready again with the first answer.
func TestHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatient()
		set := ward(t, HealthTuning{Every: 10 * time.Second, Timeout: 2 * time.Second, Failures: 3}, manager.HTTP, p)
		state := func() manager.State { return set.Snapshots()[0].State }
		pass(61 * time.Second)
		if state() != manager.Ready || p.count() != 6 {
			t.Errorf("well: %s, asked %d times", state(), p.count())
		}
		p.is(func() { p.hangs = true })
		pass(24 * time.Second)
		if state() != manager.Ready {
			t.Errorf("after two failures: %+v", set.Snapshots()[0].Status)
		}
		pass(12 * time.Second)
		if s := set.Snapshots()[0]; s.State != manager.Degraded || !strings.Contains(s.Reason, "left 3 health checks in a row without an answer; the last: no answer within 2s") {
			t.Errorf("after three failures: %+v", s.Status)
		}
		if _, err := set.Call(t.Context(), "a", Call{Method: mcp.MethodCallTool}); err != nil {
			t.Errorf("it can be called all the same: %v", err)
		}
		p.is(func() { p.hangs = false })
		pass(25 * time.Second)
		if state() != manager.Ready {
			t.Errorf("well again: %+v", set.Snapshots()[0].Status)
		}
	})
}

// TestHealthDoesNotDisturb holds who is not asked: nobody by default, no server that has just answered, and no program that is at
// work.
func TestHealthDoesNotDisturb(t *testing.T) {
	h := HealthTuning{Every: 10 * time.Second}
	for _, tc := range []struct {
		name string
		h    HealthTuning
		way  manager.Transport
		busy bool
		call time.Duration // how often it is called; zero is never
		want int           // questions in a minute
	}{
		{"by default", HealthTuning{}, manager.HTTP, false, 0, 0},
		{"an idle server", h, manager.HTTP, false, 0, 6},
		{"one that answers calls", h, manager.HTTP, false, 3 * time.Second, 0},
		{"an idle program", h, manager.Stdio, false, 0, 6},
		{"a program at work", h, manager.Stdio, true, 0, 0},
		{"a server over HTTP at work", h, manager.HTTP, true, 0, 6},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPatient()
				p.busy = tc.busy
				set := ward(t, tc.h, tc.way, p)
				for range 61 {
					pass(time.Second)
					if tc.call > 0 && time.Now().Unix()%int64(tc.call/time.Second) == 0 {
						mustCall(t, set, Call{Method: mcp.MethodCallTool})
					}
				}
				if p.count() != tc.want {
					t.Errorf("asked %d times, want %d", p.count(), tc.want)
				}
			})
		})
	}
}

// TestHealthFindsLosses holds that a server which turns out not to be there is connected anew.
func TestHealthFindsLosses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newPatient(), newPatient()
		set := ward(t, HealthTuning{Every: 10 * time.Second}, manager.HTTP, first, second)
		first.is(func() { first.ill = &net.OpError{Op: "dial", Err: errors.New("connection refused")} })
		pass(13 * time.Second)
		if s := set.Snapshots()[0]; s.State != manager.Ready || !first.closed {
			t.Errorf("after the loss: %+v", s.Status)
		}
		pass(20 * time.Second)
		if second.count() == 0 {
			t.Error("the new connection is not asked")
		}
	})
}

// TestHealthChanges holds that questions begin, and end with what they have found, when the tuning says so.
func TestHealthChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatient()
		p.ill = errors.New("out of order")
		set := ward(t, HealthTuning{}, manager.HTTP, p)
		pass(time.Hour)
		set.Tune(map[string]Tuning{"a": {Health: HealthTuning{Every: time.Second, Failures: 1}}})
		pass(1500 * time.Millisecond)
		if s := set.Snapshots()[0]; s.State != manager.Degraded {
			t.Errorf("with checks: %+v", s.Status)
		}
		set.Tune(nil)
		pass(time.Hour)
		if s := set.Snapshots()[0]; s.State != manager.Ready || p.count() != 1 {
			t.Errorf("without: %+v, asked %d times", s.Status, p.count())
		}
	})
}

// TestPing holds that a server of either era is asked in a way that it knows, and that a connection knows whether it is busy.
func TestPing(t *testing.T) {
	for _, versions := range [][]string{mcp.LegacyVersions(), mcp.ModernVersions()} {
		s := server.New(mcp.Implementation{Name: "s", Version: "1"}, server.Options{Versions: versions})
		entered, leave := make(chan struct{}), make(chan struct{})
		server.AddTool(s, mcp.Tool{Name: "hold"}, func(context.Context, *server.Request, struct{}) (string, error) {
			close(entered)
			<-leave
			return "", nil
		})
		near, far := transport.Pair(0)
		served := make(chan error, 1)
		go func() { served <- s.Serve(context.Background(), far) }() // ends with the connection
		conn, err := Open(client.Options{}, func(o client.Options) (*client.Client, error) { return client.Connect(t.Context(), near, o) })
		if err != nil {
			t.Fatal(err)
		}
		p := conn.(pinger)
		called := make(chan error, 1)
		go func() { // ends with leave
			_, err := conn.Call(context.Background(), Call{Method: mcp.MethodCallTool, Params: []byte(`{"name":"hold"}`), Caller: &Caller{}})
			called <- err
		}()
		<-entered
		if err := p.Ping(t.Context()); err != nil || !p.Busy() {
			t.Errorf("%s: %v, busy %v", conn.Version(), err, p.Busy())
		}
		close(leave)
		if err := <-called; err != nil || p.Busy() {
			t.Errorf("%s: %v, busy %v", conn.Version(), err, p.Busy())
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Ping(t.Context()); err == nil {
			t.Errorf("%s: a closed connection answers", conn.Version())
		}
		<-served
	}
}
