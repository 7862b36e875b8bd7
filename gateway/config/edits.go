package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/manager"
)

const (
	longestToolName   = 128 // 2025-11-25 and 2026-07-28, server/tools, "Tool Names"
	longestPromptName = 256
	longestText       = 16 << 10 // of a title or a description
)

var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// names lists the settings of tools, or of prompts. edit lists those of one of them.
func (s *section) names(n *shape.Names, longest int, edit func(*shape.Edit) []setting) []setting {
	return append(s.filter(&n.Filter),
		setting{"rename", s.renames(&n.Rename, longest)},
		setting{"edit", func(v *manager.Value) {
			if !s.is(v, manager.Object) {
				return
			}
			n.Edit = make(map[string]shape.Edit)
			for _, child := range v.Children() {
				var e shape.Edit
				s.object(child, edit(&e))
				n.Edit[child.Name()] = e
			}
		}})
}

// renames reads new names by old ones. No two may be the same.
func (s *section) renames(to *map[string]string, longest int) func(*manager.Value) {
	return func(v *manager.Value) {
		if !s.is(v, manager.Object) {
			return
		}
		renamed, owner := make(map[string]string), make(map[string]string)
		for _, child := range v.Children() {
			if !s.is(child, manager.Text) {
				continue
			}
			name := child.Text()
			switch other, taken := owner[name]; {
			case name == "" || len(name) > longest:
				s.problems.Add(child, "the new name must have 1 to %d characters", longest)
			case longest == longestToolName && !toolName.MatchString(name):
				s.problems.Add(child, "the new name may have letters, digits, '_', '-' and '.' only")
			case taken:
				s.problems.Add(child, "%q is to have the same name; choose another", other)
			default:
				renamed[child.Name()], owner[name] = name, child.Name()
			}
		}
		*to = renamed
	}
}

// definition lists the settings of one prompt.
func (s *section) definition(e *shape.Edit) []setting {
	return []setting{{"title", s.text(&e.Title, checkText)}, {"description", s.text(&e.Description, checkText)}}
}

// tool lists the settings of one tool.
func (s *section) tool(e *shape.Edit) []setting {
	return append(s.definition(e), setting{"arguments", func(v *manager.Value) {
		if !s.is(v, manager.Object) {
			return
		}
		e.Arguments = make(map[string]shape.Argument)
		for _, child := range v.Children() {
			if child.Name() == "" {
				s.problems.Add(child, "an argument without a name cannot be edited; remove it")
				continue
			}
			var a shape.Argument
			s.object(child, s.argument(&a))
			s.check(child, checkArgument(a))
			e.Arguments[child.Name()] = a
		}
	}})
}

func (s *section) argument(a *shape.Argument) []setting {
	return []setting{
		{"value", func(v *manager.Value) { a.Value, a.Secret = s.fixed(v) }},
		{"default", func(v *manager.Value) { a.Default = v.Raw() }},
		{"drop", s.boolean(&a.Drop)},
		{"rename", s.text(&a.Rename, func(name string) error {
			if name == "" || len(name) > longestToolName {
				return fmt.Errorf("the new name must have 1 to %d characters", longestToolName)
			}
			return nil
		})},
		{"description", s.text(&a.Description, checkText)},
	}
}

func checkText(text string) error {
	if text == "" || len(text) > longestText {
		return errors.New("the text must have 1 to 16384 bytes; to keep what the server says leave the key out")
	}
	return nil
}

func checkArgument(a shape.Argument) error {
	shown := a.Rename != "" || a.Description != "" || a.Default != nil
	switch {
	case a.Value != nil && a.Drop:
		return errors.New("value and drop exclude each other: one is always sent, the other never")
	case a.Value != nil && shown:
		return errors.New("an argument with a value is hidden, so that the other keys mean nothing; keep value alone")
	case a.Drop && shown:
		return errors.New("an argument that is dropped is hidden, so that the other keys mean nothing; keep drop alone")
	}
	return nil
}

// fixed gives a value with the variables in its texts put in, and those that may be secret: what has come of a variable.
func (s *section) fixed(v *manager.Value) (out json.RawMessage, secret []string) {
	inside := func(open, end byte, name func(*manager.Value) []byte) {
		out = append(out, open)
		for i, child := range v.Children() {
			if i > 0 {
				out = append(out, ',')
			}
			value, found := s.fixed(child)
			out, secret = append(append(out, name(child)...), value...), append(secret, found...)
		}
		out = append(out, end)
	}
	switch v.Kind() {
	case manager.Object:
		inside('{', '}', func(child *manager.Value) []byte { return append(jsonrpc.AppendString(nil, child.Name()), ':') })
	case manager.List:
		inside('[', ']', func(*manager.Value) []byte { return nil })
	case manager.Text:
		text, _ := s.expanded(v)
		if text != v.Text() && text != "" {
			secret = []string{text}
		}
		return jsonrpc.AppendString(nil, text), secret
	default:
		return v.Raw(), nil
	}
	return out, secret
}

// normalNames is what is said of tools, or of prompts, without what is not said.
func normalNames(n shape.Names) ordered {
	out := normalFilter(n.Filter)
	if len(n.Rename) > 0 {
		out = append(out, member{"rename", n.Rename})
	}
	var edits ordered
	for _, name := range slices.Sorted(maps.Keys(n.Edit)) {
		edits = append(edits, member{name, normalEdit(n.Edit[name])})
	}
	if edits != nil {
		out = append(out, member{"edit", edits})
	}
	return out
}

func normalEdit(e shape.Edit) ordered {
	out := ordered{}
	texts := func(to ordered, key, text string) ordered {
		if text == "" {
			return to
		}
		return append(to, member{key, text})
	}
	out = texts(texts(out, "title", e.Title), "description", e.Description)
	arguments := ordered{}
	for _, name := range slices.Sorted(maps.Keys(e.Arguments)) {
		a, one := e.Arguments[name], ordered{}
		if a.Value != nil {
			one = append(one, member{"value", maskJSON(a.Value)})
		}
		if a.Default != nil {
			one = append(one, member{"default", a.Default})
		}
		if a.Drop {
			one = append(one, member{"drop", true})
		}
		one = texts(texts(one, "rename", a.Rename), "description", a.Description)
		arguments = append(arguments, member{name, one})
	}
	if len(arguments) > 0 {
		out = append(out, member{"arguments", arguments})
	}
	return out
}

// maskJSON hides every text in a value: variables are put in, and what was none may be secret all the same.
func maskJSON(raw json.RawMessage) json.RawMessage {
	if jsonrpc.IsString(raw) {
		return jsonrpc.AppendString(nil, mask)
	}
	if jsonrpc.IsObject(raw) || jsonrpc.IsArray(raw) {
		if strings.Contains(string(raw), `"`) {
			return jsonrpc.AppendString(nil, mask)
		}
	}
	return raw
}
