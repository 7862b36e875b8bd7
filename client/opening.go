package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// target is how to reach a server.
type target struct {
	name    string
	open    func(ctx context.Context, c *Client) (*wire, error)
	restart bool   // it can be opened a second time
	sibling bool   // a second one beside it costs a process and nothing else
	key     string // in a store of verdicts; "" where it has none
	phase   string // what open waits for; "" where that is nothing but a start

	// older opens the wire of 2024 to the same server, where initialize has been refused on the one opened first. Nil where
	// there is none.
	older func(ctx context.Context, c *Client) (*wire, error)
}

// dial makes a client and opens it, or leaves nothing behind.
func dial(ctx context.Context, to target, opts Options) (*Client, error) {
	c, err := newClient(to, opts)
	if err != nil {
		return nil, err
	}
	ctx, cancel := c.connecting(ctx)
	defer cancel()
	o := &opener{c: c, to: to, phase: "start"}
	l, err := o.run(ctx)
	if err == nil {
		c.current.Store(l)
		err = o.setLevel(ctx, l)
	}
	if err != nil {
		return nil, o.failed("", errors.Join(err, o.abort(), c.Close()))
	}
	c.watchWire(l)
	if c.opts.KeepAlive.Interval > 0 {
		c.background(c.keepAlive)
	}
	return c, nil
}

// connecting bounds the opening of a connection.
func (c *Client) connecting(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := c.opts.ConnectTimeout
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, limit, mcp.Errorf(mcp.CodeRequestTimeout, "not connected within %s", limit))
}

// opener is one attempt to open a connection.
type opener struct {
	c      *Client
	to     target
	wire   *wire
	kept   bool               // the wire stands already, and stays when the attempt fails
	known  *negotiate.Verdict // what an earlier connection of this client has found out; nil for nothing
	afresh bool               // nothing that is stored counts
	ended  bool               // the server has ended on the probe
	phase  string             // what is being waited for, for errors; "" where they say that themselves
	cause  error              // why the last request failed on the wire; nil where it was answered
}

// failed says what an attempt was at when it failed. again tells a later one from the first.
func (o *opener) failed(again string, err error) error {
	if plain := unreached(o.to.name, again, err); plain != nil {
		return plain
	}
	if o.phase == "" {
		return fmt.Errorf("connect to %s%s: %w", o.to.name, again, err)
	}
	return fmt.Errorf("connect to %s%s: %s: %w", o.to.name, again, o.phase, err)
}

// mercy is how long a process may take to end after an attempt that failed: its caller may have a deadline.
const mercy = 500 * time.Millisecond

// abort closes the wire of an attempt that has failed.
func (o *opener) abort() error {
	if o.wire == nil || o.kept {
		return nil
	}
	if o.wire.kill != nil {
		timer := time.AfterFunc(mercy, o.wire.kill)
		defer timer.Stop()
	}
	return o.wire.close()
}

func (o *opener) run(ctx context.Context) (*live, error) {
	verdict, stored, err := o.resume()
	if err != nil {
		return nil, err
	}
	if verdict.Finding == 0 && o.c.opts.ProbeSibling && o.to.sibling && o.wire == nil {
		if verdict, err = o.askSibling(ctx); err != nil {
			return nil, err
		}
	}
	if err := o.open(ctx); err != nil {
		return nil, err
	}
	silent := false
	if verdict.Finding == 0 {
		if verdict, silent, err = o.discover(ctx, ""); err != nil {
			return nil, err
		}
	}
	if verdict.Finding == negotiate.FoundModern {
		l := o.settle(verdict.Revision, verdict.Greeting, verdict)
		l.believed.Store(stored)
		return l, nil
	}
	l, err := o.initialize(ctx, verdict)
	if silent && o.to.restart && !o.kept && ctx.Err() == nil && errors.Is(err, mcp.CodeConnectionClosed) {
		// It was slow to start, and has ended on the probe after all.
		if err = o.again(ctx); err != nil {
			return nil, err
		}
		silent = false
		l, err = o.initialize(ctx, verdict)
	}
	if o.mayBeOlder(err) {
		if older, failure := o.goOlder(ctx, verdict, err); failure == nil || !stored {
			return older, failure
		}
	}
	if err == nil {
		return l, nil
	}
	if !stored && !silent || !o.answered(err) {
		return nil, err
	}
	return o.probeAfterAll(ctx, err)
}

// answered tells whether the server has refused initialize, as against not having been reached.
func (o *opener) answered(err error) bool {
	var fault *mcp.Error
	var status *transport.StatusError
	switch {
	case len(o.c.set.Modern()) == 0 || authError(err, "") != nil:
		return false
	case errors.As(o.cause, &status):
		return status.Status < 500 && status.Status != http.StatusTooManyRequests
	}
	return o.cause == nil && errors.As(err, &fault) && fault.Remote
}

