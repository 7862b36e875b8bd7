package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
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

// Invoke runs a call. It always has a result.
//
// A call whose connection was lost is repeated once where that is safe: when it has certainly not been begun, or when the
// tool says that it only reads or may be repeated.
func (s *Set) Invoke(ctx context.Context, call Call) Result {
	b, ok := s.byName[call.Name]
	if !ok {
		return s.failed(call, fmt.Sprintf("There is no tool %.80q. Use one of the tools that were offered.", call.Name), nil)
	}
	args, wrong := b.arguments(call.Args)
	if wrong != "" {
		return s.failed(call, wrong, nil)
	}
	if s.opts.Approve != nil {
		if err := s.opts.Approve(ctx, b.Tool, args); err != nil {
			return s.failed(call, fmt.Sprintf("The call was not allowed: %v", err), err)
		}
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
	return Result{
		ID: call.ID, Name: call.Name, IsError: full.IsError, Structured: full.StructuredContent, Full: full, Err: err,
		Parts: s.opts.parts(full.Content, full.StructuredContent), ReturnDirect: b.ReturnDirect && !full.IsError,
	}
}

// run calls the tool, and once more where that is safe.
func (s *Set) run(ctx context.Context, b *bound, args json.RawMessage) (*mcp.CallToolResult, error) {
	if b.own != nil {
		return b.own(ctx, args), nil
	}
	result, err := s.source.CallTool(ctx, b.Server, b.Original, args)
	lost := errors.Is(err, mcp.CodeConnectionClosed) || errors.Is(err, ErrNotRun)
	var declined *manager.UnknownOutcomeError // the manager knows whether its server is to be believed
	lost = lost && !errors.As(err, &declined)
	safe := errors.Is(err, ErrNotRun) || b.Annotations.ReadOnly() || b.Annotations.Idempotent()
	if err != nil && lost && safe && ctx.Err() == nil {
		result, err = s.source.CallTool(ctx, b.Server, b.Original, args)
	}
	if err == nil && result == nil {
		err = errors.New("the source has given neither a result nor an error")
	}
	return result, err
}

// explain says in few words why a tool has not answered. What a server says goes to the model, what this side knows of
// addresses and processes does not.
func (s *Set) explain(ctx context.Context, err error) string {
	var fault *mcp.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, mcp.CodeRequestTimeout):
		return "The tool did not answer in time. Whether it has done its work is not known."
	case ctx.Err() != nil:
		return "The call was cancelled. Whether the tool has done its work is not known."
	case errors.As(err, &fault) && fault.Remote:
		return "The tool could not be called: " + cut(strings.ToValidUTF8(fault.Message, "\uFFFD"), 1000)
	case errors.Is(err, ErrNotRun):
		return "The tool cannot be reached now. It has not been run."
	case errors.Is(err, mcp.CodeConnectionClosed):
		return "The connection to the tool was lost. Whether it has done its work is not known."
	}
	return "The tool could not be called."
}

func (s *Set) failed(call Call, text string, err error) Result {
	return Result{ID: call.ID, Name: call.Name, IsError: true, Parts: []Part{{Kind: TextPart, Text: text}}, Err: err}
}

// arguments brings what a model has written into what the server takes, and checks it against the server's schema. What
// is wrong is said to the model.
func (b *bound) arguments(raw json.RawMessage) (args json.RawMessage, wrong string) {
	args, wrong = b.restore(raw)
	if wrong != "" {
		return nil, wrong
	}
	check, err := b.compile()
	if err != nil {
		return args, "" // the schema is none that can be checked here; the server will
	}
	err = check.Validate(args)
	var verdict *schema.ValidationError
	switch {
	case errors.As(err, &verdict):
		return nil, "The arguments do not fit the tool: " + cut(verdict.Error(), 2000)
	case err != nil:
		return nil, fmt.Sprintf("The arguments cannot be checked: %v", err)
	}
	return args, ""
}

// restore reads arguments and gives them the server's own names.
func (b *bound) restore(raw json.RawMessage) (args json.RawMessage, wrong string) {
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" {
		text = "{}"
	}
	if value := jsontext.Value(text); !value.IsValid() {
		return nil, "The arguments are no valid JSON: " + why(text) + ". Write one JSON object."
	}
	if !jsonrpc.IsObject([]byte(text)) {
		return nil, "The arguments must be one JSON object."
	}
	args, err := b.form.Restore(json.RawMessage(text))
	if err != nil {
		return nil, fmt.Sprintf("The arguments cannot be used: %v", err)
	}
	return args, ""
}

// Restore gives arguments of a model the names and values of the server's own schema, without running anything and without
// checking them further.
func (s *Set) Restore(call Call) (json.RawMessage, error) {
	b, ok := s.byName[call.Name]
	if !ok {
		return nil, fmt.Errorf("there is no tool %.80q", call.Name)
	}
	args, wrong := b.restore(call.Args)
	if wrong != "" {
		return nil, fmt.Errorf("tool %q: %s", call.Name, wrong)
	}
	return args, nil
}

// why says what is wrong with JSON, without what stands in it.
func why(text string) string {
	dec := jsontext.NewDecoder(strings.NewReader(text))
	for {
		if _, err := dec.ReadToken(); err != nil {
			var syntax *jsontext.SyntacticError
			if errors.As(err, &syntax) && syntax.Err != nil {
				return fmt.Sprintf("%s at byte %d", cut(syntax.Err.Error(), 100), syntax.ByteOffset)
			}
			return "it ends too early"
		}
	}
}
