package httpsse

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// Write posts a message and waits for the status of the answer. The body of a success is not looked at: some servers
// repeat there what they send on the stream. It fails with *transport.StatusError for any other status.
func (c *Conn) Write(ctx context.Context, frame []byte) error {
	if c.life.Err() != nil {
		return c.cause()
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	body := transport.AppendFrame(make([]byte, 0, len(frame)), frame) // net/http may read on after the answer
	if len(body) == 0 {
		return transport.ErrEmptyFrame
	}
	posting, cancel := context.WithCancel(context.WithoutCancel(ctx)) // what follows the status outlives the caller
	given, over := context.AfterFunc(ctx, cancel), context.AfterFunc(c.life, cancel)
	end := func() { over(); cancel() }
	defer given()
	resp, err := c.http.Do(c.request(posting, http.MethodPost, c.endpoint, body))
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil && c.life.Err() != nil:
		err = c.cause()
	case err != nil:
		err = fmt.Errorf("post to %s: %w", c.where, web.Bare(err))
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		err = c.statusError(resp, body)
		resp.Body.Close()
	default:
		web.Discard(resp, c.spawn, end)
		return nil
	}
	end()
	return err
}

// cause says why the connection is over.
func (c *Conn) cause() error { return context.Cause(c.life) }

// statusError reads an answer that is no success. The JSON-RPC error in it is taken where it is about the frame.
func (c *Conn) statusError(resp *http.Response, frame []byte) error {
	const shown, most = 4 << 10, 1 << 20
	limit := int64(shown)
	if essence(resp.Header) == typeJSON {
		limit = most
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit)) // as much as came is shown
	out := &transport.StatusError{Status: resp.StatusCode, Header: resp.Header.Get, Body: body[:min(len(body), shown)]}
	if m, bad := jsonrpc.Decode(body, negotiate.Lift); err == nil && bad == nil && m.Kind() == jsonrpc.KindError {
		sent, bad := jsonrpc.Decode(frame, nil)
		if m.ID.IsZero() || bad == nil && sent.ID == m.ID {
			out.Message = m
		}
	}
	if moved(resp) {
		if to, bad := resp.Location(); bad == nil && originOf(to) != originOf(resp.Request.URL) {
			return fmt.Errorf("%s redirects to %s, which is not followed because it would get the same credentials; use that address if it is right: %w",
				c.where, originOf(to), out)
		}
	}
	return out
}

func moved(resp *http.Response) bool { return resp.StatusCode >= 300 && resp.StatusCode <= 399 }
