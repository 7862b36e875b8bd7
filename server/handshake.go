package server

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// initialize answers the handshake of the legacy era. The revision was settled when the request was classified.
func (s *Server) initialize(ctx context.Context, r *Request) *era.Outcome {
	d, err := s.describe(ctx, r)
	if err != nil {
		return s.failure(r, err)
	}
	return s.result(r, mcp.InitializeResult{
		ProtocolVersion: r.in.Codec.Revision(), Capabilities: d.Capabilities, ServerInfo: s.info, Instructions: d.Instructions,
	})
}

// discover answers who the server is and what it can do, on the modern era.
func (s *Server) discover(ctx context.Context, r *Request) *era.Outcome {
	d, err := s.describe(ctx, r)
	if err != nil {
		return s.failure(r, err)
	}
	return s.result(r, mcp.DiscoverResult{
		SupportedVersions: s.set.Modern(), Capabilities: d.Capabilities, Instructions: d.Instructions,
	})
}

// describe says what the server is to the sender of a request.
func (s *Server) describe(ctx context.Context, r *Request) (Description, error) {
	d := Description{Capabilities: s.registeredCapabilities(), Instructions: s.opts.Instructions}
	if changed := s.advice.Load(); changed != nil {
		d.Instructions = *changed
	}
	if s.opts.Tasks != nil && d.Capabilities.Tasks == nil {
		d.Capabilities.Tasks = s.opts.Tasks.Capability(r)
	}
	if c, ok := s.opts.Catalogue.(Describer); ok {
		own, err := c.Describe(ctx, r)
		if err != nil {
			return d, err
		}
		if own != nil {
			d = *own
		}
	}
	d.Capabilities = s.fit(ctx, r, d.Capabilities)
	return d, nil
}

// SetInstructions changes [Options.Instructions] while the server runs: for clients that ask from now on. It may be called
// concurrently.
func (s *Server) SetInstructions(text string) { s.advice.Store(&text) }

// result answers with a value of the model.
func (s *Server) result(r *Request, v json.Marshaler) *era.Outcome {
	raw, err := v.MarshalJSON()
	if err != nil {
		return s.failure(r, fmt.Errorf("encode the result: %v", err))
	}
	return &era.Outcome{Result: raw, Cache: s.hint(r.Method())}
}

// registeredCapabilities are those declared by the options and those that follow from what is registered.
func (s *Server) registeredCapabilities() mcp.ServerCapabilities {
	c := s.opts.Capabilities
	if c.Tools == nil && !s.reg.tools.empty() {
		c.Tools = &mcp.ToolsCapability{ListChanged: true}
	}
	if c.Prompts == nil && !s.reg.prompts.empty() {
		c.Prompts = &mcp.PromptsCapability{ListChanged: true}
	}
	if c.Resources == nil && !(s.reg.resources.empty() && s.reg.templates.empty()) {
		c.Resources = &mcp.ResourcesCapability{ListChanged: true, Subscribe: true}
	}
	if c.Completions == nil && s.completes() {
		c.Completions = &mcp.Capability{}
	}
	if c.Logging == nil {
		c.Logging = &mcp.Capability{}
	}
	return c
}

// fit makes capabilities those of a revision: the enabled extensions come in where it has them, and what it has no name
// for goes.
func (s *Server) fit(ctx context.Context, r *Request, c mcp.ServerCapabilities) mcp.ServerCapabilities {
	t := r.in.Codec.Traits()
	if !t.Completions {
		c.Completions = nil
	}
	if !t.Tasks {
		c.Tasks = nil
	}
	if t.Extensions && (len(s.opts.Extensions) > 0 || s.opts.Declares != nil) {
		all := make(map[string]json.RawMessage, len(c.Extensions)+len(s.opts.Extensions))
		maps.Copy(all, c.Extensions)
		for _, x := range s.opts.Extensions {
			all[x.Identifier] = x.SettingsJSON()
		}
		if s.opts.Declares != nil {
			all = s.opts.Declares(ctx, r, all)
		}
		c.Extensions = all
	}
	return c
}

// announces tells whether changes of a list are announced: unless the options declare its capability without listChanged.
func (s *Server) announces(kind ListKind) bool {
	c := s.opts.Capabilities
	switch kind {
	case Tools:
		return c.Tools == nil || c.Tools.ListChanged
	case Prompts:
		return c.Prompts == nil || c.Prompts.ListChanged
	default:
		return c.Resources == nil || c.Resources.ListChanged
	}
}
