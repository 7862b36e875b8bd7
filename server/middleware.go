package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Call answers one request, once: where the client of a legacy revision is asked something on the way, the answer is that
// of the last run. An error that the client gets is an *mcp.Error here; what a tool reports as failed is a [Result].
type Call func(ctx context.Context, req *Request) (*Result, error)

// Middleware stands around every request: after it was decoded, before it is known whom it is for. It may look at it and
// at its answer, give its context values and a deadline, answer or refuse it by itself, or run it again. It is called once,
// when the server is built; the Call it returns is called concurrently. It calls next from the goroutine it was called on,
// once at a time.
//
// What it returns is answered like what a handler returns: an *mcp.Error is an error with that code; any other error is a
// result with isError and the error's text for tools, and an internal error without detail elsewhere. It cannot ask the
// client. Errors of next that it returns as they came are answered as they would have been without it.
//
//	func timed(next server.Call) server.Call {
//		return func(ctx context.Context, req *server.Request) (*server.Result, error) {
//			defer func(start time.Time) { log.Print(req.Method(), " took ", time.Since(start)) }(time.Now())
//			return next(ctx, req)
//		}
//	}
type Middleware func(next Call) Call

// Result is what a request is answered with when that is no error. It is read-only and belongs to that one request: what is
// to be kept is its JSON.
type Result struct {
	out    era.Outcome
	method string
	open   bool // the answer comes later
	made   bool // by a middleware: nobody has looked at its bytes
}

// NewResult makes a result of a middleware: a JSON object, without the members that only one era has.
func NewResult(result json.RawMessage) *Result {
	return &Result{out: era.Outcome{Result: result}, made: true}
}

// With returns the result with another JSON object in its place: for a middleware that edits what it sees.
func (r *Result) With(result json.RawMessage) *Result {
	edited := *r
	edited.out.Result, edited.out.Input = result, nil
	edited.out.Plain, edited.out.Encoded = false, false
	edited.made = true
	return &edited
}

// stamps are the members that a page of a list has from its encoding, whatever the revision.
var stamps = []string{"resultType", "ttlMs", "cacheScope", "_meta"}

// JSON returns the result's object, without the members that only one era has; nil for questions and for an open stream. It
// must not be changed.
func (r *Result) JSON() json.RawMessage {
	if r.out.Encoded {
		return jsonrpc.Without(r.out.Result, stamps...)
	}
	return r.out.Result
}

// Size returns how many bytes of JSON the answer is made from, without making it: a result, or questions.
func (r *Result) Size() int {
	if in := r.out.Input; in != nil {
		return len(in.Requests) + len(in.State)
	}
	return len(r.out.Result)
}

// IsError tells whether a tool reports that it has failed.
func (r *Result) IsError() bool {
	if r.method != mcp.MethodCallTool {
		return false
	}
	failed, _ := jsonrpc.Member(r.out.Result, "isError")
	return string(failed) == "true"
}

// AsksClient tells whether the answer is a round of questions to the client. It is never so on the legacy era, where the
// questions have been asked by then.
func (r *Result) AsksClient() bool { return r.out.Input != nil }

// Open tells whether the request is a stream that goes on: a subscription.
func (r *Result) Open() bool { return r.open }

// Only keeps a middleware to some methods; requests of others pass it by.
func Only(m Middleware, methods ...string) Middleware {
	of := make(map[string]bool, len(methods))
	for _, method := range methods {
		of[method] = true
	}
	return func(next Call) Call {
		inside := m(next)
		return func(ctx context.Context, req *Request) (*Result, error) {
			if of[req.Method()] {
				return inside(ctx, req)
			}
			return next(ctx, req)
		}
	}
}

// chain puts the middleware around the look-up, the first outermost; nil without middleware.
func (s *Server) chain(around []Middleware) Call {
	if len(around) == 0 {
		return nil
	}
	call := s.innermost
	for i := len(around) - 1; i >= 0; i-- {
		call = around[i](call)
	}
	return call
}

// innermost is where the middleware ends.
func (s *Server) innermost(ctx context.Context, r *Request) (*Result, error) {
	ctx = r.pass(ctx)
	out := r.in.Settle(ctx, (*dispatcher)(s).dispatch(ctx, r))
	switch {
	case out == nil:
		return &Result{method: r.Method(), open: true}, nil
	case out.Err != nil:
		r.refusal = out
		return nil, out.Err
	}
	return &Result{method: r.Method(), out: *out}, nil
}

// through runs a request through the middleware.
func (s *Server) through(ctx context.Context, r *Request) *era.Outcome {
	result, err := s.around(ctx, r)
	switch {
	case err != nil:
		return s.thwarted(r, err)
	case result == nil:
		return s.failure(r, errors.New("a middleware returned neither a result nor an error"))
	case result.open:
		return nil
	case result.made:
		return s.madeUp(r, result)
	}
	return &result.out
}

// madeUp answers with the bytes of a middleware.
func (s *Server) madeUp(r *Request, result *Result) *era.Outcome {
	out := result.out
	if !isObject(out.Result) {
		return s.failure(r, errors.New("the result of a middleware is no JSON object"))
	}
	out.Cache = s.confined(out.Cache.Or(s.hint(r.Method())))
	if raw, ok := r.in.Param(era.LiftName); ok && r.Method() == mcp.MethodCallTool && jsonrpc.IsString(raw) {
		if t := s.findTool(raw); t != nil {
			out.WrapOutput = t.wrap
		}
	}
	return &out
}

// thwarted answers the error of a middleware: that of the look-up and the handler, where it has come through, as it was.
func (s *Server) thwarted(r *Request, err error) *era.Outcome {
	var own *mcp.Error
	var ask *mcp.InputRequired
	switch known := errors.As(err, &own); {
	case known && r.refusal != nil && own == r.refusal.Err:
		return r.refusal
	case errors.As(err, &ask):
		return s.failure(r, errors.New("a middleware asked for input, which only handlers can"))
	case r.Method() == mcp.MethodCallTool && (!known || own.Code.IsLocal()):
		return s.encodeToolResult(r, mcp.ErrorResult(err.Error()), false)
	}
	return s.failure(r, err)
}
