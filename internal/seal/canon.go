package seal

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// inlined is how long, in bytes, the canonical form of a container may be and still stand in the form around it. A longer
// one is replaced by '#' and its hash; no JSON value begins with '#', so the two cannot be confused.
const inlined = 256

// SyntaxError says where raw JSON cannot be brought into the canonical form.
type SyntaxError struct {
	Offset int    // in bytes, in the value of the member
	Text   string // what is wrong, fit for the peer
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%s (at byte %d)", e.Text, e.Offset) }

// canon reads one raw JSON value and appends its canonical form to out. It trusts what [jsonrpc.Decode] has checked, valid
// UTF-8 above all; of anything else it makes a form or an error.
type canon struct {
	src     []byte
	i       int
	out     []byte
	members []memberAt // of the objects that are open
	tmp     []byte
}

// memberAt says where a member stands in out: `"key":value,`.
type memberAt struct{ start, keyEnd, end int }

func (c *canon) release() {
	c.src = nil
	if cap(c.out) > maxKept || cap(c.tmp) > maxKept || cap(c.members) > maxKept/24 {
		*c = canon{}
	}
	canons.Put(c)
}

// read appends the canonical form of one whole text.
func (c *canon) read(src []byte) error {
	c.src, c.i, c.members = src, 0, c.members[:0]
	if err := c.value(0); err != nil {
		return err
	}
	if c.space(); c.i < len(c.src) {
		return c.fail("more than one JSON value")
	}
	return nil
}

func (c *canon) fail(text string) error { return &SyntaxError{Offset: c.i, Text: text} }

func (c *canon) space() {
	for c.i < len(c.src) && (c.src[c.i] == ' ' || c.src[c.i] == '\t' || c.src[c.i] == '\n' || c.src[c.i] == '\r') {
		c.i++
	}
}

func (c *canon) eat(b byte) bool {
	c.space()
	if c.i < len(c.src) && c.src[c.i] == b {
		c.i++
		return true
	}
	return false
}

func (c *canon) value(depth int) error {
	c.space()
	if c.i >= len(c.src) {
		return c.fail("the JSON text ends too early")
	}
	switch b := c.src[c.i]; {
	case b == '"':
		return c.str()
	case b == '{' || b == '[':
		return c.container(b, depth+1)
	case b == '-' || '0' <= b && b <= '9':
		return c.number()
	}
	for _, word := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(c.src[c.i:], []byte(word)) {
			c.i += len(word)
			c.out = append(c.out, word...)
			return nil
		}
	}
	return c.fail("not a JSON value")
}

func (c *canon) container(open byte, depth int) error {
	if depth > jsonrpc.MaxDepth {
		return c.fail("JSON nests deeper than " + fmt.Sprint(jsonrpc.MaxDepth) + " levels")
	}
	c.i++
	start := len(c.out)
	c.out = append(c.out, open)
	var err error
	if open == '{' {
		err = c.object(depth)
	} else {
		err = c.array(depth)
	}
	if err == nil && len(c.out)-start > inlined {
		sum := sha256.Sum256(c.out[start:])
		c.out = append(append(c.out[:start], '#'), sum[:]...)
	}
	return err
}

func (c *canon) array(depth int) error {
	for first := true; !c.eat(']'); first = false {
		if !first && !c.eat(',') {
			return c.fail("a comma or a bracket is missing")
		}
		if err := c.value(depth); err != nil {
			return err
		}
		c.out = append(c.out, ',')
	}
	c.out = append(c.out, ']')
	return nil
}

func (c *canon) object(depth int) error {
	mine := len(c.members)
	for first := true; !c.eat('}'); first = false {
		if !first && !c.eat(',') {
			return c.fail("a comma or a brace is missing")
		}
		if err := c.member(depth); err != nil {
			return err
		}
	}
	if err := c.sort(c.members[mine:]); err != nil {
		return err
	}
	c.members = c.members[:mine]
	c.out = append(c.out, '}')
	return nil
}

func (c *canon) member(depth int) error {
	m := memberAt{start: len(c.out)}
	if c.space(); c.i >= len(c.src) || c.src[c.i] != '"' {
		return c.fail("a member's name is missing")
	}
	if err := c.str(); err != nil {
		return err
	}
	m.keyEnd = len(c.out)
	if !c.eat(':') {
		return c.fail("a colon is missing")
	}
	c.out = append(c.out, ':')
	if err := c.value(depth); err != nil {
		return err
	}
	c.out = append(c.out, ',')
	m.end = len(c.out)
	c.members = append(c.members, m)
	return nil
}

// sort brings the members, which are the end of out, into the order of their names. Any order would do that depends on
// the names alone; it is that of the bytes of their canonical form.
func (c *canon) sort(members []memberAt) error {
	order := func(a, b memberAt) int { return bytes.Compare(c.out[a.start:a.keyEnd], c.out[b.start:b.keyEnd]) }
	sorted := true
	for i := 1; i < len(members) && sorted; i++ {
		sorted = order(members[i-1], members[i]) < 0
	}
	if sorted {
		return nil
	}
	start := members[0].start
	slices.SortFunc(members, order)
	c.tmp = c.tmp[:0]
	for i, m := range members {
		if i > 0 && order(members[i-1], m) == 0 {
			return c.fail("a member stands twice in one object")
		}
		c.tmp = append(c.tmp, c.out[m.start:m.end]...)
	}
	copy(c.out[start:], c.tmp)
	return nil
}

// str appends a string minimally escaped, which one without escapes already is.
func (c *canon) str() error {
	start := c.i
	escaped := false
	for c.i++; c.i < len(c.src); c.i++ {
		switch c.src[c.i] {
		case '\\':
			escaped = true
			c.i++
		case '"':
			c.i++
			if escaped {
				return c.unescape(c.src[start:c.i])
			}
			c.out = append(c.out, c.src[start:c.i]...)
			return nil
		}
	}
	return c.fail("a string has no end")
}

func (c *canon) unescape(raw []byte) error {
	text, err := jsontext.AppendUnquote(c.tmp[:0], raw)
	c.tmp = text
	if err == nil {
		c.out, err = jsontext.AppendQuote(c.out, text)
	}
	if err != nil {
		return c.fail("a string is not valid")
	}
	return nil
}
