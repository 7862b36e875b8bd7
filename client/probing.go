package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// discover probes the server, at most twice. revision is what to ask in; "" is the best one, and any other counts as the
// second try. silent tells that the server has said nothing in time.
func (o *opener) discover(ctx context.Context, revision string) (v negotiate.Verdict, silent bool, err error) {
	again := revision != ""
	for {
		probe, err := o.probe(ctx, revision, again)
		if err != nil {
			return v, false, err
		}
		v = o.c.set.Judge(probe)
		if v.Restart {
			o.ended = true
			return v, false, o.again(ctx)
		}
		switch v.Finding {
		case negotiate.FoundModern, negotiate.FoundLegacy:
			return v, probe.Silent, nil
		case negotiate.ProbeAgain:
			revision, again = v.Revision, true
		default:
			if probe.Fault != nil {
				o.phase = ""
				return v, false, &plain{probe.Fault.Error(), v.Err}
			}
			if v.Err.Unwrap() == nil && o.cause != nil {
				return v, false, v.Err.Because(o.cause)
			}
			return v, false, v.Err
		}
	}
}

// again opens the way to a server that has ended on the probe once more.
func (o *opener) again(ctx context.Context) error {
	if !o.to.restart || o.kept {
		return mcp.Errorf(mcp.CodeConnectionClosed, "the server closed the connection on server/discover; connect anew with the mode Legacy")
	}
	if err := o.wire.via.Close(); err != nil {
		o.c.faults.report(fmt.Errorf("end the server that stopped on server/discover: %w", err))
	}
	return o.open(ctx)
}

func (o *opener) probe(ctx context.Context, revision string, again bool) (negotiate.Probe, error) {
	o.phase = "wait for the answer to server/discover"
	w := o.wire
	p := negotiate.Probe{HTTP: w.http, Again: again}
	codec, opening, ok := o.c.set.Discover(revision)
	if !ok {
		return p, mcp.Errorf(mcp.CodeNegotiationFailed, "revision %q is not allowed here", revision)
	}
	call := engine.CallOptions{Codec: codec, Opening: true}
	if !w.http && !again {
		call.Timeout = o.c.opts.ProbeTimeout
	}
	outcome, err := w.peer.Call(ctx, w.via, opening.Greet(), call)
	o.cause = err
	var status *transport.StatusError
	var frame *transport.FrameError
	switch {
	case err == nil && outcome.Err != nil:
		p.Error = wireError(outcome.Err)
	case err == nil:
		p.Result = outcome.Result
	case ctx.Err() != nil:
		return p, context.Cause(ctx)
	case authError(err, w.name) != nil:
		return p, authError(err, w.name)
	case errors.Is(err, ErrUnauthorized): // what stands under the HTTP client has tried to authorize, in vain
		return p, err
	case errors.As(err, &status):
		p.Status = status.Status
		if status.Message != nil {
			p.Error = status.Message.Error
		}
	case errors.Is(err, mcp.CodeInvalidResult), errors.Is(err, mcp.CodeUnsupportedResultType), !w.http && errors.As(err, &frame):
		p.Result = json.RawMessage("{}") // an answer, but none of a modern server
	case errors.Is(err, mcp.CodeRequestTimeout):
		p.Silent = true
	case !w.http, errors.Is(err, transport.ErrCut):
		p.Closed = true
	default:
		p.Fault = err
	}
	return p, nil
}

// wireError takes an error back to its number; those without one are no evidence of any era.
func wireError(e *mcp.Error) *jsonrpc.Error {
	code := e.Code
	if code.IsSymbolic() {
		code = mcp.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: int64(code), Message: e.Message, Data: e.Data}
}
