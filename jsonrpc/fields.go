package jsonrpc

import (
	"bytes"
	"iter"
)

// Field is one member of a raw JSON object: the name as it stands there, with its quotes and escapes, and the value.
type Field struct{ Name, Value []byte }

// Is tells whether the member has a name, however the name is escaped.
func (f Field) Is(name string) bool {
	if bytes.IndexByte(f.Name, '\\') < 0 {
		return string(f.Name[1:len(f.Name)-1]) == name
	}
	text, ok := Text(f.Name)
	return ok && text == name
}

// Fields yields the members of a JSON object in their order, as slices of obj; nothing for a value that is no object. It
// allocates nothing and checks nothing: obj must be valid, as everything is that Decode has let through. Of anything else
// it yields what it can make out.
//
// This is the one walk over raw objects, for edits that keep every token. [Members] and [Member] read by plain names.
func Fields(obj []byte) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		walk(obj, func(f Field, _ span) bool { return yield(f) })
	}
}

// walk also tells where each member stands in obj.
func walk(obj []byte, yield func(Field, span) bool) {
	i := blank(obj, 0)
	if i >= len(obj) || obj[i] != '{' {
		return
	}
	for {
		at := blank(obj, i+1)
		if at >= len(obj) || obj[at] != '"' {
			return
		}
		end := pastString(obj, at)
		name := obj[at:end:end]
		i = blank(obj, end)
		if i >= len(obj) || obj[i] != ':' || len(name) < 2 {
			return
		}
		i = blank(obj, i+1)
		end = pastValue(obj, i)
		if end == i || !yield(Field{Name: name, Value: obj[i:end:end]}, span{int32(at), int32(i), int32(end)}) {
			return
		}
		if i = blank(obj, end); i >= len(obj) || obj[i] != ',' {
			return
		}
	}
}

// Elements yields the raw elements of a JSON array in their order, under the same rules as Fields.
func Elements(arr []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) { pass(arr, yield) }
}

// pass is apart so that Elements is small enough to cost no allocation.
func pass(arr []byte, yield func([]byte) bool) {
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

// IsObject tells whether a raw value is an object, by its first byte that is no white space.
func IsObject(raw []byte) bool { return first(raw) == '{' }

// IsArray tells whether a raw value is an array, in the same way.
func IsArray(raw []byte) bool { return first(raw) == '[' }

// IsString tells whether a raw value is a string, in the same way.
func IsString(raw []byte) bool { return first(raw) == '"' }

func first(raw []byte) byte {
	if i := blank(raw, 0); i < len(raw) {
		return raw[i]
	}
	return 0
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
