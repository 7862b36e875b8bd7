package server

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"github.com/rialto-mcp/rialto/mcp"
)

// ToolDescriber describes the tools that [RegisterTools] makes of a value's methods, by the names of the methods. What a
// description leaves out is as for [AddTool]; a name in it takes the place of the one made of the method's.
type ToolDescriber interface {
	DescribeTools() map[string]mcp.Tool
}

// RegisterTools adds a tool for each exported method of v that has the form of a tool's function,
//
//	func (T) SearchBooks(ctx context.Context, req *server.Request, in In) (Out, error)
//
// under the method's name in snake case (search_books), by the rules of [AddTool]. Other methods are passed over. v is a
// [ToolDescriber] when its tools have descriptions. It returns the names in the order of the methods' names, and panics
// like AddTool, when v has no such method, and when a description belongs to none.
func RegisterTools(s *Server, v any) []string {
	names, err := registerTools(s, v)
	if err != nil {
		panic("server: " + err.Error())
	}
	return names
}

func registerTools(s *Server, v any) (names []string, err error) {
	if v == nil {
		return nil, errors.New("nil has no methods to make tools of")
	}
	told := map[string]mcp.Tool{}
	if d, ok := v.(ToolDescriber); ok {
		told = d.DescribeTools()
	}
	value, described := reflect.ValueOf(v), 0
	for i := range value.NumMethod() {
		method := value.Type().Method(i).Name
		t, ok := told[method]
		if !isToolFunction(value.Method(i).Type()) {
			continue
		}
		if ok {
			described++
		}
		if t.Name == "" {
			t.Name = snakeCase(method)
		}
		if err := s.addMethod(t, value.Method(i)); err != nil {
			return nil, err
		}
		names = append(names, t.Name)
	}
	switch {
	case names == nil:
		return nil, fmt.Errorf("%T has no exported method of the form func(context.Context, *server.Request, In) (Out, error)", v)
	case described < len(told):
		return nil, fmt.Errorf("%T describes methods that it does not have as tools", v)
	}
	return names, nil
}

func isToolFunction(t reflect.Type) bool {
	return t.NumIn() == 3 && t.NumOut() == 2 && !t.IsVariadic() && t.In(0) == reflect.TypeFor[context.Context]() &&
		t.In(1) == reflect.TypeFor[*Request]() && t.Out(1) == reflect.TypeFor[error]()
}

// addMethod is addTool for a function whose types are known at run time only.
func (s *Server) addMethod(t mcp.Tool, fn reflect.Value) error {
	in, result := fn.Type().In(2), fn.Type().Out(0)
	input, encode, err := codecsFor(in, result, &t)
	if err != nil {
		return err
	}
	return s.addTool(t, func(ctx context.Context, req *Request) (output, error) {
		arg := reflect.New(in)
		if err := input.DecodeInto(req.Arguments(), arg.Interface()); err != nil {
			return output{}, &misfitError{err}
		}
		out := fn.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(req), arg.Elem()})
		if err, ok := out[1].Interface().(error); ok {
			return output{}, err
		}
		result, err := encode(out[0].Interface())
		return output{result: result}, err
	}, func(v any) (output, error) {
		if result.Kind() != reflect.Interface && reflect.TypeOf(v) != result {
			return encodeAny(v)
		}
		result, err := encode(v)
		return output{result: result}, err
	})
}

// snakeCase makes get_url_for of GetURLFor: a word begins at a capital behind a small letter or a digit, and at the last
// capital of a row that a small letter follows.
func snakeCase(name string) string {
	var out strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		begins := unicode.IsUpper(r) && i > 0 &&
			(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if begins && letters[i-1] != '_' {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
