package streamhttp

import (
	"context"
	"errors"
	"sync"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// What the calls of a session are answered with that ends before they do.
var (
	errDeleted   = &transport.EndError{Why: "the client has ended the session"}
	errElsewhere = &transport.EndError{Why: "the session has ended"}
	errStopping  = &transport.EndError{Why: stopping().Message}
)

// givenUp answers a call that ends because the server stops.
func givenUp(id jsonrpc.ID) []byte {
	err := mcp.Errorf(mcp.CodeInternal, "%v", errStopping)
	return jsonrpc.AppendError(nil, id, era.WriteError(err, err.Code))
}

// Dismiss ends the sessions here that were opened by those whom gone says yes to, in all handlers that share them, with the
// streams and calls in them: these are answered with an error. It returns when they have ended. gone gets nil for a session of
// nobody.
func (h *Handler) Dismiss(gone func(*mcp.Principal) bool) {
	var wg sync.WaitGroup
	for _, s := range h.sessions.All() {
		if !gone(transport.OwnerOf(s.peer)) {
			continue
		}
		wg.Go(func() {
			if s.shared == nil {
				s.end(transport.ErrDismissed)
				return
			}
			if err := h.shared.delete(context.Background(), s, transport.ErrDismissed); err != nil && !errors.Is(err, errUnknown) {
				h.opts.OnError(err)
				s.finish(transport.ErrDismissed, false) // the record stays until the store can be reached; here nothing is left
			}
		})
	}
	wg.Wait()
}
