package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/pieces"
)

// Stream joins a streamed answer of generateContent (streamGenerateContent with alt=sse):
//
//	answer := &gemini.Stream{}
//	path := "/models/" + model + ":streamGenerateContent?alt=sse"
//	for text, err := range llm.Text(endpoint.Stream(ctx, path, auth, body), answer) { ... }
//	whole, err := answer.Answer() // as without streaming, for Content and Calls
//
// Texts that follow each other become one part. A part with a thought signature stays as it came, alone, an empty text too:
// the API checks where a signature stands. Arguments of calls have to come whole; leave streamFunctionCallArguments out of
// the request.
//
// The zero value is ready. It is for one answer, and not safe for concurrent use.
type Stream struct {
	MaxBytes int64 // bounds what is kept. Zero means 10 MiB; negative means no bound

	room       pieces.Room
	answer     *pieces.Object
	candidates []*streamCandidate
}

// The most that an answer may have; no model gives as many.
const (
	maxCandidates = 128
	maxParts      = 10000
)

type streamCandidate struct {
	index   int
	members *pieces.Object // of the candidate, without the content
	content *pieces.Object // without the parts
	parts   *pieces.List
	open    bool // the last part is a text that goes on
	thought bool // and it is the model's thinking
}

// Add takes the next event and returns what it adds to the text of the first candidate; thinking is none.
func (s *Stream) Add(e llm.StreamEvent) (string, error) {
	if err := e.Err(); err != nil {
		return "", err
	}
	if s.answer == nil {
		s.room.Max = s.MaxBytes
		s.answer = s.room.New()
	}
	if e.Done() {
		return "", nil
	}
	said := ""
	for name, v := range jsonrpc.Members(e.Data) {
		if name != "candidates" {
			s.answer.Set(name, v) // counts are totals
			continue
		}
		for c := range jsonrpc.Elements(v) {
			said += s.candidate(c)
		}
	}
	return said, s.room.Err()
}

func (s *Stream) candidate(raw []byte) (said string) {
	if !jsonrpc.IsObject(raw) {
		return ""
	}
	index := max(pieces.Index(raw, "index"), 0)
	at := slices.IndexFunc(s.candidates, func(c *streamCandidate) bool { return c.index == index })
	if at < 0 {
		if len(s.candidates) == maxCandidates {
			s.room.Close(fmt.Errorf("the answer has more than %d candidates", maxCandidates))
			return ""
		}
		at = len(s.candidates)
		s.candidates = append(s.candidates, &streamCandidate{index: index, members: s.room.New(), content: s.room.New(), parts: s.room.NewList()})
	}
	c := s.candidates[at]
	for name, v := range jsonrpc.Members(raw) {
		if name != "content" {
			c.members.Set(name, v)
			continue
		}
		if !jsonrpc.IsObject(v) {
			continue
		}
		for name, v := range jsonrpc.Members(v) {
			if name != "parts" {
				c.content.Set(name, v)
				continue
			}
			for part := range jsonrpc.Elements(v) {
				said += s.part(c, part)
			}
		}
	}
	if index != 0 {
		return ""
	}
	return said
}

// part joins a text to the one before it, or begins another part.
func (s *Stream) part(c *streamCandidate, raw []byte) string {
	if !jsonrpc.IsObject(raw) {
		return ""
	}
	if call, ok := jsonrpc.Member(raw, "functionCall"); ok && jsonrpc.IsObject(call) {
		_, inPieces := jsonrpc.Member(call, "partialArgs")
		goesOn, _ := jsonrpc.Member(call, "willContinue")
		if inPieces || string(goesOn) == "true" {
			s.room.Close(errors.New("the arguments of a call come in pieces: leave streamFunctionCallArguments out of the request"))
			return ""
		}
	}
	text, plain, thought := "", true, false
	for name, v := range jsonrpc.Members(raw) {
		switch name {
		case "text":
			said, ok := jsonrpc.Text(v)
			text, plain = said, plain && ok
		case "thought":
			thought = string(v) == "true"
		default:
			plain = false
		}
	}
	_, isText := jsonrpc.Member(raw, "text")
	plain = plain && isText
	switch {
	case plain && text == "": // how a stream says nothing
	case plain && c.open && c.thought == thought:
		c.parts.At(c.parts.Len()-1).Add("text", text)
	case c.parts.Len() == maxParts:
		s.room.Close(fmt.Errorf("the answer has more than %d parts", maxParts))
	default:
		c.parts.Append(raw)
		c.open, c.thought = plain, thought
	}
	if thought {
		return ""
	}
	return text
}

// Answer is the whole answer as the API gives it without streaming. It fails with [llm.ErrUnfinished], and returns what has
// come, where the stream ended too early.
func (s *Stream) Answer() (json.RawMessage, error) {
	if s.answer == nil {
		return nil, llm.ErrUnfinished
	}
	if err := s.room.Err(); err != nil {
		return nil, err
	}
	room := &pieces.Room{Max: -1}
	slices.SortStableFunc(s.candidates, func(a, b *streamCandidate) int { return a.index - b.index })
	finished := len(s.candidates) > 0 || s.answer.Has("promptFeedback")
	list := room.NewList()
	for _, c := range s.candidates {
		finished = finished && c.members.Text("finishReason") != ""
		content := room.Read(c.content.JSON())
		if !content.Has("role") {
			content.SetText("role", "model")
		}
		if c.parts.Len() > 0 {
			content.Set("parts", c.parts.JSON())
		}
		one := room.New()
		one.Set("content", content.JSON())
		for name, v := range jsonrpc.Members(c.members.JSON()) {
			one.Set(name, v)
		}
		list.Append(one.JSON())
	}
	out := room.New()
	if len(s.candidates) > 0 {
		out.Set("candidates", list.JSON())
	}
	for name, v := range jsonrpc.Members(s.answer.JSON()) {
		out.Set(name, v)
	}
	if !finished {
		return out.JSON(), llm.ErrUnfinished
	}
	return out.JSON(), nil
}
