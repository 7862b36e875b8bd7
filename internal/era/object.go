package era

import (
	"bytes"
	"iter"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Member is one member of a raw JSON object: the name as it stands there, with its quotes, and the value.
type Member struct{ Name, Value []byte }

// Is tells whether the member has a name, however the name is escaped.
func (m Member) Is(name string) bool {
	if bytes.IndexByte(m.Name, '\\') < 0 {
		return string(m.Name[1:len(m.Name)-1]) == name
	}
	text, ok := jsonrpc.Text(m.Name)
	return ok && text == name
}

// Members yields the members of a JSON object in their order. The object must be valid, as everything is that went
// through jsonrpc.Decode; of anything else it yields what it can make out, and nothing for what is no object. Against
// jsonrpc.Members it keeps the raw name, so that an edit keeps the token, and it neither checks nor allocates.
func Members(obj []byte) iter.Seq[Member] {
	return func(yield func(Member) bool) { walk(obj, yield) }
}

// Find returns the raw value of a member of a valid JSON object, and whether it is there.
func Find(obj []byte, name string) ([]byte, bool) {
	for m := range Members(obj) {
		if m.Is(name) {
			return m.Value, true
		}
	}
	return nil, false
}

// IsObject tells whether a raw value is an object, by its first byte.
func IsObject(raw []byte) bool { return first(raw) == '{' }

// IsArray tells whether a raw value is an array, by its first byte.
func IsArray(raw []byte) bool { return first(raw) == '[' }

// IsString tells whether a raw value is a string, by its first byte.
func IsString(raw []byte) bool { return first(raw) == '"' }

func first(raw []byte) byte {
	if i := blank(raw, 0); i < len(raw) {
		return raw[i]
	}
	return 0
}

func walk(obj []byte, yield func(Member) bool) {
	i := blank(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return
	}
	for {
		i = blank(obj, i+1)
		if i >= len(obj) || obj[i] != '"' {
			return
		}
		end := pastString(obj, i)
		name := obj[i:end:end]
		i = blank(obj, end)
		if i >= len(obj) || obj[i] != ':' || len(name) < 2 {
			return
		}
		i = blank(obj, i+1)
		end = pastValue(obj, i)
		if end == i || !yield(Member{Name: name, Value: obj[i:end:end]}) {
			return
		}
		if i = blank(obj, end); i >= len(obj) || obj[i] != ',' {
			return
		}
	}
}

// Elements yields the raw elements of a valid JSON array in their order, under the same rules as Members.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		i := blank(arr, 0)
		if i >= len(arr) || arr[i] != '[' {
			return
		}
		for {
			i = blank(arr, i+1)
			end := pastValue(arr, i)
			if end == i || !yield(arr[i:end:end]) {
				return
			}
			if i = blank(arr, end); i >= len(arr) || arr[i] != ',' {
				return
			}
		}
	}
}

// blank returns the first position from i on that is no white space.
func blank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// pastString returns the position behind the string that begins at i.
func pastString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// pastValue returns the position behind the value that begins at i, and i where none does.
func pastValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = pastString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			i++
			continue
		default:
			for i < len(b) && !ends(b[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// ends tells whether a byte ends a number or a literal.
func ends(c byte) bool {
	switch c {
	case ',', ':', '}', ']', ' ', '\t', '\n', '\r', '{', '[', '"':
		return true
	}
	return false
}

// Object appends one JSON object, member by member, and writes the commas. Line breaks of raw values are left out.
type Object struct {
	dst   []byte
	start int
}

// OpenObject begins an object behind dst.
func OpenObject(dst []byte) Object { return Object{dst: append(dst, '{'), start: len(dst) + 1} }

func (o *Object) comma() {
	if len(o.dst) > o.start {
		o.dst = append(o.dst, ',')
	}
}

// Keep copies a member as it stands.
func (o *Object) Keep(m Member) { o.dst = jsonrpc.AppendRaw(o.KeyOf(m), m.Value) }

// Put writes a member. The name needs no escapes.
func (o *Object) Put(name string, value []byte) {
	o.dst = jsonrpc.AppendRaw(o.Key(name), value)
}

// Pairs copies members given as `"name":value` joined by commas.
func (o *Object) Pairs(pairs []byte) {
	if len(pairs) > 0 {
		o.comma()
		o.dst = append(o.dst, pairs...)
	}
}

// Key writes the name of a member and hands over the bytes so far, for a value that is appended elsewhere; Resume takes
// them back. The name needs no escapes.
func (o *Object) Key(name string) []byte {
	o.comma()
	o.dst = append(append(append(o.dst, '"'), name...), `":`...)
	return o.dst
}

// KeyOf is Key for the name of a member, as it stands.
func (o *Object) KeyOf(m Member) []byte {
	o.comma()
	o.dst = append(append(o.dst, m.Name...), ':')
	return o.dst
}

// Resume goes on behind a value that was appended to what Key answered.
func (o *Object) Resume(dst []byte) { o.dst = dst }

// Close ends the object and returns everything.
func (o *Object) Close() []byte { return append(o.dst, '}') }
