package jsonrpc

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Append appends the message as one frame without line breaks. Raw values are copied, not checked: they must be valid
// JSON. The message must be of a [Kind], and a result needs an ID: nothing else has a form on the wire.
func (m *Message) Append(dst []byte) []byte {
	switch {
	case m.Method != "" && !m.ID.IsZero():
		dst = append(dst, `{"jsonrpc":"2.0","id":`...)
		dst = m.ID.Append(dst)
		dst = append(dst, `,"method":`...)
		dst = AppendString(dst, m.Method)
		dst = appendMember(dst, "params", m.Params)
	case m.Method != "":
		dst = append(dst, `{"jsonrpc":"2.0","method":`...)
		dst = AppendString(dst, m.Method)
		dst = appendMember(dst, "params", m.Params)
	case m.Error != nil:
		return m.closeWithExtra(AppendError(dst, m.ID, m.Error))
	default:
		dst = OpenResult(dst, m.ID)
		dst = AppendRaw(dst, m.Result)
	}
	return m.closeWithExtra(append(dst, '}'))
}

// closeWithExtra puts the unknown members before the closing brace that dst ends with.
func (m *Message) closeWithExtra(dst []byte) []byte {
	if len(m.Extra) == 0 {
		return dst
	}
	dst = append(dst[:len(dst)-1], ',')
	return append(AppendRaw(dst, m.Extra), '}')
}

func appendMember(dst []byte, name string, raw []byte) []byte {
	if len(raw) == 0 {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return AppendRaw(dst, raw)
}

// OpenResult appends the head of a result message, up to where the result value goes. The caller appends the value
// and a closing brace.
func OpenResult(dst []byte, id ID) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = id.Append(dst)
	return append(dst, `,"result":`...)
}

// AppendError appends an error message. A zero id is left out, as the specification has it for a request that could
// not be read (never null).
func AppendError(dst []byte, id ID, e *Error) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	if !id.IsZero() {
		dst = append(dst, `"id":`...)
		dst = id.Append(dst)
		dst = append(dst, ',')
	}
	dst = append(dst, `"error":{"code":`...)
	dst = strconv.AppendInt(dst, e.Code, 10)
	dst = append(dst, `,"message":`...)
	dst = AppendString(dst, e.Message)
	dst = appendMember(dst, "data", e.Data)
	return append(dst, "}}"...)
}

// AppendRaw appends a raw JSON value without its line breaks, which can only stand between tokens.
func AppendRaw(dst, raw []byte) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 { // nearly all, and much faster than IndexAny
		return append(dst, raw...)
	}
	for {
		i := bytes.IndexAny(raw, "\r\n")
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		raw = raw[i+1:]
	}
}

// AppendString appends s as a JSON string, minimally escaped. Invalid UTF-8 is replaced by U+FFFD.
func AppendString(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			return appendEscaped(dst, s)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

func appendEscaped(dst []byte, s string) []byte {
	out, _ := jsontext.AppendQuote(dst, s) // its error says that bytes were replaced, which is what we promise
	return out
}
