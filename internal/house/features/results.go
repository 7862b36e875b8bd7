package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

const module = "github.com/rialto-mcp/rialto/"

// results keeps the last word on each test, by "package.TestName" with the package below the module's path: pass, fail
// or skip.
type results map[string]string

// add reads the output of go test -json.
func (seen results) add(in io.Reader) error {
	for dec := json.NewDecoder(in); ; {
		var event struct{ Action, Package, Test string }
		if err := dec.Decode(&event); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("not the output of go test -json: %w", err)
		}
		switch event.Action {
		case "pass", "fail", "skip":
			if event.Test != "" {
				seen[strings.TrimPrefix(event.Package, module)+"."+event.Test] = event.Action
			}
		}
	}
}

// fault says why a test does not show its row; empty means that it does. A test that only has skipped parts counts as
// skipped.
func (seen results) fault(test string) string {
	switch seen[test] {
	case "":
		return "did not run"
	case "skip":
		return "was skipped"
	case "fail":
		return "failed"
	}
	parts, ran := 0, 0
	for name, action := range seen {
		if strings.HasPrefix(name, test+"/") {
			parts++
			if action != "skip" {
				ran++
			}
		}
	}
	if parts > 0 && ran == 0 {
		return "had all its parts skipped"
	}
	return ""
}
