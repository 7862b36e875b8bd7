package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/openai"
)

// FuzzStreams holds that no stream crashes a joiner, and that whatever is made of one is valid JSON.
func FuzzStreams(f *testing.F) {
	for _, seed := range []string{
		`{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a","tool_calls":[{"index":1,"id":"c","function":{"name":"t","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"n":1}}`,
		`{"choices":[{"delta":{"content":[{"type":"text","text":"a"}]}}]}` + "\n" + `{"choices":[{"delta":{"content":"b","x":["y"],"z":{"index":0}}}]}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f"}}` + "\n" + `{"type":"response.function_call_arguments.delta","item_id":"f","delta":"{}"}` + "\n" + `{"type":"response.completed","response":{"output":[]}}`,
		`{"type":"response.reasoning_summary_part.added","item_id":"f","part":{"text":"x"}}` + "\n" + `{"type":"response.refusal.delta","delta":"no"}`,
		`{"type":"message_start","message":{"content":[{"type":"text"}]}}` + "\n" + `{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{"}}` + "\n" + `{"type":"message_delta","usage":{"a":1},"delta":{"stop_reason":"end_turn"}}`,
		`{"candidates":[{"index":0,"content":{"parts":[{"text":"a"},{"text":"b","thoughtSignature":"s"}]},"finishReason":"STOP"}]}`,
		"[DONE]", `{"error":{"message":"x"}}`, `{"choices":7,"candidates":[[]],"delta":[]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		for _, to := range []joined{&openai.ChatStream{}, &openai.ResponseStream{}, &anthropic.Stream{}, &gemini.Stream{}} {
			failed := false
			for line := range strings.Lines(lines) {
				if _, err := to.Add(llm.StreamEvent{Data: []byte(line)}); err != nil {
					failed = true
					break
				}
			}
			answer, err := to.Answer()
			if answer != nil && !json.Valid(answer) {
				t.Errorf("%T makes of %q %s", to, lines, answer)
			}
			if err == nil && !failed && answer == nil {
				t.Errorf("%T makes nothing of %q, and does not say why", to, lines)
			}
		}
	})
}
