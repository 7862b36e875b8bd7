package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Call sends one request and waits for its result. An error that the server answers is an *mcp.Error with Remote set.
type Call func(ctx context.Context, req *OutgoingRequest) (*RawResult, error)

// Middleware stands around the requests that a client sends: it may look at them, add to them, answer by itself, or send
// them more than once. It is called once, when the client is built; the Call it returns is called concurrently.
//
//	func timed(next client.Call) client.Call {
//		return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
//			defer func(start time.Time) { log.Print(req.Method, " took ", time.Since(start)) }(time.Now())
//			return next(ctx, req)
//		}
//	}
type Middleware func(next Call) Call

// OutgoingRequest is a request on its way to the server. It belongs to the call until that returns: a middleware may set
// its members before it goes on, and hand over a request of its own in its place, which is then sent under the limits of
// the client.
type OutgoingRequest struct {
	Method string
	Params json.RawMessage // a JSON object, not to be changed in place; nil for none
	Meta   mcp.Meta        // members for _meta, a JSON object; they win over those of the client and of Params. Nil for none
	Header http.Header     // goes with the HTTP request beside Options.Headers, with the rules of [CallOptions]. Nil for none

	sent *era.Outgoing // what the caller has asked for beside; nil for a request of a middleware
	call engine.CallOptions
}

// chain puts the middleware around the way out, the first outermost; nil without middleware.
func (c *Client) chain(around []Middleware) Call {
	if len(around) == 0 {
		return nil
	}
	call := c.last
	for i := len(around) - 1; i >= 0; i-- {
		call = around[i](call)
	}
	return call
}

// through sends a request through the middleware.
func (c *Client) through(ctx context.Context, out *era.Outgoing, call engine.CallOptions) (*era.Outcome, error) {
	req := &OutgoingRequest{Method: out.Method, Params: out.Params, Meta: mcp.Meta(out.Meta), sent: out, call: call}
	result, err := c.outward(ctx, req)
	switch {
	case err != nil:
		return nil, err
	case result == nil:
		return nil, fmt.Errorf("a middleware of the client answered %s with neither a result nor an error", out.Method)
	case result.Input != nil:
		return &era.Outcome{Input: &era.InputRound{Requests: result.Input.Requests, State: result.Input.State}}, nil
	case !isObject(result.Result):
		return nil, mcp.Errorf(mcp.CodeInvalidResult, "a middleware of the client answered %s with a result that is no JSON object", out.Method)
	}
	return &era.Outcome{Result: result.Result, ResultType: result.ResultType, Cache: result.Cache}, nil
}

// last is where the middleware ends: what it has made of a request is sent.
func (c *Client) last(ctx context.Context, req *OutgoingRequest) (*RawResult, error) {
	out := era.Outgoing{LogLevel: string(c.levelOf(""))}
	call := engine.CallOptions{Timeout: c.opts.CallTimeout, Total: c.opts.TotalTimeout}
	if req.sent != nil {
		out, call = *req.sent, req.call
	}
	for name, value := range map[string]json.RawMessage{"params": req.Params, "_meta": json.RawMessage(req.Meta)} {
		if value != nil && !isObject(value) {
			return nil, fmt.Errorf("send %s: a middleware has set %s to something that is no JSON object", req.Method, name)
		}
	}
	headers, err := extraHeaders(req.Header)
	if err != nil {
		return nil, fmt.Errorf("send %s: %w", req.Method, err)
	}
	out.Method, out.Params, out.Meta = req.Method, req.Params, json.RawMessage(req.Meta)
	call.Headers = append(call.Headers[:len(call.Headers):len(call.Headers)], headers...)
	return rawResult(c.post(ctx, &out, call))
}

func isObject(raw json.RawMessage) bool {
	return jsonrpc.IsObject(raw) && jsontext.Value(raw).IsValid()
}
