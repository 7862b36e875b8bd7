package streamhttp

import (
	"context"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// awaitStray notes that the answer to a call is to come on the GET stream, until ctx ends, which is that of the call. It answers false
// when no such stream is open.
func (c *Client) awaitStray(ctx context.Context, id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.listening.Load() { // a stream that has ended for good was marked so before loseStrays looked
		return false
	}
	if c.strays == nil {
		c.strays = make(map[jsonrpc.ID]struct{})
	}
	c.strays[id] = struct{}{}
	context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.strays, id)
	})
	return true
}

// loseStrays fails the calls whose answers were to come on the GET stream: it is not opened again.
func (c *Client) loseStrays(why error) {
	c.mu.Lock()
	lost := c.strays
	c.strays = nil
	c.mu.Unlock()
	loser, ok := c.peer.(transport.Loser)
	if !ok {
		return
	}
	for id := range lost {
		loser.Lost(id, &transport.CutError{Why: why})
	}
}
