package server

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// data makes the data of a message from a record: an object whose members stand in the order of the attributes.
func (h *LogHandler) data(record slog.Record) json.RawMessage {
	root := &group{}
	root.put(slog.MessageKey, leaf(jsonrpc.AppendString(nil, record.Message)))
	at := &group{}
	inner := at
	for _, s := range h.within {
		if s.group != "" {
			inner = inner.open(s.group)
			continue
		}
		for _, a := range s.attrs {
			inner.add(a)
		}
	}
	record.Attrs(func(a slog.Attr) bool { inner.add(a); return true })
	for _, m := range at.members {
		if m.name != slog.MessageKey {
			root.put(m.name, m.value)
		}
	}
	return root.append(nil)
}

// node is a value of a message: a leaf or a group.
type node interface {
	append(dst []byte) []byte
	empty() bool // a group without members, which is left out
}

type leaf json.RawMessage

func (l leaf) append(dst []byte) []byte { return append(dst, l...) }
func (l leaf) empty() bool              { return false }

// group is an object being made. A name stands once; of several values the last counts.
type group struct{ members []member }

type member struct {
	name  string
	value node
}

func (g *group) empty() bool {
	for _, m := range g.members {
		if !m.value.empty() {
			return false
		}
	}
	return true
}

func (g *group) append(dst []byte) []byte {
	dst = append(dst, '{')
	first := true
	for _, m := range g.members {
		if m.value.empty() {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(jsonrpc.AppendString(dst, m.name), ':')
		dst = m.value.append(dst)
	}
	return append(dst, '}')
}

func (g *group) put(name string, value node) {
	for i := range g.members {
		if g.members[i].name == name {
			g.members[i].value = value
			return
		}
	}
	g.members = append(g.members, member{name, value})
}

// open returns the group of a name, the one that is there or a new one.
func (g *group) open(name string) *group {
	for _, m := range g.members {
		if inner, ok := m.value.(*group); ok && m.name == name {
			return inner
		}
	}
	inner := &group{}
	g.put(name, inner)
	return inner
}

// add puts an attribute in, by the rules of slog: an attribute without anything is left out, and so is an empty group; a
// group without a name is not one.
func (g *group) add(a slog.Attr) {
	if a.Equal(slog.Attr{}) {
		return
	}
	value := a.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		g.put(a.Key, leaf(valueJSON(value)))
		return
	}
	inner := g
	if a.Key != "" {
		inner = g.open(a.Key)
	}
	for _, member := range value.Group() {
		inner.add(member)
	}
}

// valueJSON encodes a value that is no group.
func valueJSON(v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(nil, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(nil, v.Uint64(), 10)
	case slog.KindFloat64:
		if f := v.Float64(); math.IsNaN(f) || math.IsInf(f, 0) {
			break // no number of JSON
		}
		return anyJSON(v.Float64())
	case slog.KindBool:
		return strconv.AppendBool(nil, v.Bool())
	case slog.KindTime:
		return jsonrpc.AppendString(nil, v.Time().Format(time.RFC3339Nano))
	case slog.KindAny:
		return anyJSON(v.Any())
	}
	return jsonrpc.AppendString(nil, v.String())
}

// anyJSON encodes any value; one that has no JSON form becomes the text of the reason, as slog's own handler has it.
func anyJSON(v any) []byte {
	_, own := v.(json.Marshaler)
	if err, ok := v.(error); ok && !own {
		return jsonrpc.AppendString(nil, err.Error())
	}
	raw, err := marshalAny(v)
	if err != nil {
		return jsonrpc.AppendString(nil, "!ERROR:"+err.Error())
	}
	return raw
}

// marshalAny contains the panics of a value's own methods: a nil pointer in a log must not end the call that logs it.
func marshalAny(v any) (raw []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}
