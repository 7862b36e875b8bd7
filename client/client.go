package client

import (
	"context"
	"errors"
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
	engine *engine.Engine
	set    *negotiate.Set

	outward Call // through the middleware; nil without any

	// Set by the opening, and read-only from then on.
	wire     *wire
	codec    era.Codec
	greeting *era.Greeting
	verdict  Verdict
	mirrors  *mirrors // nil where no headers repeat arguments

	level   atomic.Value // mcp.Level asked for
	watches watches
	faults  reporter // of what runs in the background

	life    context.Context // ends with Close: for what runs in the background
	end     context.CancelFunc
	running sync.WaitGroup // background listens and raw streams

	mu     sync.Mutex
	closed bool
	over   chan struct{} // closed when Close is done
	err    error         // of Close
}

// wire is a way to a server: an exchanger and the peer behind it.
type wire struct {
	name    string // for errors: an address, a command
	via     transport.Exchanger
	peer    *engine.Peer
	http    bool
	done    <-chan struct{} // closed when the wire has ended by itself; nil where nothing shows that
	session func() string   // HTTP session id; nil where there is none
	kill    func()          // ends a process without mercy; nil where there is none
	agreed  func(era.Codec) // hears of the revision that initialize has settled; nil where the wire need not know
}

// closeGrace is how long Close waits for hooks that still run, one of which may have called it.
const closeGrace = time.Second

func newClient(opts Options) (*Client, error) {
	opts = opts.withDefaults()
	served, err := opts.served()
	if err != nil {
		return nil, err
	}
	cfg := era.Config{
		Side: era.ClientSide, Extensions: opts.Extensions, Info: opts.Info, ClientCapabilities: opts.Capabilities, Served: served,
	}
	if opts.OnRequest != nil {
		cfg.Vendor = func(string) bool { return true }
	}
	c := &Client{opts: opts, over: make(chan struct{}), faults: reporter{hook: opts.OnError}}
	if c.set, err = negotiate.New(cfg); err != nil {
		return nil, err
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.level.Store(opts.LogLevel)
	c.outward = c.chain(opts.Middleware)
	c.engine = engine.New(handler{c}, engine.Options{
		MaxInFlight: opts.MaxInFlight, CloseGrace: closeGrace, OnError: c.faults.report,
	})
	return c, nil
}

// ServerInfo returns who the server says it is; zero when it does not say.
func (c *Client) ServerInfo() mcp.Implementation { return c.greeting.Info }

// ServerCapabilities returns what the server offers.
func (c *Client) ServerCapabilities() mcp.ServerCapabilities { return c.greeting.Capabilities }

// Instructions returns what the server says about its use, for a model to read.
func (c *Client) Instructions() string { return c.greeting.Instructions }

// ProtocolVersion returns the revision that the connection speaks.
func (c *Client) ProtocolVersion() string { return c.codec.Revision() }

// SessionID returns the id of the HTTP session, "" where there is none.
func (c *Client) SessionID() string {
	if c.wire == nil || c.wire.session == nil {
		return ""
	}
	return c.wire.session()
}

// Done is closed when the connection has ended: by Close, or because a server on a pipe has gone. Over HTTP there is no
// connection that could end by itself.
func (c *Client) Done() <-chan struct{} { return c.life.Done() }

// Close ends the connection: calls that wait fail with mcp.CodeConnectionClosed, listens end, an HTTP session is deleted,
// a child process is ended in order. It may be called twice and from anywhere, and answers the same each time. It waits
// for what it ends, but for hooks no longer than a second, and for callbacks of changes not at all.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closed
	c.closed = true
	c.mu.Unlock()
	if first {
		c.watches.stop()
		c.end()
		if c.wire != nil {
			c.err = c.wire.via.Close()
			c.wire.peer.Close(transport.ErrClosed)
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
	if closed {
		return mcp.Errorf(mcp.CodeNotConnected, "the client was closed; dial again")
	}
	return nil
}

// watchWire ends the client's life when its wire ends by itself.
func (c *Client) watchWire() {
	if c.wire.done == nil {
		return
	}
	c.background(func() {
		select {
		case <-c.wire.done:
			c.end()
		case <-c.life.Done():
		}
	})
}

// isContext tells whether a call failed because its context ended.
func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
