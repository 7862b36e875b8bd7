package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// Dialing makes a Dialer of [manager.Dial]. What a connection finds out about the era of a server is kept for the next one
// to it, so that a restart does not probe again. callTimeout is for entries without a timeout of their own; zero means the
// client's.
func Dialing(opts client.Options, callTimeout, totalTimeout time.Duration) Dialer {
	opts.CallTimeout, opts.TotalTimeout = callTimeout, totalTimeout
	opts.Restart.Attempts = -1 // the keepers open lost connections again, and show where each stands
	if opts.Verdicts == nil {
		opts.Verdicts = &client.Verdicts{}
	}
	return func(ctx context.Context, s manager.Server) (Conn, error) {
		o := opts
		if s.Timeout > 0 {
			o.CallTimeout = s.Timeout
		}
		return Open(o, func(o client.Options) (*client.Client, error) {
			c, err := manager.Dial(ctx, s, o)
			if cause := context.Cause(ctx); err != nil && cause != nil && errors.Is(err, context.DeadlineExceeded) {
				err = errors.Join(cause, err)
			}
			return c, err
		})
	}
}
