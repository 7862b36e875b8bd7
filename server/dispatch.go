package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// dispatcher is the server as the engine sees it.
type dispatcher Server

var _ engine.Handler = (*dispatcher)(nil)

// Methods of the specification that a server answers.
const (
	methodInitialize    = "initialize"
	methodDiscover      = "server/discover"
	methodPing          = "ping"
	methodSetLevel      = "logging/setLevel"
	methodListTools     = "tools/list"
	methodCallTool      = "tools/call"
	methodListPrompts   = "prompts/list"
	methodGetPrompt     = "prompts/get"
	methodListResources = "resources/list"
	methodListTemplates = "resources/templates/list"
	methodReadResource  = "resources/read"
	methodSubscribe     = "resources/subscribe"
	methodUnsubscribe   = "resources/unsubscribe"
	methodListen        = "subscriptions/listen"
	methodComplete      = "completion/complete"
)

// Call answers one request: rows 9 to 12 of the table of refusals, then the user's function.
func (d *dispatcher) Call(ctx context.Context, in *engine.Incoming) *era.Outcome {
	s := (*Server)(d)
	r := &Request{server: s, in: in}
	switch in.Method() {
	case methodCallTool:
		return s.callTool(ctx, r)
	case methodListTools:
		return s.list(ctx, r, Tools)
	case methodReadResource:
		return s.readResource(ctx, r)
	case methodGetPrompt:
		return s.getPrompt(ctx, r)
	case methodListPrompts:
		return s.list(ctx, r, Prompts)
	case methodListResources:
		return s.list(ctx, r, Resources)
	case methodListTemplates:
		return s.list(ctx, r, ResourceTemplates)
	case methodComplete:
		return s.complete(ctx, r)
	case methodPing:
		return empty()
	case methodInitialize:
		return s.initialize(r)
	case methodDiscover:
		return s.discover(r)
	case methodSetLevel:
		return s.setLevel(r)
	case methodSubscribe, methodUnsubscribe:
		return s.subscribe(r)
	case methodListen:
		return s.listen(ctx, r)
	}
	return s.vendor(ctx, r)
}

// Notice takes a notification. The engine has handled cancellation and progress; the others of the specification tell a
// server nothing it keeps.
func (d *dispatcher) Notice(context.Context, *era.Notice, transport.Exchange) {}

// vendor answers a method outside the specification, or one of an extension.
func (s *Server) vendor(ctx context.Context, r *Request) *era.Outcome {
	if h := (*s.vendors.Load())[r.Method()]; h != nil {
		return s.raw(ctx, r, h, nil)
	}
	return s.fallback(ctx, r, func() *era.Outcome {
		return &era.Outcome{Err: mcp.MethodNotFound(r.Method())}
	})
}

// fallback asks the fallback handler, and where it does not know either, gives the answer of otherwise.
func (s *Server) fallback(ctx context.Context, r *Request, otherwise func() *era.Outcome) *era.Outcome {
	if s.opts.Fallback == nil {
		return otherwise()
	}
	return s.raw(ctx, r, s.opts.Fallback, otherwise)
}

// RawResult is what a raw handler answers. One of Result and Input is set.
type RawResult struct {
	// Result is the neutral result object; its tokens reach the client as they are.
	Result json.RawMessage

	// InputRequests and RequestState are an input_required result to be passed on byte for byte: an object of key to
	// request, and a JSON string. They stand where the method and the client's revision allow it.
	InputRequests json.RawMessage
	RequestState  json.RawMessage

	// Cache is the cache hint that came with the result, if any.
	Cache mcp.CacheHint

	// WrapOutput says that the tool called advertises an output schema whose root is no object.
	WrapOutput bool
}

// raw runs a raw handler. With otherwise, ErrUnhandled is not a failure.
func (s *Server) raw(ctx context.Context, r *Request, h RawHandler, otherwise func() *era.Outcome) *era.Outcome {
	res, err := h(ctx, r)
	switch {
	case errors.Is(err, ErrUnhandled) && otherwise != nil:
		return otherwise()
	case err != nil:
		return s.failure(r, err)
	case res == nil:
		return s.failure(r, errors.New("the handler returned neither a result nor an error"))
	case res.InputRequests != nil || res.RequestState != nil:
		return &era.Outcome{Input: &era.InputRound{Requests: res.InputRequests, State: res.RequestState}}
	case len(res.Result) == 0 || res.Result[0] != '{':
		return s.failure(r, errors.New("the handler's result is no JSON object"))
	}
	return &era.Outcome{Result: res.Result, Cache: res.Cache.Or(s.opts.Cache), WrapOutput: res.WrapOutput}
}

