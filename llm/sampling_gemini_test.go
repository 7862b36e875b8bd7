package llm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestSamplingGemini shows what of a conversation with calls goes to the API: results in the order of their calls, whatever
// the order the server sends them in; no ids; signatures where the server has kept them, and the word for a lost one where it
// has not.
func TestSamplingGemini(t *testing.T) {
	var sent json.RawMessage
	web := httptest.NewServer(llmtest.Gemini(func(r llmtest.Request) llmtest.Turn {
		sent = r.Raw
		if r.Turn == 0 {
			return llmtest.Turn{Calls: []llm.Call{{Name: "tide.now", Args: json.RawMessage(`{"h":"Bergen"}`)}, {Name: "wind"}}}
		}
		return llmtest.Turn{Text: "Calm."}
	}))
	defer web.Close()
	s := &gemini.Sampler{Endpoint: llm.Endpoint{BaseURL: web.URL + "/v1beta", Key: "k"}, Model: "gemini-3-pro"}
	open := json.RawMessage(`{"type":"object","properties":{"h":{"type":"string"}}}`)
	req := &client.SamplingRequest{CreateMessageParams: mcp.CreateMessageParams{
		MaxTokens: 9000, StopSequences: []string{"a", "b", "c", "d", "e", "f"}, SystemPrompt: "Short.", ToolChoice: &mcp.ToolChoice{Mode: mcp.ToolChoiceRequired},
		Tools:    []mcp.Tool{{Name: "tide.now", InputSchema: open}, {Name: "wind", InputSchema: open}},
		Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("Tide and wind?")}}},
	}}
	first, err := s.CreateMessage(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"contents":[{"role":"user","parts":[{"text":"Tide and wind?"}]}],"generationConfig":{"maxOutputTokens":4096,"stopSequences":["a","b","c","d","e"]},"systemInstruction":{"parts":[{"text":"Short."}]},` +
		`"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"tools":[{"functionDeclarations":[{"name":"tide.now","parametersJsonSchema":{"type":"object","properties":{"h":{"type":"string"}}}},{"name":"wind","parametersJsonSchema":{"type":"object","properties":{"h":{"type":"string"}}}}]}]}`
	if string(sent) != want {
		t.Errorf("got  %s\nwant %s", sent, want)
	}
	uses := first.ToolUses()
	if len(uses) != 2 || uses[0].ID != "call_1_0" || uses[1].ID != "call_1_1" || string(uses[1].Input) != "{}" {
		t.Fatalf("%+v", first)
	}
	if kept, _ := uses[0].Meta.Text(gemini.MetaSignature); kept != "c2lnbmVk" {
		t.Errorf("the signature is not kept: %s", uses[0].Meta)
	}
	answers := []mcp.Content{
		&mcp.ToolResultContent{ToolUseID: uses[1].ID, Content: []mcp.Content{mcp.Text("none")}},
		&mcp.ToolResultContent{ToolUseID: uses[0].ID, IsError: true, Content: []mcp.Content{mcp.Text("sensor down")}},
	}
	for name, meta := range map[string]mcp.Meta{"c2lnbmVk": uses[0].Meta, "skip_thought_signature_validator": mcp.Meta(`{"io.github.rialto-mcp/thoughtSignature":"no base64!"}`)} {
		uses[0].Meta = meta
		req.Messages = append(req.Messages[:1:1], mcp.SamplingMessage{Role: mcp.RoleAssistant, Content: first.Content}, mcp.SamplingMessage{Role: mcp.RoleUser, Content: answers})
		second, err := s.CreateMessage(t.Context(), req)
		if err != nil || second.Text() != "Calm." || second.Model != "fake-1" {
			t.Errorf("%v, %+v", err, second)
		}
		want := `{"role":"model","parts":[{"functionCall":{"args":{"h":"Bergen"},"name":"tide.now"},"thoughtSignature":"` + name + `"},{"functionCall":{"args":{},"name":"wind"}}]},` +
			`{"role":"user","parts":[{"functionResponse":{"name":"tide.now","response":{"error":"sensor down"}}},{"functionResponse":{"name":"wind","response":{"output":"none"}}}]}`
		if !strings.Contains(string(sent), want) {
			t.Errorf("got  %s\nwant %s", sent, want)
		}
	}
	req.Messages[2].Content = answers[:1]
	if _, err := s.CreateMessage(t.Context(), req); mcp.CodeOf(err) != mcp.CodeInvalidParams {
		t.Errorf("a call without a result: %v", err)
	}
	req.Messages[2].Content = []mcp.Content{answers[0], answers[0]}
	if _, err := s.CreateMessage(t.Context(), req); mcp.CodeOf(err) != mcp.CodeInvalidParams {
		t.Errorf("one call with two results: %v", err)
	}
}

// TestSamplingGeminiEnds shows what becomes of each way in which an answer may end.
func TestSamplingGeminiEnds(t *testing.T) {
	answer, path := "", ""
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.URL.EscapedPath()
		io.WriteString(w, answer)
	}))
	defer web.Close()
	s := &gemini.Sampler{Endpoint: llm.Endpoint{BaseURL: web.URL}, Model: "models/a/../b?c"}
	req := &client.SamplingRequest{CreateMessageParams: mcp.CreateMessageParams{MaxTokens: 9, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("x")}}}}}
	for _, tc := range []struct{ answer, want string }{
		{`{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Low."}]},"finishReason":"STOP"}],"modelVersion":"v"}`, "Low. endTurn v"},
		{`{"candidates":[{"content":{"parts":[{"text":"Lo"},{"functionCall":{"name":"half"}}]},"finishReason":"MAX_TOKENS"}]}`, "Lo maxTokens unknown"},
		{`{"candidates":[{"finishReason":"SAFETY"}]}`, " contentFilter unknown"},
		{`{"candidates":[{"content":{"role":"model"},"finishReason":"OTHER"}]}`, " OTHER unknown"},
		{`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, "cannot be used: MALFORMED_FUNCTION_CALL"},
		{`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, "refuses the messages: PROHIBITED_CONTENT"},
		{`{}`, "no candidates"},
	} {
		answer = tc.answer
		r, err := s.CreateMessage(t.Context(), req)
		got := fmt.Sprint(err)
		if err == nil {
			got = r.Text() + " " + r.StopReason + " " + r.Model
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.answer, got, tc.want)
		}
	}
	if path != "/models/a%2F..%2Fb%3Fc:generateContent" {
		t.Errorf("the model's name leads elsewhere: %s", path)
	}
	s.Model = ""
	if _, err := s.CreateMessage(t.Context(), req); err == nil || !strings.Contains(err.Error(), "no Model") {
		t.Errorf("without a model: %v", err)
	}
}
