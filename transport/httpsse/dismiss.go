package httpsse

import (
	"errors"
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

var errDismissed = errors.New("the stream was ended, since its owner may not call any more")

// Dismiss ends the streams that were opened by those whom gone says yes to, with the calls that run for them. It returns when
// they have ended. gone gets nil for a stream of nobody.
func (h *Handler) Dismiss(gone func(*mcp.Principal) bool) {
	var wg sync.WaitGroup
	for _, s := range h.sessions.All() {
		if gone(transport.OwnerOf(s.peer)) {
			wg.Go(func() { s.end(errDismissed) })
		}
	}
	wg.Wait()
}
