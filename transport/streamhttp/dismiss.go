package streamhttp

import (
	"context"
	"errors"
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

var errDismissed = errors.New("the session was ended, since its owner may not call any more")

// Dismiss ends the sessions here that were opened by those whom gone says yes to, in all handlers that share them, with the
// streams and calls in them. It returns when they have ended. gone gets nil for a session of nobody.
func (h *Handler) Dismiss(gone func(*mcp.Principal) bool) {
	var wg sync.WaitGroup
	for _, s := range h.sessions.All() {
		if !gone(transport.OwnerOf(s.peer)) {
			continue
		}
		wg.Go(func() {
			if s.shared == nil {
				s.end(errDismissed)
				return
			}
			if err := h.shared.delete(context.Background(), s); err != nil && !errors.Is(err, errUnknown) {
				h.opts.OnError(err)
				s.finish(errDismissed, false) // the record stays until the store can be reached; here nothing is left
			}
		})
	}
	wg.Wait()
}
