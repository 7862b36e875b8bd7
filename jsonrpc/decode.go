package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxDepth is how deep objects and arrays may nest in one frame.
const MaxDepth = 128

// Codes of frames that are refused before anybody looks at the method.
const (
	CodeParse          = -32700 // JSON-RPC 2.0, "Error object"
	CodeInvalidRequest = -32600
)

// FrameError says why a frame is no message.
type FrameError struct {
	Code   int64  // CodeParse or CodeInvalidRequest
	ID     ID     // what the refusal is sent under; zero where no id could be read, and for a broken answer
	Offset int64  // where in the frame, in bytes; -1 where no place can be named
	Text   string // what is wrong, fit for the peer
}

func (e *FrameError) Error() string {
	if e.Offset < 0 {
		return e.Text
	}
	return fmt.Sprintf("%s (at byte %d)", e.Text, e.Offset)
}

// Decode reads one message. The frame must not be changed afterwards: the message points into it. lift may be nil.
//
// It fails with *FrameError: CodeParse when the frame is no JSON text, has duplicate names, invalid UTF-8 or nests
// deeper than MaxDepth; CodeInvalidRequest when it is JSON but no message, an array included.
func Decode(frame []byte, lift *Lift) (*Message, error) {
	if len(frame) > math.MaxInt32 {
		return nil, &FrameError{Code: CodeInvalidRequest, Offset: -1, Text: "the message is larger than 2 GiB"}
	}
	if at := tooDeep(frame); at >= 0 {
		return nil, &FrameError{Code: CodeParse, Offset: at, Text: fmt.Sprintf("JSON nests deeper than %d levels", MaxDepth)}
	}
	s := scanners.Get().(*scanner)
	defer s.release()
	s.reset(frame)
	m := &Message{frame: frame}
	if err := s.message(m, lift); err != nil {
		return nil, err
	}
	return m, nil
}

// scanner is the scratch space of one Decode.
type scanner struct {
	dec   *jsontext.Decoder
	buf   bytes.Buffer
	frame []byte
}

var scanners = sync.Pool{New: func() any { return &scanner{dec: jsontext.NewDecoder(bytes.NewReader(nil))} }}

func (s *scanner) reset(frame []byte) {
	s.frame = frame
	s.buf = *bytes.NewBuffer(frame)
	s.dec.Reset(&s.buf)
}

func (s *scanner) release() {
	s.reset(nil) // the pool must not hold on to a frame
	scanners.Put(s)
}

