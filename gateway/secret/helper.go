package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// Placeholder stands in arguments of a helper for what is asked for.
const Placeholder = "{ref}"

const (
	longestHelp    = 30 * time.Second // of one run
	longestGoodbye = 2 * time.Second  // after that, for what the program has started and that holds its output open
	longestTail    = 300              // bytes of standard error that are told
	shortestSecret = 6                // bytes; shorter ones would garble words
)

// helper is a program that prints secrets.
type helper struct {
	command []string
	options Options
}

var errTooMuch = errors.New("too much output")

// get runs the program, without a shell: what is asked for is part of one argument, whatever characters it has. The program has
// the environment of this process, since it has to find its own credentials there, and nothing to read.
func (h helper) get(ctx context.Context, ref string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, longestHelp, fmt.Errorf("it has not ended within %s", longestHelp))
	defer cancel()
	args := make([]string, len(h.command)-1)
	for i, word := range h.command[1:] {
		args[i] = strings.ReplaceAll(word, Placeholder, ref)
	}
	program := h.command[0]
	if strings.ContainsRune(program, filepath.Separator) {
		program = h.options.path(program)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = longestGoodbye
	out, tail := &bounded{}, &ending{}
	cmd.Stdout, cmd.Stderr = out, tail
	err := cmd.Run()
	value := trimEnd(out.kept.String())
	said := ""
	if words := tail.without(out.kept.String()); words != "" {
		said = ", and said: " + words
	}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "", fmt.Errorf("the program %q was not found; install it, or write its whole path under gateway.secrets", h.command[0])
	case out.over, len(value) > maxValue:
		return "", fmt.Errorf("%q has printed more than 64 KiB; it should print the secret and nothing else", h.command[0])
	case ctx.Err() != nil:
		return "", down(fmt.Errorf("%q was stopped (%w)%s; it must need no answer from a terminal", h.command[0], context.Cause(ctx), said))
	case errors.As(err, &exit):
		return "", fmt.Errorf("%q has failed (%s)%s", h.command[0], exit.ProcessState, said)
	case errors.Is(err, exec.ErrWaitDelay):
		return "", fmt.Errorf("%q has left a program behind that holds its output open; have it wait for that%s", h.command[0], said)
	case err != nil:
		return "", fmt.Errorf("%q could not be run: %w", h.command[0], err)
	case value == "":
		return "", fmt.Errorf("%q has printed nothing%s", h.command[0], said)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "", fmt.Errorf("%q has printed what is not UTF-8 text; have it print the secret as text", h.command[0])
	}
	return value, nil
}

// bounded keeps what a program prints, up to a bound. Beyond it the program loses its reader.
type bounded struct {
	kept bytes.Buffer // no part of this type by itself: its ReadFrom knows no bound
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.over = b.over || b.kept.Len()+len(p) > maxValue+2; b.over { // a line end counts for nothing
		return 0, errTooMuch
	}
	return b.kept.Write(p)
}

// ending keeps the end of what a program says. The beginning is dropped a line or a part of one at a time.
type ending struct{ text []byte }

func (e *ending) Write(p []byte) (int, error) {
	e.text = append(e.text, p...)
	if over := len(e.text) - 16*longestTail; over > 0 {
		e.text = append(e.text[:0], e.text[over:]...)
	}
	return len(p), nil
}

// without gives what was said, in one line, less what was printed: a program that traces itself says its secret there too.
func (e *ending) without(printed string) string {
	text := strings.ToValidUTF8(string(e.text), "?")
	for line := range strings.Lines(printed) {
		if line = strings.TrimSpace(line); len(line) >= shortestSecret {
			text = strings.ReplaceAll(text, line, "***")
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if over := len(text) - longestTail; over > 0 {
		text = "..." + strings.ToValidUTF8(text[over:], "")
	}
	return text
}
