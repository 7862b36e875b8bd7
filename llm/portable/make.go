package portable

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind says what an edit does to the values that a schema accepts.
type Kind string

// The kinds.
const (
	Widened  Kind = "widened"  // more values are accepted than before
	Narrowed Kind = "narrowed" // fewer values are accepted than before, or others; Restore turns those back
)

// Edit is one loss on the way from a schema to its portable form.
type Edit struct {
	Path    string // JSON pointer of the subschema; references are followed, so it leads through their uses
	Keyword string // the keyword it is about
	Kind    Kind
	Note    string // one sentence for people
}

// String is one line.
func (e Edit) String() string {
	at := e.Path
	if at == "" {
		at = "/"
	}
	return fmt.Sprintf("%s %s: %s: %s", e.Kind, at, e.Keyword, e.Note)
}

// Schema is a portable schema. It is immutable and safe for concurrent use.
type Schema struct {
	JSON    json.RawMessage
	Dialect Dialect
	Edits   []Edit // in the order of the schema; nil when nothing is lost

	root  *node
	defs  map[string]*node
	keys  map[string]string // renamed keys to those of the first schema
	deep  bool              // at every level, else those of the root alone
	marks bool              // there are properties that accept null only because strictness wanted it
}

// Lossless tells whether a value that the portable schema accepts is, once restored, valid under the first one. That is
// said of values that use the keys of the portable schema; a key that was renamed is taken under its own name too.
func (s *Schema) Lossless() bool {
	return !slices.ContainsFunc(s.Edits, func(e Edit) bool { return e.Kind == Widened })
}

// Make brings the schema of a tool's parameters into a dialect. Its root stands for an object, since arguments always are
// one; nil stands for a tool without parameters.
//
// It fails where a schema is no schema, is too large (60 levels, 100,000 values, 20,000 subschemas with references written
// out, 500 branches of allOf joined, 1 MiB more than twice what it was), or asks for what a strict dialect has no word for.
func Make(schema json.RawMessage, dialect Dialect) (*Schema, error) {
	r, ok := rulesOf(dialect)
	if !ok {
		return nil, fmt.Errorf("there is no dialect %q", dialect)
	}
	if schema == nil {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	doc, err := read(schema)
	switch {
	case err != nil:
		return nil, err
	case doc.is("true"):
		doc = object()
	case doc.kind != '{':
		return nil, errors.New("the schema is no JSON object")
	}
	m := newMaker(r, doc)
	out, err := m.document()
	if err == nil && m.shaky() { // a reference that must stay exact leads to what has been widened
		again := newMaker(r, doc)
		again.exactRefs = true
		m = again
		out, err = m.document()
	}
	if err != nil {
		return nil, err
	}
	made := &Schema{JSON: out.append(nil), Dialect: dialect, Edits: m.edits, root: out, keys: m.renamed, deep: r.keysDeep, marks: m.marks}
	if left := maxBytes + 2*len(schema); !out.fits(&left) {
		return nil, fmt.Errorf("the schema has more than %d bytes with its references written out", maxBytes+2*len(schema))
	}
	if r.bounded {
		var all size
		all.measure(out, 0)
		if err := all.tooLarge(); err != nil {
			return nil, err
		}
	}
	out.indexAll()
	if defs := out.get("$defs"); defs != nil {
		made.defs = map[string]*node{}
		for i, name := range defs.keys {
			made.defs[name] = defs.vals[i]
		}
	}
	return made, nil
}

// maker is one conversion.
type maker struct {
	*rules
	doc    *node
	draft7 bool // a reference hides its siblings

	edits   []Edit
	renamed map[string]string
	taken   map[string]bool // all names of members of the document, once a key was renamed
	marks   bool

	nodes, depth int
	joins        int              // branches of allOf that were joined
	stack        []string         // references being written out, by pointer
	anchors      map[string]*node // by name, once one was asked for
	defs         []*def
	exact        int // above zero: within a keyword where accepting more would mean accepting less
	exactRefs    bool
}

// def is the target of references that stay references.
type def struct {
	pointer, name string
	target, made  *node
	widened       bool
	leaned        bool // a place that must stay exact refers to it
}

const (
	maxNodes   = 20_000
	maxBytes   = 1 << 20 // of the new schema, besides twice those of the first
	inlineOnly = 2_000   // subschemas; beyond this, references stay where the dialect understands them
)

func newMaker(r *rules, doc *node) *maker {
	m := &maker{rules: r, doc: doc, renamed: map[string]string{}, stack: []string{""}}
	declared, _ := doc.get("$schema").word()
	m.draft7 = strings.Contains(declared, "draft-07") || strings.Contains(declared, "draft-06") || strings.Contains(declared, "draft-04")
	return m
}

// document makes the root and the definitions that it leads to.
func (m *maker) document() (*node, error) {
	root, err := m.schema(m.doc, "")
	if err != nil {
		return nil, err
	}
	if root, err = m.asRoot(root); err != nil {
		return nil, err
	}
	defs := object()
	for i := 0; i < len(m.defs); i++ { // grows on the way
		d := m.defs[i]
		before := m.widenings()
		m.stack = []string{d.pointer}
		if d.made, err = m.schema(d.target, "/$defs/"+escape(d.name)); err != nil {
			return nil, err
		}
		d.widened = m.widenings() > before
		defs.set(d.name, d.made)
	}
	if len(defs.keys) > 0 {
		root.set("$defs", defs)
	}
	return root, nil
}

// shaky tells whether something that must stay exact refers to what did not.
func (m *maker) shaky() bool {
	return slices.ContainsFunc(m.defs, func(d *def) bool { return d.widened && d.leaned })
}

func (m *maker) widenings() int {
	n := 0
	for _, e := range m.edits {
		if e.Kind == Widened {
			n++
		}
	}
	return n
}

func (m *maker) widen(at, keyword, format string, args ...any) {
	m.edits = append(m.edits, Edit{at, keyword, Widened, fmt.Sprintf(format, args...)})
}

func (m *maker) narrow(at, keyword, format string, args ...any) {
	m.edits = append(m.edits, Edit{at, keyword, Narrowed, fmt.Sprintf(format, args...)})
}

// cannot says why there is no strict form.
func cannot(at, format string, args ...any) error {
	if at == "" {
		at = "/"
	}
	return fmt.Errorf("it cannot be strict: %s: %s", at, fmt.Sprintf(format, args...))
}

func escape(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}

func parent(at string) string {
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		return at[:i]
	}
	return ""
}
