package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Exit codes. They are part of what scripts build on.
const (
	exitUsage       = 1
	exitAuth        = 3
	exitUnreachable = 4
	exitTool        = 5
	exitDifferent   = 6
	exitInterrupted = 130
)

// failure is an error with all that a person needs: the step that failed, what was seen, and what to try next.
type failure struct {
	exit int
	step string
	kind string // one word for machines
	seen string
	next string
}

func (f *failure) Error() string {
	text := f.seen
	if f.step != "" {
		text = f.step + ": " + text
	}
	if f.next != "" {
		text += "; " + f.next
	}
	return text
}

// usage is an error of the command line.
func usage(format string, args ...any) error {
	return &failure{exit: exitUsage, kind: "usage", seen: fmt.Sprintf(format, args...)}
}

// interrupted answers the error of a run that the user has ended.
func interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return &failure{exit: exitInterrupted, kind: "interrupted", seen: "interrupted"}
	}
	return err
}

// fail writes an error, if there is one, and returns the exit code.
func (e *environment) fail(asJSON bool, err error) int {
	if err == nil {
		return 0
	}
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{exit: exitUsage, kind: "internal", seen: err.Error()}
	}
	text := "rialto: " + f.Error()
	if asJSON {
		line, err := json.Marshal(map[string]any{"error": map[string]any{
			"exit": f.exit, "kind": f.kind, "step": f.step, "seen": f.seen, "next": f.next,
		}})
		if err == nil { // texts always have a JSON form
			text = string(line)
		}
	} else if f.kind != "config" { // those are lines of their own, file:line: key: text
		text = strings.Join(strings.Fields(text), " ")
	}
	_, _ = fmt.Fprintln(e.stderr, text) // there is nobody else to tell
	return f.exit
}
