package shape

import (
	"fmt"
	"maps"
	"slices"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// Server is what is said of the lists of one server. The zero value leaves them as they are.
type Server struct {
	Tools, Prompts Names
	Resources      Filter // for templates too

	OnDown OnDown // "" is Keep
}

// IsZero tells whether the lists stay as they are.
func (s Server) IsZero() bool {
	return s.Tools.IsZero() && s.Prompts.IsZero() && s.Resources.IsZero() && s.OnDown == ""
}

// Plan is what is said of all servers. It is not changed; its methods may be called concurrently.
type Plan struct {
	servers map[string]Server
	bundle  *Bundle // nil for everything
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
		if s, ok := p.servers[snap.Name]; ok {
			lists := *snap.Lists
			lists.Tools, lists.Prompts = s.Tools.of(lists.Tools, nil), s.Prompts.of(lists.Prompts, nil)
			lists.Resources, lists.Templates = s.Resources.of(lists.Resources), s.Resources.of(lists.Templates)
			out[i].Lists = &lists
			if s.OnDown == Hide && !snap.State.Usable() {
				out[i].Lists = &upstream.Lists{}
			}
		}
		if p.bundle != nil {
			out[i].Lists = p.bundle.shape(p, snap.Name, out[i].Lists)
		}
	}
	return out
}

// Names gives the names that take the place of those of servers; "" is none. It is made for bridge.Rules.
func (p *Plan) Names(kind route.Kind, to route.Target) string {
	if p.bundle != nil && kind == route.Tool {
		if name := p.bundle.Rename[to.Server+"/"+to.Name]; name != "" {
			return name
		}
	}
	return p.given(kind, to)
}

// given is the name that takes the place of that of a server everywhere.
func (p *Plan) given(kind route.Kind, to route.Target) string {
	s := p.servers[to.Server]
	switch kind {
	case route.Tool:
		return s.Tools.Rename[to.Name]
	case route.Prompt:
		return s.Prompts.Rename[to.Name]
	}
	return ""
}

// Serves tells whether something is there for clients, also where no list names it. It is made for bridge.Rules.
func (p *Plan) Serves(kind route.Kind, to route.Target) bool {
	if p.bundle != nil && !p.bundle.serves(kind, to, p.given(kind, to)) {
		return false
	}
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
// what is said of servers may be right again when their lists change. Those of a bundle are about the bundle alone, and do not
// name it.
func (p *Plan) Notes(snaps []upstream.Snapshot) (notes []string) {
	if p.bundle != nil {
		return p.bundle.notes(p, snaps)
	}
	for _, snap := range snaps {
		s, ok := p.servers[snap.Name]
		if !ok || !snap.State.Usable() {
			continue
		}
		note := func(format string, args ...any) {
			notes = append(notes, fmt.Sprintf("server %q: ", snap.Name)+fmt.Sprintf(format, args...))
		}
		s.Tools.notes("tool", snap.Lists.Tools, note)
		s.Prompts.notes("prompt", snap.Lists.Prompts, note)
		s.Resources.notes("resource", note, snap.Lists.Resources, snap.Lists.Templates)
	}
	return notes
}

func (f Filter) notes(what string, note func(string, ...any), lists ...[]upstream.Item) {
	for _, pattern := range f.idle(lists...) {
		note("the pattern %q fits no %s that it lists", pattern, what)
	}
}

func (n Names) notes(what string, items []upstream.Item, note func(string, ...any)) {
	n.Filter.notes(what, note, items)
	known := make(map[string]bool, len(items))
	for _, it := range items {
		known[it.Key] = true
	}
	for _, name := range slices.Sorted(maps.Keys(n.Rename)) {
		if !known[name] {
			note("it lists no %s %q, which is to be renamed", what, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.Edit)) {
		if !known[name] {
			note("it lists no %s %q, which is to be edited", what, name)
		}
	}
	n.of(items, func(name string, err error) {
		note("the %s %q is not shown, since what is said of its arguments does not fit it: %v", what, name, err)
	})
}
