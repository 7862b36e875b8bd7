package bridge

import (
	"context"
	"slices"
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
	v = b.view.Load().narrow(req)
	to, ok := v.table.Resource(uri, v.match)
	return v.sees(route.Resource, to, ok) && (v.rules.Follows == nil || v.rules.Follows(req, v.entry(route.Resource, to)))
}

// watch asks each upstream for the updates that clients want of it. A resource that nobody serves now may come with the next
// change of the lists.
func (b *Bridge) watch() {
	b.watching.Lock()
	defer b.watching.Unlock()
	b.watchTimer = nil
	v := b.view.Load()
	wanted := make(map[string][]string)
	for _, uri := range b.front.Subscriptions() {
		if to, ok := v.table.ResourceRef(uri, v.match); v.sees(route.Resource, to, ok) {
			wanted[to.Server] = append(wanted[to.Server], to.Name)
		}
	}
	for _, s := range b.ups.Snapshots() {
		uris := wanted[s.Name]
		slices.Sort(uris)
		b.ups.Watch(s.Name, slices.Compact(uris))
	}
}

// Updated announces that a resource of an upstream has changed, under the address that clients know.
func (b *Bridge) Updated(server, uri string) {
	if v := b.view.Load(); v.sees(route.Resource, route.Target{Server: server, Name: uri}, true) {
		b.front.ResourceUpdated(v.exposed(server, uri))
	}
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
