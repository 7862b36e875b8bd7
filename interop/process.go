package interop

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	startLimit = driveLimit      // from the start of a server to its readiness: several at once on a busy machine take their time
	stopLimit  = 3 * time.Second // from SIGTERM to SIGKILL
)

// Process is a server to run beside a test.
type Process struct {
	Command []string
	Env     []string // KEY=VALUE, on top of the environment of the test

	// Ready looks at one line of output, of either stream, and returns the address once the line gives it away.
	Ready func(line string) (url string, ok bool)
}

// Start runs the server until the test ends and returns its address. It ends the whole process group: SIGTERM, and
// SIGKILL for what is still there after three seconds. It fails the test when the server ends or stays silent.
func (p Process) Start(t testing.TB) string {
	t.Helper()
	url, output, err := p.start(t)
	if err != nil {
		t.Fatalf("start %s: %v\n%s", strings.Join(p.Command, " "), err, output)
	}
	return url
}

func (p Process) start(t testing.TB) (url, output string, err error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return "", "", err
	}
	cmd := exec.Command(p.Command[0], p.Command[1:]...)
	cmd.Env = append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = writer, writer
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return "", "", errors.Join(err, writer.Close(), reader.Close())
	}
	if err := writer.Close(); err != nil {
		return "", "", err
	}
	lines := watch(reader, p.Ready)
	t.Cleanup(func() { stop(cmd, lines.done) })

	late, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	select {
	case url = <-lines.url:
		return url, "", nil
	case <-lines.done:
		return "", lines.text(), errors.New("it ended before it was ready")
	case <-late.Done():
		return "", lines.text(), errors.New("it is not ready in time")
	}
}

// stop ends the process group of cmd and waits until its output is closed, which the last process of the group does.
func stop(cmd *exec.Cmd, closed <-chan struct{}) {
	// Errors say that the group is gone already.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-closed:
	case <-time.After(stopLimit):
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-closed
	}
	_ = cmd.Wait() // the exit status of a process that was told to end says nothing
}

// watcher reads the output of a process; its goroutine ends with the last process that holds the other end.
type watcher struct {
	url  chan string // gets at most one value
	done chan struct{}

	mu    sync.Mutex
	first strings.Builder // the output before it was ready, for error messages
}

func watch(from io.ReadCloser, ready func(string) (string, bool)) *watcher {
	w := &watcher{url: make(chan string, 1), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		defer from.Close()
		found := false
		scanner := bufio.NewReader(from)
		for {
			line, err := scanner.ReadString('\n')
			if !found {
				w.mu.Lock()
				w.first.WriteString(line)
				w.mu.Unlock()
				var url string
				if url, found = ready(strings.TrimSpace(line)); found {
					w.url <- url
				}
			}
			if err != nil {
				return
			}
		}
	}()
	return w
}

func (w *watcher) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first.String()
}
