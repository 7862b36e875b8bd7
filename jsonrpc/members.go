package jsonrpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Members yields the members of a JSON object in their order: the name, unquoted, and the raw value, which is a slice
// of obj. obj must be valid JSON (what Decode has let through is); of a value that is no object it yields nothing, and of
// broken JSON what stands before the fault, which it does not report.
func Members(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for name, span := range members(obj) {
			if !yield(string(name), obj[span.Start:span.End:span.End]) {
				return
			}
		}
	}
}

// Member returns the raw value of one member of an object, and whether it is there. obj is as for Members.
func Member(obj []byte, name string) (json.RawMessage, bool) {
	for found, span := range members(obj) {
		if string(found) == name {
			return obj[span.Start:span.End:span.End], true
		}
	}
	return nil, false
}

// errEnough ends the reading of an object early.
var errEnough = errors.New("seen enough")

// members yields the unquoted names, each valid until the next, and where their values stand.
func members(obj []byte) iter.Seq2[[]byte, Span] {
	return func(yield func([]byte, Span) bool) {
		s := scanners.Get().(*scanner)
		defer s.release()
		s.reset(obj)
		if s.dec.PeekKind() != '{' {
			return
		}
		_ = s.object(func(name []byte, at int32) error {
			span, err := s.value(at)
			if err == nil && !yield(name, span) {
				err = errEnough
			}
			return err
		}) // errEnough, or a fault in what the caller calls valid: either way nothing more can be read
	}
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
