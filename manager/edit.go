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

// Remove gives the file without the value at path, which must be there. Comments on the lines directly above it, and behind it
// on its line, go with it; all others stay, those behind the value before included. See Put.
func (f *File) Remove(path ...string) ([]byte, error) {
	at := f.Root
	for _, key := range path {
		at = at.Member(key)
	}
	if at == nil || at == f.Root {
		return nil, fmt.Errorf("remove %s: there is no such key", pathText(path))
	}
	return f.edited(path, at.cut())
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

// insert gives the document with a new last member in v, which begins a line where the one before does. A comment behind the
// member before stays with that.
func (v *Value) insert(key string, value json.RawMessage) []byte {
	member := slices.Concat(jsonrpc.AppendString(nil, key), []byte(": "), value)
	source := v.doc.source
	if len(v.children) == 0 {
		return splice(source, v.at+1, v.at+1, member) // what stands in it can only be comments
	}
	last := v.children[len(v.children)-1]
	end, trailing := v.doc.comma(last.end)
	indent := v.doc.indent(last.key())
	if indent == nil {
		if trailing {
			return splice(source, end, end, slices.Concat([]byte(" "), member, []byte(",")))
		}
		return splice(source, last.end, last.end, slices.Concat([]byte(", "), member))
	}
	member = slices.Concat(indent, member)
	line, ok := v.doc.lineEnd(end)
	if !ok {
		line = end
	}
	if trailing {
		return splice(source, line, line, append(member, ','))
	}
	return slices.Concat(source[:last.end], []byte(","), source[last.end:line], member, source[line:])
}

// cut gives the document without the member v.
func (v *Value) cut() []byte {
	doc, siblings := v.doc, v.parent.children
	before := v.parent.at + 1 // what may stay ends here: the bracket, or the comma behind the member before
	comma := -1
	if v.index > 0 {
		before, _ = doc.comma(siblings[v.index-1].end)
		comma = before - 1
	}
	key := v.key()
	from := before
	if line, ok := doc.lineEnd(before); ok && line < key { // its comments are those of the member before
		from = doc.paragraph(line, key)
	}
	to, followed := doc.comma(v.end)
	if line, ok := doc.lineEnd(to); ok {
		to = line
	}
	if from > before && doc.breakAt(to) == nil {
		from += len(doc.breakAt(from)) // a comment that stays needs the end of its line
	}
	out := splice(doc.source, from, to, nil)
	if comma >= 0 && !followed {
		out = splice(out, comma, comma+1, nil)
	}
	end := v.parent.end - (len(doc.source) - len(out))
	if len(siblings) == 1 && len(bytes.TrimSpace(out[v.parent.at+1:end-1])) == 0 {
		out = splice(out, v.parent.at+1, end-1, nil)
	}
	return out
}

// key is the offset of the key of a member.
func (v *Value) key() int {
	at := v.parent.at + 1
	if v.index > 0 {
		at = v.parent.children[v.index-1].end
	}
	for strings.IndexByte(white+",", v.doc.plain[at]) >= 0 {
		at++
	}
	return at
}

// comma gives the offset behind the comma that follows a value which ends at end, past comments; where there is none it
// answers end.
func (d *document) comma(end int) (behind int, ok bool) {
	at := end
	for at < len(d.source) {
		switch c := d.source[at]; {
		case strings.IndexByte(white, c) >= 0:
			at++
		case c == '/':
			at = commentEnd(d.source, at)
		default:
			if c == ',' {
				return at + 1, true
			}
			return end, false
		}
	}
	return end, false
}

// lineEnd gives the offset of the line break behind at, when there are only spaces and comments before it.
func (d *document) lineEnd(at int) (end int, ok bool) {
	for at < len(d.source) {
		switch d.source[at] {
		case '\r', '\n':
			return at, true
		case ' ', '\t':
			at++
		case '/':
			at = commentEnd(d.source, at)
		default:
			return 0, false
		}
	}
	return 0, false
}

// paragraph gives the last line break between from and to that follows an empty line, or from: what stands above an empty
// line says something about more than the key below.
func (d *document) paragraph(from, to int) int {
	for at := from; at < to; {
		if d.source[at] == '/' {
			at = commentEnd(d.source, at)
			continue
		}
		at += max(len(d.breakAt(at)), 1)
		next := at
		for next < to && (d.source[next] == ' ' || d.source[next] == '\t') {
			next++
		}
		if d.breakAt(at-1) != nil && next < to && d.breakAt(next) != nil {
			from = next
		}
	}
	return from
}

// breakAt gives the line break at an offset; nil when there is none.
func (d *document) breakAt(at int) []byte {
	switch rest := d.source[at:]; {
	case bytes.HasPrefix(rest, []byte("\r\n")):
		return rest[:2]
	case len(rest) > 0 && (rest[0] == '\r' || rest[0] == '\n'):
		return rest[:1]
	}
	return nil
}

// indent gives the line break and the space before a key; nil when it does not begin a line.
func (d *document) indent(key int) []byte {
	begin := len(bytes.TrimRight(d.source[:key], " \t"))
	switch head := d.source[:begin]; {
	case bytes.HasSuffix(head, []byte("\r\n")):
		return d.source[begin-2 : key]
	case bytes.HasSuffix(head, []byte("\n")), bytes.HasSuffix(head, []byte("\r")):
		return d.source[begin-1 : key]
	}
	return nil
}

func pathText(path []string) string {
	var steps []string
	for _, key := range path {
		steps = append(steps, quoteKey(key))
	}
	return strings.Join(steps, ".")
}
