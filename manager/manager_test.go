package manager_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// world is servers in memory that can be killed, hung and brought back.
type world struct {
	t     *testing.T
	mu    sync.Mutex
	hosts map[string]*host
}

// host is one server of a world.
type host struct {
	s     *server.Server
	away  bool // cannot be reached
	ends  []transport.Conn
	dials int

	hang  atomic.Bool
	calls atomic.Int32 // of its tools, as they reach it
}

func newWorld(t *testing.T, names ...string) *world {
	w := &world{t: t, hosts: make(map[string]*host)}
	for _, name := range names {
		w.host(name)
	}
	return w
}

type noInput struct{}

// host gives the server of a name, with the tools echo, read (which only reads) and fail.
func (w *world) host(name string) *host {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.hosts[name]
	if h != nil {
		return h
	}
	h = &host{s: server.New(mcp.Implementation{Name: "host", Version: "1"}, server.Options{})}
	w.hosts[name] = h
	yes := true
	for tool, hints := range map[string]*mcp.ToolAnnotations{"echo": nil, "read": {ReadOnlyHint: &yes}, "again": {IdempotentHint: &yes}} {
		server.AddTool(h.s, mcp.Tool{Name: tool, Annotations: hints}, func(ctx context.Context, _ *server.Request, _ noInput) (string, error) {
			h.calls.Add(1)
			if h.hang.Load() {
				<-ctx.Done()
				return "", ctx.Err()
			}
			return name, nil
		})
	}
	server.AddTool(h.s, mcp.Tool{Name: "fail"}, func(context.Context, *server.Request, noInput) (string, error) {
		h.calls.Add(1)
		return "", errors.New("the tool has failed")
	})
	return h
}

// dial is a Dial of a manager.
func (w *world) dial(ctx context.Context, s manager.Server, o client.Options) (*client.Client, error) {
	h := w.host(s.Name)
	w.mu.Lock()
	h.dials++
	away := h.away
	w.mu.Unlock()
	if away {
		return nil, errors.New("nobody at home")
	}
	near, far := transport.Pair(0)
	w.mu.Lock()
	h.ends = append(h.ends, far)
	w.mu.Unlock()
	go func() { // ends with the connection; the bubble waits for it
		if err := h.s.Serve(context.Background(), far); err != nil && !errors.Is(err, transport.ErrClosed) {
			w.t.Logf("serve %s: %v", s.Name, err)
		}
	}()
	return client.Connect(ctx, near, o)
}

// kill cuts the connections of a server.
func (w *world) kill(name string) {
	h := w.host(name)
	w.mu.Lock()
	ends := h.ends
	h.ends = nil
	w.mu.Unlock()
	for _, end := range ends {
		if err := end.Close(); err != nil && !errors.Is(err, transport.ErrClosed) {
			w.t.Error(err)
		}
	}
}

