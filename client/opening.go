package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// target is how to reach a server.
type target struct {
	name    string
	open    func(ctx context.Context, c *Client) (*wire, error)
	restart bool   // it can be opened a second time
	phase   string // what open waits for; "" where that is nothing but a start

	// older opens the wire of 2024 to the same server, where initialize has been refused on the one opened first. Nil where
	// there is none.
	older func(ctx context.Context, c *Client) (*wire, error)
}

// dial makes a client and opens it, or leaves nothing behind.
func dial(ctx context.Context, to target, opts Options) (*Client, error) {
	c, err := newClient(opts)
	if err != nil {
		return nil, err
	}
	if limit := c.opts.ConnectTimeout; limit > 0 {
		var cancel context.CancelFunc
		cause := mcp.Errorf(mcp.CodeRequestTimeout, "not connected within %s", limit)
		ctx, cancel = context.WithTimeoutCause(ctx, limit, cause)
		defer cancel()
	}
	o := &opener{c: c, to: to, phase: "start"}
	if err := o.run(ctx); err != nil {
		return nil, fmt.Errorf("connect to %s: %s: %w", to.name, o.phase, errors.Join(err, c.abort()))
	}
	c.watchWire()
	return c, nil
}

// mercy is how long a process may take to end after an attempt that failed: its caller may have a deadline.
const mercy = 500 * time.Millisecond

// abort closes a client whose opening has failed.
func (c *Client) abort() error {
	if c.wire != nil && c.wire.kill != nil {
		timer := time.AfterFunc(mercy, c.wire.kill)
		defer timer.Stop()
	}
	return c.Close()
}

// opener is one attempt to open a connection.
type opener struct {
	c     *Client
	to    target
	phase string // what is being waited for, for errors
	cause error  // why the last request failed on the wire; nil where it was answered
}

func (o *opener) run(ctx context.Context) error {
	verdict, err := o.resume()
	if err != nil {
		return err
	}
	if err := o.open(ctx); err != nil {
		return err
	}
	silent := false
	if verdict.Finding == 0 {
		if verdict, silent, err = o.discover(ctx, ""); err != nil {
			return err
		}
	}
	if verdict.Finding == negotiate.FoundModern {
		return o.settle(ctx, verdict.Revision, verdict.Greeting, verdict)
	}
	if err = o.initialize(ctx, verdict); o.mayBeOlder(err) {
		return o.goOlder(ctx, verdict, err)
	}
	var fault *mcp.Error
	if !silent || !errors.As(err, &fault) || fault.Code != mcp.CodeUnsupportedVersion || !fault.Remote {
		return err
	}
	// The server was slow, not legacy: it now says which revisions it speaks.
	verdict = o.c.set.Judge(negotiate.Probe{Error: wireError(fault)})
	if verdict.Finding != negotiate.ProbeAgain {
		return err
	}
	if verdict, _, err = o.discover(ctx, verdict.Revision); err != nil {
		return err
	}
	if verdict.Finding != negotiate.FoundModern {
		return fault
	}
	return o.settle(ctx, verdict.Revision, verdict.Greeting, verdict)
}

// resume takes up a stored verdict. The finding is 0 when there is none and a probe is in order.
func (o *opener) resume() (negotiate.Verdict, error) {
	if o.c.opts.Verdict != nil {
		o.phase = "take up the stored verdict"
		return o.c.set.Resume(o.c.opts.Verdict.stored())
	}
	if len(o.c.set.Modern()) == 0 {
		return negotiate.Verdict{Finding: negotiate.FoundLegacy}, nil
	}
	return negotiate.Verdict{}, nil
}

func (o *opener) open(ctx context.Context) (err error) {
	o.phase = cmp.Or(o.to.phase, "start")
	o.c.wire, err = o.to.open(ctx, o.c)
	return err
}

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
			return v, false, o.again(ctx)
		}
		switch v.Finding {
		case negotiate.FoundModern, negotiate.FoundLegacy:
			return v, probe.Silent, nil
		case negotiate.ProbeAgain:
			revision, again = v.Revision, true
		default:
			if v.Err.Unwrap() == nil && o.cause != nil {
				return v, false, v.Err.Because(o.cause)
			}
			return v, false, v.Err
		}
	}
}

