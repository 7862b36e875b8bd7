package client

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// deliver writes a request and waits for its answer. Where headers repeat arguments, it reads lists of tools along the way
// and gives calls of tools their headers.
func (c *Client) deliver(ctx context.Context, l *live, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	if l.mirrors != nil {
		switch out.Method {
		case mcp.MethodListTools:
			return c.listed(ctx, l, out, call)
		case mcp.MethodCallTool:
			return c.mirrored(ctx, l, out, call)
		}
	}
	return c.exchange(ctx, l, out, call)
}

func (c *Client) exchange(ctx context.Context, l *live, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	outcome, err := l.wire.peer.Call(ctx, l.wire.via, out, call)
	if err != nil {
		return nil, l.explain(ctx, err)
	}
	return outcome, nil
}

// listed fetches a page of tools and keeps what it declares.
func (c *Client) listed(ctx context.Context, l *live, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	outcome, err := c.exchange(ctx, l, out, call)
	if err == nil && !l.mirrors.take(outcome.Result) {
		c.faults.report(c.named("its tools declare more parameters for headers than are kept; calls of some take an extra round trip"))
	}
	return outcome, err
}

// mirrored calls a tool with the headers that it wants. When the server refuses them, the list is read once again and the
// call repeated once: it has not run.
func (c *Client) mirrored(ctx context.Context, l *live, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	began := time.Now()
	raw, _ := jsonrpc.Member(out.Params, "name")
	name, _ := jsonrpc.Text(raw)
	own, _ := call.Tag.(*rawCall)
	given := own != nil && own.given
	var params []schema.HeaderParam
	if given {
		params = own.declared
	} else {
		params = l.mirrors.of(name)
	}
	outcome, err := c.withHeaders(ctx, l, out, params, call)
	if given || err != nil || outcome.Err == nil || outcome.Err.Code != mcp.CodeHeaderMismatch {
		return outcome, err
	}
	if c.cache != nil {
		c.cache.spoil(ctx, CacheKey{Server: c.cache.serverOf(l), Method: mcp.MethodListTools}) // what is kept is not true
	}
	params, found := c.relist(ctx, l, name, out, call, began)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !found:
		return outcome, nil
	}
	if call.Total > 0 {
		if call.Total -= time.Since(began); call.Total <= 0 {
			return outcome, nil
		}
	}
	return c.withHeaders(ctx, l, out, params, call)
}

// withHeaders sends a copy of a call, which may be sent again.
func (c *Client) withHeaders(ctx context.Context, l *live, out *era.Outgoing, params []schema.HeaderParam, call engine.CallOptions) (*era.Outcome, error) {
	headers, err := headersOf(params, out.Params)
	if err != nil {
		return nil, err
	}
	sent := *out
	sent.Mirrors = headers
	return c.exchange(ctx, l, &sent, call)
}

// relist reads the list of tools until it finds one, within the time of the call that wants it. A list that cannot be read
// is reported: the caller is told what the server said of the call.
func (c *Client) relist(ctx context.Context, l *live, name string, out *era.Outgoing, call engine.CallOptions, began time.Time) (params []schema.HeaderParam, found bool) {
	if call.Total > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, began.Add(call.Total))
		defer cancel()
	}
	params, found, err := c.find(ctx, l, name, out, call)
	if err != nil && ctx.Err() == nil {
		c.faults.report(c.named("its headers for tool %q cannot be found out: %w", name, err))
	}
	return params, found && err == nil
}

// find goes through the pages of the list as the sender of a call sees it.
func (c *Client) find(ctx context.Context, l *live, name string, out *era.Outgoing, call engine.CallOptions) (params []schema.HeaderParam, found bool, err error) {
	page := &era.Outgoing{Method: mcp.MethodListTools, Meta: out.Meta}
	for range c.opts.MaxPages {
		outcome, err := c.listed(ctx, l, page, engine.CallOptions{
			Timeout: c.opts.ListTimeout, Total: c.opts.ListTimeout, Headers: call.Headers,
		})
		switch {
		case err != nil:
			return nil, false, err
		case outcome.Err != nil:
			return nil, false, outcome.Err
		}
		for each, input := range inputs(outcome.Result) {
			if each == name {
				params, err = schema.HeaderParams(input)
				return params, true, err
			}
		}
		next, ok := jsonrpc.Member(outcome.Result, "nextCursor")
		if !ok || !jsonrpc.IsString(next) {
			return nil, false, nil
		}
		cursor := era.OpenObject(nil)
		cursor.Put("cursor", next)
		page = &era.Outgoing{Method: mcp.MethodListTools, Params: cursor.Close(), Meta: out.Meta}
	}
	return nil, false, nil
}

// declares reads the definition of a tool that a caller gives.
func declares(tool json.RawMessage) ([]schema.HeaderParam, error) {
	if !isObject(tool) {
		return nil, fmt.Errorf("RawOptions.Tool is no JSON object: %.60q", tool)
	}
	input, _ := jsonrpc.Member(tool, "inputSchema")
	if !marks(input) {
		return nil, nil
	}
	params, err := schema.HeaderParams(input)
	if err != nil {
		return nil, fmt.Errorf("the input schema in RawOptions.Tool: %w", err)
	}
	return params, nil
}