func (w *world) setAway(name string, away bool) {
	h := w.host(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	h.away = away
}

func (w *world) dials(name string) int {
	h := w.host(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	return h.dials
}

// servers makes entries of names.
func servers(names ...string) (all []manager.Server) {
	for _, name := range names {
		all = append(all, manager.Server{Name: name, Transport: manager.Stdio, Command: name})
	}
	return all
}

// open opens a manager over a world and closes it with the test.
func (w *world) open(o manager.Options, entries ...manager.Server) *manager.Manager {
	w.t.Helper()
	o.Dial = w.dial
	m, err := manager.Open(entries, o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(m.Close)
	m.Settled(w.t.Context())
	synctest.Wait()
	return m
}

// bubble runs a test in fake time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func name(server, tool string) manager.Name { return manager.Name{Server: server, Name: tool} }

// mustSay calls a tool that answers with the name of its server.
func mustSay(t *testing.T, m *manager.Manager, server string) {
	t.Helper()
	result, err := m.Call(t.Context(), name(server, "echo"), nil)
	if err != nil || result.Text() != server {
		t.Errorf("%s: %v, %v", server, result, err)
	}
}

func states(m *manager.Manager) string {
	var all []string
	for _, s := range m.Status() {
		all = append(all, s.Name+" "+string(s.State))
	}
	return strings.Join(all, ", ")
}

func toolNames(t *testing.T, m *manager.Manager) (all []string) {
	t.Helper()
	list, err := m.ListTools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		if l.Err != nil {
			all = append(all, l.Server+" failed")
			continue
		}
		all = append(all, name(l.Server, l.Tool.Name).String())
	}
	return all
}

// record keeps the events of a manager.
type record struct {
	mu  sync.Mutex
	all []string
}

func (r *record) hear(e manager.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Lists != 0 {
		r.all = append(r.all, fmt.Sprintf("%s lists %d", e.Server, e.Lists))
		return
	}
	r.all = append(r.all, e.Server+" "+string(e.Status.State))
}

func (r *record) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.all
	r.all = nil
	return all
}

func TestC044OneBadServerHarmsNoOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "good", "away", "hole")
		w.setAway("away", true)
		begun := time.Now()
		hole := func(ctx context.Context, s manager.Server, o client.Options) (*client.Client, error) {
			if s.Name == "hole" {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			return w.dial(ctx, s, o)
		}
		m, err := manager.Open(servers("good", "away", "hole"), manager.Options{Dial: hole})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		mustSay(t, m, "good")
		if took := time.Since(begun); took != 0 {
			t.Errorf("the good one answered after %s", took)
		}
		if got := toolNames(t, m); !slices.Contains(got, "good/echo") || !slices.Contains(got, "away failed") || !slices.Contains(got, "hole failed") {
			t.Errorf("listed %q", got)
		}
		if took := time.Since(begun); took > 11*time.Second {
			t.Errorf("listing took %s", took)
		}
		m.Settled(t.Context())
		for _, s := range m.Status() {
			want := map[string]string{"good": "", "away": "nobody at home", "hole": "not connected within 15s"}[s.Name]
			if (s.State == manager.Ready) != (s.Name == "good") || s.Reason != want {
				t.Errorf("%+v, want the reason %q", s, want)
			}
		}
		var down *manager.DownError
		if _, err := m.Call(t.Context(), name("away", "echo"), nil); !errors.As(err, &down) || !errors.Is(err, manager.ErrNotRun) {
			t.Errorf("a call of the one that is away: %v", err)
		}
	})
}

func TestC045ServerThatComesLate(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "late")
		w.setAway("late", true)
		m := w.open(manager.Options{}, servers("a", "late")...)
		var changes atomic.Int32
		defer m.OnToolsChange(func() { changes.Add(1) })()
		time.Sleep(time.Minute)
		if n := w.dials("late"); n < 5 || n > 12 {
			t.Errorf("%d tries in a minute", n)
		}
		w.setAway("late", false)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if states(m) != "a ready, late ready" || changes.Load() != 1 {
			t.Errorf("%s; %d changes of tools", states(m), changes.Load())
		}
		mustSay(t, m, "late")
	})
}

func TestC043LostServerComesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "b")
		m := w.open(manager.Options{}, servers("a", "b")...)
		var heard record
		defer m.OnEvent(heard.hear)()
		time.Sleep(time.Minute)
		before := toolNames(t, m)
		w.kill("b")
		synctest.Wait()
		if states(m) != "a ready, b failed" || m.Status()[1].Reason == "" {
			t.Errorf("after the kill: %+v", m.Status())
		}
		if got := toolNames(t, m); !slices.Equal(got, before) {
			t.Errorf("while it is away: %q", got)
		}
		mustSay(t, m, "a")
		time.Sleep(time.Second)
		synctest.Wait()
		mustSay(t, m, "b")
		want := []string{"b failed", "b connecting", "b ready"}
		if got := heard.take(); !slices.Equal(got, want) { // and no word of lists: they are the same
			t.Errorf("heard %q, want %q", got, want)
		}
		w.setAway("b", true)
		w.kill("b")
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := toolNames(t, m); slices.Contains(got, "b/echo") || !slices.Contains(heard.take(), "b lists 1") {
			t.Errorf("after a minute away: %q", got)
		}
	})
}

