package observe

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Bounds of a trace context. The W3C recommendations want at least 512 characters of a tracestate passed on and at least 8,192
// bytes of a baggage; what is beyond these bounds is left out whole, since a part of it would say something else.
const (
	longestParent  = 128 // a version to come may add something
	longestState   = 8192
	longestBaggage = 8192
	mostStates     = 32 // list members, by "tracestate Header"
)

// Trace is a step that lets the trace context of a request go on to the server: traceparent, tracestate and baggage of its
// _meta, as they are. What has no valid form is left out, and a tracestate goes with its traceparent. Headers of an HTTP
// request are about the way to the gateway and not passed on. Spec 2026-07-28, basic, "OpenTelemetry Trace Context".
func Trace(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
	p.Params = traced(p.Params)
	return next(ctx)
}

// traced leaves out of params what is no trace context.
func traced(params json.RawMessage) json.RawMessage {
	meta, ok := jsonrpc.Member(params, "_meta")
	if !ok || !jsonrpc.IsObject(meta) {
		return params
	}
	var drop []string
	unless := func(name string, good func(string) bool) {
		if raw, ok := jsonrpc.Member(meta, name); ok {
			if text, isText := jsonrpc.Text(raw); !isText || !good(text) {
				drop = append(drop, name)
			}
		}
	}
	unless(mcp.MetaTraceParent, isParent)
	_, has := jsonrpc.Member(meta, mcp.MetaTraceParent)
	orphan := !has || len(drop) > 0
	unless(mcp.MetaTraceState, func(text string) bool { return !orphan && isState(text) })
	unless(mcp.MetaBaggage, func(text string) bool { return len(text) <= longestBaggage && isPlain(text) })
	if drop == nil {
		return params
	}
	return jsonrpc.With(nil, params, "_meta", jsonrpc.Without(meta, drop...))
}

func isParent(text string) bool {
	_, ok := mcp.ParseTraceParent(text)
	return ok && len(text) <= longestParent && isPlain(text)
}

// isState tells whether a text has the form of a tracestate, a list of key=value.
func isState(text string) bool {
	if text == "" || len(text) > longestState || !isPlain(text) || strings.Count(text, ",") >= mostStates {
		return false
	}
	for entry := range strings.SplitSeq(text, ",") {
		key, _, found := strings.Cut(strings.Trim(entry, " \t"), "=")
		if entry != "" && (!found || key == "") {
			return false
		}
	}
	return true
}

// isPlain tells whether a text is one that fits into a header.
func isPlain(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) < 0
}
