package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
)

// joined is what the four ways to join a stream have in common.
type joined interface {
	llm.Joiner
	Answer() (json.RawMessage, error)
}

// streams are the APIs, each with the request for a stream and the joiner.
var streams = []struct {
	name   string
	fake   func(llmtest.Script) http.Handler
	whole  string // path of the answer at once
	path   string
	body   string
	joiner func() joined
	calls  func(answer json.RawMessage) ([]llm.Call, error)
}{
	{"openai chat", llmtest.OpenAI, "/v1/chat/completions", "/v1/chat/completions",
		`{"model":"m","messages":[{"role":"user","content":"go"}]}`,
		func() joined { return &openai.ChatStream{} },
		func(answer json.RawMessage) ([]llm.Call, error) {
			message, err := openai.Message(answer)
			if err != nil {
				return nil, err
			}
			return openai.ChatCalls(message)
		}},
	{"openai responses", llmtest.OpenAI, "/v1/responses", "/v1/responses",
		`{"model":"m","input":[{"role":"user","content":"go"}]}`,
		func() joined { return &openai.ResponseStream{} },
		func(answer json.RawMessage) ([]llm.Call, error) {
			output, _ := mcp.Member(answer, "output")
			return openai.ResponseCalls(output)
		}},
	{"anthropic", llmtest.Anthropic, "/v1/messages", "/v1/messages",
		`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}]}`,
		func() joined { return &anthropic.Stream{} }, anthropic.Calls},
	{"gemini", llmtest.Gemini, "/v1beta/models/gemini-3-pro:generateContent", "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
		`{"contents":[{"role":"user","parts":[{"text":"go"}]}]}`,
		func() joined { return &gemini.Stream{} },
		func(answer json.RawMessage) ([]llm.Call, error) {
			content, err := gemini.Content(answer)
			if err != nil {
				return nil, err
			}
			return gemini.Calls(content)
		}},
}

// TestStreamedIsWhole holds that an answer in pieces, joined, is the answer that comes at once: text in several scripts,
// parallel calls whose pieces come by turns, arguments of all sizes.
func TestStreamedIsWhole(t *testing.T) {
	for _, turn := range []llmtest.Turn{
		{Text: "High water at 03:12."},
		{Text: "Flut um drei: größer. 潮は三時です。🌊🌊"},
		{Calls: []llm.Call{{ID: "a1", Name: "tide", Args: json.RawMessage(`{}`)}}},
		{Text: "Looking.", Calls: []llm.Call{
			{ID: "a1", Name: "tide", Args: json.RawMessage(`{"harbour":"Bergen","days":[1,2,3],"note":"a \"b\" ø"}`)},
			{ID: "a2", Name: "tide", Args: json.RawMessage(`{"harbour":"Oslo"}`)},
			{ID: "a3", Name: "wind", Args: json.RawMessage(`{"n":12345678901234567890}`)},
		}},
	} {
		for _, s := range streams {
			web := httptest.NewServer(s.fake(func(llmtest.Request) llmtest.Turn { return turn }))
			e := llm.Endpoint{BaseURL: web.URL}
			auth := http.Header{"Anthropic-Version": {anthropic.Version2023}}
			want, err := e.Post(t.Context(), s.whole, auth, json.RawMessage(s.body))
			if err != nil {
				t.Fatal(err)
			}
			body := strings.Replace(s.body, "{", `{"stream":true,`, 1)
			answer, text := s.joiner(), ""
			for piece, err := range llm.Text(e.Stream(t.Context(), s.path, auth, json.RawMessage(body)), answer) {
				if err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
				text += piece
			}
			web.Close()
			got, err := answer.Answer()
			if err != nil || text != turn.Text {
				t.Errorf("%s: %v, the text came as %q, want %q", s.name, err, text, turn.Text)
			}
			if a, b := without(t, got, "usageMetadata"), without(t, want, "usageMetadata"); !reflect.DeepEqual(a, b) {
				t.Errorf("%s:\ngot  %s\nwant %s", s.name, got, want)
			}
			calls, err := s.calls(got)
			if err != nil || len(calls) != len(turn.Calls) {
				t.Errorf("%s: %v, %d calls of %d", s.name, err, len(calls), len(turn.Calls))
			}
		}
	}
}

func without(t *testing.T, raw json.RawMessage, names ...string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	for _, name := range names {
		delete(v, name)
	}
	return v
}

