package vendors

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/llmtest"
)

// shape reads a golden file of package llm into a type of a vendor's client.
func shape[T any](t *testing.T, name string) T {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "llm", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: the vendor's client cannot read it: %v", name, err)
	}
	written, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("%s: the vendor's client cannot write it: %v", name, err)
	}
	var want, got any
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(written, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s: what the vendor's client writes is not what it has read:\n%s", name, written)
	}
	return v
}

// TestShapesForVendors has the official client of each vendor read what package llm writes: it must understand all of it,
// which shows when it writes the same again.
func TestShapesForVendors(t *testing.T) {
	const most = 17 // tools in the files
	for _, name := range []string{"openai_chat", "openai_compatible"} {
		tools := shape[[]openai.ChatCompletionToolUnionParam](t, name+"_tools.json")
		if len(tools) != most || tools[0].OfFunction == nil || tools[0].OfFunction.Function.Name == "" {
			t.Errorf("%s: %d tools", name, len(tools))
		}
		results := shape[[]openai.ChatCompletionMessageParamUnion](t, name+"_results.json")
		if len(results) < most || results[0].OfTool == nil || results[0].OfTool.ToolCallID == "" {
			t.Errorf("%s: %d results", name, len(results))
		}
	}
	if tools := shape[[]responses.ToolUnionParam](t, "openai_responses_tools.json"); len(tools) != most || tools[0].OfFunction == nil {
		t.Errorf("responses: %d tools", len(tools))
	}
	if items := shape[[]responses.ResponseInputItemUnionParam](t, "openai_responses_results.json"); len(items) != most || items[0].OfFunctionCallOutput == nil {
		t.Errorf("responses: %d results", len(items))
	}
	if tools := shape[[]anthropic.ToolUnionParam](t, "anthropic_tools.json"); len(tools) != most || tools[0].OfTool == nil {
		t.Errorf("anthropic: %d tools", len(tools))
	}
	if m := shape[anthropic.MessageParam](t, "anthropic_results.json"); len(m.Content) < most || m.Content[0].OfToolResult == nil {
		t.Errorf("anthropic: %d blocks", len(m.Content))
	}
	for _, name := range []string{"gemini", "gemini_older"} {
		if tools := shape[[]*genai.Tool](t, name+"_tools.json"); len(tools) != 1 || len(tools[0].FunctionDeclarations) != most {
			t.Errorf("%s: %d tools", name, len(tools))
		}
		if c := shape[genai.Content](t, name+"_results.json"); len(c.Parts) != most || c.Parts[0].FunctionResponse == nil {
			t.Errorf("%s: %d parts", name, len(c.Parts))
		}
	}
}

// TestVendorsMeetTheFakes has the official clients talk to the endpoints of package llmtest.
func TestVendorsMeetTheFakes(t *testing.T) {
	script := func(r llmtest.Request) llmtest.Turn {
		return llmtest.Turn{Text: "hi", Calls: []llm.Call{{ID: "c1", Name: "t", Args: json.RawMessage(`{"n":1}`)}}}
	}
	one, two := httptest.NewServer(llmtest.OpenAI(script)), httptest.NewServer(llmtest.Anthropic(script))
	defer one.Close()
	defer two.Close()
	o := openai.NewClient(openaioption.WithBaseURL(one.URL+"/v1"), openaioption.WithAPIKey("k"))
	chat, err := o.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("hello")}})
	if err != nil || chat.Choices[0].Message.ToolCalls[0].Function.Arguments != `{"n":1}` || chat.Choices[0].FinishReason != "tool_calls" {
		t.Errorf("openai: %v, %+v", err, chat)
	}
	a := anthropic.NewClient(anthropicoption.WithBaseURL(two.URL), anthropicoption.WithAPIKey("k"))
	said, err := a.Messages.New(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 5, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hello"))}})
	if err != nil || said.Content[1].Name != "t" || said.StopReason != "tool_use" {
		t.Errorf("anthropic: %v, %+v", err, said)
	}
}
