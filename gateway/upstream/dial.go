package upstream

import (
	"context"
	"errors"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// Dialing makes a Dialer of [manager.Dial]. What a connection finds out about the era of a server is kept for the next one
// to it, so that a restart does not probe again. The context that a connection is opened with bounds that, whatever opts say.
func Dialing(opts client.Options) Dialer {
	opts.Restart.Attempts = -1 // the keepers open lost connections again, and show where each stands
	if opts.Verdicts == nil {
		opts.Verdicts = &client.Verdicts{}
	}
	return func(ctx context.Context, s manager.Server) (Conn, error) {
		o := opts
		if _, bounded := ctx.Deadline(); bounded {
			o.ConnectTimeout = -1
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
