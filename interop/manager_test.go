package interop

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// child is a stdio server whose process can be found.
type child struct {
	entry manager.Server
	file  string // holds the process id
}

// newChild wraps a command so that it writes its process id first.
func newChild(t *testing.T, name string, command []string, env map[string]string) child {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	args := append([]string{"-c", `echo $$ >"$0"; exec "$@"`, file}, command...)
	return child{manager.Server{Name: name, Transport: manager.Stdio, Command: "sh", Args: args, Env: env}, file}
}

func (c child) pid(t *testing.T) int {
	t.Helper()
	raw, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func (c child) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(c.pid(t), sig); err != nil {
		t.Fatalf("%s: %v", c.entry.Name, err)
	}
}

// corruptible stands before a server and replaces its answers by something that is none while corrupt is set.
func corruptible(t *testing.T, to string, corrupt *atomic.Bool) (address string) {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(&url.URL{Scheme: target.Scheme, Host: target.Host}) },
		FlushInterval: -1,
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if corrupt.Load() {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + "\x00\xff")) // the peer is the one to complain
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL + target.Path
}

// crew is five servers of a manager, and a tool of each that can be called at any time.
type crew struct {
	m     *manager.Manager
	tools map[string]call

	mu     sync.Mutex
	faults map[string][]string // of the callers, by server
	worst  map[string]time.Duration
	good   map[string]int
}

type call struct {
	tool string
	args map[string]any
}

// callAll calls the tools of servers all the time until ctx ends.
func (c *crew) callAll(ctx context.Context) (wait func()) {
	var callers sync.WaitGroup
	for server, call := range c.tools {
		callers.Go(func() {
			for ctx.Err() == nil {
				begun := time.Now()
				result, err := c.m.Call(ctx, manager.Name{Server: server, Name: call.tool}, call.args)
				took := time.Since(begun)
				switch {
				case ctx.Err() != nil:
				case err != nil:
					c.note(server, err.Error(), took)
				case result.IsError:
					c.note(server, result.Text(), took)
				default:
					c.note(server, "", took)
				}
				time.Sleep(20 * time.Millisecond) // a caller in no hurry
			}
		})
	}
	return callers.Wait
}

func (c *crew) note(server, fault string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if fault != "" {
		c.faults[server] = append(c.faults[server], fault)
		return
	}
	c.good[server]++
	c.worst[server] = max(c.worst[server], took)
}

// harvest tells what has become of the calls since the last time.
func (c *crew) harvest() (good map[string]int, faults map[string][]string, worst map[string]time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	good, faults, worst = c.good, c.faults, c.worst
	c.good, c.faults, c.worst = map[string]int{}, map[string][]string{}, map[string]time.Duration{}
	return good, faults, worst
}

// others holds that all servers but one have answered all calls, and in time. It returns what the calls of that one failed
// with.
func (c *crew) others(t *testing.T, but string) []string {
	t.Helper()
	good, faults, worst := c.harvest()
	for server := range c.tools {
		if server == but {
			continue
		}
		if good[server] == 0 || len(faults[server]) > 0 || worst[server] > 10*time.Second {
			t.Errorf("while %s was ill, %s answered %d calls, the slowest in %s, and failed with %.300q", but, server, good[server], worst[server], faults[server])
		}
	}
	return faults[but]
}

// until waits for a server to be in a state for a reason.
func (c *crew) until(t *testing.T, server string, state manager.State, reason string) {
	t.Helper()
	const limit = 25 * time.Second
	var last manager.ServerStatus
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, s := range c.m.Status() {
			if s.Name != server {
				continue
			}
			last = s
			if s.State == state && strings.Contains(s.Reason, reason) {
				return
			}
		}
	}
	t.Fatalf("%s is %s (%s) after %s, want %s (%s)", server, last.State, last.Reason, limit, state, reason)
}

