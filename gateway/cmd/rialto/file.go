package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/manager"
)

// fileFlags say what a configuration file does not.
type fileFlags struct {
	Input     []string `sep:"none" placeholder:"ID=VALUE" help:"Value of an input that the file asks for. May be repeated. RIALTO_INPUT_<ID> in the environment does the same."`
	Workspace string   `placeholder:"FOLDER" help:"What $${workspaceFolder} stands for in the file. Without it the folder that holds .vscode or .cursor, or the file."`
}

// read reads a configuration file. Inputs come from flags, from the environment, and from the user where c is not nil. With
// only, no other entries are read, and nobody is asked for their inputs.
func (f *fileFlags) read(ctx context.Context, e *environment, c *console, path string, only []string) (*config.Config, error) {
	in := &inputs{given: make(map[string]string), used: make(map[string]bool), lookup: e.lookup, console: c}
	for _, flag := range f.Input {
		id, value, ok := strings.Cut(flag, "=")
		if !ok || id == "" {
			return nil, usage("--input needs the form ID=VALUE")
		}
		in.given[id] = value
	}
	workspace, err := f.workspace(path)
	if err != nil {
		return nil, err
	}
	conf, err := config.ReadFile(path, config.Options{
		Lookup: e.lookup, Input: in.value, Ask: func(i manager.Input) (string, error) { return in.ask(ctx, i) }, Workspace: workspace, Only: only,
	})
	if conf == nil {
		return nil, err
	}
	for id := range in.given {
		if !in.used[id] && !slices.ContainsFunc(conf.Inputs, func(i manager.Input) bool { return i.ID == id }) {
			return nil, usage("--input %s: %s has no input of this name%s", id, path, has(conf.Inputs))
		}
	}
	return conf, err
}

func has(all []manager.Input) string {
	var ids []string
	for _, in := range all {
		ids = append(ids, in.ID)
	}
	if ids == nil {
		return ", and no other"
	}
	return "; it has " + strings.Join(ids, ", ")
}

func (f *fileFlags) workspace(path string) (string, error) {
	if f.Workspace == "" {
		return manager.WorkspaceOf(path)
	}
	folder, err := filepath.Abs(f.Workspace)
	if err != nil {
		return "", fmt.Errorf("find the workspace: %w", err)
	}
	return folder, nil
}

// inputs gives the values of a file's inputs.
type inputs struct {
	given   map[string]string // by flags
	used    map[string]bool
	lookup  func(string) (string, bool)
	console *console // nil where nobody can be asked
}

// value is what flags and the environment say.
func (in *inputs) value(id string) (string, bool) {
	in.used[id] = true
	if value, ok := in.given[id]; ok {
		return value, true
	}
	return in.lookup(variableOf(id))
}

func (in *inputs) ask(ctx context.Context, i manager.Input) (string, error) {
	if in.console != nil {
		if value, ok, err := in.console.ask(ctx, i); ok || err != nil {
			return value, err
		}
	}
	return "", &manager.NoInputError{Text: fmt.Sprintf("give --input %s=VALUE, set %s, or start rialto on a terminal, where it asks", clean(i.ID), variableOf(i.ID))}
}

// variableOf is the variable of the environment that gives an input.
func variableOf(id string) string {
	return "RIALTO_INPUT_" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, strings.ToUpper(id))
}
