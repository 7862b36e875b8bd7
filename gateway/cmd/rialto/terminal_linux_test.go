package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/rialto-mcp/rialto/manager"
)

// openPair opens both ends of a terminal: what is written to the first is typed at the second.
func openPair(t *testing.T) (typing, terminal *os.File) {
	t.Helper()
	typing, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals can be made here: %v", err)
	}
	t.Cleanup(func() { _ = typing.Close() })
	var unlocked, number int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlocked, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, typing.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return typing, terminal
}

// echoes tells whether a terminal shows what is typed.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	var state syscall.Termios
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, terminal.Fd(), syscall.TCGETS, uintptr(unsafe.Pointer(&state))); errno != 0 {
		t.Fatal(errno)
	}
	return state.Lflag&syscall.ECHO != 0
}

// TestSecretsAreNotShown types a secret and a text at a real terminal: only the text comes back.
func TestSecretsAreNotShown(t *testing.T) {
	typing, terminal := openPair(t)
	c := openConsole(terminal, terminal)
	if c == nil {
		t.Fatal("a terminal is taken for none")
	}
	screen := make(chan string, 1)
	asked := make(chan bool, 2)
	go func() { // ends with the word bye
		var seen strings.Builder
		for buf := make([]byte, 256); !strings.Contains(seen.String(), "bye\r\n"); {
			n, err := typing.Read(buf)
			if err != nil {
				break
			}
			before := strings.Count(seen.String(), "): ")
			seen.Write(buf[:n]) // a question may come in two pieces
			for range strings.Count(seen.String(), "): ") - before {
				asked <- true
			}
		}
		screen <- seen.String()
	}()
	answer := func(in manager.Input, line string) string {
		type result struct {
			value string
			err   error
		}
		got := make(chan result, 1)
		go func() { // ends with the line
			value, _, err := c.ask(t.Context(), in)
			got <- result{value, err}
		}()
		<-asked
		if in.Password {
			for echoes(t, terminal) { // the question is written before the echo is off
				runtime.Gosched()
			}
		}
		if _, err := io.WriteString(typing, line+"\n"); err != nil {
			t.Fatal(err)
		}
		r := <-got
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.value
	}
	if got := answer(manager.Input{ID: "key", Password: true}, "topsecret"); got != "topsecret" {
		t.Errorf("the secret came as %q", got)
	}
	if !echoes(t, terminal) {
		t.Error("the terminal does not show what is typed any more")
	}
	if got := answer(manager.Input{ID: "word"}, "bye"); got != "bye" {
		t.Errorf("the text came as %q", got)
	}
	if seen := <-screen; strings.Contains(seen, "topsecret") || !strings.Contains(seen, "key, not shown") {
		t.Errorf("on the screen: %q", seen)
	}
}

// TestTheTerminalIsRestored: an interrupted question for a secret leaves a terminal that shows what is typed.
func TestTheTerminalIsRestored(t *testing.T) {
	_, terminal := openPair(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := openConsole(terminal, terminal)
	done := make(chan error, 1)
	go func() { // ends with the context
		_, _, err := c.ask(ctx, manager.Input{ID: "key", Password: true})
		done <- err
	}()
	for echoes(t, terminal) {
		runtime.Gosched()
	}
	cancel()
	if err := <-done; err == nil || !echoes(t, terminal) {
		t.Errorf("%v, and the terminal shows what is typed: %v", err, echoes(t, terminal))
	}
}

func TestNoTerminal(t *testing.T) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if openConsole(null, null) != nil {
		t.Error("the null device is taken for a terminal")
	}
}
