package server

import (
	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/mcp"
)

// A program that answers different callers differently tells a change to those whom it concerns, and to nobody else.

// ChangedFor is [Server.Changed] for the clients that to says yes to. Replicas are not told: to is asked here alone, for
// everybody who listens here. It must not block.
func (s *Server) ChangedFor(kind ListKind, to func(Caller) bool) {
	if !s.announces(kind) {
		return
	}
	change := engine.ResourcesChanged
	switch kind {
	case Tools:
		change = engine.ToolsChanged
	case Prompts:
		change = engine.PromptsChanged
	}
	s.engine.AnnounceTo(change, "", audience(to))
}

// ResourceUpdatedFor is [Server.ResourceUpdated] for the clients that to says yes to; see [Server.ChangedFor].
func (s *Server) ResourceUpdatedFor(uri string, to func(Caller) bool) {
	s.engine.AnnounceTo(engine.ResourceUpdated, uri, audience(to))
}

// EachSubscription calls fn for every resource whose updates a client that is connected here wants to hear of, with who that
// is, in no order and perhaps twice; see [Server.Subscriptions]. The principal of a session is who has opened it.
func (s *Server) EachSubscription(fn func(who Caller, uri string)) {
	s.engine.EachWanted(func(who *mcp.Principal, session, uri string) { fn(Caller{who, session}, uri) })
}

func audience(to func(Caller) bool) engine.Audience {
	return func(who *mcp.Principal, session string) bool { return to(Caller{who, session}) }
}
