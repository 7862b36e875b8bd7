package shape

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rialto-mcp/rialto/jsonrpc"
)

// schema is the input schema as it is shown: arguments are hidden, named anew and made optional wherever it speaks of them.
// What is not about them stays token for token.
func (e Edit) schema(input json.RawMessage) (json.RawMessage, error) {
	if err := e.fits(input); err != nil {
		return nil, err
	}
	edited, err := e.object(input, whole)
	if err != nil {
		return nil, err
	}
	return e.references(edited)
}

// fits demands that the arguments are there, and that no two get one name.
func (e Edit) fits(input json.RawMessage) error {
	properties, _ := jsonrpc.Member(input, "properties")
	required := texts(input, "required")
	for _, own := range slices.Sorted(maps.Keys(e.Arguments)) {
		switch a := e.Arguments[own]; {
		case !has(properties, own):
			return fmt.Errorf("it has no argument %q", own)
		case a.Drop && slices.Contains(required, own):
			return fmt.Errorf("its argument %q is required, so that it cannot be dropped; give it a value", own)
		}
	}
	seen := make(map[string]bool)
	for own := range jsonrpc.Members(properties) {
		a := e.Arguments[own]
		if a.hidden() {
			continue
		}
		if seen[a.shown(own)] {
			return fmt.Errorf("two of its arguments would have the name %q", a.shown(own))
		}
		seen[a.shown(own)] = true
	}
	return nil
}

// part says where a schema that is about the arguments stands.
type part int

const (
	whole   part = iota // it is that of the tool
	within              // it is a part of that
	negated             // it is one that must not hold
)

// into is the place of a part of a part.
func (p part) into() part { return max(p, within) }

// object edits one schema that is about the arguments.
func (e Edit) object(schema json.RawMessage, at part) (json.RawMessage, error) {
	if !jsonrpc.IsObject(schema) {
		return schema, nil
	}
	var failed error
	out := members(schema, func(f jsonrpc.Field) (name, value []byte, keep bool) {
		key, _ := jsonrpc.Text(f.Name)
		edited, err := e.keyword(key, f.Value, at)
		failed = errors.Join(failed, err)
		return f.Name, edited, edited != nil
	})
	return out, failed
}

// keyword edits the value of one keyword; nil takes it out.
func (e Edit) keyword(key string, value json.RawMessage, at part) (json.RawMessage, error) {
	switch key {
	case "properties":
		return e.properties(value, at == whole)
	case "required":
		return e.required(value, at)
	case "allOf", "anyOf", "oneOf":
		var failed error
		return list(value, func(part []byte) []byte {
			edited, err := e.object(part, at.into())
			failed = errors.Join(failed, err)
			return edited
		}), failed
	case "if", "then", "else":
		return e.object(value, at.into())
	case "not":
		return e.object(value, negated)
	case "dependentRequired", "dependentSchemas", "dependencies":
		return e.dependent(value, at.into())
	}
	return value, e.follow(key, value)
}

// properties edits the definitions of arguments. A part of the schema that judges the value of a hidden one cannot be shown.
func (e Edit) properties(value json.RawMessage, root bool) (json.RawMessage, error) {
	var failed error
	out := members(value, func(f jsonrpc.Field) ([]byte, []byte, bool) {
		own, _ := jsonrpc.Text(f.Name)
		a, said := e.Arguments[own]
		switch {
		case !said:
			return f.Name, f.Value, true
		case a.hidden() && !root:
			failed = follows(own)
		case a.hidden():
		case !root:
			return named(f.Name, own, a), f.Value, true
		default:
			def, err := a.define(own, f.Value)
			failed = errors.Join(failed, err)
			return named(f.Name, own, a), def, true
		}
		return nil, nil, false
	})
	return out, failed
}

func follows(own string) error {
	return fmt.Errorf("its schema has rules about the argument %q that cannot be shown while it is hidden", own)
}

// named is the name of a member, as it stands there where it stays.
func named(token []byte, own string, a Argument) []byte {
	if a.Rename == "" || a.Rename == own {
		return token
	}
	return jsonrpc.AppendString(nil, a.Rename)
}

// define is the definition of an argument that is shown.
func (a Argument) define(own string, def json.RawMessage) (json.RawMessage, error) {
	if a.Description == "" && a.Default == nil {
		return def, nil
	}
	switch {
	case string(def) == "true":
		def = json.RawMessage("{}")
	case !jsonrpc.IsObject(def):
		return nil, fmt.Errorf("the schema of its argument %q takes no value", own)
	}
	if a.Description != "" {
		def = jsonrpc.With(nil, def, "description", jsonrpc.AppendString(nil, a.Description))
	}
	if a.Default != nil {
		def = jsonrpc.With(nil, def, "default", a.Default)
	}
	return def, nil
}

// required edits a list of arguments that must be there. Those that the gateway sends itself are; nil is none. In a part of the schema
// the other branches count too: one that can never hold, or always does, cannot be told from one that asks for nothing.
func (e Edit) required(value json.RawMessage, at part) (json.RawMessage, error) {
	left, all := 0, 0
	var failed error
	out := list(value, func(token []byte) []byte {
		own, _ := jsonrpc.Text(token)
		a := e.Arguments[own]
		all++
		if a.Drop && at != whole || a.provided() && at == negated {
			failed = follows(own)
		}
		if a.hidden() || a.provided() {
			return nil
		}
		left++
		return named(token, own, a)
	})
	if left == 0 && all > 0 {
		return nil, failed
	}
	return out, failed
}

// dependent edits what depends on the presence of arguments.
func (e Edit) dependent(value json.RawMessage, at part) (json.RawMessage, error) {
	var failed error
	out := members(value, func(f jsonrpc.Field) ([]byte, []byte, bool) {
		own, _ := jsonrpc.Text(f.Name)
		a := e.Arguments[own]
		if a.Drop {
			return nil, nil, false // it is never there
		}
		if a.provided() {
			failed = errors.Join(failed, fmt.Errorf("its schema has rules that depend on the argument %q, which would always be there", own))
		}
		if jsonrpc.IsArray(f.Value) {
			needs, err := e.required(f.Value, at)
			failed = errors.Join(failed, err)
			return named(f.Name, own, a), needs, needs != nil
		}
		part, err := e.object(f.Value, at)
		failed = errors.Join(failed, err)
		return named(f.Name, own, a), part, true
	})
	return out, failed
}

// members rebuilds an object member by member, and is the object itself where nothing has changed.
func members(obj json.RawMessage, edit func(jsonrpc.Field) (name, value []byte, keep bool)) json.RawMessage {
	out, changed := []byte{'{'}, false
	for f := range jsonrpc.Fields(obj) {
		name, value, keep := edit(f)
		changed = changed || !keep || string(name) != string(f.Name) || string(value) != string(f.Value)
		if !keep {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	if !changed {
		return obj
	}
	return append(out, '}')
}

// list rebuilds an array; nil takes an element out.
func list(array json.RawMessage, edit func([]byte) []byte) json.RawMessage {
	out, changed := []byte{'['}, false
	for e := range jsonrpc.Elements(array) {
		edited := edit(e)
		changed = changed || string(edited) != string(e)
		if edited == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, edited...)
	}
	if !changed {
		return array
	}
	return append(out, ']')
}

// texts reads a list of texts in an object.
func texts(obj json.RawMessage, name string) (out []string) {
	raw, _ := jsonrpc.Member(obj, name)
	for e := range jsonrpc.Elements(raw) {
		if text, ok := jsonrpc.Text(e); ok {
			out = append(out, text)
		}
	}
	return out
}
