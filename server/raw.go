package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// RawHandler answers a request in raw JSON: the lowest door.
type RawHandler func(ctx context.Context, req *Request) (*RawResult, error)

// RawResult is what a raw handler answers: a result, or questions for the client.
type RawResult struct {
	// Result is the neutral result, a JSON object; its tokens reach the client as they are.
	Result json.RawMessage

	// ResultType is that of a result of an extension, which is neither complete nor a question; "" for a complete one.
	ResultType string

	// InputRequests and RequestState are an input_required result to be passed on byte for byte: an object of key to
	// request, and a JSON string. They stand where the method and the client's revision allow it.
	InputRequests json.RawMessage
	RequestState  json.RawMessage

	// Cache is the cache hint that came with the result, if any.
	Cache mcp.CacheHint

	// WrapOutput says that the tool called advertises an output schema whose root is no object.
	WrapOutput bool
}

// ErrUnhandled is what a raw handler returns for a request it does not know: the request is then answered as if there
// were no such handler.
var ErrUnhandled = errors.New("not handled here")

var errNoObject = errors.New("the handler's result is no JSON object")

// Handle registers a handler for a method outside the specification, or for one of an extension that Options.Extensions
// names. It replaces an earlier one; nil removes it. It panics for a method of the specification: those exist by
// revision, and a handler cannot revive one.
func (s *Server) Handle(method string, h RawHandler) {
	if negotiate.Universe()[method] && !s.extends(method) {
		panic(fmt.Sprintf("server: %q is a method of the specification", method))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	next := maps.Clone(*s.vendors.Load())
	if h == nil {
		delete(next, method)
	} else {
		next[method] = h
	}
	s.vendors.Store(&next)
}

// HasExtension tells whether Options.Extensions name an extension.
func (s *Server) HasExtension(identifier string) bool {
	return slices.ContainsFunc(s.opts.Extensions, func(x mcp.Extension) bool { return x.Identifier == identifier })
}

// extends tells whether an enabled extension has a method.
func (s *Server) extends(method string) bool {
	if s.opts.Tasks != nil && (method == mcp.MethodTaskResult || method == mcp.MethodListTasks) {
		return true // of the legacy era; the others belong to the extension
	}
	return slices.ContainsFunc(s.opts.Extensions, func(x mcp.Extension) bool {
		return slices.Contains(x.Requests, method)
	})
}

func (s *Server) servesVendor(method string) bool {
	return s.opts.Fallback != nil || (*s.vendors.Load())[method] != nil
}

// vendor answers a method outside the specification, or one of an extension.
func (s *Server) vendor(ctx context.Context, r *Request) *era.Outcome {
	missing := func() *era.Outcome { return &era.Outcome{Err: mcp.MethodNotFound(r.Method())} }
	if h := (*s.vendors.Load())[r.Method()]; h != nil {
		return s.raw(ctx, r, h, missing)
	}
	return s.fallback(ctx, r, false, missing)
}

// fallback asks the fallback handler, and where it does not know either, gives the answer of otherwise. What is hidden from
// the caller it is not asked for, and nothing else is different then.
func (s *Server) fallback(ctx context.Context, r *Request, hidden bool, otherwise func() *era.Outcome) *era.Outcome {
	if s.opts.Fallback == nil {
		return otherwise()
	}
	if refusal := checkShape(r); refusal != nil {
		return refusal
	}
	if hidden {
		return otherwise()
	}
	return s.raw(ctx, r, s.opts.Fallback, otherwise)
}

// checkShape refuses what no handler has to expect: retry material and arguments of the wrong type (row 12).
func checkShape(r *Request) *era.Outcome {
	responses, state := r.Retry()
	switch {
	case state != nil && !jsonrpc.IsString(state):
		return badState()
	case responses != nil && !jsonrpc.IsObject(responses):
		return invalid(mcp.InvalidParams("inputResponses must be an object of answers by the key of their question"))
	case r.Method() == mcp.MethodCallTool && !jsonrpc.IsObject(r.Arguments()):
		return invalid(mcp.InvalidParams("arguments must be an object"))
	}
	return nil
}

// raw runs a raw handler.
func (s *Server) raw(ctx context.Context, r *Request, h RawHandler, otherwise func() *era.Outcome) *era.Outcome {
	res, err := h(ctx, r)
	switch {
	case errors.Is(err, ErrUnhandled):
		return otherwise()
	case err != nil:
		return s.failure(r, err)
	case res == nil:
		return s.failure(r, errors.New("the handler returned neither a result nor an error"))
	case res.InputRequests != nil || res.RequestState != nil:
		return s.rawRound(r, res)
	case !isObject(res.Result):
		return s.failure(r, errNoObject)
	}
	if res.ResultType != "" {
		return (&ExtensionResult{Type: res.ResultType, Result: res.Result}).outcome(s, r)
	}
	return &era.Outcome{Result: res.Result, Cache: s.confined(res.Cache.Or(s.hint(r.Method()))), WrapOutput: res.WrapOutput}
}

// rawRound passes questions on. Where the engine has to ask them, the client must be able to answer.
func (s *Server) rawRound(r *Request, res *RawResult) *era.Outcome {
	if err := s.mayAsk(r); err != nil {
		return s.failure(r, err)
	}
	if res.InputRequests != nil && !isObject(res.InputRequests) || res.RequestState != nil && !isString(res.RequestState) {
		return s.failure(r, errors.New("the handler's input requests must be a JSON object, and its request state a JSON string"))
	}
	if !r.in.Codec.Traits().InputRounds {
		if err := s.rawFits(r, res); err != nil {
			return s.failure(r, err)
		}
	}
	return &era.Outcome{Input: &era.InputRound{Requests: res.InputRequests, State: res.RequestState, Rerun: (*asked)(r)}}
}

// rawFits refuses raw questions that the client cannot answer.
func (s *Server) rawFits(r *Request, res *RawResult) error {
	ask := &mcp.InputRequired{}
	if state, ok := jsonrpc.Text(res.RequestState); ok {
		ask.State = &state
	}
	if res.InputRequests != nil {
		if err := json.Unmarshal(res.InputRequests, &ask.Requests); err != nil {
			return fmt.Errorf("the handler's input requests cannot be read: %v", err)
		}
	}
	need, err := needs(ask)
	if err != nil {
		return fmt.Errorf("the handler asked for input: %v", err)
	}
	return s.canAnswer(r, need)
}

// isObject tells whether a handler's bytes are one JSON object: others would break the frame they are put into.
func isObject(raw json.RawMessage) bool {
	return jsonrpc.IsObject(bytes.TrimLeft(raw, " \t\r\n")) && json.Valid(raw)
}

func isString(raw json.RawMessage) bool { return jsonrpc.IsString(raw) && json.Valid(raw) }
