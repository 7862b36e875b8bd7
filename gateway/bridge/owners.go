package bridge

import (
	"context"
	"sync"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/server"
)

// Callers with connections of their own (see upstream.Share) see what servers list for them. As long as no server lists
// anything else for one than for all, there is one view.

// mostOwnViews bounds the views of single callers that are kept: beyond it all are forgotten and made anew when they are needed.
const mostOwnViews = 256

// ownViews keeps the views of callers that see other lists than others.
type ownViews struct {
	mu    sync.Mutex
	byKey map[string]ownView
}

// ownView is a view of one caller, and what it was made of.
type ownView struct {
	base  *view
	lists []*upstream.Lists
	view  *view
}

func (o ownView) isOf(base *view, snaps []upstream.Snapshot) bool {
	if o.base != base || len(o.lists) != len(snaps) {
		return false
	}
	for i, s := range snaps {
		if o.lists[i] != s.Lists {
			return false
		}
	}
	return true
}

// viewOf is what a caller sees, before the rules narrow it.
func (b *Bridge) viewOf(c *upstream.Caller) *view {
	base := b.view.Load()
	snaps, own := b.ups.SnapshotsFor(c)
	if !own {
		return base
	}
	key := c.Principal.Key() + "/" + c.Session
	b.owned.mu.Lock()
	defer b.owned.mu.Unlock()
	if known, ok := b.owned.byKey[key]; ok && known.isOf(base, snaps) {
		return known.view
	}
	v, err := build(base.rules, snaps)
	if err != nil { // the naming was checked against the same servers
		return base
	}
	v.own = true
	made := ownView{base: base, view: v}
	for _, s := range snaps {
		made.lists = append(made.lists, s.Lists)
	}
	if b.owned.byKey == nil || len(b.owned.byKey) >= mostOwnViews {
		b.owned.byKey = make(map[string]ownView)
	}
	b.owned.byKey[key] = made
	return v
}

// viewFor is what the caller of a request sees. It waits a moment for lists that the caller has for itself.
func (b *Bridge) viewFor(ctx context.Context, req *server.Request) *view {
	if req.Principal() == nil && req.SessionID() == "" { // nobody who could have a connection
		return b.view.Load().narrow(req)
	}
	c := Identity(ctx, req)
	b.ups.Prepare(ctx, c, b.opts.StartWait)
	return b.viewOf(c).narrow(req)
}

// Identity is who the caller of a request is, as far as connections go by it.
func Identity(ctx context.Context, req *server.Request) *upstream.Caller {
	c := &upstream.Caller{Principal: req.Principal(), Session: req.SessionID()}
	if auth.TokenOf(ctx) != "" {
		c.Token = func() string { return auth.TokenOf(ctx) }
	}
	return c
}

// identityOf is identity for somebody who listens.
func identityOf(who server.Caller) *upstream.Caller {
	return &upstream.Caller{Principal: who.Principal, Session: who.SessionID}
}

// OwnChanged announces to a caller that lists of its own have changed.
func (b *Bridge) OwnChanged(owner *upstream.Owner, kinds upstream.Kinds) {
	for kind, of := range [...]upstream.Kinds{
		server.Tools: upstream.Tools, server.Prompts: upstream.Prompts, server.Resources: upstream.Resources | upstream.Templates,
	} {
		if kinds&of != 0 {
			b.front.ChangedFor(server.ListKind(kind), isOwner(owner))
		}
	}
	b.interest()
}

// OwnUpdated announces to a caller that a resource of its own has changed.
func (b *Bridge) OwnUpdated(owner *upstream.Owner, name, uri string) {
	v, to := b.viewOf(&upstream.Caller{Principal: owner.Principal, Session: owner.Session}), route.Target{Server: name, Name: uri}
	if v.sees(route.Resource, to, true) {
		b.front.ResourceUpdatedFor(v.exposed(name, uri), func(who server.Caller) bool {
			return owner.Is(who.Principal, who.SessionID) && v.hears(who, route.Resource, to)
		})
	}
}

func isOwner(owner *upstream.Owner) func(server.Caller) bool {
	return func(who server.Caller) bool { return owner.Is(who.Principal, who.SessionID) }
}

// sessionClosed ends the connections that belong to a session, and tells who else wants to hear of it.
func (b *Bridge) sessionClosed(and func(server.Session)) func(server.Session) {
	return func(s server.Session) {
		b.ups.EndSession(s.ID)
		b.tasks.left(s.ID)
		if and != nil {
			and(s)
		}
	}
}

// wants is what clients want to hear of, by the servers it belongs to.
func (b *Bridge) wants() map[string][]upstream.Want {
	type wish struct{ principal, session, uri string }
	known := make(map[wish]bool)
	wanted := make(map[string][]upstream.Want)
	b.front.EachSubscription(func(who server.Caller, uri string) {
		w := wish{who.Principal.Key(), who.SessionID, uri}
		if known[w] {
			return
		}
		known[w] = true
		c := identityOf(who)
		v := b.viewOf(c)
		if to, ok := v.table.ResourceRef(uri, v.match); v.sees(route.Resource, to, ok) && v.hears(who, route.Resource, to) {
			wanted[to.Server] = append(wanted[to.Server], upstream.Want{Caller: c, URI: to.Name})
		}
	})
	return wanted
}
