package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"unsafe"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// envelope is what message finds at the top level.
type envelope struct {
	version, id, method, params, result, fault span
}

// judge turns the spans of the top level into the fields of m, or says why they make no message.
func (env *envelope) judge(m *Message) error {
	raw := func(s span) []byte { return m.frame[s.Start:s.End:s.End] }
	refuse := func(at span, text string) error {
		e := &FrameError{Code: CodeInvalidRequest, Offset: int64(at.Start), Text: text}
		if at.End == 0 {
			e.Offset = -1
		}
		if env.mayBeRequest() {
			e.ID = m.ID
		}
		return e
	}
	hasID := env.id.End != 0
	if hasID && isIDToken(raw(env.id)) {
		m.ID = ID{view(raw(env.id))}
	}
	if string(raw(env.version)) != `"2.0"` {
		return refuse(env.version, `"jsonrpc" must be "2.0"`)
	}
	switch {
	case env.method.End != 0 && (env.result.End != 0 || env.fault.End != 0):
		return refuse(env.method, "a message is a request or an answer, not both")
	case env.result.End != 0 && env.fault.End != 0:
		return refuse(env.result, "an answer holds a result or an error, not both")
	case env.method.End != 0:
		if hasID && m.ID.IsZero() {
			return refuse(env.id, `"id" must be a string or an integer`)
		}
		return env.call(m, raw, refuse)
	case env.result.End != 0 && env.params.End != 0: // both would be lifted from, so nobody could say what belongs to which
		return refuse(env.params, `a result has no "params"`)
	case env.result.End != 0:
		if m.ID.IsZero() {
			return refuse(env.id, `a result needs the "id" of its request: a string or an integer`)
		}
		m.Result = raw(env.result)
		return nil
	case env.fault.End != 0:
		if hasID && m.ID.IsZero() && string(raw(env.id)) != "null" { // older peers write null for "unknown"
			return refuse(env.id, `"id" must be a string or an integer`)
		}
		var err error
		if m.Error, err = readError(raw(env.fault)); err != nil {
			return refuse(env.fault, err.Error())
		}
		m.forgetLifted() // of params beside the error, which nobody reads
		return nil
	}
	return refuse(span{}, `a message has a "method", a "result" or an "error"`)
}

// mayBeRequest tells whether the sender may wait for an answer under the frame's id. The id of a broken answer is one of
// ours and must not come back to its sender.
func (env *envelope) mayBeRequest() bool {
	return env.method.End != 0 || env.result.End == 0 && env.fault.End == 0
}

func (env *envelope) call(m *Message, raw func(span) []byte, refuse func(span, string) error) error {
	method := raw(env.method)
	if method[0] != '"' || len(method) == 2 {
		return refuse(env.method, `"method" must be a string that is not empty`)
	}
	if bytes.IndexByte(method, '\\') < 0 {
		m.Method = view(method[1 : len(method)-1])
	} else {
		unquoted, err := jsontext.AppendUnquote(nil, method)
		if err != nil {
			return parseError(err)
		}
		m.Method = string(unquoted)
	}
	switch params := raw(env.params); {
	case env.params.End == 0 || string(params) == "null":
		m.Params = nil
	case params[0] == '{':
		m.Params = params
	default:
		return refuse(env.params, `"params" must be an object`)
	}
	return nil
}

func readError(raw []byte) (*Error, error) {
	var e struct {
		Code    *int64         `json:"code"`
		Message string         `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	if raw[0] != '{' {
		return nil, errors.New(`"error" must be an object`)
	}
	if err := jsonv2.Unmarshal(raw, &e); err != nil {
		return nil, errors.New(`"error" needs an integer "code" and a string "message"`)
	}
	if e.Code == nil {
		return nil, errors.New(`"error" needs an integer "code"`)
	}
	return &Error{Code: *e.Code, Message: e.Message, Data: json.RawMessage(e.Data)}, nil
}

// view makes a string of bytes of a frame without a copy. It is sound because a message owns its frame and nobody
// writes to a frame after Decode.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
