package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Client is one connection to one server. Its methods may be called concurrently.
type Client struct {
	opts   Options
	to     target
	engine *engine.Engine
	set    *negotiate.Set

	outward Call // through the middleware; nil without any

	current  atomic.Pointer[live]
	flight   atomic.Pointer[flight] // the opening of another connection in its place; nil for none. Changed with mu held
	failures int                    // in a row; of the one flight there is

	declared mcp.ClientCapabilities // what this client can do
	roots    roots
	visits   visits

	level   atomic.Value // mcp.Level asked for
	feed    feed
	cache   *cache // nil for none
	outputs outputs
	vendors vendors
	faults  reporter // of what runs in the background

	life    context.Context // ends with Close: for what runs in the background
	end     context.CancelCauseFunc
	running sync.WaitGroup // background listens and raw streams

	mu     sync.Mutex
	closed bool
	over   chan struct{} // closed when Close is done
	err    error         // of Close
}

// closeGrace is how long Close waits for hooks that still run, one of which may have called it.
const closeGrace = time.Second

func newClient(to target, opts Options) (*Client, error) {
	opts = opts.withDefaults()
	if x := mcp.TasksExtension(); opts.Tasks && !slices.ContainsFunc(opts.Extensions, func(one mcp.Extension) bool { return one.Identifier == x.Identifier }) {
		opts.Extensions = append(slices.Clone(opts.Extensions), x)
	}
	served, err := opts.served()
	if err != nil {
		return nil, err
	}
	declared := opts.declared()
	cfg := era.Config{
		Side: era.ClientSide, Extensions: opts.Extensions, Info: opts.Info, ClientCapabilities: declared, Served: served,
	}
	vendors, err := newVendors(opts.Vendor)
	if err != nil {
		return nil, fmt.Errorf("client options: %w", err)
	}
	cfg.Vendor = func(method string) bool { return opts.OnRequest != nil || vendors.serves(method) }
	c := &Client{opts: opts, to: to, declared: declared, vendors: vendors, over: make(chan struct{}), faults: reporter{hook: opts.OnError}}
	if err := c.roots.begin(opts.Roots); err != nil {
		return nil, fmt.Errorf("client options: %w", err)
	}
	if c.set, err = negotiate.New(cfg); err != nil {
		return nil, err
	}
	c.cache = newCache(c)
	c.feed.c, c.feed.turn = c, make(chan struct{}, 1)
	c.life, c.end = context.WithCancelCause(context.Background())
	context.AfterFunc(c.life, func() { c.feed.stop(context.Cause(c.life)) }) // Close has done it before
	c.current.Store(&live{greeting: &era.Greeting{}})
	c.level.Store(opts.LogLevel)
	c.outward = c.chain(opts.Middleware)
	c.engine = engine.New(handler{c}, engine.Options{
		MaxInFlight: opts.MaxInFlight, CloseGrace: closeGrace, OnError: c.faults.report,
	})
	return c, nil
}

// ServerInfo returns who the server says it is; zero when it does not say.
func (c *Client) ServerInfo() mcp.Implementation { return c.now().greeting.Info }

// ServerCapabilities returns what the server offers.
func (c *Client) ServerCapabilities() mcp.ServerCapabilities { return c.now().greeting.Capabilities }

// Instructions returns what the server says about its use, for a model to read.
func (c *Client) Instructions() string { return c.now().greeting.Instructions }

// ProtocolVersion returns the revision that the connection speaks.
func (c *Client) ProtocolVersion() string { return c.now().codec.Revision() }

// SessionID returns the id of the HTTP session, "" where there is none. Another session may take its place.
func (c *Client) SessionID() string { return c.now().wire.sessionID() }

// Listening tells whether the GET stream of a legacy session over HTTP is open, which brings what belongs to no call. It is
// false where there is no such stream. Calls do not depend on it.
func (c *Client) Listening() bool {
	w := c.now().wire
	return w != nil && w.listens != nil && w.listens()
}

// Done is closed when the connection has ended for good: by Close, or because a server on a pipe has gone and is not
// started again (see Options.Restart). Over HTTP there is no connection that could end by itself: only unanswered pings of
// Options.KeepAlive show that a server has gone.
func (c *Client) Done() <-chan struct{} { return c.life.Done() }

// Err says why the connection has ended: nil while Done is open, [transport.ErrClosed] after Close.
func (c *Client) Err() error {
	if c.life.Err() == nil {
		return nil
	}
	return context.Cause(c.life)
}

// Close ends the connection: calls that wait fail with mcp.CodeConnectionClosed, listens end, an HTTP session is deleted,
// a child process is ended in order. It may be called twice and from anywhere, and answers the same each time. It waits
// for what it ends, but for hooks no longer than a second, and for callbacks of changes not at all.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if first {
		c.feed.stop(nil)
		c.end(transport.ErrClosed)
		if l := c.now(); l.wire != nil {
			c.err = l.wire.close()
		}
		c.running.Wait()
		close(c.over)
	}
	<-c.over
	return c.err
}

// background runs a function that ends with c.life, and which Close waits for. It answers false after Close.
func (c *Client) background(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.running.Go(run)
	return true
}

// usable fails once the connection has ended.
func (c *Client) usable() error {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	switch {
	case closed:
		return mcp.Errorf(mcp.CodeNotConnected, "the client was closed; dial again")
	case c.life.Err() != nil:
		return c.overdue()
	}
	return nil
}

// overdue is what calls fail with that come after the end of the connection: they have not been sent.
func (c *Client) overdue() error {
	return mcp.Errorf(mcp.CodeNotConnected, "nothing was sent, since the connection had ended before; dial again (it ended with: %w)", context.Cause(c.life))
}

// watchWire sees to it that a wire that ends by itself is replaced, or ends the client's life.
func (c *Client) watchWire(l *live) {
	if l.wire.http {
		return // nothing shows that before a call does
	}
	c.background(func() {
		select {
		case <-l.wire.gone:
		case <-c.life.Done():
			return
		}
		for c.now() == l { // a flight may be under way that began for another reason
			f := c.lost(l)
			if f == nil {
				return
			}
			<-f.done
		}
	})
}

// isContext tells whether a call failed because its context ended.
func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
