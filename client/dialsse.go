package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/httpsse"
)

// DialSSE opens a connection to a server that speaks HTTP+SSE, the transport of 2024-11-05. The address is that of its
// event stream, often ending in /sse. [DialHTTP] finds such servers too, after two requests that they refuse.
//
// The transport knows the legacy era alone: the connection is opened with initialize at once, whatever Options.Verdict
// says, and Mode Modern fails. Like a pipe it ends when its stream does; it is not resumed but opened anew, as Options.Restart
// says.
//
// An answer of 401 or 403 is an [*AuthError]. The address in errors is cut to its scheme and host.
func DialSSE(ctx context.Context, address string, opts Options) (*Client, error) {
	if opts.Mode == Modern || len(opts.Versions) > 0 && !slices.ContainsFunc(opts.Versions, mcp.IsLegacy) {
		return nil, errors.New("HTTP+SSE has no modern era: leave Mode and Versions out, or use DialHTTP with the address of Streamable HTTP")
	}
	opts.Mode, opts.Verdict = Legacy, nil
	to := target{name: nameOf(address), restart: true, phase: "open the event stream", open: openSSE(address)}
	return dial(ctx, to, opts)
}

// openSSE makes the wire of HTTP+SSE.
func openSSE(address string) func(context.Context, *Client) (*wire, error) {
	return func(ctx context.Context, c *Client) (*wire, error) {
		conn, err := httpsse.Dial(ctx, address, httpsse.DialOptions{
			HTTPClient: c.opts.HTTPClient, Headers: c.opts.Headers, MaxEventBytes: c.opts.MaxBodyBytes, OnError: c.faults.report,
		})
		if err != nil {
			return nil, newWire(nameOf(address)).explain(ctx, err)
		}
		w, err := c.pipe(nameOf(address), conn, nil)
		if err != nil {
			return nil, err
		}
		w.posts = true
		w.agreed = func(codec era.Codec) {
			if len(codec.NoticeHeaders(&era.Notice{})) > 0 { // a revision whose messages name it in a header
				conn.SetRevision(codec.Revision())
			}
		}
		return w, nil
	}
}

// mayBeOlder tells whether initialize was refused as servers of HTTP+SSE refuse it, which take no POST at the address of
// their stream. A modern server does not get so far. Spec 2026-07-28, basic/transports, "Backward Compatibility".
func (o *opener) mayBeOlder(err error) bool {
	var status *transport.StatusError
	if err == nil || o.to.older == nil || !errors.As(o.cause, &status) {
		return false
	}
	if status.Message != nil && status.Message.Error != nil {
		switch mcp.Code(status.Message.Error.Code) {
		case mcp.CodeUnsupportedVersion, mcp.CodeHeaderMismatch, mcp.CodeMissingCapability:
			return false // recognised errors of a modern server
		}
	}
	switch status.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	}
	return false
}

// olderWait is how long a server that has refused two requests may take for its endpoint event, which is the first thing
// that a server of HTTP+SSE sends: others may answer a GET with a stream on which nothing comes.
const olderWait = 3 * time.Second

// goOlder opens the connection over HTTP+SSE. Where there is no such stream, it is the refusal that counts.
func (o *opener) goOlder(ctx context.Context, verdict negotiate.Verdict, refusal error) (*live, error) {
	phase := o.phase
	o.phase = "open the event stream of HTTP+SSE"
	waiting, cancel := context.WithTimeoutCause(ctx, olderWait, fmt.Errorf("nothing came within %s", olderWait))
	defer cancel()
	wire, err := o.to.older(waiting, o.c)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		o.phase = phase
		return nil, fmt.Errorf("%w (nor does the address serve HTTP+SSE: %w)", refusal, err)
	}
	if err := o.wire.via.Close(); err != nil {
		o.c.faults.report(fmt.Errorf("close the connection that was refused: %w", err))
	}
	o.wire = wire
	return o.initialize(ctx, verdict)
}
