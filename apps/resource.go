package apps

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// ResourceMeta is what a page needs to be shown.
//
// Shape, under `_meta.ui`: {"csp"?, "permissions"?, "domain"?, "prefersBorder"?}.
type ResourceMeta struct {
	CSP           *CSP           `json:"csp,omitzero"`
	Permissions   *Permissions   `json:"permissions,omitzero"`
	Domain        string         `json:"domain,omitzero"`        // an origin of its own; each host has its own form for it
	PrefersBorder *bool          `json:"prefersBorder,omitzero"` // nil leaves it to the host
	Extra         jsontext.Value `json:",embed"`
}

// Resource is a page of a server.
type Resource struct {
	URI         string // begins with ui://
	Name        string
	Title       string
	Description string

	// HTML is the page: a whole document, beginning with <!doctype html>.
	HTML string

	// Make makes the page for each reader instead. It may be called concurrently.
	Make func(ctx context.Context, req *server.Request) (string, error)

	UI ResourceMeta
}

// AddResource adds a page to a server, or replaces the one of the same URI. It panics when the page breaks the rules of the
// extension, which only a programmer can cause.
func AddResource(s *server.Server, r Resource) {
	meta, err := r.check()
	if err != nil {
		panic(fmt.Sprintf("apps: page %q: %v", r.URI, err))
	}
	entry := mcp.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: MIMEType, Meta: meta}
	s.AddResource(entry, func(ctx context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
		html := r.HTML
		if r.Make != nil {
			var err error
			if html, err = r.Make(ctx, req); err != nil {
				return nil, err
			}
			if !isDocument(html) {
				return nil, fmt.Errorf("the page %s was made without <!doctype html> in front", r.URI)
			}
		}
		page := mcp.TextResource(r.URI, MIMEType, html)
		page.Meta = meta
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{page}}, nil
	})
}

func (r *Resource) check() (mcp.Meta, error) {
	switch {
	case !isURI(r.URI):
		return nil, fmt.Errorf("its URI must begin with %s", Scheme)
	case r.Name == "":
		return nil, errors.New("it needs a name")
	case (r.HTML == "") == (r.Make == nil):
		return nil, errors.New("it needs either HTML or Make")
	case r.Make == nil && !isDocument(r.HTML):
		return nil, errors.New("it must be a whole document that begins with <!doctype html>")
	}
	if err := r.UI.CSP.check(); err != nil {
		return nil, err
	}
	meta, err := mcp.NewMeta(metaKey, r.UI)
	if raw, _ := meta.Get(metaKey); string(raw) == "{}" {
		return nil, err
	}
	return meta, err
}

// isDocument tells whether a text begins as a document of HTML does; comments may stand in front.
func isDocument(html string) bool {
	html = strings.TrimLeft(strings.TrimPrefix(html, "\uFEFF"), " \t\r\n\f")
	for strings.HasPrefix(html, "<!--") {
		_, rest, ok := strings.Cut(html, "-->")
		if !ok {
			return false
		}
		html = strings.TrimLeft(rest, " \t\r\n\f")
	}
	const doctype = "<!doctype html"
	return len(html) > len(doctype) && strings.EqualFold(html[:len(doctype)], doctype)
}
