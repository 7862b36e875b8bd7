package upstream

import (
	"context"
	"errors"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Dialing makes a Dialer of [manager.Dial]. What a connection finds out about the era of a server is kept for the next one
// to it, so that a restart does not probe again. roots are those of the servers; nil means none. The context that a connection
// is opened with bounds that, whatever opts say.
func Dialing(opts client.Options, roots *Roots) Dialer {
	dial := DialingFor(opts, roots, nil)
	return func(ctx context.Context, s manager.Server) (Conn, error) { return dial(ctx, s, nil) }
}

// Configure completes the options of one connection, with the credentials of its owner say; the owner is nil for the gateway
// itself. release is called when the connection is closed, or could not be opened; nil does nothing.
type Configure func(s manager.Server, owner *Owner, opts *client.Options) (release func() error, err error)

// DialingFor is Dialing for connections that differ by who they belong to. The answer is one for Options.DialFor, and with a nil
// owner for Options.Dial.
func DialingFor(opts client.Options, roots *Roots, configure Configure) func(context.Context, manager.Server, *Owner) (Conn, error) {
	opts.Restart.Attempts = -1 // the keepers open lost connections again, and show where each stands
	if opts.Verdicts == nil {
		opts.Verdicts = &client.Verdicts{}
	}
	return func(ctx context.Context, s manager.Server, owner *Owner) (Conn, error) {
		o := opts
		if _, bounded := ctx.Deadline(); bounded {
			o.ConnectTimeout = -1
		}
		about := OpenOptions{Roots: func() []mcp.Root { return roots.of(s.Name) }, Streams: s.Transport == manager.HTTP}
		if configure != nil {
			var err error
			if about.Release, err = configure(s, owner, &o); err != nil {
				return nil, err
			}
		}
		return OpenWith(o, about, func(o client.Options) (*client.Client, error) {
			c, err := manager.Dial(ctx, s, o)
			if cause := context.Cause(ctx); err != nil && cause != nil && errors.Is(err, context.DeadlineExceeded) {
				err = errors.Join(cause, err)
			}
			return c, err
		})
	}
}
