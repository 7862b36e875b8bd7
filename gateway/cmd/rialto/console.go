package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/rialto-mcp/rialto/manager"
)

// console asks the person at the terminal.
type console struct {
	in     io.Reader // of lines
	out    io.Writer
	secret func(ctx context.Context) (string, error) // reads a line that is not shown
}

// openConsole answers nil where nobody can be asked.
func openConsole(in, out *os.File) *console {
	if !isTerminal(in) || !isTerminal(out) {
		return nil
	}
	return &console{in: in, out: out, secret: func(ctx context.Context) (string, error) { return readHidden(ctx, int(in.Fd())) }}
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// readHidden reads a line without showing it. Whatever ends it, the terminal shows again what is typed.
func readHidden(ctx context.Context, terminal int) (string, error) {
	before, err := term.GetState(terminal)
	if err != nil {
		return "", err
	}
	return await(ctx, func() (string, error) {
		line, err := term.ReadPassword(terminal)
		return string(line), err
	}, func() { _ = term.Restore(terminal, before) }) // there is nothing else to try
}

// await reads until ctx ends. A read that is under way then cannot be ended and goes with the program, which ends too.
func await(ctx context.Context, read func() (string, error), restore func()) (string, error) {
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() { // see above
		line, err := read()
		done <- result{line, err}
	}()
	select {
	case r := <-done:
		return r.line, r.err
	case <-ctx.Done():
		restore()
		return "", context.Cause(ctx)
	}
}

// ask asks for an input. It answers false when the person has none to give.
func (c *console) ask(ctx context.Context, in manager.Input) (value string, ok bool, err error) {
	const tries = 3
	what := clean(in.Description)
	if what == "" {
		what = "Input"
	}
	head := fmt.Sprintf("%s (%s", what, clean(in.ID))
	for i, label := range in.Labels {
		if i == 0 {
			c.say("%s)\n", head)
		}
		c.say("  %d  %s\n", i+1, clean(label))
	}
	for range tries {
		switch {
		case len(in.Options) > 0:
			c.say("Number")
		case in.Password:
			c.say("%s, not shown)", head)
		default:
			c.say("%s)", head)
		}
		if in.Default != "" && !in.Password {
			c.say(" [%s]", clean(in.Default))
		}
		c.say(": ")
		line, err := c.line(ctx, in.Password)
		if errors.Is(err, io.EOF) {
			c.say("\n")
			return "", false, nil
		}
		if err != nil {
			return "", false, err
		}
		if line == "" {
			line = in.Default
		}
		if value, ok := choice(in, line); ok {
			return value, true, nil
		}
		c.say("That is none of them.\n")
	}
	return "", false, nil
}

// choice takes a line for a value; where there is a list, by its number, its label or itself.
func choice(in manager.Input, line string) (string, bool) {
	if len(in.Options) == 0 || slices.Contains(in.Options, line) {
		return line, true
	}
	if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && n >= 1 && n <= len(in.Options) {
		return in.Options[n-1], true
	}
	if i := slices.Index(in.Labels, line); i >= 0 {
		return in.Options[i], true
	}
	return "", false
}

// say writes to the terminal; when that fails there is nobody to tell.
func (c *console) say(format string, args ...any) { _, _ = fmt.Fprintf(c.out, format, args...) }

// line reads a line, without its end.
func (c *console) line(ctx context.Context, hidden bool) (string, error) {
	if hidden {
		line, err := c.secret(ctx)
		c.say("\n")
		return line, err
	}
	return await(ctx, func() (string, error) { return readLine(c.in) }, func() {})
}

// readLine reads no byte behind the line: the next one may be read in another way.
func readLine(r io.Reader) (string, error) {
	const most = 1 << 20
	var line []byte
	for one := make([]byte, 1); len(line) < most; {
		n, err := r.Read(one)
		switch {
		case n == 1 && one[0] == '\n':
			return strings.TrimSuffix(string(line), "\r"), nil
		case n == 1:
			line = append(line, one[0])
		case err != nil:
			return "", err
		}
	}
	return "", errors.New("the line is longer than 1 MiB")
}
