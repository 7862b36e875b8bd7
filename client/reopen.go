package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// carry sends a request on the connection there is. Where the answer shows that the connection is not what it was taken
// for, and that the server has not begun, another is opened, by one caller for all, and the request is sent once more.
func (c *Client) carry(ctx context.Context, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	l, err := c.ready(ctx, call.Timeout)
	if err != nil {
		return nil, err
	}
	c.feed.asks(out.Method)
	began := time.Now()
	if err := c.hearQuestions(ctx, l, out.Method, call.Timeout); err != nil {
		return nil, err
	}
	outcome, err := c.deliver(ctx, l, out, call)
	if err == nil && outcome.Err == nil {
		l.confirm()
		return outcome, nil
	}
	doubt := l.doubt(outcome, err)
	if doubt == nil || ctx.Err() != nil {
		return outcome, err
	}
	fresh, failure := c.renew(ctx, l, doubt)
	switch {
	case failure != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case failure != nil:
		return nil, fmt.Errorf("%w (%w)", doubt.text, failure)
	case fresh == l:
		return outcome, err
	}
	if err := c.hearQuestions(ctx, fresh, out.Method, call.Timeout); err != nil {
		return nil, err
	}
	if call.Total > 0 {
		if call.Total -= time.Since(began); call.Total <= 0 {
			return outcome, err
		}
	}
	return c.deliver(ctx, fresh, repeated(out), call)
}

// repeated copies a request that is sent once more, under an id of its own.
func repeated(out *era.Outgoing) *era.Outgoing {
	again := *out
	if string(again.Token) == string(again.ID.Raw()) {
		again.Token = nil
	}
	again.ID = jsonrpc.ID{}
	return &again
}

// doubt is why a connection has to be opened anew.
type doubt struct {
	text    error
	session bool // the session is gone; else the era or the revision is in question
}

// confirm notes that a stored verdict holds.
func (l *live) confirm() {
	if l.believed.Load() {
		l.believed.Store(false)
	}
}

// doubt reads a failed call: nil where it says nothing against the connection.
func (l *live) doubt(outcome *era.Outcome, err error) *doubt {
	var status *transport.StatusError
	refused := errors.As(err, &status)
	switch {
	case refused && status.SessionGone:
		return &doubt{text: err, session: true}
	case err == nil && outcome.Err.Remote && outcome.Err.Code == mcp.CodeUnsupportedVersion && !l.codec.Traits().Handshake:
		return &doubt{text: outcome.Err}
	case l.believed.Load() && err == nil && outcome.Err.Remote:
		return &doubt{text: outcome.Err}
	case l.believed.Load() && refused && status.Status < 500 && !status.Refused():
		return &doubt{text: err}
	}
	return nil
}

// renew opens a connection in place of one that is in doubt, or finds the one that another caller has opened. It returns
// the same one when that has turned out to be right.
func (c *Client) renew(ctx context.Context, l *live, why *doubt) (*live, error) {
	c.mu.Lock()
	f := c.flight.Load()
	switch {
	case c.closed:
		c.mu.Unlock()
		return nil, mcp.Errorf(mcp.CodeNotConnected, "the client was closed; dial again")
	case f == nil && c.now() != l:
		c.mu.Unlock()
		return c.now(), nil
	case f == nil:
		f = newFlight()
		c.flight.Store(f)
		c.running.Go(func() { c.reopen(f, l, why) }) // ends with c.life at the latest
	}
	c.mu.Unlock()
	return f.wait(ctx)
}

// reopen makes one attempt. Where it fails, the connection stays as it was, and the next caller tries again.
func (c *Client) reopen(f *flight, l *live, why *doubt) {
	o := &opener{c: c, to: c.to, phase: "start"}
	if why.session {
		o.known = &negotiate.Verdict{Finding: negotiate.FoundLegacy}
		if l.wire.forget != nil {
			l.wire.forget()
		}
	} else {
		o.wire, o.kept = l.wire, true
		o.afresh = true
	}
	ctx, cancel := c.connecting(c.life)
	defer cancel()
	fresh, err := o.run(ctx)
	switch {
	case err != nil:
		c.fly(f, nil, o.failed(" again", errors.Join(err, o.abort())))
		return
	case !why.session && fresh.codec.Revision() == l.codec.Revision():
		l.confirm()
		c.fly(f, l, nil)
		return
	}
	if c.fly(f, fresh, nil) {
		if fresh.wire != l.wire {
			c.background(func() { c.linger(l) })
		}
		c.restore(fresh)
	}
}

// sessionGone begins a new session where it is not a call that has shown the loss of the old one.
func (c *Client) sessionGone(w *wire) {
	l := c.now()
	if l.wire != w {
		return
	}
	c.background(func() {
		why := &doubt{text: errors.New("the server no longer knows the session"), session: true}
		if _, err := c.renew(c.life, l, why); err != nil && c.life.Err() == nil {
			c.faults.report(c.named("%w (%w)", why.text, err))
		}
	})
}

// linger closes a wire once the calls that still run on it have ended.
func (c *Client) linger(l *live) {
	const look = time.Second
	tick := time.NewTicker(look)
	defer tick.Stop()
	for !l.wire.peer.Idle() && c.life.Err() == nil {
		select {
		case <-tick.C:
		case <-c.life.Done():
		}
	}
	c.reportClose(l.wire.close())
}

// fly ends a flight, with a connection or without, and answers false when there is none.
func (c *Client) fly(f *flight, fresh *live, err error) bool {
	c.mu.Lock()
	closed := c.closed
	if fresh != nil && !closed {
		c.current.Store(fresh)
	}
	c.flight.Store(nil)
	c.mu.Unlock()
	if closed && fresh != nil {
		if fresh.wire != c.now().wire {
			c.reportClose(fresh.wire.close())
		}
		fresh, err = nil, mcp.Errorf(mcp.CodeConnectionClosed, "the client was closed")
	}
	f.land(fresh, err)
	return fresh != nil
}

func (c *Client) reportClose(err error) {
	if err != nil && !errors.Is(err, transport.ErrClosed) {
		c.faults.report(fmt.Errorf("close the connection that was replaced: %w", err))
	}
}

// restore brings a new connection to where the old one was: the log level, and those who wait for changes, some of which
// may have passed unheard.
func (c *Client) restore(l *live) {
	if level, _ := c.level.Load().(mcp.Level); level != "" {
		if err := c.setLevelOn(c.life, l, level); err != nil && c.life.Err() == nil {
			c.faults.report(c.named("set the log level again: %w", err))
		}
	}
	c.feed.restored()
}

// setLevelOn asks a legacy server that can log for messages from a level on.
func (c *Client) setLevelOn(ctx context.Context, l *live, level mcp.Level) error {
	if !l.codec.Traits().Handshake || l.greeting.Capabilities.Logging == nil {
		return nil
	}
	out := &era.Outgoing{Method: mcp.MethodSetLevel, Params: single("level", string(level))}
	outcome, err := c.exchange(ctx, l, out, engine.CallOptions{Timeout: c.opts.CallTimeout, Total: c.opts.TotalTimeout})
	if err == nil && outcome.Err != nil {
		err = outcome.Err
	}
	if err != nil {
		return fmt.Errorf("set log level: %w", err)
	}
	return nil
}
