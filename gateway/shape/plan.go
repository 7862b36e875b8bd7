package shape

import (
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// Server is what is said of the lists of one server. The zero value leaves them as they are.
type Server struct {
	Tools, Prompts, Resources Filter // those of Resources are for templates too
}

// IsZero tells whether the lists stay as they are.
func (s Server) IsZero() bool { return s.Tools.IsZero() && s.Prompts.IsZero() && s.Resources.IsZero() }

// Plan is what is said of all servers. It is not changed; its methods may be called concurrently.
type Plan struct {
	servers map[string]Server
}

// New makes a plan of what is said of servers, by their names. The map is not kept.
func New(servers map[string]Server) *Plan {
	p := &Plan{servers: make(map[string]Server)}
	for name, s := range servers {
		if !s.IsZero() {
			p.servers[name] = s
		}
	}
	return p
}

// Shape gives the lists as they are shown. It is made for bridge.Rules.
func (p *Plan) Shape(snaps []upstream.Snapshot) []upstream.Snapshot {
	out := slices.Clone(snaps)
	for i, snap := range snaps {
		s, ok := p.servers[snap.Name]
		if !ok {
			continue
		}
		lists := *snap.Lists
		lists.Tools, lists.Prompts = s.Tools.of(lists.Tools), s.Prompts.of(lists.Prompts)
		lists.Resources, lists.Templates = s.Resources.of(lists.Resources), s.Resources.of(lists.Templates)
		out[i].Lists = &lists
	}
	return out
}

// Serves tells whether something is there for clients, also where no list names it. It is made for bridge.Rules.
func (p *Plan) Serves(kind route.Kind, to route.Target) bool {
	s, ok := p.servers[to.Server]
	if !ok {
		return true
	}
	switch kind {
	case route.Tool:
		return s.Tools.Shows(to.Name)
	case route.Prompt:
		return s.Prompts.Shows(to.Name)
	default:
		return s.Resources.Shows(to.Name)
	}
}

// Notes says what does not fit the servers that are up: one line for each, naming the server. They are for the operator, as
// what is said of servers may be right again when their lists change.
func (p *Plan) Notes(snaps []upstream.Snapshot) (notes []string) {
	for _, snap := range snaps {
		s, ok := p.servers[snap.Name]
		if !ok || !snap.State.Usable() {
			continue
		}
		for _, one := range []struct {
			what string
			idle []string
		}{
			{"tool", s.Tools.idle(snap.Lists.Tools)},
			{"prompt", s.Prompts.idle(snap.Lists.Prompts)},
			{"resource", s.Resources.idle(snap.Lists.Resources, snap.Lists.Templates)},
		} {
			for _, pattern := range one.idle {
				notes = append(notes, fmt.Sprintf("server %q: the pattern %q fits no %s that it lists", snap.Name, pattern, one.what))
			}
		}
	}
	return notes
}
