package jsonrpc

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Without returns obj without the members named, and obj itself when it has none of them. All other tokens and their
// order stay as they are. obj must be a valid JSON object.
func Without(obj json.RawMessage, names ...string) json.RawMessage {
	var cuts []span
	walk(obj, func(f Field, at span) bool {
		if slices.ContainsFunc(names, f.Is) {
			cuts = append(cuts, at)
		}
		return true
	})
	if len(cuts) == 0 {
		return obj
	}
	return cut(make([]byte, 0, len(obj)), obj, cuts)
}

// cut appends obj to dst without the members at the spans given, which are in order.
func cut(dst, obj []byte, cuts []span) []byte {
	from := int32(0)
	for _, c := range cuts {
		dst = append(dst, obj[from:c.Name]...)
		from = c.End
		rest := bytes.TrimLeft(obj[from:], " \t\r\n")
		if len(rest) > 0 && rest[0] == ',' {
			from = int32(len(obj) - len(rest) + 1)
			continue
		}
		dst = bytes.TrimRight(dst, " \t\r\n") // the last member: the comma before it goes instead
		dst = bytes.TrimSuffix(dst, []byte(","))
	}
	return append(dst, obj[from:]...)
}

// With appends obj to dst with one member set: replaced in place where obj has it, added at the end otherwise. obj
// must be a valid JSON object, or nil, which counts as {}.
func With(dst []byte, obj json.RawMessage, name string, value []byte) []byte {
	old := span{}
	walk(obj, func(f Field, at span) bool {
		if f.Is(name) {
			old = at
		}
		return old.End == 0
	})
	if old.End != 0 {
		dst = append(dst, obj[:old.Start]...)
		dst = append(dst, value...)
		return append(dst, obj[old.End:]...)
	}
	return AddMembers(dst, obj, appendPair(nil, name, value))
}

func appendPair(dst []byte, name string, value []byte) []byte {
	dst = AppendString(dst, name)
	dst = append(dst, ':')
	return append(dst, value...)
}

// AddMembers appends obj to dst with further members, given as `"name":value` joined by commas, behind its own. The
// caller knows that obj has none of them. obj must be a valid JSON object, or nil, which counts as {}.
func AddMembers(dst []byte, obj json.RawMessage, pairs []byte) []byte {
	if obj == nil {
		obj = json.RawMessage("{}")
	}
	if len(pairs) == 0 {
		return append(dst, obj...)
	}
	open := bytes.TrimRight(obj, " \t\r\n")
	open = bytes.TrimRight(open[:len(open)-1], " \t\r\n")
	dst = append(dst, open...)
	if len(bytes.TrimLeft(open, " \t\r\n")) > 1 {
		dst = append(dst, ',')
	}
	dst = append(dst, pairs...)
	return append(dst, '}')
}

// LeanParams returns the params of a decoded message without the members named: those of params at body and those of
// _meta at meta, both as positions in the lift table the message was decoded with. A _meta that becomes empty goes
// too. Params without any of them are returned as they are.
func (m *Message) LeanParams(body, meta []int) json.RawMessage {
	if m.Params == nil {
		return nil
	}
	return m.lean(m.Params, body, meta)
}

// LeanResult is LeanParams for the result of a decoded answer. A result that is no object is returned as it is.
func (m *Message) LeanResult(body, meta []int) json.RawMessage {
	if m.Result == nil || m.body.End == 0 {
		return m.Result
	}
	return m.lean(m.Result, body, meta)
}

func (m *Message) lean(whole json.RawMessage, body, meta []int) json.RawMessage {
	var room [maxLifted]span // on the stack
	cuts := room[:0]
	wholeMeta := false
	for _, i := range body {
		if s := m.lifted[i]; s.End != 0 {
			cuts = append(cuts, s)
			wholeMeta = wholeMeta || s == m.meta
		}
	}
	if !wholeMeta {
		cuts = m.leanMeta(cuts, meta)
	}
	if len(cuts) == 0 {
		return whole
	}
	slices.SortFunc(cuts, func(a, b span) int { return int(a.Start) - int(b.Start) })
	base := m.body.Start
	for i := range cuts {
		cuts[i].Name -= base
		cuts[i].Start -= base
		cuts[i].End -= base
	}
	return cut(make([]byte, 0, len(whole)), whole, cuts)
}

// leanMeta adds the spans of the members of _meta that go, or that of _meta itself when all of them do.
func (m *Message) leanMeta(cuts []span, meta []int) []span {
	before := len(cuts)
	for _, i := range meta {
		if s := m.lifted[maxBody+i]; s.End != 0 {
			cuts = append(cuts, s)
		}
	}
	if gone := len(cuts) - before; gone > 0 && gone == int(m.metaSize) {
		return append(cuts[:before], m.meta)
	}
	return cuts
}
