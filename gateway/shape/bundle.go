package shape

import (
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/llm"
)

// Bundle is what one virtual server shows of all servers. Patterns are those of [llm.Options].Allow: with a '/' they are held
// against server/name too, and name is that of the server or the one that takes its place. The zero value shows nothing.
type Bundle struct {
	// Servers are those that take part; all of their lists are shown where no patterns say which part. Nil means that all take
	// part, with what fits the patterns alone.
	Servers []string

	// Tools, Prompts and Resources say what is shown. Nil is everything of Servers; an empty one is nothing.
	Tools, Prompts, Resources []string

	// Rename gives tools other names than they have elsewhere, by server/name of the server.
	Rename map[string]string
}

// Bundle is the plan for a bundle: what is said of servers holds in it, and then what the bundle shows of them.
func (p *Plan) Bundle(b Bundle) *Plan { return &Plan{servers: p.servers, bundle: &b} }

// has tells whether a server takes part.
func (b *Bundle) has(server string) bool {
	return b.Servers == nil || slices.Contains(b.Servers, server)
}

// shows tells whether something with these names is shown.
func (b *Bundle) shows(patterns []string, server string, names ...string) bool {
	switch {
	case !b.has(server):
		return false
	case patterns == nil:
		return b.Servers != nil
	}
	return slices.ContainsFunc(names, func(name string) bool { return name != "" && llm.Fits(patterns, server, name) })
}

// patterns are those for one kind of thing.
func (b *Bundle) patterns(kind route.Kind) []string {
	switch kind {
	case route.Tool:
		return b.Tools
	case route.Prompt:
		return b.Prompts
	default:
		return b.Resources
	}
}

// serves tells whether something is in the bundle. given is the name that takes the place of that of the server.
func (b *Bundle) serves(kind route.Kind, to route.Target, given string) bool {
	return b.shows(b.patterns(kind), to.Server, to.Name, given)
}

// shape leaves in the lists of a server what is in the bundle.
func (b *Bundle) shape(p *Plan, server string, lists *upstream.Lists) *upstream.Lists {
	of := func(kind route.Kind, items []upstream.Item) []upstream.Item {
		return slices.DeleteFunc(slices.Clone(items), func(it upstream.Item) bool {
			to := route.Target{Server: server, Name: it.Key}
			return !b.serves(kind, to, p.given(kind, to))
		})
	}
	return &upstream.Lists{
		Tools: of(route.Tool, lists.Tools), Prompts: of(route.Prompt, lists.Prompts),
		Resources: of(route.Resource, lists.Resources), Templates: of(route.Template, lists.Templates),
		ServesResources: lists.ServesResources && b.has(server) && (b.Servers != nil || b.Resources != nil),
	}
}

// notes tells of patterns that fit nothing in the lists of all servers of the bundle, once these are up.
func (b *Bundle) notes(p *Plan, snaps []upstream.Snapshot) (notes []string) {
	for _, s := range snaps {
		if b.has(s.Name) && !s.State.Usable() {
			return nil
		}
	}
	snaps = (&Plan{servers: p.servers}).Shape(snaps)
	fits := func(kind route.Kind, pattern string, list func(*upstream.Lists) []upstream.Item) bool {
		for _, s := range snaps {
			for _, it := range list(s.Lists) {
				if b.shows([]string{pattern}, s.Name, it.Key, p.given(kind, route.Target{Server: s.Name, Name: it.Key})) {
					return true
				}
			}
		}
		return false
	}
	for _, one := range []struct {
		kind  route.Kind
		lists []func(*upstream.Lists) []upstream.Item
	}{
		{route.Tool, []func(*upstream.Lists) []upstream.Item{func(l *upstream.Lists) []upstream.Item { return l.Tools }}},
		{route.Prompt, []func(*upstream.Lists) []upstream.Item{func(l *upstream.Lists) []upstream.Item { return l.Prompts }}},
		{route.Resource, []func(*upstream.Lists) []upstream.Item{
			func(l *upstream.Lists) []upstream.Item { return l.Resources }, func(l *upstream.Lists) []upstream.Item { return l.Templates },
		}},
	} {
		for _, pattern := range b.patterns(one.kind) {
			if !slices.ContainsFunc(one.lists, func(list func(*upstream.Lists) []upstream.Item) bool { return fits(one.kind, pattern, list) }) {
				notes = append(notes, fmt.Sprintf("the pattern %q fits no %s of its servers", pattern, one.kind))
			}
		}
	}
	return notes
}
