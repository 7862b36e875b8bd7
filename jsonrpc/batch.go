package jsonrpc

import (
	"encoding/json"
	"fmt"
)

// MaxBatch is how many elements an array of messages may have where nothing else is said.
const MaxBatch = 100

// IsBatch tells whether a frame is an array of messages and no single one.
func IsBatch(frame []byte) bool { return IsArray(frame) }

// SplitBatch returns the raw elements of an array of messages; each is a slice of the frame and may be given to Decode.
// An element that is no message is the caller's matter.
//
// It fails with *FrameError: CodeParse when the frame is no JSON text, CodeInvalidRequest when it is no array, empty,
// or longer than limit elements; a negative limit is none.
func SplitBatch(frame []byte, limit int) ([]json.RawMessage, error) {
	if at := tooDeep(frame); at >= 0 {
		return nil, &FrameError{Code: CodeParse, Offset: at, Text: fmt.Sprintf("JSON nests deeper than %d levels", MaxDepth)}
	}
	s := scanners.Get().(*scanner)
	defer s.release()
	s.reset(frame)
	if s.dec.PeekKind() != '[' {
		return nil, s.notThis("not an array of messages")
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return nil, parseError(err)
	}
	var out []json.RawMessage
	count := 0
	for s.dec.PeekKind() != ']' {
		value, err := s.value(-1)
		if err != nil {
			return nil, err
		}
		if count++; limit < 0 || count <= limit { // the rest is still read: a broken text outranks a long one
			out = append(out, json.RawMessage(frame[value.Start:value.End:value.End]))
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
		return nil, &FrameError{Code: CodeInvalidRequest, Offset: -1, Text: "an empty array of messages"}
	case limit >= 0 && count > limit:
		return nil, &FrameError{Code: CodeInvalidRequest, Offset: -1, Text: fmt.Sprintf("%d messages in one array; the limit is %d", count, limit)}
	}
	return out, nil
}