func TestC046ReloadTouchesOnlyWhatChanged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a", "b", "c", "d")
		m := w.open(manager.Options{Drain: 5 * time.Second}, servers("a", "b", "d")...)
		slow := func(server string) <-chan error {
			w.host(server).hang.Store(true)
			done := make(chan error, 1)
			go func() {
				_, err := m.Call(context.Background(), name(server, "echo"), nil)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		a, b := slow("a"), slow("b")
		next := servers("c", "a", "d")
		next[1].Description, next[1].DisabledTools = "now with words", []string{"fail"}
		next[2].Args = []string{"--other"}
		changes, err := m.Reload(next)
		if err != nil || fmt.Sprint(changes) != "{[c] [b] [d] [a]}" {
			t.Errorf("%+v, %v", changes, err)
		}
		m.Settled(t.Context())
		synctest.Wait()
		if states(m) != "c ready, a ready, d ready" || w.dials("a") != 1 || w.dials("d") != 2 {
			t.Errorf("%s; dials %d and %d", states(m), w.dials("a"), w.dials("d"))
		}
		if _, err := m.Call(t.Context(), name("b", "echo"), nil); !errors.Is(err, manager.ErrUnknownServer) {
			t.Errorf("a call of the one that is gone: %v", err)
		}
		if _, err := m.Call(t.Context(), name("a", "fail"), nil); !errors.Is(err, mcp.CodeInvalidParams) || !errors.Is(err, manager.ErrNotRun) {
			t.Errorf("a tool that was disabled: %v", err)
		}
		if got := toolNames(t, m); slices.Contains(got, "a/fail") || !slices.Contains(got, "c/fail") {
			t.Errorf("listed %q", got)
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		select {
		case err := <-b:
			if err == nil {
				t.Error("the drained call has an answer")
			}
		default:
			t.Error("the call of the removed server still runs after its time")
		}
		select {
		case err := <-a:
			t.Errorf("the call of the untouched server has ended: %v", err)
		default:
		}
		twice := append(servers("a"), servers("a")...)
		if _, err := m.Reload(twice); err == nil || states(m) != "c ready, a ready, d ready" {
			t.Errorf("a broken configuration: %v, %s", err, states(m))
		}
	})
}

func TestC072AllPagesOfAllServers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for _, name := range []string{"a", "b"} {
			h := &host{}
			h.s = server.New(mcp.Implementation{Name: name, Version: "1"}, server.Options{PageSize: 50})
			for i := range 101 {
				server.AddTool(h.s, mcp.Tool{Name: fmt.Sprintf("t%03d", i)}, func(context.Context, *server.Request, noInput) (string, error) { return "", nil })
			}
			w.hosts[name] = h
		}
		m := w.open(manager.Options{}, servers("a", "b")...)
		all := toolNames(t, m)
		if len(all) != 202 || all[0] != "a/t000" || all[201] != "b/t100" {
			t.Fatalf("%d tools", len(all))
		}
		var paged []string
		var o manager.PageOptions
		for o.Size = 30; ; {
			page, err := m.Tools(t.Context(), o)
			if err != nil || len(page.Items) > 30 || len(page.Failed) > 0 {
				t.Fatalf("%+v, %v", page, err)
			}
			for _, item := range page.Items {
				paged = append(paged, item.Name(item.Value.Name).String())
			}
			if page.Next == "" {
				break
			}
			o.Cursor = page.Next
		}
		if !slices.Equal(paged, all) {
			t.Errorf("by pages: %d tools", len(paged))
		}
		if _, err := m.Tools(t.Context(), manager.PageOptions{Cursor: "nonsense"}); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("a wrong cursor: %v", err)
		}
	})
}
