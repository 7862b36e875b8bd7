package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/pieces"
)

// ChatStream joins a streamed answer of Chat Completions, or of an endpoint like it:
//
//	answer := &openai.ChatStream{}
//	for text, err := range llm.Text(endpoint.Stream(ctx, "/chat/completions", auth, body), answer) { ... }
//	whole, err := answer.Answer() // as without streaming, for Message and ChatCalls
//
// The zero value is ready. It is for one answer, and not safe for concurrent use.
//
// Imitators are read leniently: calls without an index or without an id, several calls under one index, arguments whole or
// as an object, no reason for the end but [DONE]. Members it does not know (thinking, signatures) are joined and kept.
type ChatStream struct {
	MaxBytes int64 // bounds what is kept. Zero means 10 MiB; negative means no bound

	room    pieces.Room
	answer  *pieces.Object
	choices []*chatChoice
	done    bool
}

// maxChoices is how many choices the API gives at most.
const maxChoices = 128

type chatChoice struct {
	room    *pieces.Room
	index   int
	members *pieces.Object // of the choice, without the message
	message *pieces.Object
	calls   []*chatCall
}

// Add takes the next event and returns what it adds to the text of the first choice.
func (s *ChatStream) Add(e llm.StreamEvent) (string, error) {
	if err := e.Err(); err != nil {
		return "", err
	}
	if s.answer == nil {
		s.room.Max = s.MaxBytes
		s.answer = s.room.New()
	}
	if e.Done() {
		s.done = true
		return "", nil
	}
	said := ""
	for name, v := range jsonrpc.Members(e.Data) {
		switch {
		case name == "choices":
			for c := range jsonrpc.Elements(v) {
				said += s.choice(c)
			}
		case string(v) != "null" || !s.answer.Has(name):
			s.answer.Set(name, v)
		}
	}
	return said, s.room.Err()
}

func (s *ChatStream) choice(raw []byte) (said string) {
	index := max(pieces.Index(raw, "index"), 0)
	at := slices.IndexFunc(s.choices, func(c *chatChoice) bool { return c.index == index })
	if at < 0 {
		if len(s.choices) == maxChoices {
			s.room.Close(fmt.Errorf("the answer has more than %d choices", maxChoices))
			return ""
		}
		at = len(s.choices)
		s.choices = append(s.choices, &chatChoice{room: &s.room, index: index, members: s.room.New(), message: s.room.New()})
	}
	c := s.choices[at]
	for name, v := range jsonrpc.Members(raw) {
		switch {
		case name == "delta" || name == "message" && jsonrpc.IsObject(v): // message: an endpoint that does not stream
			said = c.add(v)
		case name == "finish_reason":
			if reason, ok := jsonrpc.Text(v); ok && reason != "" {
				c.members.Set(name, v)
			}
		case name == "logprobs" && jsonrpc.IsObject(v):
			c.members.Object(name).Merge(v)
		case name != "index" && (string(v) != "null" || !c.members.Has(name)):
			c.members.Set(name, v)
		}
	}
	if index != 0 {
		return ""
	}
	return said
}

// add joins a delta.
func (c *chatChoice) add(delta []byte) (said string) {
	if !jsonrpc.IsObject(delta) {
		return ""
	}
	var known []string
	for name, v := range jsonrpc.Members(delta) {
		text, isText := jsonrpc.Text(v)
		switch {
		case name == "content" && jsonrpc.IsArray(v):
			said += c.parts(v)
		case name == "content" && isText && c.message.IsList(name):
			said += c.parts(encode([]textPart{textOf(text)}))
		case name == "content" || name == "refusal":
			said += text
			continue
		case name == "tool_calls":
			for piece := range jsonrpc.Elements(v) {
				c.call(piece)
			}
		default:
			continue
		}
		known = append(known, name)
	}
	c.message.Merge(jsonrpc.Without(delta, known...))
	return said
}

// parts joins content that comes as a list, as some endpoints have it: texts that follow each other become one.
func (c *chatChoice) parts(list []byte) (said string) {
	if before := c.message.Text("content"); before != "" {
		c.message.Set("content", encode([]textPart{textOf(before)}))
	}
	content := c.message.List("content")
	for part := range jsonrpc.Elements(list) {
		var p textPart
		if json.Unmarshal(part, &p) != nil || p.Type != "text" {
			content.Append(part)
			continue
		}
		said += p.Text
		if last := content.At(content.Len() - 1); last != nil && last.Text("type") == "text" {
			last.Add("text", p.Text)
		} else {
			content.Append(part)
		}
	}
	return said
}

// Answer is the whole answer as the API gives it without streaming. It fails with [llm.ErrUnfinished], and returns what has
// come, where the stream ended too early; it fails with another error where the answer is too large.
func (s *ChatStream) Answer() (json.RawMessage, error) {
	if s.answer == nil {
		return nil, llm.ErrUnfinished
	}
	if err := s.room.Err(); err != nil {
		return nil, err
	}
	room := &pieces.Room{Max: -1} // what is written below has been counted
	out := room.Read(s.answer.JSON())
	if kind := out.Text("object"); kind != "" {
		out.SetText("object", strings.TrimSuffix(kind, ".chunk"))
	}
	slices.SortStableFunc(s.choices, func(a, b *chatChoice) int { return a.index - b.index })
	finished := len(s.choices) > 0
	choices := out.List("choices")
	for _, c := range s.choices {
		finished = finished && (s.done || c.members.Has("finish_reason"))
		choices.Append(c.whole(room))
	}
	if !finished {
		return out.JSON(), llm.ErrUnfinished
	}
	return out.JSON(), nil
}

func (c *chatChoice) whole(room *pieces.Room) json.RawMessage {
	message := room.New()
	message.SetText("role", "assistant")
	message.Set("content", json.RawMessage("null"))
	for name, v := range jsonrpc.Members(c.message.JSON()) {
		if name != "role" && string(v) != `""` { // an empty text is how a stream says that there is none
			message.Set(name, v)
		}
	}
	if len(c.calls) > 0 {
		message.Set("tool_calls", wholeCalls(c.calls, room))
	}
	out := room.New()
	out.Set("index", encode(c.index))
	out.Set("message", message.JSON())
	out.Set("finish_reason", json.RawMessage("null"))
	for name, v := range jsonrpc.Members(c.members.JSON()) {
		out.Set(name, v)
	}
	return out.JSON()
}
