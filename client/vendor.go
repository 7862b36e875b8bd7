package client

import (
	"context"
	"encoding/json"
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Request sends a request of any method and reads its result into an Out, by the rules of encoding/json for the names of
// members. params is anything whose JSON form is an object, or nil. It is for the methods of vendors and of extensions, which
// exist in both eras. A method of the specification that the revision does not have fails with mcp.CodeMethodNotSupported,
// and nothing is written. With json.RawMessage for Out the result comes as it is.
func Request[Out any](ctx context.Context, c *Client, method string, params any, opts ...CallOptions) (Out, error) {
	var out Out
	raw, err := encodeParams(params)
	if err != nil {
		return out, fmt.Errorf("%s: %w", method, err)
	}
	if _, err := c.into(ctx, method, raw, opts, &out); err != nil {
		return out, fmt.Errorf("%s: %w", method, err)
	}
	return out, nil
}

func encodeParams(params any) (json.RawMessage, error) {
	if params == nil {
		return nil, nil
	}
	raw, err := encode(params)
	switch {
	case err != nil:
		return nil, fmt.Errorf("params: %w", err)
	case !jsonrpc.IsObject(raw):
		return nil, mcp.InvalidParams("params must be a JSON object, got %.60s", raw)
	}
	return raw, nil
}

// VendorHandler takes one method of the server that is not of the specification: see [HandleRequest] and [OnNotification].
type VendorHandler struct {
	method string
	answer func(ctx context.Context, req *IncomingRequest) (json.RawMessage, error)
	take   func(ctx context.Context, params json.RawMessage) error
}

// HandleRequest makes a handler for requests of the server, for Options.Vendor. Parameters that cannot be read into an In
// are answered with invalid params; absent ones are read as {}. The result must be a JSON object. An *mcp.Error reaches the
// server as it is, any other error as an internal one. Servers of the legacy era alone send requests.
func HandleRequest[In, Out any](method string, f func(ctx context.Context, req *IncomingRequest, in In) (Out, error)) VendorHandler {
	return VendorHandler{method: method, answer: func(ctx context.Context, req *IncomingRequest) (json.RawMessage, error) {
		var in In
		if err := readQuestion(method, req.Params, &in); err != nil {
			return nil, err
		}
		out, err := f(ctx, req, in)
		if err != nil {
			return nil, err
		}
		raw, err := encode(out)
		if err == nil && !jsonrpc.IsObject(raw) {
			err = fmt.Errorf("the result is no JSON object: %.60q", raw)
		}
		if err != nil {
			return nil, badAnswer(method, "%w", err)
		}
		return raw, nil
	}}
}

// OnNotification makes a handler for notifications of the server, for Options.Vendor. Those that cannot be read into an In
// are reported to Options.OnError. It is called as Options.OnNotification is, after that.
func OnNotification[In any](method string, f func(ctx context.Context, in In)) VendorHandler {
	return VendorHandler{method: method, take: func(ctx context.Context, params json.RawMessage) error {
		if params == nil {
			params = json.RawMessage("{}")
		}
		var in In
		if err := jsonv2.Unmarshal(params, &in); err != nil {
			return fmt.Errorf("a notification %s that cannot be read: %w", method, err)
		}
		f(ctx, in)
		return nil
	}}
}

// vendors are the handlers of Options.Vendor by their methods.
type vendors struct{ requests, notices map[string]VendorHandler }

func newVendors(all []VendorHandler) (v vendors, err error) {
	v = vendors{requests: map[string]VendorHandler{}, notices: map[string]VendorHandler{}}
	for _, h := range all {
		kind := v.requests
		if h.take != nil {
			kind = v.notices
		}
		_, twice := kind[h.method]
		switch {
		case h.answer == nil && h.take == nil:
			return v, fmt.Errorf("the member Vendor holds a handler that HandleRequest and OnNotification have not made")
		case h.method == "" || twice:
			return v, fmt.Errorf("the member Vendor holds two handlers of the method %q, or one without a method", h.method)
		case negotiate.Universe()[h.method]:
			return v, fmt.Errorf("the member Vendor names %q, a method of the specification; the other members of Options take these", h.method)
		}
		kind[h.method] = h
	}
	return v, nil
}

// serves tells whether a request of the server has a handler here.
func (v *vendors) serves(method string) bool {
	_, ok := v.requests[method]
	return ok
}
