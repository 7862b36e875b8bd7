package client

import (
	"context"
	"encoding/json"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Trace is the trace context that a request carries in its _meta: the values of the W3C headers of these names. Empty ones
// are left out. Spec 2026-07-28, basic, "OpenTelemetry Trace Context".
type Trace struct {
	Parent  string // traceparent: version, trace id, parent id and flags, in lower case hexadecimal
	State   string // tracestate; left out without a Parent
	Baggage string // baggage
}

// traced puts the trace context of the caller into a request. What the caller has set there by hand stays. Retries carry
// what the first request did.
func (c *Client) traced(ctx context.Context, out *era.Outgoing) {
	t := c.opts.Trace(ctx)
	if _, ok := mcp.ParseTraceParent(t.Parent); !ok && t.Parent != "" {
		c.faults.report(c.named("%s carries no trace context, since Options.Trace gave a traceparent that is none: %.60q", out.Method, t.Parent))
		t.Parent = ""
	}
	if t.Parent == "" {
		t.State = ""
	}
	given, _ := jsonrpc.Member(out.Params, "_meta")
	own := mcp.Meta(out.Meta)
	if has(mcp.Meta(given), mcp.MetaTraceParent) || has(own, mcp.MetaTraceParent) {
		t.Parent, t.State = "", "" // they belong together
	}
	for _, m := range [...]struct{ key, value string }{
		{mcp.MetaTraceParent, t.Parent}, {mcp.MetaTraceState, t.State}, {mcp.MetaBaggage, t.Baggage},
	} {
		if m.value != "" && !has(mcp.Meta(given), m.key) && !has(own, m.key) {
			own = own.Set(m.key, jsonrpc.AppendString(nil, m.value))
		}
	}
	out.Meta = json.RawMessage(own)
}

func has(m mcp.Meta, key string) bool {
	_, ok := m.Get(key)
	return ok
}
