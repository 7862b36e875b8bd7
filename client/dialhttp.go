package client

import (
	"context"
	"net/url"
	"strings"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// DialHTTP opens a connection to a server at an http or https address, over Streamable HTTP. An address unix:///path is that
// of a unix socket, and the endpoint behind it /mcp; another one follows the sign #, as in unix:///run/x.sock#/other.
//
// The first request shows which era the server is of. An answer of 401 or 403 is an [*AuthError] and says nothing about
// the era; neither does a server that fails (500 and above) or cannot be reached. A server that refuses initialize too with
// 400, 404 or 405 is asked for the event stream of HTTP+SSE, the transport of 2024-11-05; [DialSSE] does that at once. The
// address in errors is cut to its scheme and host, since the rest may hold secrets.
func DialHTTP(ctx context.Context, address string, opts Options) (*Client, error) {
	name := nameOf(address)
	to := target{name: name, key: keyOf("http", address, opts.Socket), restart: true}
	if opts.Socket == "" && !strings.HasPrefix(address, "unix:") { // no server of the old transport is known behind a socket
		to.older = openSSE(address)
	}
	to.open = func(_ context.Context, c *Client) (*wire, error) {
		w := newWire(name)
		w.outside = newGate()
		via, peer, err := streamhttp.NewClient(address, c.engine, streamhttp.ClientOptions{
			HTTPClient: c.opts.HTTPClient, Socket: c.opts.Socket, Headers: c.opts.Headers, OnError: c.faults.report,
			MaxBodyBytes: c.opts.MaxBodyBytes, MaxEventBytes: c.opts.MaxBodyBytes, Retries: c.opts.Retries,
			OnSessionGone: func() { c.sessionGone(w) },
			OnRefused:     func(err error) { c.feed.barred(w, err) },
			OnStream: func(_, gap bool) {
				w.outside.open()
				if gap {
					c.feed.gap()
				}
			},
		})
		if err != nil {
			return nil, err
		}
		w.via, w.peer, w.http = via, peer.(*engine.Peer), true
		w.session, w.listens, w.forget = via.SessionID, via.Listening, via.Forget
		return w, nil
	}
	return dial(ctx, to, opts)
}

// nameOf is what errors call a server: scheme and host of its address, since the rest may hold secrets.
func nameOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host
	}
	return "the server"
}
