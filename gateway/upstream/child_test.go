package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

const childVariable = "RIALTO_TEST_CHILD"

// TestMain lets the test program be its own child: a server with the tools pid, env and die.
func TestMain(m *testing.M) {
	switch os.Getenv(childVariable) {
	case "":
		os.Exit(m.Run())
	case "crash":
		fmt.Fprintln(os.Stderr, "boom")
		os.Exit(3)
	case "silent":
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	s := server.New(mcp.Implementation{Name: "child", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "pid"}, func(context.Context, *server.Request, struct{}) (string, error) {
		return fmt.Sprint(os.Getpid()), nil
	})
	server.AddTool(s, mcp.Tool{Name: "where"}, func(context.Context, *server.Request, struct{}) (string, error) {
		folder, err := os.Getwd()
		return folder + " " + os.Getenv("FROM_FILE") + " " + os.Getenv("FROM_ENV"), err
	})
	server.AddTool(s, mcp.Tool{Name: "die"}, func(context.Context, *server.Request, struct{}) (string, error) {
		fmt.Fprintln(os.Stderr, "last words of", os.Getenv("SECRET_TOKEN"))
		os.Exit(7)
		return "", nil
	})
	if err := s.RunStdio(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is the configuration of this program as a server.
func child(t *testing.T, what string, env map[string]string) manager.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if env == nil {
		env = make(map[string]string)
	}
	env[childVariable] = what
	return manager.Server{Name: what, Transport: manager.Stdio, Command: self, Env: env}
}

// connect runs servers for real, and waits until each was tried.
func connect(t *testing.T, timeout time.Duration, servers ...manager.Server) *Set {
	t.Helper()
	set := launch(t, timeout, servers...)
	set.Settled(t.Context())
	return set
}

// launch runs servers for real.
func launch(t *testing.T, timeout time.Duration, servers ...manager.Server) *Set {
	t.Helper()
	set := New(servers, Options{
		Limits: Limits{Connect: timeout, Call: 10 * time.Second, Total: 20 * time.Second},
		Dial:   Dialing(client.Options{}, nil),
	})
	set.Start()
	t.Cleanup(set.Close)
	return set
}

// say calls a tool and gives the text of its result.
func say(t *testing.T, set *Set, server, tool string) (string, error) {
	t.Helper()
	answer, err := set.Call(t.Context(), server, Call{Method: mcp.MethodCallTool, Params: []byte(`{"name":"` + tool + `"}`)})
	if err != nil {
		return "", err
	}
	var result mcp.CallToolResult
	if err := result.UnmarshalJSON(answer.Result); err != nil {
		t.Fatal(err)
	}
	return result.Text(), nil
}

func TestChildrenSideBySide(t *testing.T) {
	missing := manager.Server{Name: "missing", Transport: manager.Stdio, Command: "no-such-program-anywhere"}
	sse := manager.Server{Name: "sse", Transport: manager.SSE, URL: "unix:///tmp/sse"}
	set := launch(t, time.Hour, child(t, "silent", nil), child(t, "serve", nil), child(t, "crash", nil), missing, sse)
	for _, name := range []string{"serve", "crash", "missing", "sse"} {
		set.Tried(t.Context(), name) // while the first one is waited for
	}
	want := []struct {
		state  manager.State
		reason string
	}{
		{manager.Connecting, ""},
		{manager.Ready, ""},
		{manager.Failed, "(exit code 3); its last words: boom"},
		{manager.Failed, `the program "no-such-program-anywhere" was not found in PATH`},
		{manager.Failed, "only http:// and https:// are supported"},
	}
	for i, snap := range set.Snapshots() { // one that failed may be on its next try
		if (snap.State == manager.Ready) != (want[i].state == manager.Ready) || !strings.Contains(snap.Reason, want[i].reason) {
			t.Errorf("%s: %s %q, want %s %q", snap.Name, snap.State, snap.Reason, want[i].state, want[i].reason)
		}
	}
	if sse := set.Snapshots()[4]; sse.Retry != 0 {
		t.Errorf("an address of no use is tried again after %s", sse.Retry)
	}
	if text, err := say(t, set, "serve", "pid"); err != nil || text == "" {
		t.Errorf("the good one answers %q, %v", text, err)
	}
}

func TestChildThatSaysNothing(t *testing.T) {
	set := connect(t, time.Second, child(t, "silent", nil))
	if snap := set.Snapshots()[0]; snap.State == manager.Ready || !strings.Contains(snap.Reason, "not connected within 1s") {
		t.Errorf("%s %q", snap.State, snap.Reason)
	}
}

func TestChildDies(t *testing.T) {
	set := connect(t, 10*time.Second, child(t, "serve", map[string]string{"SECRET_TOKEN": "hunter2hunter2"}))
	first, err := say(t, set, "serve", "pid")
	if err != nil {
		t.Fatal(err)
	}
	_, err = say(t, set, "serve", "die")
	if err == nil {
		t.Fatal("the call of a process that dies has succeeded")
	}
	reason := set.Reason("serve", err)
	if !strings.Contains(reason, "(exit code 7); its last words: last words of") || strings.Contains(reason, "hunter2") {
		t.Errorf("the reason is %q", reason)
	}
	again, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for again.Err() == nil {
		if second, err := say(t, set, "serve", "pid"); err == nil {
			if second == first {
				t.Error("the dead process answers")
			}
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("it is not started again: %+v", set.Snapshots())
}

func TestCloseEndsChildren(t *testing.T) {
	set := launch(t, time.Hour, child(t, "serve", nil), child(t, "silent", nil))
	text, err := say(t, set, "serve", "pid")
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(text, &pid); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	set.Close()
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("closing took %s", took)
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return // gone, where the system tells so here
	}
	if err := p.Signal(syscall.Signal(0)); !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is still there: %v", err)
	}
}

func TestFolderAndEnvironment(t *testing.T) {
	folder := t.TempDir()
	file := folder + "/vars.env"
	if err := os.WriteFile(file, []byte("# comment\n\nexport FROM_FILE=\"one two\"\nFROM_ENV=lost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	entry := child(t, "serve", map[string]string{"FROM_ENV": "wins"})
	entry.Dir, entry.EnvFile = folder, file
	set := connect(t, 10*time.Second, entry)
	if text, err := say(t, set, "serve", "where"); err != nil || text != folder+" one two wins" {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestBadEnvFile(t *testing.T) {
	file := t.TempDir() + "/vars.env"
	if err := os.WriteFile(file, []byte("A=1\nno assignment\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: file + ":2: not of the form NAME=value", file + ".gone": "no such file"} {
		if _, err := manager.Command(manager.Server{Command: "x", EnvFile: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
