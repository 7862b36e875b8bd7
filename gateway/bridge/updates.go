package bridge

import (
	"slices"
	"time"
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

// watch asks each upstream for the updates that clients want of it. A resource that nobody serves now may come with the next
// change of the lists.
func (b *Bridge) watch() {
	b.watching.Lock()
	defer b.watching.Unlock()
	b.watchTimer = nil
	v := b.view.Load()
	wanted := make(map[string][]string)
	for _, uri := range b.front.Subscriptions() {
		if to, ok := v.table.ResourceRef(uri, v.match); ok {
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
	b.front.ResourceUpdated(b.view.Load().exposed(server, uri))
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
