package streamhttp

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// ClientOptions configures a Client. The zero value is ready to use.
type ClientOptions struct {
	// HTTPClient sends the requests. A copy is made, whose redirects follow the rules of this package as well. Nil means one
	// with connections of its own, which posts to http:// addresses without the goroutines of net/http's Transport, where
	// no proxy is set for them. A Timeout in it would end streams.
	HTTPClient *http.Client

	// Socket is the path of a unix socket that the server at an http:// address is reached by, without any proxy. An address
	// unix:///path names its own. It counts only without an HTTPClient. Empty means none.
	Socket string

	// Headers go with every request; Authorization may be among them, and Host. Those that the protocol sets are left out.
	Headers http.Header

	// NoStream opens no GET stream for what a legacy server sends outside any call.
	NoStream bool

	MaxBodyBytes  int64         // one JSON answer; 0 means 10 MiB, negative no bound
	MaxEventBytes int64         // one event of a stream; 0 means 10 MiB, negative no bound
	Reconnect     time.Duration // first wait before a lost stream is opened again; 0 means 1 s
	MaxReconnect  time.Duration // the longest; 0 means 30 s
	CloseTimeout  time.Duration // for the request that ends a session; 0 means 2 s

	// Retries is how often a message is sent again that the server has certainly not begun to handle: no connection came
	// about, or it answered 429, or 503 with Retry-After. What opens a connection is sent once. 0 means 2, negative none.
	Retries int

	// OnSessionGone is called when the GET stream, or that of a call which is to go on, shows that the server no longer knows the
	// session. A call that is not begun for that fails with a StatusError. Nil is nobody.
	OnSessionGone func()

	// OnStream hears of the GET stream, on its goroutine, and must not block: each time it is open, with gap when messages
	// may have been missed since it was open the last time; and with open false when the server has no such stream. Nil
	// hears nothing.
	OnStream func(open, gap bool)

	// OnRefused is called when a GET stream that was open is not opened again, since the server has refused it (401 or 403) eight
	// times in a row. The next request that is let in opens it. Nil is nobody.
	OnRefused func(error)

	// OnError is called with faults that belong to no call. It may be called concurrently. Nil drops them.
	OnError func(error)
}

func (o ClientOptions) withDefaults() ClientOptions {
	o.MaxBodyBytes = cmp.Or(o.MaxBodyBytes, 10<<20)
	o.MaxEventBytes = cmp.Or(o.MaxEventBytes, sse.DefaultLimit)
	o.Reconnect = cmp.Or(o.Reconnect, time.Second)
	o.MaxReconnect = cmp.Or(o.MaxReconnect, 30*time.Second)
	o.CloseTimeout = cmp.Or(o.CloseTimeout, 2*time.Second)
	if o.Retries == 0 {
		o.Retries = 2
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if o.OnStream == nil {
		o.OnStream = func(bool, bool) {}
	}
	if o.OnRefused == nil {
		o.OnRefused = func(error) {}
	}
	if o.OnSessionGone == nil {
		o.OnSessionGone = func() {}
	}
	return o
}

// Client sends the messages of one connection to one address. Its methods may be called concurrently.
type Client struct {
	url   *url.URL
	where string // scheme and host, for errors: the rest may hold secrets
	http  *http.Client
	trip  http.RoundTripper // under http, where nothing but redirects needs more; else nil
	own   *http.Transport   // nil where the user gave a client
	quick *direct           // for POSTs over plain HTTP; nil where net/http has to send them
	base  http.Header       // what every request has
	recv  transport.Receiver
	peer  transport.Peer
	opts  ClientOptions

	ctx       context.Context // ends with Close
	cancel    context.CancelFunc
	listening atomic.Bool // the GET stream is open
	barred    atomic.Bool // it was refused too often, after it had been open

	mu      sync.Mutex
	session string
	streams bool                    // the goroutine of the GET stream exists
	gone    bool                    // the session is the server's no more
	strays  map[jsonrpc.ID]struct{} // calls whose answers are to come on the GET stream
	closed  bool
	started sync.WaitGroup
	once    sync.Once
	err     error // of Close
}

var _ transport.Exchanger = (*Client)(nil)

// NewClient makes a client of the server at an http or https address. It does no I/O. The peer is the one that the calls
// by this client belong to; it is closed with the client.
func NewClient(address string, recv transport.Receiver, opts ClientOptions) (*Client, transport.Peer, error) {
	address, socket := unixSocket(address, opts.Socket)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil, fmt.Errorf("%.200q is no address of a server; it begins with http://, https:// or unix:///", redact(address, u))
	}
	c := &Client{url: u, where: u.Scheme + "://" + u.Host, recv: recv, opts: opts.withDefaults()}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.setHeaders()
	c.setHTTP(socket)
	if c.peer, err = recv.Open(transport.PeerSpec{Outlet: c}); err != nil {
		c.cancel()
		return nil, nil, err
	}
	return c, c.peer, nil
}

func redact(address string, u *url.URL) string {
	if u == nil {
		return address
	}
	return u.Redacted()
}

func (c *Client) setHTTP(socket string) {
	c.http, c.own = web.Client(c.opts.HTTPClient)
	if c.own != nil && socket != "" {
		c.own.Proxy, c.own.DialContext = nil, dialSocket(socket)
	}
	c.http.CheckRedirect = c.redirect(c.http.CheckRedirect)
	if c.http.Jar == nil && c.http.Timeout == 0 && c.url.User == nil {
		if c.trip = c.http.Transport; c.trip == nil {
			c.trip = http.DefaultTransport
		}
	}
	if c.own != nil {
		c.quick = newDirect(c.url, c.base, c.own)
	}
}

// Shared tells that every exchange has its own stream.
func (c *Client) Shared() bool { return false }

// Listening tells whether the GET stream of the session is open. Calls do not depend on it.
func (c *Client) Listening() bool { return c.listening.Load() }

// SessionID returns the id of the legacy session, "" where there is none.
func (c *Client) SessionID() string { return c.sessionID() }

// Forget says that the session has gone already: Close does not end it.
func (c *Client) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

// Send posts a message that belongs to no exchange.
func (c *Client) Send(ctx context.Context, frame []byte) error { return c.postBack(ctx, frame) }

// Close ends every exchange and stream, and the session where there is one. It waits for what this client has started,
// not for calls that others make. It may be called twice and from anywhere.
func (c *Client) Close() error {
	c.once.Do(func() {
		c.mu.Lock()
		c.closed = true
		session := c.session
		if c.gone {
			session = ""
		}
		c.mu.Unlock()
		c.cancel()
		go c.peer.Close(transport.ErrClosed) // the peer's own limit bounds it; waiting here would hold up a handler that closes
		c.started.Wait()
		if session != "" {
			c.err = c.endSession(session)
		}
		if c.own != nil {
			c.own.CloseIdleConnections()
		}
		if c.quick != nil {
			c.quick.pool.close()
		}
	})
	return c.err
}

// endSession tells the server that the session is over. A server that does not do that, or has forgotten it, is fine.
func (c *Client) endSession(session string) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.opts.CloseTimeout)
	defer cancel()
	resp, err := c.http.Do(c.request(ctx, http.MethodDelete, nil, session))
	if err != nil {
		return fmt.Errorf("end the session at %s: %w", c.where, web.Bare(err))
	}
	return resp.Body.Close()
}

// spawn runs a function on a goroutine that Close waits for; after Close it does nothing and answers false.
func (c *Client) spawn(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.started.Go(run)
	return true
}
