package jsonrpc

import (
	"bytes"
	"encoding/json"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Members yields the members of a JSON object in their order: the name, unquoted, and the raw value, which is a slice
// of obj. The rules of [Fields] hold.
func Members(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		walk(obj, func(f Field, _ span) bool {
			name, ok := Text(f.Name)
			return ok && yield(name, f.Value)
		})
	}
}

// Member returns the raw value of one member of an object, and whether it is there. The rules of [Fields] hold; of several
// members of one name the first counts.
func Member(obj []byte, name string) (json.RawMessage, bool) {
	for f := range Fields(obj) {
		if f.Is(name) {
			return f.Value, true
		}
	}
	return nil, false
}

// Text returns the value of a raw JSON string, and false for any other JSON value.
func Text(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	out, err := jsontext.AppendUnquote(nil, raw)
	return string(out), err == nil
}
