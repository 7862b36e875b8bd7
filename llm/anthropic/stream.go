package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/pieces"
)

// Stream joins a streamed answer of the Messages API:
//
//	answer := &anthropic.Stream{}
//	for text, err := range llm.Text(endpoint.Stream(ctx, "/v1/messages", auth, body), answer) { ... }
//	whole, err := answer.Answer() // as without streaming, for Message and Calls
//
// Thinking comes out with its signature, which has to go back unchanged. The zero value is ready. It is for one answer, and
// not safe for concurrent use.
type Stream struct {
	MaxBytes int64 // bounds what is kept. Zero means 10 MiB; negative means no bound

	room    pieces.Room
	message *pieces.Object
	blocks  []*streamBlock
	done    bool
}

// maxBlocks is how many blocks an answer may have; no model writes as many.
const maxBlocks = 1000

type streamBlock struct {
	index   int
	members *pieces.Object
	input   *pieces.Object // its member "input" is the arguments as text
}

// Add takes the next event and returns what it adds to the text.
func (s *Stream) Add(e llm.StreamEvent) (string, error) {
	if err := e.Err(); err != nil {
		return "", err
	}
	if s.message == nil {
		s.room.Max = s.MaxBytes
		s.message = s.room.New()
	}
	said := ""
	if !e.Done() {
		said = s.add(e.Data)
	}
	return said, s.room.Err()
}

func (s *Stream) add(data []byte) (said string) {
	switch kind := word(data, "type"); kind {
	case "message_start":
		message, _ := jsonrpc.Member(data, "message")
		said = s.whole(message)
	case "message": // an endpoint that does not stream
		s.done = true
		said = s.whole(data)
	case "content_block_start":
		block, _ := jsonrpc.Member(data, "content_block")
		b := s.block(data)
		b.members = s.room.Read(block)
		said = word(block, "text")
	case "content_block_delta":
		delta, _ := jsonrpc.Member(data, "delta")
		said = s.delta(s.block(data), delta)
	case "message_delta":
		for name, v := range jsonrpc.Members(data) {
			switch {
			case name == "delta" && jsonrpc.IsObject(v):
				for name, v := range jsonrpc.Members(v) {
					s.message.Set(name, v)
				}
				s.done = s.done || s.message.Text("stop_reason") != ""
			case name == "usage" && jsonrpc.IsObject(v):
				s.usage(v)
			case name != "type":
				s.message.Set(name, v)
			}
		}
	case "message_stop":
		s.done = true
	}
	return said // of other events (ping, and those that are still to be invented) there is nothing to keep
}

// whole takes what is said of the message as such. Blocks that it holds already are the first ones.
func (s *Stream) whole(message []byte) (said string) {
	if !jsonrpc.IsObject(message) {
		return ""
	}
	for name, v := range jsonrpc.Members(message) {
		s.message.Set(name, v)
	}
	content, _ := jsonrpc.Member(message, "content")
	if jsonrpc.IsArray(content) {
		for block := range jsonrpc.Elements(content) {
			s.begin(len(s.blocks)).members = s.room.Read(block)
			said += word(block, "text")
		}
	}
	return said
}

// usage joins counts: each is a total, and those that are not told anew stay.
func (s *Stream) usage(told []byte) {
	usage := s.message.Object("usage")
	for name, v := range jsonrpc.Members(told) {
		if string(v) != "null" || !usage.Has(name) {
			usage.Set(name, v)
		}
	}
}

// block is the block that an event is about; a new one where it has not begun.
func (s *Stream) block(data []byte) *streamBlock {
	index := pieces.Index(data, "index")
	if index < 0 {
		index = max(len(s.blocks)-1, 0)
	}
	for _, b := range s.blocks {
		if b.index == index {
			return b
		}
	}
	return s.begin(index)
}

func (s *Stream) begin(index int) *streamBlock {
	if len(s.blocks) == maxBlocks {
		s.room.Close(fmt.Errorf("the answer has more than %d blocks", maxBlocks))
		return s.blocks[maxBlocks-1]
	}
	b := &streamBlock{index: index, members: s.room.New(), input: s.room.New()}
	s.blocks = append(s.blocks, b)
	return b
}

// delta joins a piece of a block.
func (s *Stream) delta(b *streamBlock, delta []byte) string {
	if !jsonrpc.IsObject(delta) {
		return ""
	}
	kind := word(delta, "type")
	if !b.members.Has("type") { // an endpoint that does not say that a block begins
		b.members.SetText("type", map[string]string{"thinking_delta": "thinking", "signature_delta": "thinking"}[kind])
		if b.members.Text("type") == "" {
			b.members.SetText("type", "text")
		}
	}
	switch kind {
	case "text_delta":
		b.members.Add("text", word(delta, "text"))
		return word(delta, "text")
	case "input_json_delta":
		b.input.Add("input", word(delta, "partial_json"))
	case "thinking_delta":
		b.members.Add("thinking", word(delta, "thinking"))
	case "signature_delta":
		b.members.Add("signature", word(delta, "signature"))
	case "citations_delta":
		if one, ok := jsonrpc.Member(delta, "citation"); ok {
			if string(b.members.Get("citations")) == "null" {
				b.members.Drop("citations")
			}
			b.members.List("citations").Append(one)
		}
	default:
		b.members.Merge(jsonrpc.Without(delta, "type"))
	}
	return ""
}

// Answer is the whole answer as the API gives it without streaming. It fails with [llm.ErrUnfinished], and returns what has
// come, where the stream ended too early. A call whose arguments were cut off, because the model had no tokens left or the
// stream broke, is left out: there is no whole call to run, and the API would not take it back. Arguments that are no JSON
// in an answer that is whole are an error.
func (s *Stream) Answer() (json.RawMessage, error) {
	if s.message == nil {
		return nil, llm.ErrUnfinished
	}
	if err := s.room.Err(); err != nil {
		return nil, err
	}
	cut := !s.done || stopReason(s.message.Text("stop_reason")) == "maxTokens"
	slices.SortStableFunc(s.blocks, func(a, b *streamBlock) int { return a.index - b.index })
	room := &pieces.Room{Max: -1}
	content := room.NewList()
	var broken error
	for _, b := range s.blocks {
		args := strings.TrimSpace(b.input.Text("input"))
		whole := room.Read(b.members.JSON())
		switch {
		case args == "":
		case jsonrpc.IsObject([]byte(args)) && jsontext.Value(args).IsValid():
			whole.Set("input", json.RawMessage(args))
		case cut:
			continue
		default:
			broken = fmt.Errorf("the arguments of the call of %.80q are no JSON object", whole.Text("name"))
			continue
		}
		if kind := whole.Text("type"); kind == "tool_use" && !whole.Has("input") {
			whole.Set("input", json.RawMessage("{}"))
		}
		content.Append(whole.JSON())
	}
	out := room.Read(s.message.JSON())
	out.Set("content", content.JSON())
	if broken == nil && !s.done {
		broken = llm.ErrUnfinished
	}
	return out.JSON(), broken
}

func word(from []byte, name string) string {
	if !jsonrpc.IsObject(from) {
		return ""
	}
	v, _ := jsonrpc.Member(from, name)
	said, _ := jsonrpc.Text(v)
	return said
}
