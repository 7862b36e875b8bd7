package cases

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport/stdio"
)

// childVar makes the test binary play the server of a pipe.
const childVar = "RIALTO_CASES_CHILD"

func TestMain(m *testing.M) {
	role := os.Getenv(childVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := playChild(role); err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
}

const frameLimit = 1 << 20 // bytes of one line to the child "small"

// playChild is the server that the tests of pipes start as a process.
func playChild(role string) error {
	opts := libraryOptions(server.Options{OnError: func(err error) { fmt.Fprintln(os.Stderr, "stray:", err) }})
	if role == "modern" {
		opts.Versions = []string{mcp.Version20260728}
	}
	s := server.New(mcp.Implementation{Name: "child", Version: "1"}, opts)
	if err := errors.Join(furnish(s), furnishChild(s)); err != nil {
		return err
	}
	switch role {
	case "small":
		return s.Serve(context.Background(), stdio.Open(os.Stdin, os.Stdout, stdio.Options{MaxFrameBytes: frameLimit}))
	case "wide":
		return s.Serve(context.Background(), stdio.Open(os.Stdin, os.Stdout, stdio.Options{MaxFrameBytes: 80 << 20}))
	}
	return s.RunStdio(context.Background())
}

// furnishChild adds tools that take their time, and say on standard error when they begin and end.
func furnishChild(s *server.Server) error {
	wait := func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "waiting")
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "ended")
		return mcp.TextResult("waited"), nil
	}
	echo := func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		raw, _ := jsonrpc.Member(req.Arguments(), "text")
		text, _ := jsonrpc.Text(raw)
		return mcp.TextResult(text), nil
	}
	large := func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		raw, _ := jsonrpc.Member(req.Arguments(), "bytes")
		n, err := strconv.Atoi(string(raw))
		return mcp.TextResult(strings.Repeat("x", n)), err
	}
	slow := func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		time.Sleep(50 * time.Millisecond)
		return mcp.TextResult("slow"), nil
	}
	grow := func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		return mcp.TextResult("grown"), s.AddRawTool(mcp.Tool{Name: fmt.Sprint("grown", len(s.ToolNames()))}, echo)
	}
	var gates sync.Map // of calls that are held, by name
	gate := func(req *server.Request) chan struct{} {
		name, _ := jsonrpc.Member(req.Arguments(), "name")
		held, _ := gates.LoadOrStore(string(name), make(chan struct{}, 1))
		return held.(chan struct{})
	}
	hold := func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		select {
		case <-gate(req):
			return mcp.TextResult("held " + string(req.Arguments())), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	release := func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		gate(req) <- struct{}{}
		return mcp.TextResult("released"), nil
	}
	var errs []error
	for name, h := range map[string]server.ToolHandler{"hold": hold, "release": release, "wait": wait, "echo": echo, "large": large, "slow": slow, "grow": grow} {
		errs = append(errs, s.AddRawTool(mcp.Tool{Name: name}, h))
	}
	return errors.Join(errs...)
}

// child is a server behind two pipes.
type child struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   io.ReadCloser
	lines chan string // of standard output; closed at its end
	said  *spoken     // standard error
	ended chan error
}

// spoken is what a process has written to standard error so far.
type spoken struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *spoken) count(part string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Count(s.text.String(), part)
}

// spawn starts a process of a role; it is gone when the test ends.
func spawn(t testing.TB, role string) *child {
	t.Helper()
	c := spawnDeaf(t, role)
	c.listen()
	return c
}

// listen reads standard output line by line.
func (c *child) listen() {
	c.lines = make(chan string, 64)
	go func() { // ends with the process
		defer close(c.lines)
		r := bufio.NewReaderSize(c.out, 1<<16)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				c.lines <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
}

// spawnDeaf is spawn for a client that does not read what the server says.
func spawnDeaf(t testing.TB, role string) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), said: &spoken{}, ended: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), childVar+"="+role)
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	c.cmd.Stderr = c.said
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := c.cmd.Process.Wait() // not Cmd.Wait, which would close the pipe before it is read
		c.ended <- err
	}()
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		c.in.Close()
		c.out.Close()
		if t.Failed() {
			c.said.mu.Lock()
			defer c.said.mu.Unlock()
			t.Logf("standard error: %s", c.said.text.String())
		}
	})
	return c
}

// send writes one line.
func (c *child) send(t testing.TB, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatalf("the server takes no more: %v", err)
	}
}

// next returns the next line of the server.
func (c *child) next(t testing.TB) string {
	t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			t.Fatal("the server has ended")
		}
		return line
	case <-time.After(patience):
		t.Fatal("the server says nothing")
	}
	return ""
}

const markerID = `"the end"`

// mark asks something in the modern era, whose answer comes after whatever was to come before.
func (c *child) mark(t testing.TB) {
	t.Helper()
	c.send(t, strings.Replace(claims("2026-07-28", "server/discover").body, `"id":7`, `"id":`+markerID, 1))
}

// silent checks that the server says nothing to what it was sent so far, and still answers.
func (c *child) silent(t testing.TB) {
	t.Helper()
	c.mark(t)
	if line := c.next(t); idOf(line) != markerID {
		t.Errorf("want silence, got %s", line)
	}
}

// idOf returns the raw id of a line.
func idOf(line string) string {
	id, _ := jsonrpc.Member(json.RawMessage(line), "id")
	return string(id)
}

// greet goes through the handshake of a legacy revision.
func (c *child) greet(t testing.TB, revision string) {
	t.Helper()
	c.send(t, initialize(revision).body)
	if line := c.next(t); !strings.Contains(line, fmt.Sprintf(`"protocolVersion":%q`, revision)) {
		t.Fatalf("initialize: %s", line)
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// hears waits until the process has said something on standard error so many times.
func (c *child) hears(t testing.TB, part string, times int) {
	t.Helper()
	eventually(t, fmt.Sprintf("the server says %q %d times", part, times), func() bool { return c.said.count(part) >= times })
}

// leaves checks that the process ends, by itself and soon.
func (c *child) leaves(t testing.TB, within time.Duration) {
	t.Helper()
	select {
	case err := <-c.ended:
		if err != nil {
			t.Errorf("waiting for the server: %v", err)
		}
	case <-time.After(within):
		t.Errorf("the server is still there after %s", within)
	}
}
