package server

import (
	"context"
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// initialize answers the handshake of the legacy era. The revision was settled when the request was classified.
func (s *Server) initialize(r *Request) *era.Outcome {
	return s.result(r, mcp.InitializeResult{
		ProtocolVersion: r.in.Codec.Revision(), Capabilities: s.capabilities(r.in.Codec.Traits()),
		ServerInfo: s.info, Instructions: s.opts.Instructions,
	})
}

// discover answers who the server is and what it can do, on the modern era.
func (s *Server) discover(r *Request) *era.Outcome {
	return s.result(r, mcp.DiscoverResult{
		SupportedVersions: s.set.Modern(), Capabilities: s.capabilities(r.in.Codec.Traits()),
		Instructions: s.opts.Instructions,
	})
}

func (s *Server) result(r *Request, v any) *era.Outcome {
	raw, err := json.Marshal(v)
	if err != nil {
		return s.failure(r, err)
	}
	return &era.Outcome{Result: raw, Cache: s.opts.Cache}
}

// capabilities are those declared by the options and those that follow from what is registered.
func (s *Server) capabilities(t *era.Traits) mcp.ServerCapabilities {
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
	if !t.Completions {
		c.Completions = nil
	}
	if c.Logging == nil {
		c.Logging = &mcp.Capability{}
	}
	if t.Extensions && len(s.opts.Extensions) > 0 {
		c.Extensions = make(map[string]json.RawMessage, len(s.opts.Extensions))
		for id, settings := range s.opts.Capabilities.Extensions {
			c.Extensions[id] = settings
		}
		for _, x := range s.opts.Extensions {
			c.Extensions[x.Identifier] = x.SettingsJSON()
		}
	}
	return c
}

// subscribe serves resources/subscribe and resources/unsubscribe of the legacy era.
func (s *Server) subscribe(r *Request) *era.Outcome {
	uri := r.Name()
	if raw, ok := r.in.Param(era.LiftURI); !ok || len(raw) == 0 || raw[0] != '"' {
		return invalid(mcp.InvalidParams("%s needs a uri", r.Method()))
	} else if uri == "" {
		uri = text(raw)
	}
	if r.in.Peer == nil {
		return &era.Outcome{Err: mcp.Errorf(mcp.CodeInvalidRequest, "a subscription needs a session; this server serves legacy clients without")}
	}
	if r.Method() == methodSubscribe {
		r.in.Peer.Subscribe(uri)
	} else {
		r.in.Peer.Unsubscribe(uri)
	}
	return empty()
}

// listen serves subscriptions/listen of the modern era: what is asked for and offered is honoured.
func (s *Server) listen(ctx context.Context, r *Request) *era.Outcome {
	var params mcp.ListenParams
	raw, ok := mcp.Member(r.Params(), "notifications")
	if !ok || len(raw) == 0 || raw[0] != '{' {
		return invalid(mcp.InvalidParams("subscriptions/listen needs a filter: the object \"notifications\""))
	}
	if err := json.Unmarshal(r.Params(), &params); err != nil {
		return invalid(mcp.InvalidParams("the filter of subscriptions/listen is malformed: its members are booleans, and resourceSubscriptions a list of URIs"))
	}
	caps := s.capabilities(r.in.Codec.Traits())
	want, got := params.Notifications, mcp.SubscriptionFilter{}
	got.ToolsListChanged = want.ToolsListChanged && caps.Tools != nil && caps.Tools.ListChanged
	got.PromptsListChanged = want.PromptsListChanged && caps.Prompts != nil && caps.Prompts.ListChanged
	if caps.Resources != nil {
		got.ResourcesListChanged = want.ResourcesListChanged && caps.Resources.ListChanged
		if caps.Resources.Subscribe && len(want.ResourceSubscriptions) > 0 {
			got.ResourceSubscriptions = want.ResourceSubscriptions
		}
	}
	return r.in.Listen(ctx, got)
}
