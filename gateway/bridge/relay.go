package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// relay makes the call and brings back what comes of it.
func (b *Bridge) relay(ctx context.Context, p *Passage, v *view, to destination) (*server.RawResult, error) {
	req := p.Request
	if _, visited := ownState(req, visitState); !visited {
		var err error
		if to.state, err = unbind(ctx, req, to); err != nil {
			return nil, err
		}
		to.responses, _ = req.Retry()
	}
	asks := relays[req.Method()].asks && mayBeAsked(req)
	to.late = progressAfter(req)
	if asks && !req.AsksInPlace() {
		return b.park(ctx, p, v, to)
	}
	c := call(ctx, req, v, to, func() (context.Context, *server.Request) { return ctx, req })
	if asks {
		c.OnRequest, c.HasRoots = p.inPlace, req.ClientCapabilities().Roots != nil
	}
	answer, err := b.perform(ctx, to, c)
	return b.finished(ctx, p, v, to, answer, err)
}

// finished is what the client gets at the end of a call.
func (b *Bridge) finished(ctx context.Context, p *Passage, v *view, to destination, answer *upstream.Answer, err error) (*server.RawResult, error) {
	req := p.Request
	if err != nil {
		if pages := visits(req, err); pages != nil {
			return pages, nil
		}
		var fault *mcp.Error
		if errors.As(err, &fault) && fault.Remote {
			if why := lacking(req, to, fault); why != "" {
				return inWords(req, why)
			}
		}
		return nil, b.failure(ctx, req, v, to, err)
	}
	if answer.Task != nil {
		return b.tasks.begun(ctx, req, to, answer.Task)
	}
	if answer.Result == nil {
		if !req.CanBeAsked() {
			return inWords(req, fmt.Sprintf("server %q asks its client for something; %s", to.Server, inSession(req)))
		}
		state, err := bind(ctx, req, to, answer.RequestState)
		if err != nil {
			return nil, err
		}
		return &server.RawResult{InputRequests: answer.InputRequests, RequestState: state}, nil
	}
	if req.WantsTask() { // and the server has answered at once
		return b.tasks.hold(ctx, req, to, answer.Result)
	}
	p.kept.Store(answer.Kept)
	result := answer.Result
	if back := relays[req.Method()].back; back != nil {
		result = back(v, to, result)
	}
	return &server.RawResult{Result: result, Cache: v.confined(answer.Cache), WrapOutput: to.wrap}, nil
}

// call turns a request into what its destination is sent. waiting gives the request that progress and logs go to, which need
// not be the same one all the time; nil for none.
func call(ctx context.Context, req *server.Request, v *view, to destination, waiting func() (context.Context, *server.Request)) upstream.Call {
	c := upstream.Call{
		Method: req.Method(), Params: to.sent, Caller: caller(ctx, req), InputResponses: to.responses, RequestState: to.state,
	}
	if _, capabilities := req.Envelope(); req.CanBeAsked() && capabilities != nil {
		c.Caller.Capabilities = v.rules.declared(capabilities)
	}
	if req.MayBeTask() {
		c.Task = taskWish(req)
	}
	if to.late != nil {
		c.OnTaskProgress = to.late.tell
	}
	if req.ProgressToken() != nil {
		c.OnProgress = func(params json.RawMessage) {
			ctx, req := waiting()
			_ = progress(ctx, req, params) // it may be lost, as send says
		}
	}
	if level, ok := req.LogLevel(); ok {
		c.LogLevel = level
		c.OnLog = func(params json.RawMessage) {
			if ctx, req := waiting(); req != nil && mcp.Level(member(params, "level")).Enabled(level) {
				send(ctx, req, mcp.NotifyMessage, params)
			}
		}
	}
	return c
}

// progress tells a request how far its call is, where it wants to know. It fails when the request cannot be told, or has ended.
func progress(ctx context.Context, req *server.Request, params json.RawMessage) error {
	if req.ProgressToken() == nil {
		return nil
	}
	return req.Notify(ctx, mcp.NotifyProgress, jsonrpc.With(nil, params, "progressToken", req.ProgressToken()))
}

// send passes a notification on. It may be lost: a client that takes no stream goes without, and a request that was
// cancelled is told by its context.
func send(ctx context.Context, req *server.Request, method string, params json.RawMessage) {
	_ = req.Notify(ctx, method, params)
}

// caller is what an upstream is told of the client. Its capabilities count only where a question can be passed on as it is.
// Extensions are left out here: which are passed on, the rules say.
func caller(ctx context.Context, req *server.Request) *upstream.Caller {
	info, capabilities := req.Envelope()
	c := Identity(ctx, req)
	c.Info, c.Who = info, sender(req)
	if req.CanBeAsked() && capabilities != nil {
		c.Capabilities = jsonrpc.Without(capabilities, "extensions")
	}
	return c
}

// sender tells clients apart; "" for one that cannot be told from others.
func sender(req *server.Request) string {
	switch {
	case req.SessionID() != "":
		return "session " + req.SessionID()
	case req.Principal() != nil && !req.Principal().IsZero():
		return "principal " + req.Principal().Key()
	case !req.OverHTTP():
		return "pipe" // a gateway has one client then
	}
	return ""
}
