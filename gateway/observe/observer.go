package observe

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/skills"
)

// Observer notes requests. Its methods may be called concurrently.
type Observer struct {
	audit *Audit
	log   *slog.Logger
}

// New makes an observer. A nil audit log holds nothing; a nil logger is silent. The logger gets a record at debug for each
// request.
func New(audit *Audit, log *slog.Logger) *Observer {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Observer{audit, log}
}

// relayed are the methods whose requests go to a server. Of others those are noted that are refused.
var relayed = map[string]bool{
	mcp.MethodCallTool: true, mcp.MethodGetPrompt: true, mcp.MethodReadResource: true, mcp.MethodComplete: true,
	mcp.MethodGetTask: true, mcp.MethodTaskResult: true, mcp.MethodCancelTask: true, mcp.MethodUpdateTask: true,
	skills.MethodGet: true, skills.MethodReadDirectory: true,
}

// noting marks the context of a request that is noted.
type noting struct{}

func noted(ctx context.Context) *record {
	r, _ := ctx.Value(noting{}).(*record)
	return r
}

// Decide notes what a policy has decided about the request of a context, "allow" or "deny" say, and by which rule. The last
// word counts. It does nothing where nobody takes notes. It must not be called concurrently for one request.
func Decide(ctx context.Context, decision, rule string) {
	if r := noted(ctx); r != nil {
		r.Decision, r.Rule = short(decision), short(rule)
	}
}

// Middleware stands outermost around all requests.
func (o *Observer) Middleware() server.Middleware {
	return func(next server.Call) server.Call {
		return func(ctx context.Context, req *server.Request) (*server.Result, error) {
			if !o.audit.On() && !o.log.Enabled(ctx, slog.LevelDebug) {
				return next(ctx, req)
			}
			return o.watch(ctx, req, next)
		}
	}
}

// watch answers a request and notes it.
func (o *Observer) watch(ctx context.Context, req *server.Request, next server.Call) (result *server.Result, err error) {
	place := nowhere
	if relayed[req.Method()] {
		if place, err = o.audit.reserve(); err != nil {
			return nil, err
		}
	}
	r := about(req, time.Now())
	ended := false
	defer func() { // a handler that panics is noted too
		if !ended {
			err = errPanic
		}
		o.finish(ctx, req, r, place, result, err)
	}()
	result, err = next(context.WithValue(ctx, noting{}, r), req)
	ended = true
	return result, err
}

var errPanic = errors.New("it panicked")

// finish notes the end of a request.
func (o *Observer) finish(ctx context.Context, req *server.Request, r *record, p place, result *server.Result, err error) {
	if err == nil && !relayed[req.Method()] {
		return
	}
	r.end()
	if r.Name == r.Shown {
		r.Shown = ""
	}
	var fault *mcp.Error
	switch {
	case ctx.Err() != nil:
		r.Outcome = outcomeCancelled
	case err != nil:
		known := errors.As(err, &fault)
		r.Outcome = outcomeError
		if r.Decision == "deny" || r.Server == "" && !(known && fault.Remote) {
			r.Outcome = outcomeRefused
		}
		if !known {
			r.Reason = short(err.Error())
			break
		}
		if fault.Code.IsSymbolic() { // its number is another one in each era
			r.Reason = short(fault.Code.String())
		} else {
			code := int64(fault.Code)
			r.Code = &code
		}
		if !fault.Remote { // what a server says may hold anything
			r.Reason = short(fault.Message)
		}
	case result.AsksClient():
		r.Outcome = outcomeAsks
	case result.IsError():
		r.Outcome = outcomeToolError
	default:
		r.Outcome = outcomeOK
	}
	o.audit.detail(r, req, result)
	if result != nil {
		r.BytesOut = result.Size()
	}
	o.audit.put(r, p)
	o.log.LogAttrs(ctx, slog.LevelDebug, "request", r.attrs()...)
}

// Step is the first of the bridge: it notes where a request goes, and what was asked of its client.
func (o *Observer) Step(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
	r := noted(ctx)
	if r == nil {
		return next(ctx)
	}
	r.about(p.Entry)
	if responses, _ := p.Request.Retry(); responses != nil {
		for range jsonrpc.Members(responses) {
			r.Answered++
		}
	}
	result, err := next(ctx)
	r.Kept, r.sent = p.Kept(), p.Sent() // what a policy has masked is not to be found here either
	asked, answered := p.Questions()
	r.Asked, r.Answered = r.Asked+asked, r.Answered+answered
	if result != nil {
		for range jsonrpc.Members(result.InputRequests) {
			r.Asked++
		}
	}
	return result, err
}

// Task notes which tool of which server the task of a request has come from. It is made for bridge.Rules.
func (o *Observer) Task(ctx context.Context, e bridge.Entry) {
	if r := noted(ctx); r != nil {
		r.about(e)
	}
}

// Unauthenticated notes a request over HTTP that was not let in, with the status that it was answered with and the reason,
// which must hold no credential.
func (o *Observer) Unauthenticated(req *http.Request, status int, reason string) {
	if !o.audit.On() && !o.log.Enabled(req.Context(), slog.LevelDebug) {
		return
	}
	r := &record{
		Time: time.Now().UTC(), From: req.RemoteAddr, Outcome: outcomeRefused, Reason: short(reason), Status: status,
		Method: short(req.Header.Get("Mcp-Method")), Session: sessionDigest(req.Header.Get("Mcp-Session-Id")),
	}
	r.trace("", req.Header.Get("Traceparent"))
	o.audit.put(r, nowhere)
	o.log.LogAttrs(req.Context(), slog.LevelDebug, "not let in", r.attrs()...)
}

// MoreUnauthenticated notes how many requests were not let in beside those that have lines of their own. A caller who bounds the
// lines of strangers uses it, so that these do not push those of others out of the log.
func (o *Observer) MoreUnauthenticated(n int) { o.audit.missing(n, "more requests were not let in") }