// join reads events that are written one a line, as data alone.
func join(lines string, to joined) (text string, answer json.RawMessage, err error) {
	stream := "data: " + strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n\ndata: ") + "\n\n"
	for piece, err := range llm.Text(llm.ReadStream(iotest.OneByteReader(strings.NewReader(stream)), 0), to) {
		text += piece
		if err != nil {
			return text, nil, err
		}
	}
	answer, err = to.Answer()
	return text, answer, err
}

// TestOddStreams shows streams as they are met, and the answer that each of them makes.
func TestOddStreams(t *testing.T) {
	chat := func() joined { return &openai.ChatStream{} }
	responses := func() joined { return &openai.ResponseStream{} }
	messages := func() joined { return &anthropic.Stream{} }
	contents := func() joined { return &gemini.Stream{} }
	for _, tc := range []struct {
		name         string
		to           func() joined
		events, text string
		want         string
	}{
		{"chat: two calls by turns, a chunk of counts alone, a first chunk without choices", chat, `
{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}
{"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}],"usage":null}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"tide","arguments":""}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"tide","arguments":""}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"h\":"}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}},{"index":1,"function":{"arguments":"\"Oslo\"}"}}]}}]}
{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
{"choices":[],"usage":{"total_tokens":7}}
[DONE]`, "", `{"prompt_filter_results":[{"prompt_index":0}],"id":"x","object":"chat.completion","model":"m","usage":{"total_tokens":7},"choices":[{"index":0,"message":{"role":"assistant","content":null,` +
			`"tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"tide","arguments":"{\"h\":\"Oslo\"}"}}]},"finish_reason":"tool_calls"}]}`},
		{"chat: calls whole, all under index 0, with a signature", chat, `
{"choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c1","function":{"name":"tide","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s=="}}}]}}]}
{"choices":[{"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"c2","function":{"name":"tide","arguments":"{\"d\":1}"}}]},"finish_reason":"stop"}]}`, "",
			`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","extra_content":{"google":{"thought_signature":"s=="}},"function":{"name":"tide","arguments":"{}"}},` +
				`{"id":"c2","type":"function","function":{"name":"tide","arguments":"{\"d\":1}"}}]},"finish_reason":"stop"}]}`},
		{"chat: neither ids nor indexes, arguments as objects; [DONE] is the only end", chat, `
{"choices":[{"delta":{"tool_calls":[{"function":{"name":"tide","arguments":{"d":1}}},{"function":{"name":"tide","arguments":{"d":2}}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"function":{"name":"wind","arguments":"{\"d\""}}]}}]}
{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":3}"}}]},"finish_reason":""}]}
[DONE]`, "", `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"type":"function","function":{"name":"tide","arguments":"{\"d\":1}"}},` +
			`{"type":"function","function":{"name":"tide","arguments":"{\"d\":2}"}},{"type":"function","function":{"name":"wind","arguments":"{\"d\":3}"}}]},"finish_reason":null}]}`},
		{"chat: an id of its own on every piece, the name again, the arguments again as a whole", chat, `
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"r1","function":{"name":"tide","arguments":"{\"d\":"}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"r2","function":{"name":null,"arguments":"1}"}}]}}]}
{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"r1","function":{"name":"tide","arguments":"{\"d\":1}"}}]},"finish_reason":"tool_calls"}]}`, "",
			`{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"r1","type":"function","function":{"name":"tide","arguments":"{\"d\":1}"}}]},"finish_reason":"tool_calls"}]}`},
		{"chat: thinking of others beside the text, probabilities, empty deltas, a second choice", chat, `
{"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning_content":"let "},"logprobs":{"content":[{"token":"a"}]}}]}
{"choices":[{"index":0,"delta":{"reasoning_content":"me see","reasoning_details":[{"type":"reasoning.text","index":0,"text":"let "}]}}]}
{"choices":[{"index":0,"delta":{"content":"Low "},"logprobs":{"content":[{"token":"b"}]}},{"index":1,"delta":{"content":"Other"}}]}
{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":"me","signature":"g"}]}},{"index":0,"delta":{}},{"index":0,"delta":null}]}
{"choices":[{"index":0,"delta":{"content":"tide."},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"stop"}]}`, "Low tide.",
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"Low tide.","reasoning_content":"let me see","reasoning_details":[{"type":"reasoning.text","index":0,"text":"let me","signature":"g"}]},` +
				`"finish_reason":"stop","logprobs":{"content":[{"token":"a"},{"token":"b"}]}},{"index":1,"message":{"role":"assistant","content":"Other"},"finish_reason":"stop"}]}`},
		{"chat: content as parts", chat, `
{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}
{"choices":[{"index":0,"delta":{"content":[{"type":"text","text":"Lo"}]}}]}
{"choices":[{"index":0,"delta":{"content":"w."},"finish_reason":"stop"}]}`, "Low.",
			`{"choices":[{"index":0,"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Low."}]},"finish_reason":"stop"}]}`},
		{"chat: an endpoint that does not stream", chat, `
{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Low."},"finish_reason":"stop"}]}`, "Low.",
			`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Low."},"finish_reason":"stop"}]}`},

		{"responses: the last event has all", responses, `
{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","output":[],"error":null}}
{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}
{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}}
{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"m","content":[]}}
{"type":"response.output_text.delta","output_index":1,"content_index":0,"item_id":"m","delta":"Low."}
{"type":"response.completed","response":{"id":"r","object":"response","status":"completed","error":null,"output":[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"},{"type":"message","id":"m","content":[{"type":"output_text","text":"Low."}]}]}}`,
			"Low.", `{"id":"r","object":"response","status":"completed","error":null,"output":[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"},{"type":"message","id":"m","content":[{"type":"output_text","text":"Low."}]}]}`},
		{"responses: the last event lacks the items, which never say that they are done; two calls by turns", responses, `
{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"f2","call_id":"c2","name":"wind","arguments":""}}
{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f1","call_id":"c1","name":"tide","arguments":""}}
{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"f1","delta":"{\"d\""}
{"type":"response.function_call_arguments.delta","item_id":"f2","delta":"{}"}
{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"f1","delta":":1}"}
{"type":"response.web_search_call.searching","output_index":7,"item_id":"w"}
{"type":"response.output_text.delta","output_index":2,"item_id":"m","content_index":0,"delta":"Lo"}
{"type":"response.output_text.delta","output_index":2,"item_id":"m","content_index":0,"delta":"w."}
{"type":"response.output_text.annotation.added","output_index":2,"item_id":"m","content_index":0,"annotation":{"type":"url_citation"}}
{"type":"response.completed","response":{"id":"r","object":"response","output":[]}}`, "Low.",
			`{"id":"r","object":"response","output":[{"type":"function_call","id":"f1","call_id":"c1","name":"tide","arguments":"{\"d\":1}"},{"type":"function_call","id":"f2","call_id":"c2","name":"wind","arguments":"{}"},` +
				`{"content":[{"type":"output_text","text":"Low.","annotations":[{"type":"url_citation"}]}]}]}`},
		{"responses: parts that say at their end what they have said in pieces, items that never end", responses, `
{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs","summary":[]}}
{"type":"response.reasoning_summary_part.added","output_index":0,"item_id":"rs","summary_index":0,"part":{"type":"summary_text","text":""}}
{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs","summary_index":0,"delta":"Tides "}
{"type":"response.reasoning_summary_text.delta","output_index":0,"item_id":"rs","summary_index":0,"delta":"first."}
{"type":"response.reasoning_summary_text.done","output_index":0,"item_id":"rs","summary_index":0,"text":"Tides first."}
{"type":"response.reasoning_summary_part.done","output_index":0,"item_id":"rs","summary_index":0,"part":{"type":"summary_text","text":"Tides first."}}
{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"m","content":[]}}
{"type":"response.content_part.added","output_index":1,"item_id":"m","content_index":0,"part":{"type":"refusal","refusal":""}}
{"type":"response.refusal.delta","output_index":1,"item_id":"m","content_index":0,"delta":"No"}
{"type":"response.refusal.delta","output_index":1,"item_id":"m","content_index":0,"delta":"."}
{"type":"response.content_part.done","output_index":1,"item_id":"m","content_index":0,"part":{"type":"refusal","refusal":"No."}}
{"type":"response.incomplete","response":{"object":"response","status":"incomplete"}}`, "No.",
			`{"object":"response","status":"incomplete","output":[{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Tides first."}]},{"type":"message","id":"m","content":[{"type":"refusal","refusal":"No."}]}]}`},

		{"anthropic: thinking with its signature, a call without arguments, counts that go on", messages, `
{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[],"stop_reason":null,"usage":{"input_tokens":5,"output_tokens":1}}}
{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
{"type":"ping"}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"The tide"}}
{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"..."}}
{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig=="}}
{"type":"content_block_stop","index":0}
{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"zz"}}
{"type":"content_block_stop","index":1}
{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}
{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Low."}}
{"type":"content_block_delta","index":2,"delta":{"type":"citations_delta","citation":{"type":"char_location"}}}
{"type":"content_block_stop","index":2}
{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"t","name":"tide","input":{}}}
{"type":"content_block_stop","index":3}
{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":30}}
{"type":"something_new","index":9}
{"type":"message_stop"}`, "Low.",
			`{"id":"m","type":"message","role":"assistant","model":"x","content":[{"type":"thinking","thinking":"The tide...","signature":"sig=="},{"type":"redacted_thinking","data":"zz"},` +
				`{"type":"text","text":"Low.","citations":[{"type":"char_location"}]},{"type":"tool_use","id":"t","name":"tide","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":5,"output_tokens":30},"stop_sequence":null}`},
		{"anthropic: no tokens left within a call: it is left out", messages, `
{"type":"message_start","message":{"type":"message","content":[]}}
{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"tide","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"d\": 1}"}}
{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"b","name":"tide","input":{}}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"d\":"}}
{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}
{"type":"message_stop"}`, "", `{"type":"message","content":[{"type":"tool_use","id":"a","name":"tide","input":{"d": 1}}],"stop_reason":"max_tokens"}`},
		{"anthropic: an imitator that does not say where blocks begin", messages, `
{"type":"message_start","message":{"type":"message","role":"assistant"}}
{"type":"content_block_delta","delta":{"type":"text_delta","text":"Lo"}}
{"type":"content_block_delta","delta":{"type":"text_delta","text":"w."}}
{"type":"message_delta","delta":{"stop_reason":"end_turn"}}
[DONE]`, "Low.", `{"type":"message","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Low."}]}`},

		{"gemini: thoughts are no text, parts with signatures stay alone, counts are the last", contents, `
{"candidates":[{"content":{"role":"model","parts":[{"text":"Let me ","thought":true}]}}],"usageMetadata":{"totalTokenCount":1}}
{"candidates":[{"content":{"role":"model","parts":[{"text":"see.","thought":true}]}}]}
{"candidates":[{"content":{"parts":[{"text":"Lo"},{"text":"w"}]}}]}
{"candidates":[{"content":{"parts":[{"text":" tide.","thoughtSignature":"s1"}]}}]}
{"candidates":[{"content":{"parts":[{"functionCall":{"name":"tide","args":{"d":1}},"thoughtSignature":"s2"},{"functionCall":{"name":"tide"}}]}}]}
{"candidates":[{"content":{"parts":[{"text":"","thoughtSignature":"s3"}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":9},"modelVersion":"v"}`, "Low tide.",
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"Let me see.","thought":true},{"text":"Low"},{"text":" tide.","thoughtSignature":"s1"},{"functionCall":{"name":"tide","args":{"d":1}},"thoughtSignature":"s2"},` +
				`{"functionCall":{"name":"tide"}},{"text":"","thoughtSignature":"s3"}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":9},"modelVersion":"v"}`},
		{"gemini: a prompt that is refused", contents, `
{"promptFeedback":{"blockReason":"SAFETY"}}`, "", `{"promptFeedback":{"blockReason":"SAFETY"}}`},
	} {
		text, answer, err := join(tc.events, tc.to())
		if err != nil || text != tc.text || string(answer) != tc.want {
			t.Errorf("%s: %v, text %q, want %q\ngot  %s\nwant %s", tc.name, err, text, tc.text, answer, tc.want)
		}
	}
}

