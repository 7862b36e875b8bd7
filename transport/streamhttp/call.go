package streamhttp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// call is one POST and what comes back on it.
type call struct {
	client   *Client
	ctx      context.Context
	end      func() // releases ctx
	id       jsonrpc.ID
	opening  bool // an initialize, whose answer may begin a session
	answered bool
	at       place
}

// Exchange posts a message and hands over everything that comes back, on the caller's goroutine.
func (c *Client) Exchange(ctx context.Context, out transport.Outbound) (bool, error) {
	x := &call{client: c, ctx: ctx, end: nothing, id: out.ID, opening: out.Method == mcp.MethodInitialize}
	if out.Kind != jsonrpc.KindRequest { // a request ends with its peer, whose calls have contexts of their own
		x.ctx, x.end = c.within(ctx)
	}
	session := ""
	if !x.opening {
		session = c.sessionID()
	}
	resp, err := c.insist(x.ctx, out, session) //nolint:bodyclose // read and discard close it
	if err != nil {
		x.end()
		return false, err
	}
	if out.Kind != jsonrpc.KindRequest {
		c.discard(resp, x.end)
		if out.Method == mcp.NotifyInitialized {
			c.listen()
		}
		return false, nil
	}
	return x.read(resp)
}

func nothing() {}

// within bounds a context by the life of the client.
func (c *Client) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// do posts a frame and returns a successful response. Any other is an error.
func (c *Client) do(ctx context.Context, frame []byte, headers [][2]string, session string) (*http.Response, error) {
	if c.ctx.Err() != nil {
		return nil, transport.ErrClosed
	}
	resp, err := c.send(ctx, frame, headers, session)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil, c.statusError(ctx, resp, frame, session)
	}
	return resp, nil
}

// send posts a frame. Redirects are rare: only they take the road through http.Client, which costs a copy of all headers.
func (c *Client) send(ctx context.Context, frame []byte, headers [][2]string, session string) (*http.Response, error) {
	var space [8][2]string
	pairs := callHeaders(space[:0], headers, session)
	if c.quick != nil && c.quick.takes(ctx, pairs, frame) {
		resp, err := c.quick.post(ctx, pairs, frame)
		if err != nil || !moved(resp) {
			return resp, err
		}
		resp.Body.Close()
		return c.http.Do(c.post(ctx, bytes.Clone(frame), pairs))
	}
	frame = bytes.Clone(frame) // net/http may still be reading when the answer is there
	if c.trip != nil {
		resp, err := c.trip.RoundTrip(c.post(ctx, frame, pairs))
		if err != nil || !moved(resp) {
			return resp, err
		}
		resp.Body.Close()
	}
	return c.http.Do(c.post(ctx, frame, pairs))
}

func moved(resp *http.Response) bool { return resp.StatusCode >= 300 && resp.StatusCode <= 399 }

