package bridge

import (
	"context"
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// underway holds the calls that run for callers over HTTP who have no session: those of a session end with it, and these would go on
// for whoever may not call any more.
type underway struct {
	mu    sync.Mutex
	calls map[*running]struct{}
}

// running is one such call.
type running struct {
	who  *mcp.Principal // nil when nobody is known
	stop context.CancelCauseFunc
}

// enter notes a call, and gives the context that it runs in. left must be called when it is over.
func (u *underway) enter(ctx context.Context, req *server.Request) (_ context.Context, left func()) {
	if !req.OverHTTP() || req.SessionID() != "" {
		return ctx, func() {}
	}
	ctx, stop := context.WithCancelCause(ctx)
	call := &running{req.Principal(), stop}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls == nil {
		u.calls = make(map[*running]struct{})
	}
	u.calls[call] = struct{}{}
	return ctx, func() {
		stop(nil)
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.calls, call)
	}
}

// dismiss ends the calls of those whom gone says yes to: their servers are told that nobody waits, and the callers why.
func (u *underway) dismiss(gone func(*mcp.Principal) bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for call := range u.calls {
		if gone(call.who) {
			call.stop(errDismissed)
		}
	}
}

var errDismissed = mcp.Errorf(mcp.CodeInternal, "%v", transport.ErrDismissed)
