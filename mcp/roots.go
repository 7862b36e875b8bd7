package mcp

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Root is a folder or file the client lets a server work in.
type Root struct {
	URI   string         `json:"uri"` // file:// in every revision so far
	Name  string         `json:"name,omitzero"`
	Meta  Meta           `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}

// Check says why a root must not be sent.
func (r Root) Check() error {
	if !strings.HasPrefix(r.URI, "file://") {
		return fmt.Errorf("the root %q must begin with file://", r.URI)
	}
	return nil
}

// ListRootsResult answers roots/list.
type ListRootsResult struct {
	Roots []Root         `json:"roots"`
	Meta  Meta           `json:"_meta,omitzero"`
	Extra jsontext.Value `json:",embed"`
}
