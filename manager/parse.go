package manager

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds the nesting of objects and lists.
const maxDepth = 128

// white is what JSON takes for white space.
const white = " \t\r\n"

// parser builds the tree of a file. It goes on after a key that stands twice, so that all of them are reported, and
// stops at the first mistake of syntax.
type parser struct {
	doc      *document
	dec      *jsontext.Decoder
	problems *ConfigErrors
}

// parse reads a whole file. It answers nil when something was reported.
func parse(name string, source []byte, problems *ConfigErrors) *Value {
	plain, unclosed := standardize(source)
	doc := &document{name: name, source: source, plain: plain}
	if unclosed >= 0 {
		problems.Add(&Value{doc: doc, at: unclosed}, "this comment is never closed; end it with */")
		return nil
	}
	if len(bytes.TrimSpace(plain)) == 0 {
		problems.Add(&Value{doc: doc}, `the file holds no JSON; write at least {"mcpServers": {}}`)
		return nil
	}
	// Own check of duplicates: the decoder's would stop at the first.
	dec := jsontext.NewDecoder(bytes.NewReader(plain), jsontext.AllowDuplicateNames(true))
	p := &parser{doc: doc, dec: dec, problems: problems}
	root := p.value(&Value{doc: doc}, 0)
	if root == nil {
		return nil
	}
	end := int(dec.InputOffset())
	if rest := len(plain) - len(bytes.TrimLeft(plain[end:], white)); rest < len(plain) {
		problems.Add(&Value{doc: doc, at: rest}, "there is something behind the end of the JSON value; remove it")
	}
	if !problems.Empty() {
		return nil
	}
	return root
}

// next gives the offset where the next token begins.
func (p *parser) next() int {
	at := int(p.dec.InputOffset())
	for at < len(p.doc.plain) && strings.IndexByte(white+",:", p.doc.plain[at]) >= 0 {
		at++
	}
	return at
}

// value fills in v, which knows its parent and its name, or answers nil after it has reported why not.
func (p *parser) value(v *Value, depth int) *Value {
	v.at = p.next()
	token, err := p.dec.ReadToken()
	if err != nil {
		p.syntax(v, err)
		return nil
	}
	v.kind, v.text = kinds[token.Kind()], scalar(token)
	if v.kind == Object || v.kind == List {
		if depth == maxDepth {
			p.problems.Add(v, "the nesting is deeper than %d levels; flatten it", maxDepth)
			return nil
		}
		if !p.children(v, depth+1) {
			return nil
		}
	}
	v.end = int(p.dec.InputOffset())
	return v
}

var kinds = map[jsontext.Kind]Kind{'{': Object, '[': List, '"': Text, '0': Number, 't': Boolean, 'f': Boolean, 'n': Null}

func scalar(token jsontext.Token) string {
	if k := token.Kind(); k == '{' || k == '[' {
		return ""
	}
	return strings.Clone(token.String())
}

// children reads all of an object or a list and its closing bracket.
func (p *parser) children(v *Value, depth int) bool {
	seen := map[string]bool{}
	for {
		if k := p.dec.PeekKind(); k == '}' || k == ']' {
			_, err := p.dec.ReadToken()
			p.syntax(v, err)
			return err == nil
		}
		name := ""
		if v.kind == Object {
			at := p.next()
			token, err := p.dec.ReadToken()
			if err != nil {
				p.syntax(v, err)
				return false
			}
			name = strings.Clone(token.String())
			if seen[name] {
				twice := &Value{doc: p.doc, parent: v, name: name, at: at}
				p.problems.Add(twice, "this key stands twice in the same object; keep one")
			}
			seen[name] = true
		}
		child := p.value(&Value{doc: p.doc, parent: v, name: name, index: len(v.children)}, depth)
		if child == nil {
			return false
		}
		v.children = append(v.children, child)
	}
}

// isBroken tells whether b begins with a byte that no UTF-8 begins with.
func isBroken(b []byte) bool {
	r, size := utf8.DecodeRune(b)
	return r == utf8.RuneError && size == 1
}

// syntax reports a mistake of the decoder in words of our own: its texts may quote the file.
func (p *parser) syntax(v *Value, err error) {
	if err == nil {
		return
	}
	at := len(p.doc.plain)
	if place, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = int(place.ByteOffset)
	}
	text := "this is not JSON; look for a missing comma, colon, quote or bracket here or just before"
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at = len(bytes.TrimRight(p.doc.plain, white))
		text = "the file ends too early; close the open bracket or quote"
	case isBroken(p.doc.plain[min(at, len(p.doc.plain)):]):
		text = "this is not UTF-8; save the file in that encoding"
	}
	at = min(at, len(p.doc.plain))
	for at < len(p.doc.plain) && strings.IndexByte(white, p.doc.plain[at]) >= 0 {
		at++
	}
	place := *v // under its key, but where the mistake is
	place.at = at
	p.problems.Add(&place, "%s", text)
}
