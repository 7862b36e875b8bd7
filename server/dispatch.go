package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// dispatcher is the server as the engine sees it.
type dispatcher Server

var _ engine.Handler = (*dispatcher)(nil)

// Call answers one request: the middleware, rows 9 to 12 of the table of refusals, then the user's function.
func (d *dispatcher) Call(ctx context.Context, in *engine.Incoming) *era.Outcome {
	r := &Request{server: (*Server)(d), in: in, responses: in.InputResponses, token: in.RequestState}
	ctx = r.under(ctx)
	if d.around != nil {
		return r.server.through(ctx, r)
	}
	return d.dispatch(ctx, r)
}

// dispatch serves a request. It runs again with each round of questions, and the middleware does not.
func (d *dispatcher) dispatch(ctx context.Context, r *Request) (out *era.Outcome) {
	defer func() { // a handler that trips over the missing answer has ended its run all the same
		r.byCall.Store(false)
		ended := r.settled()
		if ended == nil {
			return
		}
		if v := recover(); v != nil {
			r.server.report(fmt.Errorf("the handler of %s %q panicked after its question: %v\n%s", r.Method(), r.Name(), v, debug.Stack()))
		}
		out = ended
	}()
	return d.lookUp(ctx, r)
}

// lookUp finds out whom a request is for.
func (d *dispatcher) lookUp(ctx context.Context, r *Request) *era.Outcome {
	s := (*Server)(d)
	switch r.Method() {
	case mcp.MethodCallTool:
		return s.callTool(ctx, r)
	case mcp.MethodListTools:
		return s.list(ctx, r, Tools)
	case mcp.MethodReadResource:
		return s.readResource(ctx, r)
	case mcp.MethodGetPrompt:
		return s.getPrompt(ctx, r)
	case mcp.MethodListPrompts:
		return s.list(ctx, r, Prompts)
	case mcp.MethodListResources:
		return s.list(ctx, r, Resources)
	case mcp.MethodListResourceTemplates:
		return s.list(ctx, r, ResourceTemplates)
	case mcp.MethodComplete:
		return s.complete(ctx, r)
	case mcp.MethodPing:
		return empty()
	case mcp.MethodInitialize:
		return s.initialize(ctx, r)
	case mcp.MethodDiscover:
		return s.discover(ctx, r)
	case mcp.MethodSetLevel:
		return s.setLevel(ctx, r)
	case mcp.MethodSubscribeResource, mcp.MethodUnsubscribeResource:
		return s.subscribe(ctx, r)
	case mcp.MethodListen:
		return s.listen(ctx, r)
	}
	return s.vendor(ctx, r)
}

// Notice takes a notification. The engine has handled cancellation and progress; the others of the specification tell a
// server nothing it keeps.
func (d *dispatcher) Notice(context.Context, *era.Notice, transport.Exchange) {}

// failure turns the error of a handler that is not a tool's into an answer: an *mcp.Error as it is, anything else as an
// internal error whose detail stays here.
func (s *Server) failure(r *Request, err error) *era.Outcome {
	var ask *mcp.InputRequired
	if errors.As(err, &ask) {
		return s.ask(r, ask)
	}
	var other *ExtensionResult
	if errors.As(err, &other) {
		return other.outcome(s, r)
	}
	var unable *cannotAsk
	if errors.As(err, &unable) {
		return s.unable(r, unable)
	}
	var refused *era.Refusal // of Mirrors.Check: its row gives the HTTP status
	if errors.As(err, &refused) {
		return refused.Outcome()
	}
	var own *mcp.Error
	if errors.As(err, &own) && !own.Code.IsLocal() {
		if cause := own.Unwrap(); cause != nil {
			s.note(r, slog.LevelWarn, cause)
		}
		return &era.Outcome{Err: own}
	}
	s.note(r, slog.LevelError, err)
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Internal error")}
}

// note writes down what the peer is told nothing of. A request that its client has given up has not failed.
func (s *Server) note(r *Request, level slog.Level, err error) {
	if !r.live() || r.round.Load() != nil { // or its handler has reported the end of a run
		return
	}
	s.logger().LogAttrs(context.Background(), level, "mcp: a handler failed",
		slog.String("method", r.Method()), slog.String("name", r.Name()), slog.String("error", err.Error()))
}

// empty is the result without members.
func empty() *era.Outcome { return &era.Outcome{Result: json.RawMessage("{}"), Plain: true} }

// invalid refuses parameters (row 12).
func invalid(err *mcp.Error) *era.Outcome {
	return (&era.Refusal{Row: era.RowParams, Err: err}).Outcome()
}

// unknown refuses a name that leads nowhere (row 9).
func unknown(err *mcp.Error) *era.Outcome {
	return (&era.Refusal{Row: era.RowTarget, Err: err}).Outcome()
}
