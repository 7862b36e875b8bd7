package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/secret"
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
	in, err := f.inputs(e, c)
	if err != nil {
		return nil, err
	}
	return f.readFirst(ctx, in, path, only)
}

// readWritten is read without asking stores: references to them stay as they are written.
func (f *fileFlags) readWritten(ctx context.Context, e *environment, c *console, path string, only []string) (*config.Config, error) {
	in, err := f.inputs(e, c)
	if err != nil {
		return nil, err
	}
	in.stores = nil
	return f.readFirst(ctx, in, path, only)
}

// inputs gives what flags say of inputs.
func (f *fileFlags) inputs(e *environment, c *console) (*inputs, error) {
	in := &inputs{
		given: make(map[string]string), used: make(map[string]bool), answered: make(map[string]string), lookup: e.lookup, console: c,
		stores: &secret.Options{Lookup: e.lookup, Warn: e.warnings()},
	}
	for _, flag := range f.Input {
		id, value, ok := strings.Cut(flag, "=")
		if !ok || id == "" {
			return nil, usage("--input needs the form ID=VALUE")
		}
		in.given[id] = value
	}
	return in, nil
}

// readWith reads a configuration file with these inputs.
func (f *fileFlags) readWith(ctx context.Context, in *inputs, path string, only []string) (*config.Config, error) {
	workspace, err := f.workspace(path)
	if err != nil {
		return nil, err
	}
	return config.ReadFile(path, config.Options{
		Lookup: in.lookup, Input: in.value, Ask: func(i manager.Input) (string, error) { return in.ask(ctx, i) }, Workspace: workspace, Only: only,
		Stores: in.stores, Context: ctx,
	})
}

// readFirst reads a configuration file and refuses flags that it has no use for.
func (f *fileFlags) readFirst(ctx context.Context, in *inputs, path string, only []string) (*config.Config, error) {
	conf, err := f.readWith(ctx, in, path, only)
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
	given    map[string]string // by flags
	used     map[string]bool
	answered map[string]string // by the user
	missing  []string          // how to give those that nobody has answered
	lookup   func(string) (string, bool)
	console  *console // nil where nobody can be asked

	stores *secret.Options // nil asks none
}

// warnings gives what tells of each thing once, however often files are read.
func (e *environment) warnings() func(text string) {
	var mu sync.Mutex
	told := make(map[string]bool)
	return func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if !told[text] {
			told[text] = true
			_, _ = fmt.Fprintf(e.stderr, "warning: %s\n", clean(text)) // there is nobody else to tell
		}
	}
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
	if value, ok := in.answered[i.ID]; ok && (len(i.Options) == 0 || slices.Contains(i.Options, value)) {
		return value, nil
	}
	if in.console != nil {
		value, ok, err := in.console.ask(ctx, i)
		if ok {
			in.answered[i.ID] = value
		}
		if ok || err != nil {
			return value, err
		}
	}
	text := fmt.Sprintf("give --input %s=VALUE, set %s, or start rialto on a terminal, where it asks", clean(i.ID), variableOf(i.ID))
	in.missing = append(in.missing, text)
	return "", &manager.NoInputError{Text: text}
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
