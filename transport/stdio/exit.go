package stdio

import (
	"fmt"
	"os"
	"strings"
	"sync"
)

// tailBytes is how much of a child's standard error is kept.
const tailBytes = 8 << 10

// ExitError tells how a child ended, well or badly.
type ExitError struct {
	Command    string // the program, as given
	Code       int    // exit code; -1 when a signal ended it
	Signal     string // the signal that ended it, or ""
	StderrTail string // the last of its standard error, at most 8 KiB; values of secrets it was given are masked
}

func (e *ExitError) Error() string {
	text := fmt.Sprintf("server process %q exited with code %d", e.Command, e.Code)
	if e.Signal != "" {
		text = fmt.Sprintf("server process %q was ended by signal %s", e.Command, e.Signal)
	}
	if e.StderrTail == "" {
		return text + " and wrote nothing to stderr"
	}
	return text + "; the last it wrote to stderr: " + e.StderrTail
}

func newExitError(command Command, state *os.ProcessState, tail string) *ExitError {
	e := &ExitError{Command: command.Path, Code: -1, StderrTail: mask(tail, command.Env)}
	if state != nil {
		e.Code = state.ExitCode()
		e.Signal = signalOf(state)
	}
	return e
}

// mask hides the values of variables whose names speak of secrets, should the child have printed them.
func mask(text string, env []string) string {
	const tooShort = 4 // hiding these would only garble the text
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if len(value) >= tooShort && namesSecret(name) {
			text = strings.ReplaceAll(text, value, "***")
		}
	}
	return text
}

func namesSecret(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASS", "PWD", "AUTH", "CRED", "COOKIE"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// tail keeps the last bytes written to it. It is safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) add(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*tailBytes {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailBytes:]...)
	}
}

// text returns what is kept, as valid UTF-8, without white space around it.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.buf[max(0, len(t.buf)-tailBytes):]
	return strings.TrimSpace(strings.ToValidUTF8(string(last), "\uFFFD"))
}
