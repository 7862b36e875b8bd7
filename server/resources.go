package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// ResourceHandler reads a resource. It returns mcp.ResourceNotFound when the resource does not exist (any more). Contents
// without a URI get that of the request.
type ResourceHandler func(ctx context.Context, req *Request) (*mcp.ReadResourceResult, error)

// TemplateHandler reads a resource of a template. vars holds the values of the template's variables in the URI, decoded;
// several values of one variable are joined by commas. They are the client's words: a handler that makes a path of one
// has to see that it stays where it belongs.
type TemplateHandler func(ctx context.Context, req *Request, vars map[string]string) (*mcp.ReadResourceResult, error)

type resource struct {
	resource mcp.Resource
	raw      json.RawMessage
	read     ResourceHandler
}

func (e *resource) key() string           { return e.resource.URI }
func (e *resource) wire() json.RawMessage { return e.raw }

type template struct {
	template mcp.ResourceTemplate
	raw      json.RawMessage
	match    *uritemplate.Template
	read     TemplateHandler
}

func (e *template) key() string           { return e.template.URITemplate }
func (e *template) wire() json.RawMessage { return e.raw }

// AddResource adds a resource, or replaces the one of the same URI. It panics when the resource has no URI, no name or no
// handler, which only a programmer can cause.
func (s *Server) AddResource(res mcp.Resource, h ResourceHandler) {
	raw, err := res.AppendJSON(nil)
	if res.URI == "" || res.Name == "" || h == nil {
		err = errors.New("a resource needs a URI, a name and a handler")
	}
	if err != nil {
		panic(fmt.Sprintf("server: resource %q: %v", res.URI, err))
	}
	s.reg.resources.put(&resource{res, raw, h})
}

// AddResourceTemplate adds a family of resources by an RFC 6570 template, or replaces the one of the same template. It
// panics when the template is malformed, or has no name or no handler.
func (s *Server) AddResourceTemplate(t mcp.ResourceTemplate, h TemplateHandler) {
	raw, err := t.AppendJSON(nil)
	var match *uritemplate.Template
	if err == nil {
		match, err = uritemplate.New(t.URITemplate)
	}
	if err == nil && (t.Name == "" || h == nil) {
		err = errors.New("a resource template needs a name and a handler")
	}
	if err != nil {
		panic(fmt.Sprintf("server: resource template %q: %v", t.URITemplate, err))
	}
	s.reg.templates.put(&template{t, raw, match, h})
}

// RemoveResource removes resources and returns how many there were.
func (s *Server) RemoveResource(uris ...string) int { return s.reg.resources.remove(uris...) }

// HasResource tells whether a resource is registered.
func (s *Server) HasResource(uri string) bool { return s.reg.resources.has(uri) }

// ResourceURIs lists the registered resources in their order.
func (s *Server) ResourceURIs() []string { return s.reg.resources.keys() }

// RemoveResourceTemplate removes templates and returns how many there were.
func (s *Server) RemoveResourceTemplate(templates ...string) int {
	return s.reg.templates.remove(templates...)
}

// HasResourceTemplate tells whether a template is registered.
func (s *Server) HasResourceTemplate(uriTemplate string) bool {
	return s.reg.templates.has(uriTemplate)
}

// URITemplates lists the registered resource templates in their order.
func (s *Server) URITemplates() []string { return s.reg.templates.keys() }

// readResource serves resources/read: an exact URI first, then the templates in their order.
func (s *Server) readResource(ctx context.Context, r *Request) *era.Outcome {
	raw, ok := r.in.Param(era.LiftURI)
	if !ok || !jsonrpc.IsString(raw) {
		return invalid(mcp.InvalidParams("resources/read needs a uri"))
	}
	uri := text(raw)
	read, hidden := s.reach(ctx, r, uri)
	if read == nil {
		return s.fallback(ctx, r, hidden, func() *era.Outcome { return unknown(mcp.ResourceNotFound(uri)) })
	}
	if refusal := s.openRetry(ctx, r); refusal != nil {
		return refusal
	}
	result, err := read(ctx, r)
	if err != nil {
		return s.failure(r, err)
	}
	if result == nil || len(result.Contents) == 0 {
		return s.failure(r, mcp.ResourceNotFound(uri)) // never an empty list: a reader could not tell it from a missing one
	}
	out, err := withURI(*result, uri).AppendJSON(nil)
	if err != nil {
		return s.failure(r, fmt.Errorf("encode the contents: %w", err))
	}
	return &era.Outcome{Result: out, Cache: s.confined(result.Cache.Or(s.hint(r.Method())))}
}

// withURI names contents that their handler has left without a name. What the handler returned may be shared and is not
// changed.
func withURI(result mcp.ReadResourceResult, uri string) mcp.ReadResourceResult {
	nameless := func(c mcp.ResourceContents) bool { return c.URI == "" }
	if !slices.ContainsFunc(result.Contents, nameless) {
		return result
	}
	result.Contents = slices.Clone(result.Contents)
	for i := range result.Contents {
		if nameless(result.Contents[i]) {
			result.Contents[i].URI = uri
		}
	}
	return result
}

// reader reads a URI of the template; nil for other URIs.
func (e *template) reader(uri string) ResourceHandler {
	values := e.match.Match(uri)
	if values == nil {
		return nil
	}
	vars := make(map[string]string, len(values))
	for name, v := range values {
		vars[name] = strings.Join(v.V, ",")
	}
	return func(ctx context.Context, r *Request) (*mcp.ReadResourceResult, error) {
		return e.read(ctx, r, vars)
	}
}
