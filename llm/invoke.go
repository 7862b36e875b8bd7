package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Call is what a model asks for.
type Call struct {
	ID   string // the API's, "" where it gives none; never rewritten on the way back
	Name string // as in Tool.Name

	// Args is a JSON object, in the words of Tool.Input. Empty, null and blank stand for no arguments. Anything else, as it came
	// from the model, becomes a result that tells the model.
	Args json.RawMessage
}

// Result answers one call.
type Result struct {
	ID, Name string // of the call
	IsError  bool

	// Parts is what the model is shown. It is never empty.
	Parts []Part

	// Structured is the structured content of the server, nil where there is none; any JSON value, null included. A program may
	// use it; what the model needs of it is in Parts.
	Structured json.RawMessage

	// Full is the result as the server gave it; nil where the tool has not run.
	Full *mcp.CallToolResult

	// ReturnDirect says that this is the answer, and that the model need not be asked again. Failed calls never say so.
	ReturnDirect bool

	// Err is why the tool has not run or has not answered, for the program: a lost connection, an ended context, an answer that
	// breaks the tool's own schema. Parts tell the model in few words.
	Err error
}

// Text joins what Parts say in words.
func (r Result) Text() string { return textOf(r.Parts) }

// InvokeAll runs the calls of one turn, several at once, and returns their results in the order of the calls.
func (s *Set) InvokeAll(ctx context.Context, calls []Call) []Result {
	results := make([]Result, len(calls))
	all(len(calls), s.opts.MaxParallel, func(i int) { results[i] = s.Invoke(ctx, calls[i]) })
	return results
}

// Invoke runs a call. It always has a result, even where the source panics.
//
// A call whose connection was lost is repeated once where that is safe: when the server has certainly not taken it (it no
// longer knew the session, say), or when the tool says that it only reads or may be repeated.
func (s *Set) Invoke(ctx context.Context, call Call) (r Result) {
	defer func() {
		if v := recover(); v != nil {
			r = s.failed(call, "The call broke off. Whether the tool has done its work is not known.", fmt.Errorf("the call of tool %.80q panicked: %v\n%s", call.Name, v, debug.Stack()))
		}
	}()
	b, ok := s.lookup(call.Name)
	if !ok {
		return s.failed(call, fmt.Sprintf("There is no tool %.80q. Use one of the tools that were offered.", call.Name), nil)
	}
	args, wrong := b.arguments(call.Args)
	switch {
	case wrong != "":
		return s.failed(call, wrong, nil)
	case b.own != nil:
		return b.own(ctx, call, args)
	}
	if s.opts.Approve != nil {
		if err := s.opts.Approve(ctx, b.Tool, args); err != nil {
			return s.failed(call, fmt.Sprintf("The call was not allowed: %v", err), err)
		}
	}
	if ctx.Err() != nil {
		return s.failed(call, "The call was cancelled. The tool has not been run.", context.Cause(ctx))
	}
	full, err := s.run(ctx, b, args)
	var broken *client.OutputError
	if errors.As(err, &broken) && broken.Result != nil {
		shown := *broken.Result
		shown.StructuredContent = nil
		full = &shown
	} else if err != nil {
		return s.failed(call, s.explain(ctx, err), err)
	}
	r = s.result(call, full)
	r.Err, r.ReturnDirect = err, b.ReturnDirect && !full.IsError
	return r
}

// result shows a model what a tool has answered.
func (s *Set) result(call Call, full *mcp.CallToolResult) Result {
	structured := full.StructuredContent
	if structured != nil && !jsontext.Value(structured).IsValid() {
		structured = nil // of a source of a user's own; it could not be sent on
	}
	return Result{ID: call.ID, Name: call.Name, IsError: full.IsError, Structured: structured, Full: full, Parts: s.opts.parts(full.Content, structured)}
}

// run calls the tool, and once more where that is safe.
func (s *Set) run(ctx context.Context, b *bound, args json.RawMessage) (*mcp.CallToolResult, error) {
	result, err := s.source.CallTool(ctx, b.Server, b.Original, args)
	if err != nil && ctx.Err() == nil && b.repeatable(err) {
		result, err = s.source.CallTool(ctx, b.Server, b.Original, args)
	}
	if err == nil && result == nil {
		err = errors.New("the source has given neither a result nor an error")
	}
	return result, err
}

// repeatable tells whether a call that was lost may be made again.
func (b *bound) repeatable(err error) bool {
	var declined *manager.UnknownOutcomeError // the manager knows whether its server is to be believed
	lost := errors.Is(err, mcp.CodeConnectionClosed) || errors.Is(err, mcp.CodeNotConnected) || errors.Is(err, ErrNotRun)
	return lost && !errors.As(err, &declined) && (manager.NotTaken(err) || b.Annotations.ReadOnly() || b.Annotations.Idempotent())
}

// explain says in few words why a tool has not answered. What a server says goes to the model, what this side knows of
// addresses and processes does not.
func (s *Set) explain(ctx context.Context, err error) string {
	var fault *mcp.Error
	switch {
	case errors.As(err, &fault) && fault.Remote:
		return "The tool could not be called: " + cut(strings.ToValidUTF8(fault.Message, "\uFFFD"), 1000)
	case manager.NotTaken(err):
		return "The tool cannot be reached now. It has not been run."
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, mcp.CodeRequestTimeout):
		return "The tool did not answer in time. Whether it has done its work is not known."
	case ctx.Err() != nil:
		return "The call was cancelled. Whether the tool has done its work is not known."
	case errors.Is(err, mcp.CodeConnectionClosed):
		return "The connection to the tool was lost. Whether it has done its work is not known."
	}
	return "The tool could not be called."
}

func (s *Set) failed(call Call, text string, err error) Result {
	return Result{ID: call.ID, Name: call.Name, IsError: true, Parts: []Part{{Kind: TextPart, Text: text}}, Err: err}
}