func (s *scanner) message(m *Message, lift *Lift) error {
	if s.dec.PeekKind() != '{' {
		return s.notThis("a message is a JSON object")
	}
	var env envelope
	err := s.object(func(name []byte, at int32) error {
		found, err := s.member(m, lift, name, at)
		if err != nil {
			return err
		}
		switch string(name) {
		case "jsonrpc":
			env.version = found
		case "id":
			env.id = found
		case "method":
			env.method = found
		case "params":
			env.params = found
		case "result":
			env.result = found
		case "error":
			env.fault = found
		default:
			if m.Extra != nil {
				m.Extra = append(m.Extra, ',')
			}
			m.Extra = append(m.Extra, s.frame[at:found.End]...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.end(); err != nil {
		return err
	}
	return env.judge(m)
}

// notThis refuses a frame of another kind than is wanted; when it is no JSON at all, that comes first.
func (s *scanner) notThis(text string) error {
	if err := s.dec.SkipValue(); err != nil {
		return parseError(err)
	}
	if err := s.end(); err != nil {
		return err
	}
	return &FrameError{Code: CodeInvalidRequest, Offset: -1, Text: text}
}

// member reads one top-level value and goes into the two that may hold what is to be lifted.
func (s *scanner) member(m *Message, lift *Lift, name []byte, at int32) (span, error) {
	body := string(name) == "params" || string(name) == "result"
	if lift == nil || !body || s.dec.PeekKind() != '{' {
		return s.value(at)
	}
	start := int32(s.dec.InputOffset())
	start += int32(bytes.IndexByte(s.frame[start:], '{'))
	err := s.object(func(name []byte, at int32) error { return s.lift(m, lift, name, at) })
	if err != nil {
		return span{}, err
	}
	m.body = span{Name: at, Start: start, End: int32(s.dec.InputOffset())}
	return m.body, nil
}

// lift notes one member of params or result.
func (s *scanner) lift(m *Message, lift *Lift, name []byte, at int32) error {
	if string(name) != "_meta" || s.dec.PeekKind() != '{' {
		found, err := s.value(at)
		note(m.lifted[:maxBody], lift.Body, name, found)
		return err
	}
	start := int32(s.dec.InputOffset())
	start += int32(bytes.IndexByte(s.frame[start:], '{'))
	err := s.object(func(name []byte, at int32) error {
		found, err := s.value(at)
		note(m.lifted[maxBody:], lift.Meta, name, found)
		m.metaSize++
		return err
	})
	m.meta = span{Name: at, Start: start, End: int32(s.dec.InputOffset())}
	note(m.lifted[:maxBody], lift.Body, name, m.meta)
	return err
}

func note(spans []span, names []string, name []byte, found span) {
	for i, n := range names {
		if n == string(name) {
			spans[i] = found
			return
		}
	}
}

// object reads the members of an object; each is handed the unquoted name and the offset where the name begins, and
// reads the value.
func (s *scanner) object(each func(name []byte, at int32) error) error {
	if _, err := s.dec.ReadToken(); err != nil {
		return parseError(err)
	}
	for s.dec.PeekKind() != '}' {
		raw, err := s.dec.ReadValue()
		if err != nil {
			return parseError(err)
		}
		at := int32(s.dec.InputOffset()) - int32(len(raw))
		name := raw[1 : len(raw)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			if name, err = jsontext.AppendUnquote(nil, raw); err != nil {
				return parseError(err)
			}
		}
		if err := each(name, at); err != nil {
			return err
		}
	}
	if _, err := s.dec.ReadToken(); err != nil {
		return parseError(err)
	}
	return nil
}

func (s *scanner) value(at int32) (span, error) {
	raw, err := s.dec.ReadValue()
	if err != nil {
		return span{}, parseError(err)
	}
	end := int32(s.dec.InputOffset())
	return span{Name: at, Start: end - int32(len(raw)), End: end}, nil
}

// end demands that nothing but white space is left. A peek alone cannot tell the end from garbage.
func (s *scanner) end() error {
	switch _, err := s.dec.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return &FrameError{Code: CodeParse, Offset: s.dec.InputOffset(), Text: "more than one JSON value in a message"}
	default:
		return parseError(err)
	}
}

func parseError(err error) error {
	if fe := (*FrameError)(nil); errors.As(err, &fe) {
		return fe
	}
	out := &FrameError{Code: CodeParse, Offset: -1, Text: "not valid JSON"}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		out.Offset, out.Text = syntax.ByteOffset, "not valid JSON: "+syntax.Err.Error()
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		out.Text = "the JSON text ends too early"
	case errors.Is(err, jsontext.ErrDuplicateName):
		out.Text = "a member stands twice in one object"
		if syntax != nil {
			out.Text = fmt.Sprintf("the member %.60q stands twice in one object", syntax.JSONPointer.LastToken())
		}
	}
	return out
}

// tooDeep returns the offset at which the nesting passes MaxDepth, or -1. The count of brackets, strings included, is an
// upper bound that nearly every frame stays under.
func tooDeep(frame []byte) int64 {
	if bytes.Count(frame, []byte("{"))+bytes.Count(frame, []byte("[")) <= MaxDepth {
		return -1
	}
	depth := 0
	for i := 0; i < len(frame); i++ {
		switch frame[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return int64(i)
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(frame) && frame[i] != '"'; i++ {
				if frame[i] == '\\' {
					i++
				}
			}
		}
	}
	return -1
}