// failure turns the error of a handler that is not a tool's into an answer: an *mcp.Error as it is, anything else as an
// internal error whose detail stays here.
func (s *Server) failure(r *Request, err error) *era.Outcome {
	var own *mcp.Error
	if errors.As(err, &own) && !own.Code.IsLocal() {
		return &era.Outcome{Err: own}
	}
	var ask *mcp.InputRequired
	if errors.As(err, &ask) {
		return s.ask(r, ask)
	}
	s.logger().LogAttrs(context.Background(), slog.LevelError, "mcp: a handler failed",
		slog.String("method", r.Method()), slog.String("name", r.Name()), slog.String("error", err.Error()))
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Internal error")}
}

// ask turns a handler's questions into an input_required result.
func (s *Server) ask(r *Request, ask *mcp.InputRequired) *era.Outcome {
	refuse := func(why error) *era.Outcome {
		return s.failure(r, fmt.Errorf("the handler asked for input: %w", why))
	}
	if err := ask.Check(); err != nil {
		return refuse(err)
	}
	if r.in.Row == nil || !r.in.Row.MultiRound {
		return refuse(errors.New("this method cannot ask; tools, prompts and resource reads can"))
	}
	if !r.in.Codec.Traits().InputRounds {
		return refuse(fmt.Errorf("questions to clients of revision %s are not supported yet", r.ProtocolVersion()))
	}
	if ask.State != nil {
		return refuse(errors.New("a state of its own is not supported yet; ask again for what is missing"))
	}
	if lack, missing := r.ClientCapabilities().Missing(needs(ask)); missing {
		return &era.Outcome{Err: mcp.MissingCapability(lack), Row: 11}
	}
	requests, err := json.Marshal(ask.Requests)
	if err != nil {
		return refuse(err)
	}
	return &era.Outcome{Input: &era.InputRound{Requests: requests}}
}

// needs is what a client must be able to do to answer.
func needs(ask *mcp.InputRequired) mcp.ClientCapabilities {
	var need mcp.ClientCapabilities
	for _, q := range ask.Requests {
		switch q.Method {
		case mcp.MethodElicit:
			if need.Elicitation == nil {
				need.Elicitation = &mcp.ElicitationCapability{}
			}
			if mode, _ := mcp.Meta(q.Params).Text("mode"); mode == mcp.ElicitModeURL {
				need.Elicitation.URL = &mcp.Capability{}
			} else {
				need.Elicitation.Form = &mcp.Capability{}
			}
		case mcp.MethodCreateMessage:
			if need.Sampling == nil {
				need.Sampling = &mcp.SamplingCapability{}
			}
			if _, tools := mcp.Member(q.Params, "tools"); tools {
				need.Sampling.Tools = &mcp.Capability{}
			}
		case mcp.MethodListRoots:
			need.Roots = &mcp.RootsCapability{}
		}
	}
	return need
}

// empty is the result without members.
func empty() *era.Outcome { return &era.Outcome{Result: json.RawMessage("{}"), Plain: true} }

// invalid refuses parameters (row 12).
func invalid(err *mcp.Error) *era.Outcome { return (&era.Refusal{Row: 12, Err: err}).Outcome() }

// failed answers with an error that is for the peer.
func failed(err error) *era.Outcome {
	var own *mcp.Error
	if errors.As(err, &own) {
		return invalid(own)
	}
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Internal error").Because(err)}
}

// unknown refuses a name that leads nowhere (row 9).
func unknown(err *mcp.Error) *era.Outcome { return (&era.Refusal{Row: 9, Err: err}).Outcome() }

// list answers a list request from the catalogue or the registry.
func (s *Server) list(ctx context.Context, r *Request, kind ListKind) *era.Outcome {
	if c := s.opts.Catalogue; c != nil {
		list, err := c.List(ctx, r, kind)
		if err != nil {
			return s.failure(r, err)
		}
		if list != nil {
			return list.page(r.in.Call, s.opts.PageSize, s.opts.Cache)
		}
	}
	return s.registered(kind).page(r.in.Call, s.opts.PageSize, s.opts.Cache)
}

func (s *Server) registered(kind ListKind) *List {
	switch kind {
	case Tools:
		return s.reg.tools.snap.Load().list
	case Prompts:
		return s.reg.prompts.snap.Load().list
	case Resources:
		return s.reg.resources.snap.Load().list
	default:
		return s.reg.templates.snap.Load().list
	}
}
