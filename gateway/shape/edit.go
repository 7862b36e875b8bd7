package shape

import (
	"encoding/json"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
)

// Names is what is said of tools, or of prompts.
type Names struct {
	Filter

	// Rename gives other names, by those of the server.
	Rename map[string]string

	// Edit changes definitions, by the names of the server.
	Edit map[string]Edit
}

// IsZero tells whether all stays as it is.
func (n Names) IsZero() bool { return n.Filter.IsZero() && len(n.Rename) == 0 && len(n.Edit) == 0 }

// Edit changes one definition. The zero value changes nothing.
type Edit struct {
	Title, Description string // "" leaves that of the server

	// Arguments says what becomes of the arguments of a tool, by the names of the server. They must stand in its input schema.
	Arguments map[string]Argument
}

// Argument is what becomes of one argument. It is hidden with a Value and with Drop; otherwise the rest is for how it is shown.
type Argument struct {
	// Value is what the server gets, whatever the client says: the argument is hidden.
	Value json.RawMessage

	// Secret are texts in Value that are not to be told to clients in errors.
	Secret []string

	// Drop hides an optional argument that is never sent.
	Drop bool

	Rename      string          // "" leaves the name
	Description string          // "" leaves that of the server
	Default     json.RawMessage // what the server gets where the client says nothing; nil for none
}

// hidden tells whether clients do not know of the argument.
func (a Argument) hidden() bool { return a.Value != nil || a.Drop }

// shown is the name that clients know.
func (a Argument) shown(own string) string {
	if a.Rename != "" {
		return a.Rename
	}
	return own
}

// of edits a list. What an edit does not fit is left out, and its reason goes to misfit, which may be nil.
func (n Names) of(items []upstream.Item, misfit func(name string, err error)) []upstream.Item {
	items = n.Filter.of(items)
	if len(n.Edit) == 0 {
		return items
	}
	out := make([]upstream.Item, 0, len(items))
	for _, it := range items {
		if e, ok := n.Edit[it.Key]; ok {
			raw, err := e.apply(it.Raw)
			if err != nil {
				if misfit != nil {
					misfit(it.Key, err)
				}
				continue
			}
			it.Raw = raw
		}
		out = append(out, it)
	}
	return out
}

// apply edits a definition; all other tokens stay. It fails where the edit does not fit.
func (e Edit) apply(def json.RawMessage) (json.RawMessage, error) {
	if e.Title != "" {
		title := jsonrpc.AppendString(nil, e.Title)
		def = jsonrpc.With(nil, def, "title", title)
		if notes, _ := jsonrpc.Member(def, "annotations"); has(notes, "title") { // where the oldest clients look
			def = jsonrpc.With(nil, def, "annotations", jsonrpc.With(nil, notes, "title", title))
		}
	}
	if e.Description != "" {
		def = jsonrpc.With(nil, def, "description", jsonrpc.AppendString(nil, e.Description))
	}
	if len(e.Arguments) == 0 {
		return def, nil
	}
	input, _ := jsonrpc.Member(def, "inputSchema")
	edited, err := e.schema(input)
	if err != nil {
		return nil, err
	}
	return jsonrpc.With(nil, def, "inputSchema", edited), nil
}

func has(obj json.RawMessage, name string) bool {
	_, ok := jsonrpc.Member(obj, name)
	return ok
}
