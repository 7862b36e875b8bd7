package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/pieces"
)

// ResponseStream joins a streamed answer of the Responses API; see [ChatStream] for its use.
//
// The event that ends a stream holds the whole answer, and that is what Answer returns. Where it lacks the items (some
// endpoints leave them out), or never comes, they are those that were streamed.
//
// The zero value is ready. It is for one answer, and not safe for concurrent use.
type ResponseStream struct {
	MaxBytes int64 // bounds what is kept. Zero means 10 MiB; negative means no bound

	room   pieces.Room
	answer json.RawMessage // as last told
	items  []*responseItem
	spoken bool // text has come in pieces
	done   bool
}

type responseItem struct {
	index   int
	members *pieces.Object
}

// Add takes the next event and returns what it adds to the text.
func (s *ResponseStream) Add(e llm.StreamEvent) (string, error) {
	if err := e.Err(); err != nil {
		return "", err
	}
	s.room.Max = s.MaxBytes
	if e.Done() {
		return "", nil
	}
	said := s.add(e.Data)
	if err := s.room.Err(); err != nil {
		return "", err
	}
	s.spoken = s.spoken || said != ""
	return said, nil
}

func (s *ResponseStream) add(data json.RawMessage) string {
	kind := memberText(data, "type")
	switch {
	case kind == "response.completed" || kind == "response.incomplete" || kind == "response.done":
		s.done = true
		return s.whole(data)
	case kind == "" && memberText(data, "object") == "response": // an endpoint that does not stream
		s.done = true
		return s.whole(json.RawMessage(`{"response":` + string(data) + `}`))
	case kind == "response.created" || kind == "response.in_progress" || kind == "response.queued":
		return s.whole(data)
	case kind == "response.output_item.added" || kind == "response.output_item.done":
		if item, ok := jsonrpc.Member(data, "item"); ok {
			one := s.item(data, item)
			s.room.Forget(one.members)
			one.members = s.room.Read(item)
		}
		return ""
	}
	return s.piece(strings.TrimPrefix(kind, "response."), data)
}

// whole keeps what the API says of the answer as a whole.
func (s *ResponseStream) whole(data json.RawMessage) string {
	response, _ := jsonrpc.Member(data, "response")
	if !jsonrpc.IsObject(response) {
		return ""
	}
	if int64(len(response)) > s.most() {
		s.room.Close(fmt.Errorf("the answer has more than %d bytes", s.most()))
		return ""
	}
	s.answer = slices.Clone(response)
	if !s.done || s.spoken {
		return ""
	}
	output, _ := jsonrpc.Member(response, "output")
	return outputText(output)
}

func (s *ResponseStream) most() int64 {
	switch {
	case s.MaxBytes == 0:
		return pieces.DefaultMax
	case s.MaxBytes < 0:
		return 1 << 62
	}
	return s.MaxBytes
}

// outputText joins what the messages among the items say.
func outputText(output []byte) string {
	var said strings.Builder
	for item := range jsonrpc.Elements(output) {
		content, _ := jsonrpc.Member(item, "content")
		if memberText(item, "type") != "message" || !jsonrpc.IsArray(content) {
			continue
		}
		for part := range jsonrpc.Elements(content) {
			said.WriteString(memberText(part, "text") + memberText(part, "refusal"))
		}
	}
	return said.String()
}

// item is the item that an event is about, by its place or else by its id.
func (s *ResponseStream) item(data, item []byte) *responseItem {
	index, id := pieces.Index(data, "output_index"), memberText(data, "item_id")
	if id == "" && item != nil {
		id = memberText(item, "id")
	}
	for _, one := range s.items {
		if index >= 0 && one.index == index || index < 0 && id != "" && one.members.Text("id") == id {
			return one
		}
	}
	if len(s.items) == maxCalls {
		s.room.Close(fmt.Errorf("the answer has more than %d items", maxCalls))
		return s.items[maxCalls-1]
	}
	one := &responseItem{index: index, members: s.room.New()}
	if index < 0 {
		one.index = len(s.items)
	}
	s.items = append(s.items, one)
	return one
}

