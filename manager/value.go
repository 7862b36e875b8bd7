package manager

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind names the six kinds of JSON value in words for error texts.
type Kind string

// The kinds of a [Value].
const (
	Object  Kind = "an object"
	List    Kind = "a list"
	Text    Kind = "text in quotes"
	Number  Kind = "a number"
	Boolean Kind = "true or false"
	Null    Kind = "null"
)

// Value is one JSON value of a file together with its place. A program that keeps its own section in the same file
// reads it from here, with positions. Values are immutable, so concurrent use is safe. The methods that look inside
// work on a nil Value, which stands for "not there".
type Value struct {
	doc      *document
	parent   *Value
	name     string // key in the parent, when that is an object
	index    int    // place in the parent
	at, end  int    // offsets in the document
	kind     Kind
	text     string // decoded text, or the digits of a number, or "true"
	children []*Value
}

// document is what all values of a file share.
type document struct {
	name   string
	source []byte // as read
	plain  []byte // the same without comments and trailing commas, of the same length
}

// Kind gives the kind of the value; empty for nil.
func (v *Value) Kind() Kind {
	if v == nil {
		return ""
	}
	return v.kind
}

// Name gives the key the value stands under; empty in a list and at the root.
func (v *Value) Name() string { return v.name }

// Children gives the members of an object or the elements of a list, in the order of the file. It must not be changed.
func (v *Value) Children() []*Value {
	if v == nil {
		return nil
	}
	return v.children
}

// Member gives the value under a key of an object, and nil where there is none.
func (v *Value) Member(name string) *Value {
	if v.Kind() != Object {
		return nil
	}
	for _, child := range v.children {
		if child.name == name {
			return child
		}
	}
	return nil
}

// Text gives the decoded content of a text, the digits of a number, and true, false or null; empty for the rest.
func (v *Value) Text() string {
	if v == nil {
		return ""
	}
	return v.text
}

// Raw gives the value as plain JSON: the bytes of the file with comments and trailing commas turned into spaces.
// It is a copy.
func (v *Value) Raw() json.RawMessage {
	if v == nil {
		return nil
	}
	return bytes.Clone(v.doc.plain[v.at:v.end])
}

// Position gives line and column, both from 1; the column counts characters.
func (v *Value) Position() (line, column int) { return v.doc.position(v.at) }

// Path gives the dotted path from the root, such as mcpServers.github.args[2]. A key that holds anything but
// letters, digits, '_', '-', '$' and '@' is quoted.
func (v *Value) Path() string {
	var steps []string
	for ; v.parent != nil; v = v.parent {
		steps = append(steps, v.step())
	}
	var b strings.Builder
	for i := len(steps) - 1; i >= 0; i-- {
		if b.Len() > 0 && steps[i][0] != '[' {
			b.WriteByte('.')
		}
		b.WriteString(steps[i])
	}
	return b.String()
}

func (v *Value) step() string {
	if v.parent.kind == List {
		return "[" + strconv.Itoa(v.index) + "]"
	}
	return quoteKey(v.name)
}

const longestKeyShown = 64

func quoteKey(key string) string {
	if len(key) > longestKeyShown {
		cut := longestKeyShown
		for !utf8.RuneStart(key[cut]) {
			cut--
		}
		return strconv.Quote(key[:cut] + "...")
	}
	plain := key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return !isWord(r) && r != '-' && r != '$' && r != '@'
	})
	if plain {
		return key
	}
	return strconv.Quote(key)
}

func isWord(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func (d *document) position(at int) (line, column int) {
	at = min(at, len(d.source))
	head := d.source[:at]
	line = 1 + bytes.Count(head, []byte{'\n'})
	start := bytes.LastIndexByte(head, '\n') + 1
	if start == 0 && bytes.HasPrefix(head, byteOrderMark) {
		start = len(byteOrderMark)
	}
	return line, 1 + utf8.RuneCount(head[start:])
}
