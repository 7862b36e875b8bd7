package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// tool is a registered tool with everything resolved that a call needs.
type tool struct {
	tool    mcp.Tool
	raw     json.RawMessage
	input   *schema.Schema
	output  *schema.Schema // nil when none is advertised
	wrap    bool           // the output root is no object
	mirrors []schema.HeaderParam
	call    func(ctx context.Context, req *Request) (output, error)
	encode  func(v any) (output, error) // what call makes of the value that the tool's function returns
	pace    *engine.Pace
}

// output is what a tool's function has returned. A text is carried as it is: most tools return one, and a whole result
// around it would cost four allocations.
type output struct {
	result *mcp.CallToolResult
	text   string // when isText
	isText bool
}

func (t *tool) key() string           { return t.tool.Name }
func (t *tool) wire() json.RawMessage { return t.raw }

// ToolHandler answers a call of a tool with raw arguments, which fit its input schema; see [Request.Arguments].
type ToolHandler func(ctx context.Context, req *Request) (*mcp.CallToolResult, error)

// AddRawTool adds a tool whose schemas are given, or replaces the one of the same name. Without an input schema it takes
// any object; with an output schema a result has to hold structured content that fits it. Structured content without a
// content block gets one with its JSON.
//
// It fails when a schema cannot be compiled, the root of the input schema is no object, it marks parameters for headers
// wrongly, or the name breaks the rule and Options.StrictNames is set.
func (s *Server) AddRawTool(t mcp.Tool, h ToolHandler) error {
	if h == nil {
		return fmt.Errorf("tool %q: the handler is nil", t.Name)
	}
	return s.addTool(t, func(ctx context.Context, req *Request) (output, error) {
		result, err := h(ctx, req)
		return output{result: result}, err
	}, encodeAny)
}

// encodeAny makes a result of a value of any type.
func encodeAny(v any) (output, error) {
	if result, ok := contentOf(v); ok {
		return output{result: result}, nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return output{}, mcp.Errorf(mcp.CodeInternal, "Internal error").Because(err)
	}
	return output{result: &mcp.CallToolResult{StructuredContent: raw}}, nil
}

func (s *Server) addTool(t mcp.Tool, call func(context.Context, *Request) (output, error), encode func(any) (output, error)) error {
	entry, err := s.newTool(t)
	if err != nil {
		return fmt.Errorf("tool %q: %w", t.Name, err)
	}
	entry.call, entry.encode, entry.pace = call, encode, engine.Slow()
	s.reg.tools.put(entry)
	return nil
}

