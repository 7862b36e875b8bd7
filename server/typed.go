package server

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/mcp"
)

// AddTool adds a tool that takes In and returns Out, or replaces the one of the same name.
//
// The input schema is inferred from In, which must be a struct or a map, unless t has one; arguments are checked against
// it before fn runs. Out decides what the client gets:
//
//	*mcp.CallToolResult            the result as it is
//	string                         one text block
//	mcp.Content or []mcp.Content   content blocks
//	any                            what the value is: one of the above, nothing for nil, else structured content
//	any other type                 structured content by the output schema inferred from Out (or t's own), and as text
//
// Durations are strings ("1m30s"), untagged fields go by their Go name, omitempty is that of encoding/json; the tag
// `jsonschema:"..."` describes a field. AddTool panics when a schema cannot be inferred or compiled, which only a
// programmer can cause; [Server.AddRawTool] returns an error instead.
func AddTool[In, Out any](s *Server, t mcp.Tool, fn func(ctx context.Context, req *Request, in In) (Out, error)) {
	if err := addTool(s, t, fn); err != nil {
		panic("server: " + err.Error())
	}
}

func addTool[In, Out any](s *Server, t mcp.Tool, fn func(ctx context.Context, req *Request, in In) (Out, error)) error {
	if fn == nil {
		return fmt.Errorf("tool %q: the function is nil", t.Name)
	}
	input, encode, err := codecsFor(reflect.TypeFor[In](), reflect.TypeFor[Out](), &t)
	if err != nil {
		return err
	}
	isText := reflect.TypeFor[Out]() == reflect.TypeFor[string]() && t.OutputSchema == nil
	return s.addTool(t, func(ctx context.Context, req *Request) (output, error) {
		in, err := schema.Decode[In](input, req.Arguments())
		if err != nil {
			return output{}, &misfitError{err}
		}
		out, err := fn(ctx, req, in)
		if err != nil {
			return output{}, err
		}
		if text, ok := any(out).(string); ok && isText {
			return output{text: text, isText: true}, nil
		}
		result, err := encode(out)
		return output{result: result}, err
	}, func(v any) (output, error) {
		out, ok := v.(Out)
		if !ok {
			return encodeAny(v)
		}
		result, err := encode(out)
		return output{result: result}, err
	})
}

// codecsFor prepares how arguments are read and results are made, and completes the tool's schemas.
func codecsFor(in, out reflect.Type, t *mcp.Tool) (*schema.Codec, encoder, error) {
	input, err := inputCodec(in, t)
	if err != nil {
		return nil, nil, fmt.Errorf("tool %q: input: %w", t.Name, err)
	}
	encode, err := outputFor(out, t)
	if err != nil {
		return nil, nil, fmt.Errorf("tool %q: output: %w", t.Name, err)
	}
	return input, encode, nil
}

func inputCodec(in reflect.Type, t *mcp.Tool) (*schema.Codec, error) {
	if t.InputSchema == nil {
		inferred, err := schema.ForInput(in)
		if err != nil {
			return nil, err
		}
		t.InputSchema = inferred
	}
	return schema.CodecFor(in)
}

// encoder makes a result of what a tool's function has returned.
type encoder func(v any) (*mcp.CallToolResult, error)

// outputFor picks once, by the type, how results are made.
func outputFor(out reflect.Type, t *mcp.Tool) (encoder, error) {
	switch {
	case out == reflect.TypeFor[string]() && t.OutputSchema != nil:
		return structured(out, t)
	case out == reflect.TypeFor[*mcp.CallToolResult](), out == reflect.TypeFor[mcp.CallToolResult](),
		out == reflect.TypeFor[string](), out == reflect.TypeFor[[]mcp.Content](), out.Implements(reflect.TypeFor[mcp.Content]()):
		return func(v any) (*mcp.CallToolResult, error) { r, _ := contentOf(v); return r, nil }, nil
	case out.Kind() == reflect.Interface:
		return byValue(out, t)
	}
	return structured(out, t)
}

// contentOf makes a result of what says itself how it is shown; false for a value that is data.
func contentOf(v any) (*mcp.CallToolResult, bool) {
	switch v := v.(type) {
	case nil:
		return &mcp.CallToolResult{}, true
	case *mcp.CallToolResult:
		return v, true
	case mcp.CallToolResult:
		return &v, true
	case string:
		return mcp.TextResult(v), true
	case []mcp.Content:
		return &mcp.CallToolResult{Content: v}, true
	case mcp.Content:
		return &mcp.CallToolResult{Content: []mcp.Content{v}}, true
	}
	return nil, false
}

// byValue decides with each result: the type is an interface. With an output schema, all but a whole result is data.
func byValue(out reflect.Type, t *mcp.Tool) (encoder, error) {
	data, err := structured(out, t)
	if err != nil {
		return nil, err
	}
	promised := t.OutputSchema != nil
	return func(v any) (*mcp.CallToolResult, error) {
		_, whole := v.(*mcp.CallToolResult)
		if r, ok := contentOf(v); ok && (whole || !promised) {
			return r, nil
		}
		return data(v)
	}, nil
}

// structured makes results with structured content.
func structured(out reflect.Type, t *mcp.Tool) (encoder, error) {
	codec, err := schema.CodecFor(out)
	if err != nil {
		return nil, err
	}
	anything := out.Kind() == reflect.Interface || out == reflect.TypeFor[json.RawMessage]()
	if t.OutputSchema == nil && !anything {
		if t.OutputSchema, err = schema.ForType(out); err != nil {
			return nil, err
		}
	}
	return func(v any) (*mcp.CallToolResult, error) {
		raw, err := codec.Encode(v)
		if err != nil {
			return nil, mcp.Errorf(mcp.CodeInternal, "Internal error").Because(err)
		}
		return &mcp.CallToolResult{StructuredContent: raw}, nil
	}, nil
}
