package httpsse

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// DialOptions configures a Conn. The zero value is ready to use.
type DialOptions struct {
	// HTTPClient sends the requests. A copy is made, which keeps to one origin when it is redirected. Nil means one with
	// connections of its own. A Timeout in it would end the stream.
	HTTPClient *http.Client

	// Headers go with every request; Authorization may be among them, and Host. Those that the protocol sets are left out.
	Headers http.Header

	// MaxEventBytes bounds one event of the stream. Zero means 10 MiB; negative means no bound.
	MaxEventBytes int64

	// OnEvent takes events of other names than the protocol has. It is called by the goroutine that reads the stream, which
	// waits for it; it must not call Close. Nil ignores them.
	OnEvent func(name string, data []byte)

	// OnError is called with faults of the stream that harm nobody, such as a second endpoint event. It is called by the
	// goroutine that reads the stream, which waits for it; it must not call Close. Nil drops them.
	OnError func(error)
}

func (o DialOptions) withDefaults() DialOptions {
	if o.MaxEventBytes == 0 {
		o.MaxEventBytes = sse.DefaultLimit
	}
	if o.OnEvent == nil {
		o.OnEvent = func(string, []byte) {}
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return o
}

// Conn is the client's end: what comes on the event stream is read, and what is written is posted to the endpoint that the
// server has named. Each Write waits for the status of its POST, so frames of one writer arrive in order.
//
// The end of the stream is the end of the connection: Read then fails with io.EOF, or with what cut the stream, and
// Write with io.ErrClosedPipe. It is not opened again, since the server's session ends with it.
type Conn struct {
	opts     DialOptions
	where    string // scheme and host, for errors: the rest may hold secrets
	http     *http.Client
	own      *http.Transport // nil where the user gave a client
	base     http.Header     // what every request has
	endpoint *url.URL

	life   context.Context // ends with the stream, or with Close
	cancel context.CancelCauseFunc

	arrived chan arrival
	ended   chan struct{} // closed when the stream is over and end is set
	end     error

	revision atomic.Pointer[string] // see SetRevision; nil for none

	mu      sync.Mutex
	closed  bool
	started sync.WaitGroup // the reader of the stream, and the ends of POSTs
}

// arrival is what the stream has brought: a frame, or a *transport.FrameError.
type arrival struct {
	frame []byte
	err   error
}

var _ transport.Conn = (*Conn)(nil)

// Dial opens the event stream at an http or https address and waits until the server has named the endpoint for messages.
// ctx bounds that alone, not the connection.
//
// The endpoint must have the origin of the stream, since it gets the same credentials. An HTTP status that is no success
// is a *transport.StatusError. The address in errors is cut to its scheme and host.
func Dial(ctx context.Context, address string, opts DialOptions) (*Conn, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("this is no address of a server; it begins with http:// or https://")
	}
	c := &Conn{
		opts: opts.withDefaults(), where: originOf(u),
		arrived: make(chan arrival), ended: make(chan struct{}),
	}
	c.life, c.cancel = context.WithCancelCause(context.Background())
	c.base = baseHeaders(c.opts.Headers, u.User)
	u.User = nil
	c.setHTTP()
	stop := context.AfterFunc(ctx, func() { c.cancel(context.Cause(ctx)) })
	resp, events, err := c.open(u)
	if err == nil && !stop() {
		err = c.late("after", context.Cause(ctx))
		resp.Body.Close()
	}
	if err != nil {
		stop()
		c.cancel(transport.ErrClosed)
		c.closeIdle()
		return nil, err
	}
	c.started.Go(func() { c.pump(resp.Body, events) }) // ends with the stream; Close cuts that and waits
	return c, nil
}

func (c *Conn) setHTTP() {
	c.http, c.own = web.Client(c.opts.HTTPClient)
	c.http.CheckRedirect = stayAtHome(c.http.CheckRedirect)
}

// Endpoint returns where messages are posted to. It may hold the id of the session, which is a secret.
func (c *Conn) Endpoint() string { return c.endpoint.String() }

// SetRevision names the revision that was agreed on in the header MCP-Protocol-Version of each POST from now on, which
// revisions from 2025-06-18 on ask of HTTP. It may be called concurrently with all else.
func (c *Conn) SetRevision(revision string) { c.revision.Store(&revision) }

// Read returns the next message of the stream, without line breaks.
func (c *Conn) Read(ctx context.Context) ([]byte, error) {
	if c.isClosed() {
		return nil, transport.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case a := <-c.arrived:
		return a.frame, a.err
	case <-c.ended:
		if c.isClosed() {
			return nil, transport.ErrClosed
		}
		return nil, c.end
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close cuts the stream and what is being posted, and waits for both.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel(transport.ErrClosed)
	c.started.Wait()
	c.closeIdle()
	return nil
}

func (c *Conn) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}

// spawn runs a function on a goroutine that Close waits for; after Close it does nothing and answers false.
func (c *Conn) spawn(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.started.Go(run)
	return true
}

func (c *Conn) closeIdle() {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
}

// late says for what time has run out.
func (c *Conn) late(what string, cause error) error {
	return fmt.Errorf("%s the endpoint event of %s: %w", what, c.where, cause)
}
