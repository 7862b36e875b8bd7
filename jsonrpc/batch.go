package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxBatch is how many elements an array of messages may have.
const MaxBatch = 100

// IsBatch tells whether a frame is an array, by its first byte that is no white space.
func IsBatch(frame []byte) bool {
	frame = bytes.TrimLeft(frame, " \t\r\n")
	return len(frame) > 0 && frame[0] == '['
}

// SplitBatch returns the raw elements of an array of messages; each is a slice of the frame and may be given to Decode.
// An element that is no message is the caller's matter.
//
// It fails with *FrameError: CodeParse when the frame is no JSON text, CodeInvalidRequest when it is no array, empty,
// or longer than limit elements.
func SplitBatch(frame []byte, limit int) ([]json.RawMessage, error) {
	if at := tooDeep(frame); at >= 0 {
		return nil, &FrameError{Code: CodeParse, Offset: at, Text: fmt.Sprintf("JSON nests deeper than %d levels", MaxDepth)}
	}
	s := scanners.Get().(*scanner)
	defer s.release()
	s.reset(frame)
	if s.dec.PeekKind() != '[' {
		return nil, &FrameError{Code: CodeInvalidRequest, Offset: 0, Text: "not an array of messages"}
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return nil, parseError(err)
	}
	var out []json.RawMessage
	count := 0
	for s.dec.PeekKind() != ']' {
		span, err := s.value(-1)
		if err != nil {
			return nil, err
		}
		if count++; count <= limit { // the rest is still read: a broken text outranks a long one
			out = append(out, json.RawMessage(frame[span.Start:span.End:span.End]))
		}
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return nil, parseError(err)
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	switch {
	case count == 0:
		return nil, &FrameError{Code: CodeInvalidRequest, Offset: 0, Text: "an empty array of messages"}
	case count > limit:
		return nil, &FrameError{Code: CodeInvalidRequest, Offset: 0, Text: fmt.Sprintf("%d messages in one array; the limit is %d", count, limit)}
	}
	return out, nil
}

// Members yields the members of a JSON object in their order: the name, unquoted, and the raw value, which is a slice
// of obj. It yields nothing for anything but a valid object.
func Members(obj []byte) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for m := range members(obj) {
			if !yield(m.name, obj[m.Start:m.End:m.End]) {
				return
			}
		}
	}
}

type memberSpan struct {
	Span
	name string
}

func members(obj []byte) iter.Seq[memberSpan] {
	return func(yield func(memberSpan) bool) {
		s := scanners.Get().(*scanner)
		defer s.release()
		s.reset(obj)
		if s.dec.PeekKind() != '{' {
			return
		}
		stop := &FrameError{}
		err := s.object(func(name []byte, at int32) error {
			text := string(name)
			span, err := s.value(at)
			if err != nil {
				return err
			}
			if !yield(memberSpan{span, text}) {
				return stop
			}
			return nil
		})
		_ = err // a caller that must tell a broken object from a short one has decoded it before
	}
}

// Member returns the raw value of one member of an object, and whether it is there.
func Member(obj []byte, name string) (json.RawMessage, bool) {
	for m := range members(obj) {
		if m.name == name {
			return obj[m.Start:m.End:m.End], true
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
