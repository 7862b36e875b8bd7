package mcp

import "github.com/go-json-experiment/json/jsontext"

// Cursor is an opaque place in a list. In results and parameters it is a pointer: nil ends the list (or begins it), the
// empty string is a cursor like any other. Spec 2026-07-28, server/utilities/pagination.
type Cursor = string

// ListParams are the parameters of every list method.
type ListParams struct {
	Cursor *Cursor        `json:"cursor,omitzero"`
	Meta   Meta           `json:"_meta,omitzero"`
	Extra  jsontext.Value `json:",embed"`
}

// Params are the parameters of methods and notifications that have none of their own.
type Params struct {
	Meta  Meta           `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// Result is the result of methods that have no members of their own, such as ping.
type Result struct {
	Meta  Meta           `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}