// again opens the way to a server that has ended on the probe once more.
func (o *opener) again(ctx context.Context) error {
	if !o.to.restart {
		return mcp.Errorf(mcp.CodeConnectionClosed, "the server closed the connection on server/discover; connect anew with the mode Legacy")
	}
	if err := o.c.wire.via.Close(); err != nil {
		o.c.opts.OnError(fmt.Errorf("end the server that stopped on server/discover: %w", err))
	}
	return o.open(ctx)
}

func (o *opener) probe(ctx context.Context, revision string, again bool) (negotiate.Probe, error) {
	o.phase = "wait for the answer to server/discover"
	w := o.c.wire
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
	switch {
	case err == nil && outcome.Err != nil:
		p.Error = wireError(outcome.Err)
	case err == nil:
		p.Result = outcome.Result
	case ctx.Err() != nil:
		return p, context.Cause(ctx)
	case authError(err) != nil:
		return p, authError(err)
	case errors.As(err, &status):
		p.Status = status.Status
		if status.Message != nil {
			p.Error = status.Message.Error
		}
	case errors.Is(err, mcp.CodeInvalidResult), errors.Is(err, mcp.CodeUnsupportedResultType):
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

// initialize opens a legacy session.
func (o *opener) initialize(ctx context.Context, verdict negotiate.Verdict) error {
	o.phase = "wait for the answer to initialize"
	w := o.c.wire
	codec, opening, ok := o.c.set.Initialize(era.Identity{})
	if !ok {
		return mcp.Errorf(mcp.CodeNegotiationFailed, "no revision with initialize is allowed here")
	}
	w.peer.SetCodec(codec) // what may come before the answer: pings and logs
	outcome, err := w.peer.Call(ctx, w.via, opening.Greet(), engine.CallOptions{Codec: codec, Opening: true})
	if o.cause = err; err != nil {
		return o.c.explain(inBody(err))
	}
	if outcome.Err != nil {
		return outcome.Err
	}
	greeting, err := opening.Read(outcome.Result)
	if err != nil {
		return mcp.Errorf(mcp.CodeInvalidResult, "%w", err)
	}
	if greeting.Revision == "" {
		return mcp.Errorf(mcp.CodeNegotiationFailed, "the server chose revision %s; after initialize this client speaks %s",
			strings.Join(greeting.Supported, ", "), strings.Join(o.c.set.Legacy(), ", "))
	}
	codec, _ = o.c.set.Codec(greeting.Revision) // Read picks only revisions of the set
	w.peer.SetCodec(codec)
	if w.agreed != nil {
		w.agreed(codec)
	}
	o.phase = "send notifications/initialized"
	if err := w.peer.Send(ctx, w.via, codec, opening.Confirm()); err != nil {
		return o.c.explain(err)
	}
	return o.settle(ctx, greeting.Revision, greeting, verdict)
}

// inBody takes the error in the body of a refused POST for the answer that it is, authorization excepted.
func inBody(err error) error {
	var status *transport.StatusError
	if errors.As(err, &status) && status.Message != nil && status.Message.Error != nil && !status.Refused() {
		return era.ReadError(status.Message.Error)
	}
	return err
}

// settle takes up what the opening has shown.
func (o *opener) settle(ctx context.Context, revision string, greeting *era.Greeting, verdict negotiate.Verdict) error {
	c := o.c
	c.codec, _ = c.set.Codec(revision)
	c.greeting = greeting
	c.wire.peer.SetCodec(c.codec)
	if c.wire.http && c.codec.Traits().HeaderMirrors {
		c.mirrors = &mirrors{}
	}
	switch stored, ok := verdict.Store(time.Now()); {
	case c.opts.Verdict != nil:
		c.verdict = *c.opts.Verdict
	case ok:
		c.verdict = Verdict{Era: stored.Era, Discover: stored.Discover, At: stored.At}
	}
	if level := c.opts.LogLevel; level != "" && c.codec.Traits().Handshake && greeting.Capabilities.Logging != nil {
		o.phase = "set the log level"
		if err := c.SetLevel(ctx, level); isContext(err) {
			return err
		} else if err != nil {
			c.opts.OnError(err)
		}
	}
	return nil
}