// probeAfterAll is for a server that was taken for a legacy one and refuses initialize, which none of those does: it was stored
// as one, and may be modern by now; or it was silent, and may just have been slow to start. It may say which revisions it speaks.
func (o *opener) probeAfterAll(ctx context.Context, refusal error) (*live, error) {
	revision := ""
	if fault := (*mcp.Error)(nil); errors.As(refusal, &fault) && fault.Code == mcp.CodeUnsupportedVersion {
		revision = o.c.set.Judge(negotiate.Probe{Error: wireError(fault)}).Revision
	}
	return o.modern(ctx, revision, refusal)
}

// modern opens a modern connection, or fails with what is given where the server shows that it is none.
func (o *opener) modern(ctx context.Context, revision string, otherwise error) (*live, error) {
	verdict, _, err := o.discover(ctx, revision)
	switch {
	case err != nil:
		return nil, err
	case verdict.Finding != negotiate.FoundModern:
		return nil, otherwise
	}
	return o.settle(verdict.Revision, verdict.Greeting, verdict), nil
}

// resume takes up what is known of the server. The finding is 0 when a probe is in order; stored tells that nobody has seen
// yet whether it holds.
func (o *opener) resume() (v negotiate.Verdict, stored bool, err error) {
	switch {
	case len(o.c.set.Modern()) == 0:
		return negotiate.Verdict{Finding: negotiate.FoundLegacy}, false, nil
	case o.known != nil && len(o.c.set.Legacy()) > 0:
		return *o.known, true, nil
	case o.afresh:
		return v, false, nil
	case o.c.opts.Verdict != nil:
		o.phase = "take up the stored verdict"
		v, err = o.c.set.Resume(o.c.opts.Verdict.stored())
		return v, true, err
	case o.c.opts.Verdicts.isLegacy(o.to.key) && len(o.c.set.Legacy()) > 0:
		return negotiate.Verdict{Finding: negotiate.FoundLegacy}, true, nil
	}
	return v, false, nil
}

func (o *opener) open(ctx context.Context) (err error) {
	if o.kept {
		return nil
	}
	o.phase = cmp.Or(o.to.phase, "start")
	o.wire, err = o.to.open(ctx, o.c)
	return err
}

// initialize opens a legacy session.
func (o *opener) initialize(ctx context.Context, verdict negotiate.Verdict) (*live, error) {
	o.phase = "wait for the answer to initialize"
	w := o.wire
	codec, opening, ok := o.c.set.Initialize(era.Identity{})
	if !ok {
		return nil, mcp.Errorf(mcp.CodeNegotiationFailed, "no revision with initialize is allowed here")
	}
	w.peer.SetCodec(codec) // what may come before the answer: pings and logs
	outcome, err := w.peer.Call(ctx, w.via, opening.Greet(), engine.CallOptions{Codec: codec, Opening: true})
	if o.cause = err; err != nil {
		return nil, w.explain(ctx, inBody(err))
	}
	if outcome.Err != nil {
		return nil, outcome.Err
	}
	greeting, err := opening.Read(outcome.Result)
	if err != nil {
		return nil, mcp.Errorf(mcp.CodeInvalidResult, "%w", err)
	}
	if greeting.Revision == "" {
		return nil, mcp.Errorf(mcp.CodeNegotiationFailed, "the server chose revision %s; after initialize this client speaks %s",
			strings.Join(greeting.Supported, ", "), strings.Join(o.c.set.Legacy(), ", "))
	}
	codec, _ = o.c.set.Codec(greeting.Revision) // Read picks only revisions of the set
	w.peer.SetCodec(codec)
	if w.agreed != nil {
		w.agreed(codec)
	}
	o.phase = "send notifications/initialized"
	if err := w.peer.Send(ctx, w.via, codec, opening.Confirm()); err != nil {
		return nil, w.explain(ctx, err)
	}
	return o.settle(greeting.Revision, greeting, verdict), nil
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
func (o *opener) settle(revision string, greeting *era.Greeting, verdict negotiate.Verdict) *live {
	c := o.c
	l := &live{wire: o.wire, greeting: greeting, since: time.Now()}
	l.codec, _ = c.set.Codec(revision)
	l.wire.peer.SetCodec(l.codec)
	if l.wire.http && l.codec.Traits().HeaderMirrors {
		l.mirrors = &mirrors{}
	}
	if l.codec.Traits().Handshake {
		verdict = negotiate.Verdict{Finding: negotiate.FoundLegacy}
	}
	switch kept, ok := verdict.Store(l.since); {
	case c.opts.Verdict != nil && !o.afresh && o.known == nil && c.opts.Verdict.Era == kept.Era:
		l.verdict = *c.opts.Verdict
	case ok:
		l.verdict = Verdict{Era: kept.Era, Discover: kept.Discover, At: kept.At}
		if err := c.opts.Verdicts.put(o.to.key, l.verdict); err != nil {
			c.faults.report(err)
		}
	}
	return l
}

// setLevel asks for the log level of the options, when the connection is the first.
func (o *opener) setLevel(ctx context.Context, l *live) error {
	if o.c.opts.LogLevel == "" {
		return nil
	}
	o.phase = "set the log level"
	err := o.c.setLevelOn(ctx, l, o.c.opts.LogLevel)
	if isContext(err) {
		return err
	}
	if err != nil {
		o.c.opts.OnError(err)
	}
	return nil
}
