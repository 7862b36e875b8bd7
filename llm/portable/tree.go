package portable

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// node is one JSON value, members in order. Nodes of the first schema are never changed; new ones share them.
type node struct {
	kind byte   // '{', '[' or 0 for all else
	raw  []byte // of a value that is neither object nor array
	keys []string
	vals []*node
	at   map[string]int // where the keys are, where there are many of them; nil means that they have to be searched
	sets int            // members set since at was dropped

	added map[string]bool // properties that accept null only because strictness wanted it
}

// maxDepth bounds how deep a schema nests, references written out included.
const maxDepth = 60

// maxValues bounds how many values of any kind there are in a schema: its subschemas, keywords and literals.
const maxValues = 100_000

var (
	errDeep  = errors.New("the schema nests too deep")
	errLarge = fmt.Errorf("the schema has more than %d values", maxValues)
)

// read parses one JSON value.
func read(raw []byte) (*node, error) {
	if !jsontext.Value(raw).IsValid() {
		return nil, errors.New("the schema is no valid JSON")
	}
	left := maxValues
	return build(raw, 2*maxDepth, &left) // a schema has a level of keywords between two of schemas
}

// build makes nodes of valid JSON, so deep and so many and no more.
func build(raw []byte, depth int, left *int) (*node, error) {
	if depth < 0 {
		return nil, errDeep
	}
	if *left--; *left < 0 {
		return nil, errLarge
	}
	n := &node{}
	switch {
	case jsonrpc.IsObject(raw):
		n.kind = '{'
		for key, value := range jsonrpc.Members(raw) {
			sub, err := build(value, depth-1, left)
			if err != nil {
				return nil, err
			}
			n.set(key, sub)
		}
	case jsonrpc.IsArray(raw):
		n.kind = '['
		for value := range jsonrpc.Elements(raw) {
			sub, err := build(value, depth-1, left)
			if err != nil {
				return nil, err
			}
			n.vals = append(n.vals, sub)
		}
	default:
		compact := jsontext.Value(slices.Clone(raw))
		n.raw = compact
		if err := compact.Compact(); err == nil {
			n.raw = compact
		}
	}
	return n, nil
}

func object(pairs ...any) *node {
	n := &node{kind: '{'}
	for i := 0; i < len(pairs); i += 2 {
		n.set(pairs[i].(string), pairs[i+1].(*node))
	}
	return n
}

func array(items ...*node) *node { return &node{kind: '[', vals: items} }
func text(s string) *node        { return &node{raw: jsonrpc.AppendString(nil, s)} }
func literal(s string) *node     { return &node{raw: []byte(s)} }

func texts(all []string) *node {
	n := array()
	for _, s := range all {
		n.vals = append(n.vals, text(s))
	}
	return n
}

// many is how many keys are worth a map.
const many = 32

func (n *node) find(key string) int {
	if n.at == nil {
		return slices.Index(n.keys, key)
	}
	if i, ok := n.at[key]; ok {
		return i
	}
	return -1
}

func (n *node) get(key string) *node {
	if n == nil || n.kind != '{' {
		return nil
	}
	if i := n.find(key); i >= 0 {
		return n.vals[i]
	}
	return nil
}

func (n *node) has(key string) bool { return n.get(key) != nil }

func (n *node) set(key string, value *node) {
	if n.sets++; n.at == nil && n.sets > many {
		n.index()
	}
	if i := n.find(key); i >= 0 {
		n.vals[i] = value
		return
	}
	n.keys, n.vals = append(n.keys, key), append(n.vals, value)
	if n.at != nil {
		n.at[key] = len(n.keys) - 1
	}
}

// index makes the map of a node with many members.
func (n *node) index() {
	if len(n.keys) < many || n.at != nil {
		return
	}
	n.at = make(map[string]int, len(n.keys))
	for i, k := range n.keys {
		n.at[k] = i
	}
}

// indexAll makes the maps of a node and all below it, which must not be used by others yet.
func (n *node) indexAll() {
	n.index()
	for _, v := range n.vals {
		v.indexAll()
	}
}

// rename gives a member another name, which no other member has.
func (n *node) rename(i int, key string) { n.keys[i], n.at, n.sets = key, nil, 0 }

func (n *node) drop(key string) {
	if i := n.find(key); i >= 0 {
		n.keys, n.vals, n.at = slices.Delete(n.keys, i, i+1), slices.Delete(n.vals, i, i+1), nil
		n.sets = 0
	}
}

// first puts a member in front of the others.
func (n *node) first(key string, value *node) {
	n.drop(key)
	n.keys, n.vals, n.at = slices.Insert(n.keys, 0, key), slices.Insert(n.vals, 0, value), nil
	n.sets = 0
}

// names collects the names of members at every level.
func (n *node) names(into map[string]bool) {
	for _, key := range n.keys {
		into[key] = true
	}
	for _, v := range n.vals {
		v.names(into)
	}
}

// copied is a copy whose members can be set without touching n.
func (n *node) copied() *node {
	c := *n
	c.keys, c.vals, c.at, c.sets = slices.Clone(n.keys), slices.Clone(n.vals), nil, 0
	return &c
}

// word is the value of a string; false for all else.
func (n *node) word() (string, bool) {
	if n == nil || n.kind != 0 || len(n.raw) == 0 || n.raw[0] != '"' {
		return "", false
	}
	return jsonrpc.Text(n.raw)
}

func (n *node) is(token string) bool { return n != nil && n.kind == 0 && string(n.raw) == token }

// list are the strings of an array; what is no string is left out.
func (n *node) list() []string {
	if n == nil || n.kind != '[' {
		return nil
	}
	var all []string
	for _, v := range n.vals {
		if s, ok := v.word(); ok {
			all = append(all, s)
		}
	}
	return all
}

// shape tells what a literal is in the words of the keyword type.
func (n *node) shape() string {
	switch {
	case n.kind == '{':
		return "object"
	case n.kind == '[':
		return "array"
	case len(n.raw) == 0:
		return ""
	}
	switch n.raw[0] {
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func (n *node) append(dst []byte) []byte {
	switch n.kind {
	case '{':
		dst = append(dst, '{')
		for i, key := range n.keys {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonrpc.AppendString(dst, key), ':')
			dst = n.vals[i].append(dst)
		}
		return append(dst, '}')
	case '[':
		dst = append(dst, '[')
		for i, v := range n.vals {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, n.raw...)
}

// fits takes the bytes of a value off what is left, and tells whether that was enough. It stops where it was not, so that a
// value that is shared by many costs no more than there was.
func (n *node) fits(left *int) bool {
	*left -= len(n.raw) + 2
	for i := 0; i < len(n.vals) && *left >= 0; i++ {
		if n.kind == '{' {
			*left -= len(n.keys[i]) + 4
		}
		n.vals[i].fits(left)
	}
	return *left >= 0
}

func (n *node) String() string { return string(n.append(nil)) }

// equal tells whether two values are written alike.
func equal(a, b *node) bool {
	return a == b || a.kind == b.kind && bytes.Equal(a.raw, b.raw) && slices.Equal(a.keys, b.keys) && slices.EqualFunc(a.vals, b.vals, equal)
}
