package httpsse

import (
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// errStopping is what the calls of a client are answered with whose stream ends before they do.
var errStopping = &transport.EndError{Why: errShutdown.Error()}

// Dismiss ends the streams that were opened by those whom gone says yes to, with the calls that run for them, which are answered
// with an error. It returns when they have ended. gone gets nil for a stream of nobody.
func (h *Handler) Dismiss(gone func(*mcp.Principal) bool) {
	var wg sync.WaitGroup
	for _, s := range h.sessions.All() {
		if gone(transport.OwnerOf(s.peer)) {
			wg.Go(func() { s.dismiss(transport.ErrDismissed) })
		}
	}
	wg.Wait()
}
