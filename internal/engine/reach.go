package engine

import (
	"context"
	"errors"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// ErrUnreachable says that a client that was asked has gone. Its text is fit for the peer.
var ErrUnreachable = errors.New("the client was asked, but none of its streams has been open for some time; it has probably gone")

// watchReach ends questions whose client cannot be reached any more, where the wire knows that. It looks only while there
// are questions: looking costs little, and most calls ask nothing. stop ends the watching and waits for that.
func (in *Incoming) watchReach(ctx context.Context, abort context.CancelCauseFunc) (stop func()) {
	x, ok := in.X.(transport.Reacher)
	grace := in.engine.opts.AskGrace
	if !ok || grace < 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // ends with stop
		defer close(done)
		if !reachable(ctx, x, grace) {
			abort(ErrUnreachable)
		}
	}()
	return func() { cancel(); <-done }
}

// reachable watches a client and returns false when it had no stream for the grace, and true when ctx has ended.
func reachable(ctx context.Context, x transport.Reacher, grace time.Duration) bool {
	const looks = 6 // in one grace
	ticker := time.NewTicker(max(grace/looks, time.Millisecond))
	defer ticker.Stop()
	seen := time.Now()
	for {
		select {
		case <-ctx.Done():
			return true
		case <-ticker.C:
		}
		if x.Reachable(ctx) {
			seen = time.Now()
		} else if time.Since(seen) >= grace && ctx.Err() == nil {
			return false
		}
	}
}