// piece joins a piece of an item. The event's name says of which member; its last word whether it is a piece or all of it.
func (s *ResponseStream) piece(kind string, data []byte) string {
	var list, at string // the member of the item that is a list, and the place in it
	switch {
	case strings.HasPrefix(kind, "content_part."), strings.HasPrefix(kind, "output_text."), strings.HasPrefix(kind, "refusal."), strings.HasPrefix(kind, "reasoning_text."):
		list, at = "content", "content_index"
	case strings.HasPrefix(kind, "reasoning_summary"):
		list, at = "summary", "summary_index"
	case strings.HasPrefix(kind, "function_call_arguments."), strings.HasPrefix(kind, "mcp_call_arguments."), strings.HasPrefix(kind, "custom_tool_call_input."),
		strings.HasPrefix(kind, "code_interpreter_call_code."):
	default:
		return "" // an event that tells of progress alone
	}
	name, word := member(kind)
	target := s.item(data, nil).members
	if list != "" {
		parts := target.List(list)
		index := max(pieces.Index(data, at), 0)
		for s.room.Err() == nil && parts.Len() <= min(index, maxCalls) {
			parts.Append(json.RawMessage(`{"type":"` + partType(kind) + `"}`))
		}
		if target = parts.At(index); target == nil {
			s.room.Close(errors.New("a piece of the answer stands at a place that cannot be"))
			return ""
		}
	}
	said, _ := jsonrpc.Member(data, word)
	text, isText := jsonrpc.Text(said)
	switch {
	case word == "part":
		for name, v := range jsonrpc.Members(said) { // as it begins, and at its end as a whole
			target.Set(name, v)
		}
	case word == "annotation":
		target.List("annotations").Append(said)
	case word == "delta" && isText:
		target.Add(name, text)
		if name == "refusal" || strings.HasPrefix(kind, "output_text.") {
			return text
		}
	case isText:
		target.SetText(name, text)
	}
	return ""
}

// member says which member of an item or a part an event fills, and which of its own members says with what.
func member(kind string) (name, word string) {
	kind, last, _ := strings.Cut(kind, ".")
	name = "text"
	switch {
	case strings.HasSuffix(kind, "_part"):
		return "", "part"
	case last == "annotation.added":
		return "annotations", "annotation"
	case kind == "refusal":
		name = "refusal"
	case strings.HasSuffix(kind, "_arguments"):
		name = "arguments"
	case strings.HasSuffix(kind, "_input"):
		name = "input"
	case strings.HasSuffix(kind, "_code"):
		name = "code"
	}
	if last == "delta" {
		return name, last
	}
	return name, name
}

func partType(kind string) string {
	switch {
	case strings.HasPrefix(kind, "refusal"):
		return "refusal"
	case strings.HasPrefix(kind, "reasoning_summary"):
		return "summary_text"
	case strings.HasPrefix(kind, "reasoning"):
		return "reasoning_text"
	}
	return "output_text"
}

// Answer is the whole answer as the API gives it without streaming; its member "output" is for [ResponseCalls]. It fails
// with [llm.ErrUnfinished], and returns what has come, where the stream ended too early.
func (s *ResponseStream) Answer() (json.RawMessage, error) {
	if err := s.room.Err(); err != nil {
		return nil, err
	}
	if s.answer == nil && s.items == nil {
		return nil, llm.ErrUnfinished
	}
	out := s.answer
	if out == nil {
		out = json.RawMessage(`{"object":"response"}`)
	}
	told, _ := jsonrpc.Member(out, "output")
	if s.items != nil && (!s.done || !jsonrpc.IsArray(told) || empty(told)) {
		slices.SortStableFunc(s.items, func(a, b *responseItem) int { return a.index - b.index })
		items := (&pieces.Room{Max: -1}).NewList()
		for _, item := range s.items {
			items.Append(item.members.JSON())
		}
		out = jsonrpc.With(nil, out, "output", items.JSON())
	}
	if !s.done {
		return out, llm.ErrUnfinished
	}
	return out, nil
}

func empty(list []byte) bool {
	for range jsonrpc.Elements(list) {
		return false
	}
	return true
}