func (s *Server) newTool(t mcp.Tool) (*tool, error) {
	if t.Name == "" {
		return nil, errors.New("a tool needs a name")
	}
	if err := mcp.CheckToolName(t.Name); err != nil {
		if s.opts.StrictNames {
			return nil, err
		}
		s.logger().LogAttrs(context.Background(), slog.LevelWarn, "mcp: some clients will not take this tool", slog.String("error", err.Error()))
	}
	if t.InputSchema == nil {
		t.InputSchema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if !schema.RootIsObject(t.InputSchema) {
		return nil, errors.New(`the root of the input schema must have "type": "object"`)
	}
	entry := &tool{tool: t}
	if entry.support() == mcp.TaskRequired && s.opts.Tasks == nil {
		return nil, errors.New("it runs as a task only, and nothing runs tasks here: set Options.Tasks")
	}
	var err error
	if entry.input, err = s.schemas.Compile(t.InputSchema); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	if entry.mirrors, err = schema.HeaderParams(t.InputSchema); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	if t.OutputSchema != nil {
		if entry.output, err = s.schemas.Compile(t.OutputSchema); err != nil {
			return nil, fmt.Errorf("output schema: %w", err)
		}
		entry.wrap = !schema.RootIsObject(t.OutputSchema)
	}
	if entry.raw, err = t.AppendJSON(nil); err != nil {
		return nil, err
	}
	return entry, nil
}

// RemoveTool removes tools and returns how many there were.
func (s *Server) RemoveTool(names ...string) int { return s.reg.tools.remove(names...) }

// HasTool tells whether a tool is registered.
func (s *Server) HasTool(name string) bool { return s.reg.tools.has(name) }

// ToolNames lists the registered tools in their order.
func (s *Server) ToolNames() []string { return s.reg.tools.keys() }

// callTool serves tools/call: rows 9, 10 and 12 of the table of refusals, then the tool.
func (s *Server) callTool(ctx context.Context, r *Request) *era.Outcome {
	raw, ok := r.in.Param(era.LiftName)
	if !ok || !jsonrpc.IsString(raw) {
		return invalid(mcp.InvalidParams("tools/call needs the name of a tool"))
	}
	entry := s.findTool(raw)
	hidden := s.opts.Visible != nil && !s.shows(ctx, r, Tools, text(raw))
	if entry == nil || hidden {
		return s.fallback(ctx, r, hidden, func() *era.Outcome {
			return unknown(mcp.InvalidParams("unknown tool: %s", short(r.Name())))
		})
	}
	args := r.Arguments()
	if r.in.Headers != nil && r.in.Codec.Traits().HeaderMirrors {
		if err := checkMirrors(r.in.Headers, entry.mirrors, args); err != nil {
			return (&era.Refusal{Row: era.RowParamHeader, Err: err}).Outcome()
		}
	}
	if err := s.taskTerms(r, entry.support()); err != nil {
		return s.failure(r, err)
	}
	if refusal := s.openRetry(ctx, r); refusal != nil {
		return refusal
	}
	r.tool = entry
	return s.onlyAsTask(ctx, r, s.runTool(ctx, r, entry, args))
}

// runTool checks the arguments and calls the tool.
func (s *Server) runTool(ctx context.Context, r *Request, entry *tool, args json.RawMessage) *era.Outcome {
	if err := entry.input.Validate(args); err != nil {
		return s.badInput(r, entry, err)
	}
	out, err := entry.call(ctx, r)
	switch {
	case err != nil:
		return s.toolFailure(r, entry, err)
	case out.isText:
		return r.answer(appendText(make([]byte, 0, len(out.text)+64), out.text), true, false)
	}
	return s.toolResult(r, entry, out.result)
}

// findTool looks a tool up by its raw name without making a string of it where it has no escapes.
func (s *Server) findTool(raw json.RawMessage) *tool {
	byKey := s.reg.tools.snap.Load().byKey()
	if bytes.IndexByte(raw, '\\') < 0 {
		return byKey[string(raw[1:len(raw)-1])]
	}
	return byKey[text(raw)]
}

// badInput answers arguments that break the schema, in the form of the client's revision.
func (s *Server) badInput(r *Request, t *tool, err error) *era.Outcome {
	message := fmt.Sprintf("Invalid arguments for tool %s: %v", t.tool.Name, err)
	if !r.in.Codec.Traits().InputErrorsAsResults {
		return invalid(mcp.InvalidParams("%s", message))
	}
	return s.encodeToolResult(r, mcp.ErrorResult(message), false)
}

// toolFailure answers the error of a tool's function.
func (s *Server) toolFailure(r *Request, t *tool, err error) *era.Outcome {
	var own *mcp.Error
	var ask *mcp.InputRequired
	var unable *cannotAsk
	var misfit *misfitError
	var other *ExtensionResult
	switch {
	case errors.As(err, &other):
		return other.outcome(s, r)
	case errors.As(err, &own) && !own.Code.IsLocal(), errors.As(err, &ask), errors.As(err, &unable):
		return s.failure(r, err)
	case errors.As(err, &misfit):
		return s.badInput(r, t, misfit.why)
	}
	return s.encodeToolResult(r, mcp.ErrorResult(err.Error()), false)
}

// misfitError marks arguments that the schema takes and the Go type does not.
type misfitError struct{ why error }

func (e *misfitError) Error() string { return e.why.Error() }

// toolResult checks and encodes what a tool's function returned.
func (s *Server) toolResult(r *Request, t *tool, result *mcp.CallToolResult) *era.Outcome {
	if result == nil {
		result = &mcp.CallToolResult{}
	}
	if t.output != nil && !result.IsError {
		if err := s.checkOutput(t, result); err != nil {
			return s.failure(r, err)
		}
	}
	if result.StructuredContent != nil && len(result.Content) == 0 {
		copied := *result
		copied.Content = []mcp.Content{mcp.Text(string(jsonrpc.AppendRaw(nil, result.StructuredContent)))}
		result = &copied
	}
	return s.encodeToolResult(r, result, t.wrap)
}

func (s *Server) checkOutput(t *tool, result *mcp.CallToolResult) error {
	if result.StructuredContent == nil {
		return fmt.Errorf("tool %q advertises an output schema and returned no structured content", t.tool.Name)
	}
	err := t.output.Validate(result.StructuredContent)
	var why *schema.ValidationError
	if errors.As(err, &why) {
		return fmt.Errorf("the result of tool %q breaks its output schema: %s", t.tool.Name, why.WithoutValue())
	}
	return err
}

func (s *Server) encodeToolResult(r *Request, result *mcp.CallToolResult, wrap bool) *era.Outcome {
	raw, err := result.AppendJSON(make([]byte, 0, 256))
	if err != nil {
		return s.failure(r, fmt.Errorf("encode the result: %v", err))
	}
	plain := result.StructuredContent == nil && result.Meta == nil && result.Extra == nil
	return r.answer(raw, plain, wrap)
}

// appendText appends a result of one text block.
func appendText(dst []byte, text string) []byte {
	dst = append(dst, `{"content":[{"type":"text","text":`...)
	return append(jsonrpc.AppendString(dst, text), "}]}"...)
}

// text unquotes a raw JSON string; "" for anything else.
func text(raw json.RawMessage) string {
	s, _ := jsonrpc.Text(raw)
	return s
}
