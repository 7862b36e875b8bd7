package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// AddMethod is [Server.Handle] for typed values: it adds a method outside the specification, or one of an enabled
// extension, that takes In as its params and returns Out as its result. Both must be structs, pointers to structs, or
// maps, since both are objects on the wire.
//
// Params are checked against the schema inferred from In before fn runs, and refused with mcp.CodeInvalidParams; `_meta`
// is no part of them, absent params count as {}. The rules for values are those of [AddTool]. AddMethod panics when a
// type does not fit or the method belongs to the specification, which only a programmer can cause.
func AddMethod[In, Out any](s *Server, method string, fn func(ctx context.Context, req *Request, in In) (Out, error)) {
	handler, err := typedMethod(s, fn)
	if err != nil {
		panic(fmt.Sprintf("server: method %q: %v", method, err))
	}
	s.Handle(method, handler)
}

func typedMethod[In, Out any](s *Server, fn func(ctx context.Context, req *Request, in In) (Out, error)) (RawHandler, error) {
	if fn == nil {
		return nil, errors.New("the function is nil")
	}
	check, input, err := s.objectCodec(reflect.TypeFor[In]())
	if err != nil {
		return nil, fmt.Errorf("params: %w", err)
	}
	_, output, err := s.objectCodec(reflect.TypeFor[Out]())
	if err != nil {
		return nil, fmt.Errorf("result: %w", err)
	}
	return func(ctx context.Context, req *Request) (*RawResult, error) {
		in, err := decodeParams[In](req, check, input)
		if err != nil {
			return nil, err
		}
		out, err := fn(ctx, req, in)
		if err != nil {
			return nil, err
		}
		raw, err := output.Encode(out)
		if err != nil {
			return nil, fmt.Errorf("encode the result: %v", err)
		}
		return &RawResult{Result: raw}, nil
	}, nil
}

// objectCodec prepares a type that is an object on the wire.
func (s *Server) objectCodec(t reflect.Type) (*schema.Schema, *schema.Codec, error) {
	inferred, err := schema.ForInput(t)
	if err != nil {
		return nil, nil, err
	}
	check, err := s.schemas.Compile(inferred)
	if err != nil {
		return nil, nil, err
	}
	codec, err := schema.CodecFor(t)
	return check, codec, err
}

func decodeParams[In any](req *Request, check *schema.Schema, codec *schema.Codec) (in In, err error) {
	params := json.RawMessage("{}")
	if sent := req.Params(); sent != nil {
		params = jsonrpc.Without(sent, "_meta")
	}
	if err = check.Validate(params); err == nil {
		in, err = schema.Decode[In](codec, params)
	}
	if err != nil {
		return in, mcp.InvalidParams("Invalid params for %s: %v", req.Method(), err)
	}
	return in, nil
}
