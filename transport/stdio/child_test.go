package stdio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/conntest"
)

// helper is a command that runs the test binary as a child, with short times.
func helper(name string, args ...string) Command {
	return Command{
		Path: os.Args[0], Args: args, Env: []string{helperVar + "=" + name, "GORACE=atexit_sleep_ms=0"},
		CloseWait: 200 * time.Millisecond, TermWait: 200 * time.Millisecond,
	}
}

func start(t *testing.T, command Command) *Child {
	t.Helper()
	conntest.CheckGoroutines(t)
	c, err := Start(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func mustRead(t *testing.T, c transport.Conn) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	frame, err := c.Read(ctx)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return string(frame)
}

func mustExit(t *testing.T, c *Child) *ExitError {
	t.Helper()
	if !within(c.Done(), 10*time.Second) {
		t.Fatal("the child still runs")
	}
	return c.ExitError()
}

func TestChildContract(t *testing.T) {
	conntest.Run(t, func(t *testing.T) (near, far transport.Conn) {
		command := helper("echo")
		command.CloseWait = 2 * time.Second
		c, err := Start(t.Context(), command)
		if err != nil {
			t.Fatal(err)
		}
		return c, nil
	})
}

func TestChildExitsWithItsInput(t *testing.T) {
	command := helper("echo")
	command.CloseWait = 10 * time.Second
	c := start(t, command)
	if c.ExitError() != nil {
		t.Error("an exit error while it runs")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if exit := mustExit(t, c); exit.Code != 0 || exit.Signal != "" {
		t.Errorf("did not end by itself: %v", exit)
	}
}

func TestChildIsHeardOutOnClose(t *testing.T) {
	command := helper("chatty")
	command.CloseWait = 10 * time.Second
	c := start(t, command)
	mustRead(t, c)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if exit := mustExit(t, c); exit.Code != 0 || exit.Signal != "" {
		t.Errorf("could not say all: %v", exit)
	}
}

func TestLastWordsAreRead(t *testing.T) {
	c := start(t, helper("last"))
	if exit := mustExit(t, c); exit.Code != 4 {
		t.Errorf("exit %v", exit)
	}
	for _, want := range []string{"1", "2", "3"} {
		if got := mustRead(t, c); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for range 2 {
		if _, err := c.Read(t.Context()); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	}
	var exit *ExitError
	if err := c.Write(t.Context(), []byte("1")); !errors.As(err, &exit) || exit.Code != 4 {
		t.Errorf("write to a dead child: %v", err)
	}
}

// A child that writes much to its standard error is never blocked by it, whoever takes it.
func TestC082StderrIsDrained(t *testing.T) {
	conntest.CheckGoroutines(t)
	var all bytes.Buffer
	for name, to := range map[string]io.Writer{"nobody": nil, "a writer": &all, "a writer that fails": failing{}} {
		t.Run(name, func(t *testing.T) {
			command := helper("flood")
			command.Stderr = to
			command.CloseWait = 10 * time.Second
			c := start(t, command)
			if err := c.Write(t.Context(), []byte("1")); err != nil {
				t.Fatal(err)
			}
			if got := mustRead(t, c); got != "1" {
				t.Errorf("got %q", got)
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			last := mustExit(t, c).StderrTail
			if !strings.HasSuffix(last, "e\nthe end") || len(last) > tailBytes || len(last) < tailBytes/2 {
				t.Errorf("kept %d bytes: ...%q", len(last), last[max(0, len(last)-20):])
			}
		})
	}
	if want := 10<<20 + len("the end\n"); all.Len() != want {
		t.Errorf("the writer got %d bytes of %d", all.Len(), want)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// A child that does not read: reading from it goes on, and the write ends with whatever comes first.
func TestC082WriteToDeafChild(t *testing.T) {
	ends := map[string]struct {
		end   func(c *Child, cancel func())
		check func(error) bool
	}{
		"context": {func(_ *Child, cancel func()) { cancel() }, func(err error) bool { return errors.Is(err, context.Canceled) }},
		"Close":   {func(c *Child, _ func()) { go c.Close() }, func(err error) bool { return errors.Is(err, transport.ErrClosed) }},
		"death": {func(c *Child, _ func()) { c.cmd.Process.Kill() }, func(err error) bool {
			var exit *ExitError
			return errors.As(err, &exit)
		}},
	}
	for name, e := range ends {
		t.Run(name, func(t *testing.T) {
			c := start(t, helper("deaf"))
			mustRead(t, c)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			result := make(chan error, 1)
			go func() { result <- c.Write(ctx, bytes.Repeat([]byte("x"), 10<<20)) }()
			for !c.pipe.writing() {
				time.Sleep(time.Millisecond)
			}
			if got := mustRead(t, c); got != "still talking" {
				t.Errorf("got %q", got)
			}
			e.end(c, cancel)
			select {
			case err := <-result:
				if !e.check(err) {
					t.Errorf("got %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Error("the write still waits")
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("STDIO_TEST_PRIVATE", "leaked")
	t.Setenv("SHELL", "() { :; }")
	command := helper("env")
	command.Env = append(command.Env, "GIVEN=1", "GIVEN=2")
	env := mustRead(t, start(t, command))
	for _, want := range []string{"PATH=", "GIVEN=2"} {
		if !strings.Contains(env, want) {
			t.Errorf("no %s in %s", want, env)
		}
	}
	for _, bad := range []string{"leaked", "GIVEN=1", "SHELL="} {
		if strings.Contains(env, bad) {
			t.Errorf("%s in %s", bad, env)
		}
	}
}

func TestC083StartFailures(t *testing.T) {
	dir := t.TempDir()
	cases := []struct {
		name    string
		command Command
		want    string
	}{
		{"unknown name", Command{Path: "does-not-exist", Env: []string{"PATH=" + dir}}, "searched PATH: " + dir},
		{"empty PATH", Command{Path: "does-not-exist", Env: []string{"PATH="}}, "searched PATH: (empty)"},
		{"unknown path", Command{Path: dir + "/does-not-exist"}, "does-not-exist"},
		{"no program", Command{}, "no program given"},
		{"no directory", Command{Path: os.Args[0], Dir: dir + "/none"}, "none"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			conntest.CheckGoroutines(t)
			_, err := Start(t.Context(), c.command)
			var failed *StartError
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(over, helper("echo")); !errors.Is(err, context.Canceled) {
		t.Errorf("context over: %v", err)
	}
}

func TestSecretsAreMasked(t *testing.T) {
	got := mask("token=abcdef0123 user=alice", []string{"API_TOKEN=abcdef0123", "LOGIN=alice", "SHORT_KEY=a"})
	if want := "token=*** user=alice"; got != want {
		t.Errorf("got %q", got)
	}
}

func TestConcurrentClose(t *testing.T) {
	c := start(t, helper("stubborn"))
	mustRead(t, c)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Children that are started and ended side by side leave neither goroutines nor processes.
func TestC041ManyChildren(t *testing.T) {
	conntest.CheckGoroutines(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			c, err := Start(t.Context(), helper("echo"))
			if err != nil {
				t.Error(err)
				return
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			if c.cmd.ProcessState == nil {
				t.Error("not waited for")
			}
		})
	}
	wg.Wait()
}

// The command line that runs a batch file on Windows: nothing in an argument is read by cmd.exe.
func TestBatchLine(t *testing.T) {
	cases := []struct {
		path string
		args []string
		want string
	}{
		{`C:\n\npx.cmd`, nil, `""C:\n\npx.cmd""`},
		{`C:\Program Files\npx.cmd`, []string{"-y", "a b", ""}, `""C:\Program Files\npx.cmd" "-y" "a b" """`},
		{`npx.cmd`, []string{`say "hi"`, `a&b|c^d`}, `""npx.cmd" "say ""hi""" "a&b|c^d""`},
		{`npx.cmd`, []string{`%PATH%`}, `""npx.cmd" "%%cd:~,%PATH%%cd:~,%""`},
		{`npx.cmd`, []string{`dir\`, `a\"b`}, `""npx.cmd" "dir\\" "a\\""b""`},
	}
	for _, c := range cases {
		got, err := batchLine(c.path, c.args)
		if want := `cmd.exe /e:ON /v:OFF /d /c ` + c.want; err != nil || got != want {
			t.Errorf("%q: got %s, %v\nwant %s", c.args, got, err, want)
		}
	}
	for _, bad := range [][]string{{"a\nb"}, {"a\rb"}, {"a\x00b"}} {
		if got, err := batchLine("npx.cmd", bad); err == nil {
			t.Errorf("%q accepted: %s", bad, got)
		}
	}
	if _, err := batchLine(`a"b.cmd`, nil); err == nil {
		t.Error("a path with a quote accepted")
	}
}

// shell runs a script as the child, where there is a shell.
func shell(t *testing.T, script string) Command {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh on this machine")
	}
	return Command{Path: "sh", Args: []string{"-c", script}, CloseWait: 200 * time.Millisecond, TermWait: 200 * time.Millisecond}
}

func TestC042CrashAtStart(t *testing.T) {
	c := start(t, shell(t, "echo boom >&2; exit 3"))
	begun := time.Now()
	if _, err := c.Read(t.Context()); err != io.EOF {
		t.Errorf("read: %v", err)
	}
	exit := mustExit(t, c)
	if took := time.Since(begun); took > 2*time.Second {
		t.Errorf("took %v", took)
	}
	if exit.Code != 3 || exit.StderrTail != "boom" {
		t.Errorf("got %+v", exit)
	}
	if want := `server process "sh" exited with code 3; the last it wrote to stderr: boom`; exit.Error() != want {
		t.Errorf("got %s", exit)
	}
}

func ExampleStart() {
	ctx := context.Background()
	c, err := Start(ctx, Command{Path: "cat"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	if err := c.Write(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)); err != nil {
		fmt.Println(err)
	}
	frame, err := c.Read(ctx)
	fmt.Println(string(frame), err)
	// Output: {"jsonrpc":"2.0","id":1,"method":"ping"} <nil>
}
