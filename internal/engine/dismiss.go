package engine

import (
	"context"
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

var _ transport.Owned = (*Peer)(nil)

// Owner is who has opened the peer; nil when nobody is known.
func (p *Peer) Owner() *mcp.Principal { return p.Principal }

// Dismiss ends the listens of stateless callers that gone says yes to, with their final result, and returns when they have
// ended. Those of peers end with these.
func (e *Engine) Dismiss(gone func(*mcp.Principal) bool) {
	h := &e.hub
	h.mu.Lock()
	var theirs []*listen
	for l := range h.listens {
		if l.in.Peer == nil {
			theirs = append(theirs, l)
		}
	}
	h.mu.Unlock()
	var wg sync.WaitGroup
	for _, l := range theirs { // gone runs without the lock
		if gone(l.in.X.Principal()) {
			wg.Go(func() { h.end(context.Background(), l) }) // bounded by the limit of a write
		}
	}
	wg.Wait()
	e.interest()
}
