package manager

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Put gives the file with one value put in: path leads from the root through objects, such as "mcpServers", "files",
// "disabled"; objects that are not there are made. All else stays byte for byte: comments, order, keys that nobody knows.
//
// The result is a file to be written, and read again with [Read]; f is not changed. It fails when the value is no JSON, when
// the path leads through something that is no object, or when the result could not be read.
func (f *File) Put(value json.RawMessage, path ...string) ([]byte, error) {
	if !jsontext.Value(value).IsValid() || len(path) == 0 {
		return nil, fmt.Errorf("put %s: the value is no JSON, or the path is empty", pathText(path))
	}
	at := f.Root
	for i, key := range path {
		if at.Kind() != Object {
			return nil, fmt.Errorf("put %s: %s is %s, not an object", pathText(path), pathText(path[:i]), at.Kind())
		}
		next := at.Member(key)
		if next == nil {
			return f.edited(path, at.insert(key, nest(value, path[i+1:])))
		}
		at = next
	}
	return f.edited(path, splice(f.Source, at.at, at.end, value))
}

// Remove gives the file without the value at path, which must be there, and without the comments between it and the value
// before. See Put.
func (f *File) Remove(path ...string) ([]byte, error) {
	at := f.Root
	for _, key := range path {
		at = at.Member(key)
	}
	if at == nil || at == f.Root {
		return nil, fmt.Errorf("remove %s: there is no such key", pathText(path))
	}
	siblings := at.parent.children
	i := slices.Index(siblings, at)
	switch {
	case i > 0:
		return f.edited(path, splice(f.Source, siblings[i-1].end, at.end, nil))
	case len(siblings) > 1:
		return f.edited(path, splice(f.Source, at.key(), siblings[1].key(), nil))
	}
	return f.edited(path, splice(f.Source, at.parent.at, at.parent.end, []byte("{}")))
}

// edited holds that what was made can be read.
func (f *File) edited(path []string, out []byte) ([]byte, error) {
	problems := &ConfigErrors{}
	if parse(f.Name, out, problems) == nil {
		return nil, fmt.Errorf("change %s: the file could not be read any more: %w", pathText(path), problems.Err())
	}
	return out, nil
}

func splice(source []byte, from, to int, with []byte) []byte {
	return slices.Concat(source[:from], with, source[to:])
}

// nest puts a value into objects with one member each.
func nest(value json.RawMessage, path []string) json.RawMessage {
	for _, key := range slices.Backward(path) {
		value = slices.Concat([]byte("{"), jsonrpc.AppendString(nil, key), []byte(": "), value, []byte("}"))
	}
	return value
}

// insert gives the document with a new last member in v, indented like the one before.
func (v *Value) insert(key string, value json.RawMessage) []byte {
	member := slices.Concat(jsonrpc.AppendString(nil, key), []byte(": "), value)
	source := v.doc.source
	if len(v.children) == 0 {
		return splice(source, v.at+1, v.at+1, member) // what stands in it can only be comments
	}
	last := v.children[len(v.children)-1]
	space := []byte(" ")
	begin := bytes.LastIndexByte(source[:last.key()], '\n') + 1
	if indent := source[begin:last.key()]; begin > 0 && len(bytes.TrimLeft(indent, " \t")) == 0 {
		space = slices.Concat([]byte("\n"), indent)
	}
	return splice(source, last.end, last.end, slices.Concat([]byte(","), space, member))
}

// key is the offset of the key of a member.
func (v *Value) key() int {
	at := v.parent.at + 1
	if v.index > 0 {
		at = v.parent.children[v.index-1].end
	}
	for strings.IndexByte(" \t\r\n,", v.doc.plain[at]) >= 0 {
		at++
	}
	return at
}

func pathText(path []string) string {
	var steps []string
	for _, key := range path {
		steps = append(steps, quoteKey(key))
	}
	return strings.Join(steps, ".")
}
