package server

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/rialto-mcp/rialto/internal/schema"
	"github.com/rialto-mcp/rialto/mcp"
)

// Errors of [ElicitAs]: what a user may do instead of answering. A tool can return them as they are.
var (
	ErrDeclined  = errors.New("the user declined to answer")
	ErrCancelled = errors.New("the user left the question without an answer")
)

// ElicitAs asks the user to fill in a form for T, a struct of texts, numbers, booleans and lists of choices, and returns it
// filled. The form is inferred as the schema of a tool's input is: names by the json tag, titles, descriptions, limits,
// choices and defaults by the jsonschema tag; a pointer or omitempty may be left out. It asks like [Request.Elicit].
//
// It fails with [ErrDeclined], [ErrCancelled], and as Elicit does. A T that is no form is an error that says why.
func ElicitAs[T any](ctx context.Context, r *Request, message string, opts ...AskOption) (T, error) {
	var value T
	f, err := formFor(reflect.TypeFor[T]())
	if err != nil {
		return value, fmt.Errorf("a form for %T: %w", value, err)
	}
	answer, err := r.Elicit(ctx, mcp.ElicitFormParams{Message: message, RequestedSchema: f.schema}, opts...)
	switch {
	case err != nil:
		return value, err
	case answer.Action == mcp.ElicitDecline:
		return value, ErrDeclined
	case !answer.Accepted():
		return value, ErrCancelled
	}
	content, err := f.form.ApplyDefaults(answer.Content)
	if err != nil {
		return value, err
	}
	return schema.Decode[T](f.codec, content)
}

// formOfType is a form with what reads its answers.
type formOfType struct {
	schema []byte
	form   *schema.Form
	codec  *schema.Codec
	err    error
}

// forms are those that have been inferred, by type: there are as many as the program has.
var forms sync.Map

func formFor(t reflect.Type) (*formOfType, error) {
	if f, ok := forms.Load(t); ok {
		return f.(*formOfType), f.(*formOfType).err
	}
	f := &formOfType{}
	if f.schema, f.err = schema.FormFor(t); f.err == nil {
		f.form, f.err = schema.ParseForm(f.schema)
	}
	if f.err == nil {
		f.codec, f.err = schema.CodecFor(t)
	}
	forms.Store(t, f)
	return f, f.err
}