// TestStreamsThatFail holds what becomes of errors within a stream, and of streams that end too early: what has come can be
// shown, and no call is made of half of one.
func TestStreamsThatFail(t *testing.T) {
	for _, s := range streams {
		for _, tc := range []struct{ event, want string }{
			{`{"error":{"message":"Overloaded","type":"server_error","code":"x"}}`, "the model's endpoint: Overloaded"},
			{`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "the model's endpoint: Overloaded"},
			{`{"type":"error","code":"x","message":"Overloaded","param":null}`, "the model's endpoint: Overloaded"},
			{`{"type":"response.failed","response":{"error":{"code":"x","message":"Overloaded"}}}`, "the model's endpoint: Overloaded"},
			{`{"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}`, "the model's endpoint: Overloaded"},
			{`{"error":"Overloaded"}`, "the model's endpoint: Overloaded"},
			{`{"error":{}}`, "an error that says nothing"},
			{`{"choices":[`, "no valid JSON"},
			{`17`, "no JSON object"},
		} {
			to := s.joiner()
			_, _, err := join(tc.event, to)
			var told *llm.EndpointError
			if !errors.As(err, &told) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %s: %v", s.name, tc.event, err)
			}
			if _, err := to.Add(llm.StreamEvent{Data: []byte(tc.event)}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s, by hand: %s: %v", s.name, tc.event, err)
			}
		}
		if _, err := s.joiner().Answer(); !errors.Is(err, llm.ErrUnfinished) {
			t.Errorf("%s: nothing at all: %v", s.name, err)
		}
	}
	for _, tc := range []struct {
		to           joined
		events, want string
	}{
		{&openai.ChatStream{}, `{"choices":[{"delta":{"content":"Lo"}}]}`, `"content":"Lo"`},
		{&openai.ResponseStream{}, `{"type":"response.output_text.delta","output_index":0,"delta":"Lo"}`, `"text":"Lo"`},
		{&anthropic.Stream{}, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Lo"}}
{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"t","input":{}}}
{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"d"}}`, `{"content":[{"type":"text","text":"Lo"}]}`},
		{&gemini.Stream{}, `{"candidates":[{"content":{"parts":[{"text":"Lo"}]}}]}`, `{"text":"Lo"}`},
	} {
		text, answer, err := join(tc.events, tc.to)
		if !errors.Is(err, llm.ErrUnfinished) || text != "Lo" || !strings.Contains(string(answer), tc.want) {
			t.Errorf("%T: %v, %q, %s", tc.to, err, text, answer)
		}
	}
	_, _, err := join(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"t","input":{}}}
{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"d"}}
{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, &anthropic.Stream{})
	if err == nil || errors.Is(err, llm.ErrUnfinished) {
		t.Errorf("arguments that are no JSON in a whole answer: %v", err)
	}
	_, _, err = join(`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","partialArgs":[{"jsonPath":"$.d"}],"willContinue":true}}]}}]}`, &gemini.Stream{})
	if err == nil || !strings.Contains(err.Error(), "streamFunctionCallArguments") {
		t.Errorf("arguments in pieces: %v", err)
	}
	broken := io.MultiReader(strings.NewReader("data: {\"candidates\":[]}\n\n"), iotest.ErrReader(io.ErrUnexpectedEOF))
	for _, err = range llm.Text(llm.ReadStream(broken, 0), &gemini.Stream{}) {
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "broke off") {
		t.Errorf("a connection that breaks: %v", err)
	}
}

// TestStreamsAreBounded holds that an endpoint cannot fill the memory: neither by one event, nor by many, nor by places in
// lists that are far away.
func TestStreamsAreBounded(t *testing.T) {
	for _, tc := range []struct {
		name   string
		to     joined
		events func(i int) string
	}{
		{"chat, text", &openai.ChatStream{MaxBytes: 10000}, func(int) string { return `{"choices":[{"delta":{"content":"0123456789"}}]}` }},
		{"chat, empty calls", &openai.ChatStream{}, func(i int) string {
			return fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":%d}]}}]}`, i*1000)
		}},
		{"chat, choices", &openai.ChatStream{}, func(i int) string { return fmt.Sprintf(`{"choices":[{"index":%d}]}`, i) }},
		{"chat, members", &openai.ChatStream{MaxBytes: 10000}, func(i int) string { return fmt.Sprintf(`{"choices":[{"delta":{"x%d":1}}]}`, i) }},
		{"chat, lists", &openai.ChatStream{MaxBytes: 10000}, func(int) string { return `{"choices":[{"delta":{"content":[{"type":"x"}],"annotations":[1]}}]}` }},
		{"responses, items", &openai.ResponseStream{}, func(i int) string {
			return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{}}`, i)
		}},
		{"responses, a part far away", &openai.ResponseStream{}, func(i int) string {
			return `{"type":"response.output_text.delta","output_index":0,"content_index":999999999,"delta":"x"}`
		}},
		{"responses, as a whole", &openai.ResponseStream{MaxBytes: 10}, func(i int) string { return `{"type":"response.created","response":{"output":[]}}` }},
		{"anthropic, blocks", &anthropic.Stream{}, func(i int) string {
			return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{}}`, i)
		}},
		{"anthropic, arguments", &anthropic.Stream{MaxBytes: 10000}, func(i int) string {
			return `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"0123456789"}}`
		}},
		{"gemini, parts", &gemini.Stream{}, func(int) string { return `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t"}}]}}]}` }},
		{"gemini, candidates", &gemini.Stream{}, func(i int) string { return fmt.Sprintf(`{"candidates":[{"index":%d}]}`, i) }},
	} {
		var err error
		for i := 0; i < 20000 && err == nil; i++ {
			_, err = tc.to.Add(llm.StreamEvent{Data: []byte(tc.events(i))})
		}
		if err == nil {
			t.Errorf("%s: 20,000 events are kept", tc.name)
			continue
		}
		if _, again := tc.to.Answer(); again == nil || errors.Is(again, llm.ErrUnfinished) {
			t.Errorf("%s: an answer is made of it nevertheless: %v", tc.name, again)
		}
	}
	// What is said anew in each event counts once.
	counts := &openai.ChatStream{MaxBytes: 1000}
	for range 1000 {
		if _, err := counts.Add(llm.StreamEvent{Data: []byte(`{"id":"x","model":"m","choices":[{"delta":{}}],"usage":{"total_tokens":7}}`)}); err != nil {
			t.Fatal(err)
		}
	}
	// So does an item that is said in pieces, and then as a whole.
	twice := &openai.ResponseStream{MaxBytes: 2600}
	for i := range 2 {
		for _, event := range []string{`{"type":"response.output_text.delta","output_index":%d,"delta":"%s"}`, `{"type":"response.output_item.done","output_index":%d,"item":{"content":[{"text":"%s"}]}}`} {
			if _, err := twice.Add(llm.StreamEvent{Data: fmt.Appendf(nil, event, i, strings.Repeat("x", 700))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	large := "data: {\"x\":\"" + strings.Repeat("x", 2000) + "\"}\n\n"
	for _, err := range llm.ReadStream(strings.NewReader(large), 1000) {
		if err == nil || !strings.Contains(err.Error(), "more than 1000 bytes") {
			t.Errorf("an event that is too large: %v", err)
		}
	}
}

// TestEndpointsStream holds for streams what holds for answers at once: errors say why and never hold the key, redirects are
// not followed, time is bounded, and whoever breaks off frees the connection. Endpoints that do not stream are understood.
func TestEndpointsStream(t *testing.T) {
	const key = "sk-very-secret"
	gone := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil { // only then the end of the connection is seen
			t.Error(err)
		}
		told := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch r.URL.Path {
		case "/refused":
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprintf(w, `{"error":{"message":"wrong key %s"}}`, told)
		case "/away":
			http.Redirect(w, r, "/stolen", http.StatusTemporaryRedirect)
		case "/stolen":
			t.Error("a redirect was followed with the key")
		case "/within":
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: error\ndata: {\"error\":{\"message\":\"wrong key %s\"}}\n\n", told)
		case "/at-once":
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprint(w, `{"object":"chat.completion","choices":[{"message":{"content":"Low."},"finish_reason":"stop"}]}`)
		case "/list":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `[{"choices":[{"delta":{"content":"Lo"}}]},{"choices":[{"delta":{"content":"w."},"finish_reason":"stop"}]}]`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"Lo\"}}]}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			gone <- struct{}{}
		}
	}))
	defer web.Close()
	e := llm.Endpoint{BaseURL: web.URL, Key: key}
	auth := http.Header{"Authorization": {"Bearer " + key}}
	for path, want := range map[string]string{"/refused": "status 429: wrong key (key)", "/away": "status 307", "/within": "wrong key (key)", "/slow": "no answer came"} {
		if path == "/slow" {
			e.Timeout = 50 * time.Millisecond
		}
		var err error
		for _, err = range e.Stream(t.Context(), path, auth, json.RawMessage("{}")) {
		}
		var told *llm.EndpointError
		if !errors.As(err, &told) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
		if path == "/slow" {
			e.Timeout = 0
			<-gone
		}
	}
	for range llm.Text(e.Stream(t.Context(), "/broken-off", auth, json.RawMessage("{}")), &openai.ChatStream{}) {
		break
	}
	<-gone
	for _, path := range []string{"/at-once", "/list"} {
		answer, text := &openai.ChatStream{}, ""
		for piece, err := range llm.Text(e.Stream(t.Context(), path, auth, json.RawMessage("{}")), answer) {
			if err != nil {
				t.Fatal(err)
			}
			text += piece
		}
		if whole, err := answer.Answer(); err != nil || text != "Low." {
			t.Errorf("%s: %v, %q, %s", path, err, text, whole)
		}
	}
}
