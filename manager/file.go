package manager

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultMaxBytes bounds the size of a configuration file.
const DefaultMaxBytes = 1 << 20

// ReadOptions says how a file is read. The zero value is ready to use.
type ReadOptions struct {
	// Lookup gives the value of a variable, os.LookupEnv for example. Nil means that texts stay as they are written,
	// which suits a program that shows or rewrites files.
	Lookup func(name string) (value string, ok bool)

	// Input gives the value of an input of a VS Code file. Nil means that an entry that needs one is an error. It is
	// not called when Lookup is nil.
	Input func(id string) (value string, ok bool)

	// Ask asks the user for an input of a VS Code file: once for each input that an entry in use refers to and that the
	// function Input has no value for. The answer to one of type pickString must be among its Options; one of type command
	// is asked for like the others, since no command is run here. An error is that of each entry that needs the input. Nil
	// asks for nothing; like Input it is not called when Lookup is nil. See also [NoInputError].
	Ask func(Input) (value string, err error)

	// Workspace is the folder that ${workspaceFolder} and ${workspaceFolderBasename} stand for; see [WorkspaceOf]. Empty
	// means that an entry that needs them is an error.
	Workspace string

	// Only are the names of the entries to read. The others are in File.Names and nowhere else: their variables are not
	// looked up, and nobody is asked for their inputs. Nil means all.
	Only []string

	// Secrets are stores that hold what should stand neither in the file nor in the environment, by the schemes of references
	// to them: with the scheme "vault" in it ${vault:dev/db#password} is asked for as "dev/db#password". A scheme is of small
	// letters, digits and '-'; env, input and the names that the hosts know have their own meaning. Each reference of entries in
	// use is asked for once in a reading, up to eight at a time and for two minutes together. A store that fails is an error of
	// each entry that needs it; see [ConfigError].Store. A scheme with nil leaves its references as they are written. Like Input
	// it is not used when Lookup is nil.
	Secrets map[string]SecretFunc

	// Context ends the questions to stores. Nil means one that has no end.
	Context context.Context

	// MaxBytes bounds the file. Zero means 1 MiB; negative means no bound.
	MaxBytes int64

	// Sections names keys at the root that belong to the caller and are never taken for a server.
	Sections []string
}

// Shape tells how a file holds its servers.
type Shape string

// The shapes a [File] may have.
const (
	ShapeNone       Shape = ""           // no servers in this file
	ShapeMCPServers Shape = "mcpServers" // under that key
	ShapeServers    Shape = "servers"    // under that key, the way of VS Code
	ShapeRoot       Shape = "root"       // the file itself is the map
)

// File is one configuration file. It is not changed after it was read, but for what it remembers of stores, so concurrent reading is safe.
type File struct {
	Name    string   // as it was given to Read
	Shape   Shape    // where the servers stood
	Names   []string // of all entries, the ones with mistakes included, in the order of the file
	Servers []Server // the entries without mistakes, in the order of the file
	Inputs  []Input  // what a VS Code file asks its user for
	Root    *Value   // the whole file with positions
	Source  []byte   // the whole file, byte for byte, comments included

	stores *stores // what stores have given for references in it
}

// Input is a value that a VS Code file asks its user for, referred to as ${input:id}.
type Input struct {
	ID          string          // what references name
	Type        string          // promptString, pickString or command
	Description string          // the question
	Default     string          // the answer to offer
	Password    bool            // the answer is secret
	Options     []string        // the answers to pick from
	Labels      []string        // how each of them is shown; as many
	Raw         json.RawMessage // the entry as plain JSON
}

// Server finds an entry by name.
func (f *File) Server(name string) (*Server, bool) {
	i := slices.IndexFunc(f.Servers, func(s Server) bool { return s.Name == name })
	if i < 0 {
		return nil, false
	}
	return &f.Servers[i], true
}

// ReadFile reads the configuration file at path. See [Read].
func ReadFile(path string, opts ReadOptions) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read from: nothing is lost when closing fails
	return Read(r, path, opts)
}

