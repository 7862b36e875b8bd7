// Package child builds the servers under measure and runs them as processes of their own.
package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rialto-mcp/rialto/bench/internal/serve"
)

const module = "github.com/rialto-mcp/rialto/bench/"

// Build compiles the program of the given package (a path inside this module) into dir and returns its file name. It
// must run inside the tree, since the modules find each other by the workspace file. The race detector stays out, whatever
// GOFLAGS says: it would be what is measured.
func Build(ctx context.Context, dir, pkg string) (string, error) {
	out := filepath.Join(dir, strings.ReplaceAll(pkg, "/", "_"))
	cmd := exec.CommandContext(ctx, "go", "build", "-race=false", "-o", out, module+pkg)
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w\n%s", pkg, err, text)
	}
	return out, nil
}

// Process is a running server. Stop must be called once.
type Process struct {
	Addr string // HOST:PORT; empty on stdio

	In  io.WriteCloser // standard input and output of a stdio server
	Out *bufio.Reader

	cmd    *exec.Cmd
	stderr *tail
	ended  chan error // how it ended; nil on stdio, where the pipe is read first
}

// PID is the process id, for reading its memory.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// StartHTTP runs program, with more flags of its own, on a free port of the loopback address and returns once it listens.
func StartHTTP(program string, stateful bool, more ...string) (*Process, error) {
	args := append([]string{"-addr", "127.0.0.1:0"}, more...)
	if stateful {
		args = append(args, "-stateful")
	}
	p := &Process{cmd: exec.Command(program, args...), stderr: newTail()}
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.ended = make(chan error, 1)
	go func() { p.ended <- p.cmd.Wait() }() // ends with the process; Stop takes what it sends
	if err := p.waitAddr(30 * time.Second); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", program, err), p.Stop())
	}
	return p, nil
}

func (p *Process) waitAddr(limit time.Duration) error {
	select {
	case p.Addr = <-p.stderr.addr:
		return nil
	case err := <-p.ended:
		p.ended <- err // for Stop
		return fmt.Errorf("it ended before it listened; it said: %s", p.Stderr())
	case <-time.After(limit):
		return fmt.Errorf("no address within %v; it said: %s", limit, p.Stderr())
	}
}

// StartStdio runs program with its standard input and output at hand.
func StartStdio(program string) (*Process, error) {
	p := &Process{cmd: exec.Command(program), stderr: newTail()}
	p.cmd.Stderr = p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.In, p.Out = in, bufio.NewReaderSize(out, 256<<10)
	return p, p.cmd.Start()
}

// Guard kills the process when ctx ends or the limit has passed, which unblocks whoever waits for its answer. The function
// it returns lifts the guard.
func (p *Process) Guard(ctx context.Context, limit time.Duration) (lift func()) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(ctx, func() { p.cmd.Process.Kill() })
	return func() {
		stop()
		cancel()
	}
}

// Stop ends the process: standard input first, then SIGTERM, then SIGKILL after two seconds. How the process ended is
// no error; that it did not end is.
func (p *Process) Stop() error {
	if p.In != nil {
		p.In.Close() // a server that is gone already has closed it
	}
	kill := time.AfterFunc(2*time.Second, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	var err error
	if p.ended != nil {
		p.cmd.Process.Signal(syscall.SIGTERM) // fails only when the process has ended
		err = <-p.ended
	} else {
		err = p.cmd.Wait()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil
	}
	return err
}

// Stderr returns the last lines that the process wrote to standard error.
func (p *Process) Stderr() string { return p.stderr.text() }

// tail keeps the end of what is written to it, and the address that a server announced.
type tail struct {
	mu   sync.Mutex
	last []byte
	addr chan string // holds the address once known
}

const keep = 4096

func newTail() *tail { return &tail{addr: make(chan string, 1)} }

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, b...)
	if _, rest, found := strings.Cut(string(t.last), serve.Ready); found {
		if addr, _, whole := strings.Cut(rest, "\n"); whole {
			select {
			case t.addr <- addr:
			default: // announced before
			}
		}
	}
	if len(t.last) > keep {
		t.last = append([]byte(nil), t.last[len(t.last)-keep:]...)
	}
	return len(b), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.last)
}

// RSS reads the resident memory of a process in bytes. It works on Linux alone.
func RSS(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	return parseRSS(string(status))
}

func parseRSS(status string) (int64, error) {
	for line := range strings.Lines(status) {
		if value, found := strings.CutPrefix(line, "VmRSS:"); found {
			var kib int64
			if _, err := fmt.Sscanf(value, "%d kB", &kib); err != nil {
				return 0, fmt.Errorf("read VmRSS from %q: %w", value, err)
			}
			return kib << 10, nil
		}
	}
	return 0, errors.New("the process status holds no VmRSS")
}
