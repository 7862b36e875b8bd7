package manager_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestPausesOfThoseThatLetNobodyIn holds that a server which wants to know who asks is tried once a minute, and not more and
// more seldom: the one who logs in does so when it suits.
func TestPausesOfThoseThatLetNobodyIn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		tries := 0
		m, err := manager.Open(servers("a"), manager.Options{
			Dial: func(context.Context, manager.Server, client.Options) (*client.Client, error) {
				mu.Lock()
				defer mu.Unlock()
				tries++
				return nil, &client.AuthError{Status: http.StatusUnauthorized}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		time.Sleep(time.Hour)
		synctest.Wait() // a try is due at this very moment
		mu.Lock()
		defer mu.Unlock()
		if s := m.Status()[0]; s.State != manager.NeedsAuthorization || s.Retry != time.Minute || tries < 59 || tries > 61 {
			t.Errorf("%+v after %d tries", s, tries)
		}
	})
}

// TestNoTwoAtOnce holds that what attends to a connection has ended before the next one is opened, and before Close returns.
func TestNoTwoAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var mu sync.Mutex
		attending, opened := 0, 0
		k := manager.NewKeeper(manager.Server{Name: "a"}, manager.KeeperOptions[*line]{
			Open: func(context.Context) (*line, string, error) {
				mu.Lock()
				defer mu.Unlock()
				if opened++; attending > 0 {
					t.Error("the connection before is still attended to")
				}
				return &line{done: make(chan struct{})}, "test", nil
			},
			Attend: func(ctx context.Context, _ *line) {
				mu.Lock()
				attending++
				mu.Unlock()
				<-ctx.Done()
				time.Sleep(10 * time.Second)
				mu.Lock()
				attending--
				mu.Unlock()
			},
		})
		k.Start()
		<-k.Tried()
		conn, err := k.Conn()
		if err != nil {
			t.Fatal(err)
		}
		close(conn.done)
		time.Sleep(time.Minute)
		k.Close()
		if attending != 0 || opened != 2 {
			t.Errorf("%d are attended to after %d were opened", attending, opened)
		}
	})
}

// TestListIsReadOnceMore holds that lists which could not be read are read again, without another word of the server.
func TestListIsReadOnceMore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &puppet{tools: func(int) string { return toolArray("one") }}
		p.odd = func(method string) (string, bool) {
			return `"error":{"code":-32603,"message":"the shelf is broken"}`, method == mcp.MethodListTools
		}
		m, heard := watched(t, p, manager.Options{})
		if s := m.Status()[0]; s.State != manager.Degraded || !strings.Contains(s.Reason, "the shelf is broken") {
			t.Errorf("%+v", s)
		}
		p.set(func() { p.odd = nil })
		time.Sleep(time.Minute)
		synctest.Wait()
		if s := m.Status()[0]; s.State != manager.Ready || s.Tools != 1 {
			t.Errorf("%+v, heard %q", s, heard.take())
		}
	})
}

// TestListsAreKept holds that a list of a server which does not say how long it may be kept is kept for half a minute.
func TestListsAreKept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &puppet{tools: func(int) string { return toolArray("one") }}
		m, _ := watched(t, p, manager.Options{})
		for range 20 {
			toolNames(t, m)
			time.Sleep(time.Second)
		}
		if p.reads() != 1 {
			t.Errorf("read %d times in 20 seconds", p.reads())
		}
		time.Sleep(manager.ListFloor)
		if toolNames(t, m); p.reads() != 2 {
			t.Errorf("read %d times after that", p.reads())
		}
	})
}

// TestC078SlowList has 200 notices come while a list is being read that takes two seconds, the last after it has changed
// again: it is read once more, after a pause, and what is known in the end is what the server has.
func TestC078SlowList(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := &puppet{tools: func(int) string { return toolArray("one") }}
		m, heard := watched(t, p, manager.Options{})
		time.Sleep(time.Hour)
		var at []time.Time
		running, most, now := 0, 0, toolArray("one", "two")
		p.set(func() {
			p.tools = func(int) string {
				running++
				most = max(most, running)
				at = append(at, time.Now())
				list := now
				p.mu.Unlock()
				time.Sleep(2 * time.Second)
				p.mu.Lock()
				running--
				return list
			}
		})
		p.announce(t)
		time.Sleep(time.Second)
		for range 199 {
			p.announce(t)
		}
		p.set(func() { now = toolArray("three") })
		p.announce(t)
		time.Sleep(time.Minute)
		synctest.Wait()
		p.set(func() {
			if len(at) != 2 || most != 1 || at[1].Sub(at[0]) < 2100*time.Millisecond {
				t.Errorf("read at %v, %d at once", at, most)
			}
			p.tools = func(int) string { return toolArray("three") }
		})
		if got := toolNames(t, m); len(got) != 1 || got[0] != "odd/three" || len(heard.take()) != 2 {
			t.Errorf("listed %q", got)
		}
	})
}

// TestTimeoutOfAnEntry holds that the time limit of an entry bounds the calls of its server, and of no other.
func TestTimeoutOfAnEntry(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		entries := servers("a", "b")
		entries[0].Timeout = 3 * time.Second
		m := w.open(manager.Options{Client: client.Options{CallTimeout: 7 * time.Second}}, entries...)
		for server, want := range map[string]time.Duration{"a": 3 * time.Second, "b": 7 * time.Second} {
			w.host(server).hang.Store(true)
			begun := time.Now()
			_, err := m.Call(t.Context(), name(server, "echo"), nil)
			if took := time.Since(begun); !errors.Is(err, mcp.CodeRequestTimeout) || took != want {
				t.Errorf("%s: %v after %s", server, err, took)
			}
		}
	})
}

// TestC043OneProcess kills a real child: the manager, and nobody beneath it, starts it again, so that the state shows it and
// there is one process at a time.
func TestC043OneProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pids")
	m, err := manager.Open([]manager.Server{
		{Name: "child", Transport: manager.Stdio, Command: self, Env: map[string]string{childVariable: file}},
	}, manager.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	states := make(chan manager.Status, 100)
	defer m.OnEvent(func(e manager.Event) {
		if e.Lists == 0 {
			states <- e.Status
		}
	})()
	wait := func() error {
		_, err := m.Call(t.Context(), name("child", "wait"), nil)
		return err
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	pids := func() []string {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Fields(string(raw))
	}
	kill(t, pids()[0])
	for s := range states {
		if s.State == manager.Failed {
			if !strings.Contains(s.Reason, "killed") {
				t.Errorf("%+v", s)
			}
			break
		}
	}
	if err := wait(); err != nil { // the first try after a loss is waited for
		t.Error(err)
	}
	if got := pids(); len(got) != 2 {
		t.Errorf("%d processes were started", len(got))
	}
}

func kill(t *testing.T, pid string) {
	t.Helper()
	var n int
	for _, digit := range pid {
		n = 10*n + int(digit-'0')
	}
	p, err := os.FindProcess(n)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
}