// WorkspaceOf gives the workspace that a configuration file belongs to: the folder that holds .vscode or .cursor for a file
// in one of these, else the folder of the file. It is absolute, and need not exist.
func WorkspaceOf(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the workspace of the configuration: %w", err)
	}
	dir := filepath.Dir(path)
	if base := filepath.Base(dir); base == ".vscode" || base == ".cursor" {
		return filepath.Dir(dir), nil
	}
	return dir, nil
}

// Read reads a configuration file; name stands for it in errors.
//
// A file that cannot be understood as a whole (syntax, a key that stands twice, size) gives a nil File. Otherwise the
// File holds the good entries, and the error, when there is one, lists what is wrong with the others: the caller
// chooses whether to go on. Either way the error is a [*ConfigErrors], unless reading itself failed.
func Read(r io.Reader, name string, opts ReadOptions) (*File, error) {
	source, err := readAll(r, name, opts.MaxBytes)
	if err != nil {
		return nil, err
	}
	problems := &ConfigErrors{}
	root := parse(name, source, problems)
	if root == nil {
		return nil, problems.Err()
	}
	if root.kind != Object {
		problems.Add(root, `the file must be an object such as {"mcpServers": {}}, not %s`, root.kind)
		return nil, problems.Err()
	}
	f := &File{Name: name, Root: root, Source: source, stores: newStores()}
	entries := f.find(opts, problems)
	reader := newEntryReader(opts, problems)
	reader.expand.stores = f.stores
	if f.Shape != ShapeRoot {
		f.Inputs = reader.inputs(root.Member("inputs"))
		reader.expand.inputs = f.Inputs
	}
	for _, entry := range entries {
		f.Names = append(f.Names, entry.name)
	}
	if opts.Only != nil {
		entries = slices.DeleteFunc(slices.Clone(entries), func(entry *Value) bool { return !slices.Contains(opts.Only, entry.name) })
	}
	f.Servers = reader.servers(entries)
	return f, problems.Err()
}

func readAll(r io.Reader, name string, limit int64) ([]byte, error) {
	if limit == 0 {
		limit = DefaultMaxBytes
	}
	if limit > 0 {
		r = io.LimitReader(r, max(limit, limit+1)) // limit+1 overflows at the largest number
	}
	source, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if limit > 0 && int64(len(source)) > limit {
		text := fmt.Sprintf("the file is larger than %d bytes; split it, or raise ReadOptions.MaxBytes", limit)
		return nil, &ConfigErrors{List: []*ConfigError{{File: name, Text: text}}}
	}
	return source, nil
}

// find decides on the shape and gives the entries.
func (f *File) find(opts ReadOptions, problems *ConfigErrors) []*Value {
	known, vscode := f.Root.Member("mcpServers"), f.Root.Member("servers")
	switch {
	case known != nil && vscode != nil && vscode.kind == Object && !looksLikeServer(vscode):
		problems.Add(vscode, "this file has both mcpServers and servers; keep one of them")
		return nil
	case known != nil:
		f.Shape = ShapeMCPServers
		return object(known, problems)
	case vscode != nil && !looksLikeServer(vscode):
		f.Shape = ShapeServers
		return object(vscode, problems)
	}
	entries := rootEntries(f.Root, opts.Sections)
	if len(entries) > 0 {
		f.Shape = ShapeRoot
		return entries
	}
	for _, v := range f.Root.Children() {
		if folded := strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(v.name)); folded == "mcpservers" {
			problems.Add(v, "servers are not read from here; the key is written mcpServers")
		}
	}
	return nil
}

// rootEntries gives the entries of a file whose root is the map of servers: at least one of them must look like a
// server; then all objects are taken, so that a bad entry is reported and not passed over.
func rootEntries(root *Value, sections []string) []*Value {
	var objects []*Value
	server := false
	for _, v := range root.Children() {
		if v.kind == Object && !slices.Contains(sections, v.name) {
			objects = append(objects, v)
			server = server || looksLikeServer(v)
		}
	}
	if !server {
		return nil
	}
	return objects
}

func looksLikeServer(v *Value) bool {
	return slices.ContainsFunc(append([]string{"command"}, addressKeys...), func(key string) bool { return v.Member(key).Kind() == Text })
}

func object(v *Value, problems *ConfigErrors) []*Value {
	if v.kind != Object {
		problems.Add(v, "this must be an object with one member for each server, not %s", v.kind)
		return nil
	}
	return v.children
}