// explain says why a request failed: the end of the client, of the context, or the network.
func (c *Client) explain(ctx context.Context, err error) error {
	if at, ok := ctx.Deadline(); ok && !time.Now().Before(at) {
		<-ctx.Done() // which comes now: a dialer goes by the same clock, and was first
	}
	switch {
	case c.ctx.Err() != nil:
		return transport.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("reach %s: %w", c.where, bare(err))
}

// statusError reads a response that is no success. The JSON-RPC error in it is taken where it is about the request.
func (c *Client) statusError(ctx context.Context, resp *http.Response, frame []byte, session string) error {
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols { // the body is the connection, which ends with no context
		return fmt.Errorf("reach %s: %w", c.where, errSwitched)
	}
	const shown = 4 << 10
	limit := int64(shown)
	if essence(resp.Header["Content-Type"]) == typeJSON {
		limit = c.opts.MaxBodyBytes
	}
	body, err := readFrame(io.LimitReader(resp.Body, max(limit, shown)), -1, -1)
	if err != nil && ctx.Err() != nil {
		return c.explain(ctx, err)
	}
	out := &transport.StatusError{Status: resp.StatusCode, Header: resp.Header.Get, Body: body[:min(len(body), shown)],
		Authorized: c.base.Get("Authorization") != ""}
	out.SessionGone = resp.StatusCode == http.StatusNotFound && session != ""
	m, err := jsonrpc.Decode(body, lift)
	if err != nil || m.Kind() != jsonrpc.KindError {
		return out // an answer for people, or of something between here and the server
	}
	sent, err := jsonrpc.Decode(frame, nil)
	own := err == nil && sent.ID == m.ID
	if m.ID.IsZero() || own {
		out.Message = m
	}
	if own && mcp.Code(m.Error.Code) == mcp.CodeMethodNotFound {
		out.SessionGone = false // that is what is not found
	}
	return out
}

// discard reads what nobody wants for a short while, so that the connection can be used again, and then calls done. It
// does not wait.
func (c *Client) discard(resp *http.Response, done func()) {
	const patience, most = time.Second, 64 << 10
	finish := func() {
		resp.Body.Close()
		done()
	}
	if resp.ContentLength == 0 || resp.Body == http.NoBody {
		finish()
		return
	}
	drained := c.spawn(func() {
		timer := time.AfterFunc(patience, done)
		defer timer.Stop()
		if _, err := io.CopyN(io.Discard, resp.Body, most); err != nil && !errors.Is(err, io.EOF) {
			done() // the connection is not used again
		}
		finish()
	})
	if !drained {
		finish()
	}
}

// postBack posts what answers a request of the server's, or belongs to no call. The answer to it has no content.
func (c *Client) postBack(ctx context.Context, frame []byte) error {
	ctx, end := c.within(ctx)
	return c.postUntil(ctx, frame, end)
}

// postUntil is postBack with a context that end ends.
func (c *Client) postUntil(ctx context.Context, frame []byte, end func()) error {
	resp, err := c.do(ctx, frame, c.version(), c.sessionID()) //nolint:bodyclose // discard closes it
	if err != nil {
		end()
		return err
	}
	c.discard(resp, end)
	return nil
}

// read hands over what comes on the response of a request.
func (x *call) read(resp *http.Response) (elsewhere bool, err error) {
	switch media := essence(resp.Header["Content-Type"]); {
	case media == typeJSON:
		defer x.end()
		return x.readJSON(resp)
	case media == typeEvents:
		return x.readStream(resp)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent || resp.ContentLength == 0:
		x.client.discard(resp, x.end)
		return x.over()
	default:
		x.client.discard(resp, x.end)
		return false, fmt.Errorf("%s answered with %.80q where a server of this protocol answers with %s or %s; is the address right?",
			x.client.where, resp.Header.Get("Content-Type"), typeJSON, typeEvents)
	}
}

// over is the end of the stream: it tells whether the answer may still come on the GET stream.
func (x *call) over() (elsewhere bool, err error) {
	if x.answered {
		return false, nil
	}
	if x.client.ctx.Err() != nil {
		return false, transport.ErrClosed
	}
	codec := x.client.peer.Codec()
	return codec != nil && codec.Traits().Resumable && x.client.Listening(), nil
}

func (x *call) readJSON(resp *http.Response) (bool, error) {
	defer resp.Body.Close()
	limit := x.client.opts.MaxBodyBytes
	frame, err := readFrame(resp.Body, resp.ContentLength, limit)
	switch {
	case errors.Is(err, errTooLarge):
		return false, fmt.Errorf("the answer of %s is larger than %d bytes", x.client.where, limit)
	case err != nil:
		return false, x.broken(err)
	}
	x.take(frame, resp)
	return x.over()
}

// broken says that the stream of the answer ended too early, and why.
func (x *call) broken(err error) error {
	if x.client.ctx.Err() != nil || x.ctx.Err() != nil {
		return x.client.explain(x.ctx, err)
	}
	return fmt.Errorf("%w: %w", transport.ErrCut, err)
}

// take hands over one frame: a message, or an array of them.
func (x *call) take(frame []byte, resp *http.Response) {
	for _, one := range x.client.split(frame) {
		m, ok := x.client.decode(one)
		if !ok {
			continue
		}
		if x.isAnswer(m) {
			x.answered = true
			if x.opening && m.Kind() == jsonrpc.KindResult {
				x.client.keepSession(resp)
			}
		}
		x.client.deliver(x.ctx, m, x.id)
	}
}

func (x *call) isAnswer(m *jsonrpc.Message) bool {
	switch m.Kind() {
	case jsonrpc.KindResult:
		return m.ID == x.id
	case jsonrpc.KindError:
		return m.ID == x.id || m.ID.IsZero()
	}
	return false
}
