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

	options := client.Options{HTTPClient: &http.Client{Transport: &http.Transport{}}, Restart: client.Restart{Longest: 2 * time.Second}}
	patient(&options)
	m, err := manager.Open([]manager.Server{
		everything.entry, files.entry, memory.entry,
		{Name: "modern", Transport: manager.HTTP, URL: modern.URL},
		{Name: "legacy", Transport: manager.HTTP, URL: legacy},
	}, manager.Options{
		Client:  options,
		Breaker: manager.BreakerPolicy{Consecutive: 3, First: 500 * time.Millisecond, Longest: time.Second},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c := newCrew(m, map[string]call{
		"everything": {"echo", map[string]any{"message": "hi"}},
		"files":      {"list_allowed_directories", map[string]any{}},
		"memory":     {"read_graph", map[string]any{}},
		"modern":     {"hello", nil},
		"legacy":     {"echo", map[string]any{"message": "hi"}},
	})
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
		c.forget("files")
		files.signal(t, syscall.SIGKILL)
		c.until(t, "files", manager.Failed, "signal killed")
		c.until(t, "files", manager.Ready, "")
		if files.pid(t) == pid {
			t.Error("the killed server was not started again")
		}
	}
	c.others(t, "files")

	c.change(func() { c.hurry = "memory" })
	c.answers(t, "memory") // those that wait for long have theirs
	memory.signal(t, syscall.SIGSTOP)
	c.until(t, "memory", manager.Degraded, "breaker open")
	c.others(t, "memory")
	memory.signal(t, syscall.SIGCONT)
	c.change(func() { c.hurry = "" })
	c.answers(t, "memory")
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
	c.answers(t, "legacy")
	c.until(t, "legacy", manager.Ready, "")

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
