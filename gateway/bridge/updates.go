package bridge

import (
	"context"
	"time"

	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/server"
)

// watchPause gathers what clients subscribe to, so that a client that names a hundred resources is one change.
const watchPause = 20 * time.Millisecond

// interest says that clients may listen to other resources than before.
func (b *Bridge) interest() {
	b.watching.Lock()
	defer b.watching.Unlock()
	if b.watchTimer == nil && !b.watchOver {
		b.watchTimer = time.AfterFunc(watchPause, b.watch)
	}
}

// mayFollow tells whether the caller of a request may subscribe to a resource. While callers see different things, what is
// hidden and what does not exist are the same.
func (b *Bridge) mayFollow(ctx context.Context, req *server.Request, uri string) bool {
	v := b.view.Load()
	if v.rules.Sight == nil && v.rules.Follows == nil {
		return true
	}
	b.settle(ctx)
	v = b.viewFor(ctx, req)
	to, ok := v.table.Resource(uri, v.match)
	return v.sees(route.Resource, to, ok) && (v.rules.Follows == nil || v.rules.Follows(req, v.entry(route.Resource, to)))
}

// watch asks each upstream for the updates that clients want of it. A resource that nobody serves now may come with the next
// change of the lists.
func (b *Bridge) watch() {
	b.watching.Lock()
	defer b.watching.Unlock()
	b.watchTimer = nil
	b.tasks.unfollow()
	wanted := b.wants()
	for _, s := range b.ups.Snapshots() {
		b.ups.WatchFor(s.Name, wanted[s.Name])
	}
}

// Updated announces that a resource of an upstream has changed, under the address that clients know. Clients with connections of
// their own to it hear of those.
func (b *Bridge) Updated(name, uri string) {
	v, to := b.view.Load(), route.Target{Server: name, Name: uri}
	splits := b.ups.Splits(name)
	switch exposed := v.exposed(name, uri); {
	case !v.sees(route.Resource, to, true):
	case splits || v.rules.Hears != nil:
		b.front.ResourceUpdatedFor(exposed, func(who server.Caller) bool {
			return !(splits && b.ups.Owns(name, identityOf(who))) && v.hears(who, route.Resource, to)
		})
	default:
		b.front.ResourceUpdated(exposed)
	}
}

// hears tells whether somebody who listens may hear of an entry by the rules of now.
func (v *view) hears(who server.Caller, kind route.Kind, to route.Target) bool {
	return v.rules.Hears == nil || v.rules.Hears(who, v.entry(kind, to))
}

// endWatch forgets a look that is due.
func (b *Bridge) endWatch() {
	b.watching.Lock()
	defer b.watching.Unlock()
	b.watchOver = true
	if b.watchTimer != nil {
		b.watchTimer.Stop()
	}
}
