package policy

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// redactStep looks through what goes to a server and what comes back. What is said in the middle of a call passes elsewhere; see
// [midst].
func (l *laid) redactStep(ctx context.Context, p *bridge.Passage, next bridge.Next) (*server.RawResult, error) {
	f := l.factsOf(p)
	tell := func(d Decision) { l.policy.decided(ctx, d) }
	if with := redactorsOf(l.redactors, p.Server, InArguments); with != nil && !p.Resumed && !p.Task {
		w := newRedaction(with)
		params := w.arguments(f.method, p.Params, p.Fixed)
		if refusal := w.outcome(tell, f.about, "arguments hold"); refusal != nil {
			return nil, refusal
		}
		p.Params = params
	}
	with := redactorsOf(l.redactors, p.Server, InResults)
	if with == nil {
		return next(ctx)
	}
	result, err := next(context.WithValue(ctx, looking{}, true))
	w := newRedaction(with)
	var fault *mcp.Error
	switch {
	case errors.As(err, &fault): // one of the gateway may hold what the server has said
		if fault.Code == mcp.CodeURLElicitationRequired {
			return nil, err
		}
		if shown := w.fault(fault); shown != fault {
			err = shown
		}
	case err != nil || result == nil || result.Result == nil || result.ResultType == mcp.ResultTask: // it is no result yet
		return result, err
	default:
		shown := *result
		shown.Result = w.values(result.Result, ofResult)
		result = &shown
	}
	if refusal := w.outcome(tell, f.about, "results hold"); refusal != nil {
		return nil, refusal
	}
	return result, err
}

// looking marks the context of a request whose result and error are looked through by a step, so that nobody else does.
type looking struct{}

func isLooking(ctx context.Context) bool { return ctx.Value(looking{}) != nil }

// arguments masks the arguments of a request, but for those that the operator has fixed: they are no words of the client. It masks
// the metadata as well.
func (w *redaction) arguments(method string, params json.RawMessage, fixed []string) json.RawMessage {
	return w.members(params, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case name == "_meta":
			return w.meta(value)
		case name == "argument" && method == mcp.MethodComplete:
			return w.values(value, texts{but: []string{"name"}})
		case name == "context" && method == mcp.MethodComplete:
			return w.values(value, texts{})
		case name != "arguments":
			return value
		}
		now := w.values(jsonrpc.Without(value, fixed...), texts{})
		for _, own := range fixed {
			if kept, ok := jsonrpc.Member(value, own); ok {
				now = jsonrpc.With(nil, now, own, kept)
			}
		}
		return now
	})
}

// ofTraces are the metadata of a request by which traces are joined, in a form of their own. Those of the protocol begin with
// protocolMeta.
var ofTraces = []string{mcp.MetaProgressToken, mcp.MetaTraceParent, mcp.MetaTraceState, mcp.MetaBaggage}

const protocolMeta = "io.modelcontextprotocol/"

// meta masks the metadata of a request.
func (w *redaction) meta(meta json.RawMessage) json.RawMessage {
	return w.members(meta, func(name string, value json.RawMessage) json.RawMessage {
		if slices.Contains(ofTraces, name) || strings.HasPrefix(name, protocolMeta) {
			return value
		}
		return w.values(value, texts{})
	})
}
