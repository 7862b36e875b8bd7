package vendors

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	openaioption "github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/rialto-mcp/rialto/llm"
	anthropicshapes "github.com/rialto-mcp/rialto/llm/anthropic"
	geminishapes "github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	openaishapes "github.com/rialto-mcp/rialto/llm/openai"
)

// said is what the model of these tests says, and how each client is to understand it.
var said = llmtest.Turn{Text: "Let me look: größer.", Calls: []llm.Call{
	{ID: "c1", Name: "tide", Args: json.RawMessage(`{"harbour":"Bergen","days":[1,2]}`)},
	{ID: "c2", Name: "tide", Args: json.RawMessage(`{}`)},
}}

const understood = `Let me look: größer. | tide {"days":[1,2],"harbour":"Bergen"} | tide {}`

func call(t *testing.T, name, args string) string {
	t.Helper()
	var v map[string]any
	if args != "" && json.Unmarshal([]byte(args), &v) != nil {
		t.Errorf("the arguments are no object: %q", args)
	}
	if v == nil {
		v = map[string]any{}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return " | " + name + " " + string(raw)
}

func chatSays(t *testing.T, c openai.ChatCompletion) string {
	t.Helper()
	out := c.Choices[0].Message.Content
	for _, one := range c.Choices[0].Message.ToolCalls {
		out += call(t, one.Function.Name, one.Function.Arguments)
	}
	return out
}

func responseSays(t *testing.T, r responses.Response) string {
	t.Helper()
	out := r.OutputText()
	for _, item := range r.Output {
		if item.Type == "function_call" {
			f := item.AsFunctionCall()
			out += call(t, f.Name, f.Arguments)
		}
	}
	return out
}

func messageSays(t *testing.T, m anthropic.Message) string {
	t.Helper()
	out := ""
	for _, b := range m.Content {
		out += b.Text
		if b.Type == "tool_use" {
			out += call(t, b.Name, string(b.Input))
		}
	}
	return out
}

func geminiSays(t *testing.T, text string, calls []*genai.FunctionCall) string {
	t.Helper()
	for _, c := range calls {
		raw, err := json.Marshal(c.Args)
		if err != nil {
			t.Fatal(err)
		}
		text += call(t, c.Name, strings.Replace(string(raw), "null", "{}", 1))
	}
	return text
}

// TestVendorsReadTheStreams has the official clients read the streams of package llmtest, so that these are what the real
// endpoints send; and has them read what the joiners of package llm make of the same streams.
func TestVendorsReadTheStreams(t *testing.T) {
	script := func(llmtest.Request) llmtest.Turn { return said }
	one, two, three := httptest.NewServer(llmtest.OpenAI(script)), httptest.NewServer(llmtest.Anthropic(script)), httptest.NewServer(llmtest.Gemini(script))
	defer one.Close()
	defer two.Close()
	defer three.Close()

	o := openai.NewClient(openaioption.WithBaseURL(one.URL+"/v1"), openaioption.WithAPIKey("k"))
	chat := o.Chat.Completions.NewStreaming(t.Context(), openai.ChatCompletionNewParams{
		Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	})
	var sum openai.ChatCompletionAccumulator
	for chat.Next() {
		if !sum.AddChunk(chat.Current()) {
			t.Error("openai chat: the vendor's client cannot join a chunk")
		}
	}
	if got := chatSays(t, sum.ChatCompletion); chat.Err() != nil || got != understood || sum.Usage.TotalTokens != 2 {
		t.Errorf("openai chat: %v, %s", chat.Err(), got)
	}

	stream := o.Responses.NewStreaming(t.Context(), responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{
		OfInputItemList: responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("go", responses.EasyInputMessageRoleUser)},
	}})
	text, whole := "", ""
	for stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			text += e.AsResponseOutputTextDelta().Delta
		case "response.completed":
			whole = responseSays(t, e.AsResponseCompleted().Response)
		}
	}
	if stream.Err() != nil || text != said.Text || whole != understood {
		t.Errorf("openai responses: %v, %q, %s", stream.Err(), text, whole)
	}

	a := anthropic.NewClient(anthropicoption.WithBaseURL(two.URL), anthropicoption.WithAPIKey("k"))
	messages := a.Messages.NewStreaming(t.Context(), anthropic.MessageNewParams{Model: "m", MaxTokens: 5, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("go"))}})
	var message anthropic.Message
	for messages.Next() {
		if err := message.Accumulate(messages.Current()); err != nil {
			t.Error(err)
		}
	}
	if got := messageSays(t, message); messages.Err() != nil || got != understood || message.StopReason != "tool_use" {
		t.Errorf("anthropic: %v, %s", messages.Err(), got)
	}

	g, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: three.URL}})
	if err != nil {
		t.Fatal(err)
	}
	text = ""
	var calls []*genai.FunctionCall
	for chunk, err := range g.Models.GenerateContentStream(t.Context(), "gemini-3-pro", genai.Text("go"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range chunk.Candidates[0].Content.Parts {
			text += p.Text
		}
		calls = append(calls, chunk.FunctionCalls()...)
	}
	if got := geminiSays(t, text, calls); got != understood {
		t.Errorf("gemini: %s", got)
	}

	if got := chatSays(t, joined[openai.ChatCompletion](t, one.URL+"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"go"}]}`, &openaishapes.ChatStream{})); got != understood {
		t.Errorf("openai chat, joined: %s", got)
	}
	if got := responseSays(t, joined[responses.Response](t, one.URL+"/v1/responses", `{"model":"m","stream":true,"input":[{"role":"user","content":"go"}]}`, &openaishapes.ResponseStream{})); got != understood {
		t.Errorf("openai responses, joined: %s", got)
	}
	if got := messageSays(t, joined[anthropic.Message](t, two.URL+"/v1/messages", `{"model":"m","max_tokens":5,"stream":true,"messages":[{"role":"user","content":"go"}]}`, &anthropicshapes.Stream{})); got != understood {
		t.Errorf("anthropic, joined: %s", got)
	}
	r := joined[genai.GenerateContentResponse](t, three.URL+"/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse", `{"contents":[{"role":"user","parts":[{"text":"go"}]}]}`, &geminishapes.Stream{})
	if got := geminiSays(t, r.Candidates[0].Content.Parts[0].Text, r.FunctionCalls()); got != understood {
		t.Errorf("gemini, joined: %s", got)
	}
}

// joined streams an answer through a joiner of ours and gives it to the vendor's type.
func joined[T any](t *testing.T, url, body string, to interface {
	llm.Joiner
	Answer() (json.RawMessage, error)
}) T {
	t.Helper()
	e := llm.Endpoint{BaseURL: url}
	for _, err := range llm.Text(e.Stream(t.Context(), "", http.Header{"Anthropic-Version": {anthropicshapes.Version2023}}, json.RawMessage(body)), to) {
		if err != nil {
			t.Fatal(err)
		}
	}
	answer, err := to.Answer()
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatalf("the vendor's client cannot read %s: %v", answer, err)
	}
	return v
}