// TestManager has a manager keep five real servers, three of them the npm reference servers, and makes one after another
// ill: killed again and again, stopped in its tracks, answering rubbish. The others answer throughout.
func TestManager(t *testing.T) {
	folder := t.TempDir()
	everything := newChild(t, "everything", Everything(t), nil)
	files := newChild(t, "files", Filesystem(t, folder), nil)
	memory := newChild(t, "memory", []string{NodePath(t), npmServer(t, "server-memory")},
		map[string]string{"MEMORY_FILE_PATH": filepath.Join(folder, "memory.json")})
	own := server.New(mcp.Implementation{Name: "modern", Version: "1"}, server.Options{Versions: mcp.ModernVersions()})
	server.AddTool(own, mcp.Tool{Name: "hello"}, func(context.Context, *server.Request, struct{}) (string, error) { return "hi", nil })
	modern := httptest.NewServer(own.Handler())
	t.Cleanup(modern.Close)
	var corrupt atomic.Bool
	legacy := corruptible(t, StartEverything(t), &corrupt)

	m, err := manager.Open([]manager.Server{
		everything.entry, files.entry, memory.entry,
		{Name: "modern", Transport: manager.HTTP, URL: modern.URL},
		{Name: "legacy", Transport: manager.HTTP, URL: legacy},
	}, manager.Options{
		Client:  client.Options{CallTimeout: 2 * time.Second, HTTPClient: &http.Client{Transport: &http.Transport{}}, Restart: client.Restart{Longest: 2 * time.Second}},
		Breaker: manager.BreakerPolicy{Consecutive: 3, First: 500 * time.Millisecond, Longest: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := &crew{m: m, tools: map[string]call{
		"everything": {"echo", map[string]any{"message": "hi"}},
		"files":      {"list_allowed_directories", map[string]any{}},
		"memory":     {"read_graph", map[string]any{}},
		"modern":     {"hello", nil},
		"legacy":     {"echo", map[string]any{"message": "hi"}},
	}}
	c.harvest()
	m.Settled(t.Context())
	for server := range c.tools {
		c.until(t, server, manager.Ready, "")
	}
	list, err := m.ListTools(t.Context())
	found := map[string]int{}
	for _, l := range list {
		found[l.Server]++
		if l.Err != nil {
			t.Errorf("%s: %v", l.Server, l.Err)
		}
	}
	if err != nil || len(found) != 5 || found["everything"] != found["legacy"] || found["modern"] != 1 {
		t.Errorf("listed %v, %v", found, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	wait := c.callAll(ctx)
	defer func() { stop(); wait() }()

	for range 3 {
		pid := files.pid(t)
		files.signal(t, syscall.SIGKILL)
		c.until(t, "files", manager.Failed, "signal killed")
		c.until(t, "files", manager.Ready, "")
		if files.pid(t) == pid {
			t.Error("the killed server was not started again")
		}
	}
	c.others(t, "files")

	memory.signal(t, syscall.SIGSTOP)
	c.until(t, "memory", manager.Degraded, "breaker open")
	time.Sleep(2 * time.Second) // the others are to answer meanwhile
	c.others(t, "memory")
	memory.signal(t, syscall.SIGCONT)
	c.until(t, "memory", manager.Ready, "")
	c.harvest()

	corrupt.Store(true)
	c.until(t, "legacy", manager.Degraded, "breaker open")
	faults := c.others(t, "legacy")
	if len(faults) == 0 {
		t.Fatal("rubbish was taken for an answer")
	}
	t.Logf("rubbish: %s; %s", faults[0], m.Status()[4].Reason)
	corrupt.Store(false)
	c.until(t, "legacy", manager.Ready, "")
	c.harvest()
	time.Sleep(500 * time.Millisecond)
	if good, faults, _ := c.harvest(); good["legacy"] == 0 {
		t.Errorf("after the rubbish the legacy server answers no call: %.300q", faults["legacy"])
	}

	stop()
	wait()
	pids := []int{everything.pid(t), files.pid(t), memory.pid(t)}
	m.Close()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	nothingRuns(t)
}

// nothingRuns waits until no goroutine is in the code of clients and of the manager any more.
func nothingRuns(t *testing.T) {
	t.Helper()
	const size = 4 << 20
	var left []string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		stacks := make([]byte, size)
		stacks = stacks[:runtime.Stack(stacks, true)]
		left = left[:0]
		for stack := range strings.SplitSeq(string(stacks), "\n\n") {
			for _, code := range []string{"rialto/client.", "rialto/manager.", "rialto/transport/stdio."} {
				if strings.Contains(stack, code) {
					left = append(left, stack)
					break
				}
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("%d goroutines are left:\n%s", len(left), strings.Join(left, "\n\n"))
}
