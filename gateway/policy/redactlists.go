package policy

import (
	"context"
	"slices"
	"sync"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// maskedLists keeps what redactions have made of lists: those are shown anew more often than they change.
type maskedLists struct {
	mu   sync.Mutex
	kept kept[*upstream.Lists]
}

// redactShape masks what servers list. It looks at what the server says, and so comes before everything that the operator has
// changed of that.
func (l *laid) redactShape(snaps []upstream.Snapshot) []upstream.Snapshot {
	out := slices.Clone(snaps)
	for i, s := range snaps {
		with := redactorsOf(l.redactors, s.Name, InResults)
		if with == nil || s.Lists.StandIn {
			continue
		}
		l.masked.mu.Lock()
		lists, ok := l.masked.kept.get(s.Lists)
		if !ok {
			lists = l.redactLists(with, s)
			l.masked.kept.put(s.Lists, lists)
		}
		l.masked.mu.Unlock()
		out[i].Lists = lists
	}
	return out
}

// redactLists masks the definitions of one server, also where something is to be refused: a thing can be used without a word of its
// description. One that is too long to be looked through is left out.
func (l *laid) redactLists(with []*redactor, s upstream.Snapshot) *upstream.Lists {
	out := *s.Lists
	for _, list := range []struct {
		kind  route.Kind
		items *[]upstream.Item
		of    texts
	}{
		{route.Tool, &out.Tools, ofDefinition}, {route.Prompt, &out.Prompts, ofDefinition},
		{route.Resource, &out.Resources, ofResource}, {route.Template, &out.Templates, ofResource},
	} {
		var items []upstream.Item
		for _, item := range *list.items {
			w := newRedaction(with)
			item.Raw = w.values(item.Raw, list.of)
			refusal := w.outcome(func(d Decision) {
				if w.left >= 0 {
					d.Effect = Changed
				}
				d.Kind, d.Target = list.kind, route.Target{Server: s.Name, Name: item.Key}
				l.policy.decided(context.Background(), d)
			}, aboutNothing, "definition holds")
			if refusal != errTooMuchText {
				items = append(items, item)
			}
		}
		*list.items = items
	}
	return &out
}

// aboutNothing is a decision that has still to say what it is about.
func aboutNothing(by Subject, effect Effect, name, reason string) Decision {
	return Decision{By: by, Effect: effect, Name: name, Reason: reason}
}
