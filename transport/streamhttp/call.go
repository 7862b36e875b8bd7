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
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// call is one POST and what comes back on it.
type call struct {
	client   *Client
	ctx      context.Context
	end      func() // releases ctx
	id       jsonrpc.ID
	opening  bool // an initialize, whose answer may begin a session
	answered bool
	odd      *transport.FrameError // what came last, where that was neither the answer nor anything that goes before it
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
	resp, err := c.insist(x.ctx, out, session) //nolint:bodyclose // read and Discard close it
	if err != nil {
		x.end()
		return false, err
	}
	if out.Kind != jsonrpc.KindRequest {
		web.Discard(resp, c.spawn, x.end)
		if out.Method == mcp.NotifyInitialized {
			c.listen()
		}
		return false, nil
	}
	if c.barred.Load() { // the server lets the client in again
		c.listen()
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
	return &transport.ReachError{Where: c.where, Err: web.Bare(err)}
}

// statusError reads a response that is no success. The JSON-RPC error in it is taken where it is about the request.
func (c *Client) statusError(ctx context.Context, resp *http.Response, frame []byte, session string) error {
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols { // the body is the connection, which ends with no context
		return &transport.ReachError{Where: c.where, Err: errSwitched}
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

// postBack posts what answers a request of the server's, or belongs to no call. The answer to it has no content.
func (c *Client) postBack(ctx context.Context, frame []byte) error {
	ctx, end := c.within(ctx)
	return c.postUntil(ctx, frame, end)
}

// postUntil is postBack with a context that end ends.
func (c *Client) postUntil(ctx context.Context, frame []byte, end func()) error {
	resp, err := c.do(ctx, frame, c.version(), c.sessionID()) //nolint:bodyclose // Discard closes it
	if err != nil {
		end()
		return err
	}
	web.Discard(resp, c.spawn, end)
	return nil
}

// read hands over what comes on the response of a request.
func (x *call) read(resp *http.Response) (elsewhere bool, err error) {
	switch media := essence(resp.Header["Content-Type"]); {
	case media == typeJSON:
		defer x.end()
		return false, x.readJSON(resp)
	case media == typeEvents:
		return false, x.readStream(resp)
	case resp.StatusCode == http.StatusAccepted || resp.StatusCode == http.StatusNoContent || resp.ContentLength == 0:
		web.Discard(resp, x.client.spawn, x.end)
		return x.later(resp.StatusCode)
	default:
		web.Discard(resp, x.client.spawn, x.end)
		return false, fmt.Errorf("%s answered with %.80q where a server of this protocol answers with %s or %s; is the address right?",
			x.client.where, resp.Header.Get("Content-Type"), typeJSON, typeEvents)
	}
}

// later is for an answer without content: some legacy servers send the true one on the GET stream.
func (x *call) later(status int) (elsewhere bool, err error) {
	if x.client.ctx.Err() != nil { // the server ends what runs in the session that Close ends, and may be first
		return false, transport.ErrClosed
	}
	if status != http.StatusOK && x.resumable() && x.client.awaitStray(x.ctx, x.id) {
		return true, nil
	}
	return false, fmt.Errorf("%w: %s answered with status %d and no content", transport.ErrCut, x.client.where, status)
}

// over is the end of what came: without the answer it is an error. Spec 2025-11-25, basic/transports, "Sending Messages to
// the Server": the answer comes on the stream of its request, or on one that goes on with it.
func (x *call) over() error {
	switch {
	case x.answered:
		return nil
	case x.client.ctx.Err() != nil:
		return transport.ErrClosed
	case x.odd != nil:
		return x.odd
	}
	return transport.ErrCut
}

func (x *call) readJSON(resp *http.Response) error {
	defer resp.Body.Close()
	limit := x.client.opts.MaxBodyBytes
	frame, err := readFrame(resp.Body, resp.ContentLength, limit)
	switch {
	case errors.Is(err, errTooLarge):
		return &transport.FrameError{Limit: limit, Text: fmt.Sprintf("the answer of %s is larger than %d bytes", x.client.where, limit)}
	case err != nil:
		return x.broken(err)
	}
	x.take(frame, resp, nil)
	if !x.answered && x.odd == nil {
		const most = 120
		x.odd = &transport.FrameError{Text: fmt.Sprintf("%s sent a body without the answer to request %s: %.*q", x.client.where, x.id, most, frame)}
	}
	return x.over()
}

// broken says that the stream of the answer ended too early, and why.
func (x *call) broken(err error) error {
	if x.client.ctx.Err() != nil || x.ctx.Err() != nil {
		return x.client.explain(x.ctx, err)
	}
	return fmt.Errorf("%w: %w", transport.ErrCut, err)
}

// take hands over one frame: a message, or an array of them. report hears of what is no message; nil where the error of the
// call tells it.
func (x *call) take(frame []byte, resp *http.Response, report func(frame []byte, why error)) {
	if x.client.ctx.Err() != nil { // the server answers what runs in the session that Close ends, and may be first
		return
	}
	x.odd = nil
	messages := x.client.messages(frame, func(frame []byte, why error) {
		x.odd = x.client.noMessage(frame, why)
		if report != nil {
			report(frame, why)
		}
	})
	for _, m := range messages {
		switch kind := m.Kind(); {
		case x.isAnswer(m):
			x.answered = true
			if x.opening && kind == jsonrpc.KindResult {
				x.client.keepSession(resp)
			}
		case kind == jsonrpc.KindResult || kind == jsonrpc.KindError:
			x.odd = &transport.FrameError{Text: fmt.Sprintf("%s sent the answer to request %.60s in place of that to request %s", x.client.where, m.ID, x.id)}
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
