package streamhttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/transport"
)

// ownHeaders are set by this package and the codec alone.
var ownHeaders = []string{
	"Accept", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Last-Event-Id",
	era.HeaderVersion, era.HeaderMethod, era.HeaderName, headerSession, "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// codecHeaders come with a message; the first of a name is the codec's, later ones are the caller's and left out.
var codecHeaders = []string{era.HeaderVersion, era.HeaderMethod, era.HeaderName}

var bothTypes = []string{typeJSON + ", " + typeEvents}

// setHeaders prepares what every request has.
func (c *Client) setHeaders() {
	c.base = http.Header{}
	for name, values := range c.opts.Headers {
		name = http.CanonicalHeaderKey(name)
		if !slices.Contains(ownHeaders, name) {
			c.base[name] = slices.Clone(values)
		}
	}
}

// request makes a request with the headers of every one. frame is nil for none; it is kept until the request is over.
func (c *Client) request(ctx context.Context, method string, frame []byte, session string) *http.Request {
	req := (&http.Request{
		Method: method, URL: c.url, Host: c.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	req.Header = make(http.Header, len(c.base)+8)
	if frame != nil {
		req.ContentLength = int64(len(frame))
		req.Body = io.NopCloser(bytes.NewReader(frame))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(frame)), nil }
	}
	for name, values := range c.base {
		req.Header[name] = values
	}
	if host := req.Header["Host"]; len(host) > 0 {
		req.Host = host[0]
	}
	if session != "" {
		req.Header[headerSession] = []string{session}
	}
	return req
}

// callHeaders adds what one message sets to list, with canonical names and each once: of the codec's headers the first
// value, of the caller's the last, and the session.
func callHeaders(list, headers [][2]string, session string) [][2]string {
	for _, pair := range headers {
		name := http.CanonicalHeaderKey(pair[0])
		codecs := slices.Contains(codecHeaders, name)
		if !codecs && (name == "Authorization" || name == "Host" || name == "Cookie" || slices.Contains(ownHeaders, name)) {
			continue
		}
		at := slices.IndexFunc(list, func(have [2]string) bool { return have[0] == name })
		switch {
		case at < 0:
			list = append(list, [2]string{name, pair[1]})
		case !codecs:
			list[at][1] = pair[1]
		}
	}
	if session != "" {
		list = append(list, [2]string{headerSession, session})
	}
	return list
}

// post makes a POST of one message with the headers of callHeaders.
func (c *Client) post(ctx context.Context, frame []byte, headers [][2]string) *http.Request {
	req := c.request(ctx, http.MethodPost, frame, "")
	values := make([]string, len(headers)) // one place for all of them
	for i, pair := range headers {
		values[i] = pair[1]
		req.Header[pair[0]] = values[i : i+1 : i+1]
	}
	req.Header["Content-Type"] = jsonType
	req.Header["Accept"] = bothTypes
	return req
}

// open makes a GET of an event stream, after the event given where there is one.
func (c *Client) open(ctx context.Context, after string) *http.Request {
	req := c.request(ctx, http.MethodGet, nil, c.sessionID())
	for _, pair := range c.version() {
		req.Header[http.CanonicalHeaderKey(pair[0])] = []string{pair[1]}
	}
	req.Header["Accept"] = eventsType
	if after != "" {
		req.Header["Last-Event-Id"] = []string{after}
	}
	return req
}

// version returns the headers that name the revision on what is no call.
func (c *Client) version() [][2]string {
	codec := c.peer.Codec()
	if codec == nil || !codec.Traits().Handshake {
		return nil
	}
	return codec.NoticeHeaders(&era.Notice{})
}

func (c *Client) sessionID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session
}

// keepSession takes the session that the answer to an initialize gives, or none.
func (c *Client) keepSession(resp *http.Response) {
	id := resp.Header.Get(headerSession)
	for i := range len(id) {
		if id[i] < 0x21 || id[i] > 0x7E {
			c.opts.OnError(fmt.Errorf("the server's session id %.40q holds what no header may; it is left out", id))
			id = ""
			break
		}
	}
	c.mu.Lock()
	c.session = id
	c.mu.Unlock()
}

// travels tells whether a header may go to another origin: those of the protocol that are no secret. What a user has given
// for all requests or for one may be a credential by any name.
func travels(name string) bool {
	switch name {
	case "Accept", "Content-Type", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name":
		return true
	}
	return strings.HasPrefix(name, "Mcp-Param-")
}

// redirect follows what keeps the method, and takes the user's headers and the session away from any other origin. A move
// of the same host from http to https is none.
func (c *Client) redirect(next func(*http.Request, []*http.Request) error) func(*http.Request, []*http.Request) error {
	return func(req *http.Request, via []*http.Request) error {
		const most = 5
		delete(req.Header, "Referer") // net/http puts the address there, whose query may hold secrets
		from := via[0]
		if len(via) > most || req.Method != from.Method {
			return http.ErrUseLastResponse // the caller gets it as a status
		}
		sameHost := req.URL.Host == from.URL.Host
		upgrade := from.URL.Scheme == "http" && req.URL.Scheme == "https" && req.URL.Hostname() == from.URL.Hostname() && req.URL.Port() == "" && from.URL.Port() == ""
		if !(sameHost && req.URL.Scheme == from.URL.Scheme) && !upgrade {
			for name := range req.Header {
				if !travels(name) {
					delete(req.Header, name)
				}
			}
			req.Host = ""
		}
		if next != nil {
			return next(req, via)
		}
		return nil
	}
}

var _ transport.Outlet = (*Client)(nil)