// TestVendorsShapesAreReadBack reads back what programs write with the official clients: definitions, and a conversation
// with a picture, a call and its result.
func TestVendorsShapesAreReadBack(t *testing.T) {
	properties := map[string]any{"harbour": map[string]any{"type": "string"}}
	object := map[string]any{"type": "object", "properties": properties, "required": []string{"harbour"}}
	const picture = "iVBORw0KGgowMDAw"
	for _, tc := range []struct {
		name  string
		read  func(json.RawMessage) (*llm.Definitions, error)
		tools any
	}{
		{"openai chat", openaishapes.ReadTools, []openai.ChatCompletionToolUnionParam{
			openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "tide", Description: openai.String("Tides"), Parameters: object}),
		}},
		{"anthropic", anthropicshapes.ReadTools, []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: "tide", Description: anthropic.String("Tides"), InputSchema: anthropic.ToolInputSchemaParam{Properties: properties, Required: []string{"harbour"}},
		}}}},
		{"gemini", geminishapes.ReadTools, []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{Name: "tide", Description: "Tides", Parameters: &genai.Schema{
			Type: genai.TypeObject, Properties: map[string]*genai.Schema{"harbour": {Type: genai.TypeString}}, Required: []string{"harbour"},
		}}}}}},
	} {
		defs, err := tc.read(written(t, tc.tools))
		if err != nil || len(defs.Tools) != 1 || defs.Tools[0].Name != "tide" || defs.Tools[0].Description != "Tides" {
			t.Errorf("%s: %v, %+v", tc.name, err, defs)
			continue
		}
		var schema, want any
		if err := json.Unmarshal(defs.Tools[0].InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written(t, object), &want); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(schema) != fmt.Sprint(want) {
			t.Errorf("%s: %v", tc.name, schema)
		}
	}

	for _, tc := range []struct {
		name     string
		read     func(...json.RawMessage) (*llm.History, error)
		messages []any
		isError  bool
	}{
		{"openai chat", openaishapes.ReadChat, []any{
			openai.UserMessage([]openai.ChatCompletionContentPartUnionParam{openai.TextContentPart("Tide?"), openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: "data:image/png;base64," + picture})}),
			openai.ChatCompletionMessageParamUnion{OfAssistant: &openai.ChatCompletionAssistantMessageParam{ToolCalls: []openai.ChatCompletionMessageToolCallUnionParam{
				{OfFunction: &openai.ChatCompletionMessageFunctionToolCallParam{ID: "c1", Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: "tide", Arguments: `{"n":1}`}}},
			}}},
			openai.ToolMessage("no station", "c1"),
		}, false},
		{"openai responses", openaishapes.ReadResponses, []any{
			responses.ResponseInputItemParamOfMessage(responses.ResponseInputMessageContentListParam{
				{OfInputText: &responses.ResponseInputTextParam{Text: "Tide?"}}, {OfInputImage: &responses.ResponseInputImageParam{ImageURL: openai.String("data:image/png;base64," + picture)}},
			}, responses.EasyInputMessageRoleUser),
			responses.ResponseInputItemParamOfFunctionCall(`{"n":1}`, "c1", "tide"),
			responses.ResponseInputItemUnionParam{OfFunctionCallOutput: &responses.ResponseInputItemFunctionCallOutputParam{CallID: openai.String("c1"), Output: responses.ResponseInputItemFunctionCallOutputOutputUnionParam{OfString: openai.String("no station")}}},
		}, false},
		{"anthropic", anthropicshapes.ReadMessages, []any{
			anthropic.NewUserMessage(anthropic.NewTextBlock("Tide?"), anthropic.NewImageBlockBase64("image/png", picture)),
			anthropic.NewAssistantMessage(anthropic.NewToolUseBlock("c1", map[string]any{"n": 1}, "tide")),
			anthropic.NewUserMessage(anthropic.NewToolResultBlock("c1", "no station", true)),
		}, true},
		{"gemini", geminishapes.ReadContents, []any{
			genai.NewContentFromParts([]*genai.Part{genai.NewPartFromText("Tide?"), genai.NewPartFromBytes([]byte("\x89PNG\r\n\x1a\n0000"), "image/png")}, genai.RoleUser),
			genai.NewContentFromParts([]*genai.Part{{FunctionCall: &genai.FunctionCall{ID: "c1", Name: "tide", Args: map[string]any{"n": 1}}}}, genai.RoleModel),
			genai.NewContentFromParts([]*genai.Part{{FunctionResponse: &genai.FunctionResponse{ID: "c1", Name: "tide", Response: map[string]any{"error": "no station"}}}}, genai.RoleUser),
		}, true},
	} {
		var raw []json.RawMessage
		for _, m := range tc.messages {
			raw = append(raw, written(t, m))
		}
		h, err := tc.read(raw...)
		if err != nil || h.Left != nil {
			t.Errorf("%s: %v, %+v", tc.name, err, h)
			continue
		}
		got := ""
		for _, m := range h.Messages {
			got += string(m.Role)
			for _, b := range m.Content {
				wire, err := b.AppendJSON([]byte(" "))
				if err != nil {
					t.Fatal(err)
				}
				got += string(wire)
			}
			got += "\n"
		}
		failed := ""
		if tc.isError {
			failed = `,"isError":true`
		}
		want := `user {"type":"text","text":"Tide?"} {"type":"image","data":"` + picture + `","mimeType":"image/png"}
assistant {"type":"tool_use","id":"c1","name":"tide","input":{"n":1}}
user {"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"no station"}]` + failed + "}\n"
		if got != want {
			t.Errorf("%s:\ngot  %swant %s", tc.name, got, want)
		}
	}
}

func written(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
