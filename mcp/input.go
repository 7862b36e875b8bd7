package mcp

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// InputRequest is one question of a server to the client, asked inside an answer.
type InputRequest struct {
	Method string             `json:"method"` // MethodElicit, MethodCreateMessage or MethodListRoots
	Params stdjson.RawMessage `json:"params,omitzero"`
	Extra  jsontext.Value     `json:",embed"`
}

// InputRequests are questions by key. They are written in the order of their keys.
type InputRequests map[string]InputRequest

// Keys lists the keys in order.
func (r InputRequests) Keys() []string { return slices.Sorted(maps.Keys(r)) }

// InputResponses are the raw answers by the key of their question.
type InputResponses map[string]stdjson.RawMessage

// Keys lists the keys in order.
func (r InputResponses) Keys() []string { return slices.Sorted(maps.Keys(r)) }

// Decode reads one answer into v. It answers false without an error when there is none.
func (r InputResponses) Decode(key string, v any) (bool, error) {
	raw, ok := r[key]
	if !ok {
		return false, nil
	}
	if err := stdjson.Unmarshal(raw, v); err != nil {
		return true, fmt.Errorf("input response %q: %w", key, err)
	}
	return true, nil
}

// Elicit reads the answer to an elicitation, nil when there is none.
func (r InputResponses) Elicit(key string) (*ElicitResult, error) {
	return readAnswer[ElicitResult](r, key)
}

// Message reads the answer to a sampling request, nil when there is none.
func (r InputResponses) Message(key string) (*CreateMessageResult, error) {
	return readAnswer[CreateMessageResult](r, key)
}

// Roots reads the answer to a roots request, nil when there is none.
func (r InputResponses) Roots(key string) (*ListRootsResult, error) {
	return readAnswer[ListRootsResult](r, key)
}

func readAnswer[T any](r InputResponses, key string) (*T, error) {
	var answer T
	if ok, err := r.Decode(key, &answer); !ok || err != nil {
		return nil, err
	}
	return &answer, nil
}

// InputRequired is the error value by which a handler asks for input instead of answering. The handler runs again with
// the answers. State comes back unchanged with the retry; state alone, without questions, asks for a paced retry.
//
// Build one with [NeedInput], or as a literal. It is not safe for concurrent use while it is built.
type InputRequired struct {
	Requests InputRequests  `json:"inputRequests,omitzero"`
	State    *string        `json:"requestState,omitzero"`
	Meta     Meta           `json:"_meta,omitzero"`
	Extra    jsontext.Value `json:",embed"`

	err error // the first error of a builder
}

// NeedInput begins an InputRequired.
func NeedInput() *InputRequired { return &InputRequired{} }

// Elicit adds a form.
func (r *InputRequired) Elicit(key string, params ElicitFormParams) *InputRequired {
	return r.Ask(key, MethodElicit, params)
}

// ElicitURL adds a page to visit.
func (r *InputRequired) ElicitURL(key string, params ElicitURLParams) *InputRequired {
	params.Mode = ElicitModeURL
	return r.Ask(key, MethodElicit, params)
}

// CreateMessage adds a question to the client's model.
func (r *InputRequired) CreateMessage(key string, params CreateMessageParams) *InputRequired {
	return r.Ask(key, MethodCreateMessage, params)
}

// ListRoots adds a question for the roots.
func (r *InputRequired) ListRoots(key string) *InputRequired {
	return r.Ask(key, MethodListRoots, struct{}{}) // the official Go SDK cannot read one without params
}

// Ask adds any request. A key used twice is an error, kept for [InputRequired.Check].
func (r *InputRequired) Ask(key, method string, params any) *InputRequired {
	request := InputRequest{Method: method}
	if params != nil {
		raw, err := marshal(params)
		if err != nil {
			r.fail(fmt.Errorf("input request %q: %w", key, err))
		}
		request.Params = raw
	}
	if _, taken := r.Requests[key]; taken {
		r.fail(fmt.Errorf("input request %q was added twice; give each question a key of its own", key))
		return r
	}
	if r.Requests == nil {
		r.Requests = InputRequests{}
	}
	r.Requests[key] = request
	return r
}

// WithState sets the state that comes back with the retry.
func (r *InputRequired) WithState(state string) *InputRequired {
	r.State = &state
	return r
}

func (r *InputRequired) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Check says why it cannot be sent: a builder failed, or there is neither a question nor a state.
func (r *InputRequired) Check() error {
	if r.err != nil {
		return r.err
	}
	if len(r.Requests) == 0 && r.State == nil {
		return errors.New("input required without an input request and without a state; add one of them")
	}
	return nil
}

// Error implements error.
func (r *InputRequired) Error() string {
	if len(r.Requests) == 0 {
		return "a retry is required"
	}
	return fmt.Sprintf("input is required: %q", r.Requests.Keys())
}

// Unwrap answers the error of a builder, nil when there is none.
func (r *InputRequired) Unwrap() error { return r.err }
