package mcp

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// What peers really send, and how it is read: encoded again, the value shows what was understood.
func TestLenientReading(t *testing.T) {
	for _, c := range []struct {
		name string
		sample
		want string
	}{
		{"null list", of[ListToolsResult](`{"tools":null}`), `{"tools":[]}`},
		{"missing list", of[ListToolsResult](`{}`), `{"tools":[]}`},
		{"null element", of[ListToolsResult](`{"tools":[null,{"name":"a","inputSchema":{}},null]}`), `{"tools":[{"name":"a","inputSchema":{}}]}`},
		{"null prompt", of[ListPromptsResult](`{"prompts":[null]}`), `{"prompts":[]}`},
		{"null resource", of[ListResourcesResult](`{"resources":[null]}`), `{"resources":[]}`},
		{"null root", of[ListRootsResult](`{"roots":[null]}`), `{"roots":[]}`},
		{"null nextCursor", of[ListToolsResult](`{"tools":[],"nextCursor":null}`), `{"tools":[]}`},
		{"empty nextCursor", of[ListToolsResult](`{"tools":[],"nextCursor":""}`), `{"tools":[],"nextCursor":""}`},
		{"null cursor", of[ListParams](`{"cursor":null}`), `{}`},
		{"null _meta", of[Result](`{"_meta":null}`), `{}`},
		{"_meta that is no object", of[Result](`{"_meta":5}`), `{"_meta":5}`},
		{"null members", of[Tool](`{"name":"a","title":null,"inputSchema":{},"annotations":null,"icons":null}`), `{"name":"a","inputSchema":{}}`},
		{"boolean schema", of[Tool](`{"name":"a","inputSchema":true}`), `{"name":"a","inputSchema":true}`},
		{"no schema", of[Tool](`{"name":"a"}`), `{"name":"a","inputSchema":{"type":"object"}}`},
		{"null content of an answer", of[ElicitResult](`{"action":"decline","content":null}`), `{"action":"decline"}`},
		{"null arguments", of[CallToolParams](`{"name":"t","arguments":null}`), `{"name":"t"}`},
		{"no content", of[CallToolResult](`{}`), `{"content":[]}`},
		{"null block", of[CallToolResult](`{"content":[null,{"type":"text","text":"a"}]}`), `{"content":[{"type":"text","text":"a"}]}`},
		{"bad base64 in one block", of[CallToolResult](`{"content":[{"type":"image","data":"!","mimeType":"m"},{"type":"text","text":"a"}]}`), `{"content":[{"type":"image","data":"!","mimeType":"m"},{"type":"text","text":"a"}]}`},
		{"text that is none", of[CallToolResult](`{"content":[{"type":"text","text":5}]}`), `{"content":[{"type":"text","text":5}]}`},
		{"block without a type", of[CallToolResult](`{"content":[{"text":"a"}]}`), `{"content":[{"text":"a"}]}`},
		{"block that is no object", of[CallToolResult](`{"content":["a"]}`), `{"content":["a"]}`},
		{"array of one in sampling", of[CreateMessageResult](`{"role":"assistant","content":[{"type":"text","text":"a"}],"model":"m"}`), `{"role":"assistant","content":{"type":"text","text":"a"},"model":"m"}`},
		{"null blob", of[ResourceContents](`{"uri":"u","blob":null,"text":"t"}`), `{"uri":"u","text":"t"}`},
		{"absent request id", of[CancelledParams](`{"requestId":null}`), `{}`},
	} {
		for from, decode := range map[string]func([]byte, any) error{
			"encoding/json": stdjson.Unmarshal,
			"json v2":       func(in []byte, out any) error { return json.Unmarshal(in, out) },
		} {
			v := c.target()
			if err := decode([]byte(c.wire), v); err != nil {
				t.Errorf("%s, %s: %v", c.name, from, err)
				continue
			}
			if got, err := stdjson.Marshal(v); err != nil || string(got) != c.want {
				t.Errorf("%s, %s: got %s (%v), want %s", c.name, from, got, err, c.want)
			}
		}
	}
}

func TestContentKinds(t *testing.T) {
	var result CallToolResult
	wire := `{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAE=","mimeType":"m"},{"type":"audio","data":"","mimeType":"m"},
		{"type":"resource_link","uri":"u","name":"n"},{"type":"resource","resource":{"uri":"u","blob":"AA=="}},{"type":"image","data":"AAE","mimeType":"m"},{"type":"new"}]}`
	if err := json.Unmarshal([]byte(wire), &result); err != nil {
		t.Fatal(err)
	}
	image, link := result.Content[1].(*ImageContent), result.Content[3].(*ResourceLink)
	embedded := result.Content[4].(*EmbeddedResource)
	if len(image.Data) != 2 || link.Name != "n" || len(embedded.Resource.Blob) != 1 || result.Text() != "a" {
		t.Errorf("got %+v", result.Content)
	}
	for i, want := range []string{TypeText, TypeImage, TypeAudio, TypeResourceLink, TypeResource, TypeImage, "new"} {
		if got := result.Content[i].ContentType(); got != want {
			t.Errorf("block %d: type %q, want %q", i, got, want)
		}
	}
	for _, i := range []int{5, 6} {
		if _, ok := result.Content[i].(*UnknownContent); !ok {
			t.Errorf("block %d is %T, want it kept as unknown", i, result.Content[i])
		}
	}
}

// Tool results do not nest: what is inside one is kept, and reading stays linear however deep a peer goes.
func TestToolResultsDoNotNest(t *testing.T) {
	const depth = 2000
	open, end := `{"type":"tool_result","toolUseId":"i","content":[`, `]}`
	wire := strings.Repeat(open, depth) + strings.Repeat(end, depth)
	outer, ok := ParseContent(stdjson.RawMessage(wire)).(*ToolResultContent)
	if !ok || len(outer.Content) != 1 {
		t.Fatalf("got %T", outer)
	}
	inner, ok := outer.Content[0].(*UnknownContent)
	if !ok || inner.Type != TypeToolResult {
		t.Errorf("inner block is %T", outer.Content[0])
	}
	if out, err := stdjson.Marshal(outer); err != nil || string(out) != wire {
		t.Errorf("encoded differently: %d bytes, %v", len(out), err)
	}
}

func TestEncodingRefusesWhatIsMissing(t *testing.T) {
	for name, v := range map[string]any{
		"progress without a token":   ProgressParams{},
		"prompt message without one": PromptMessage{Role: RoleUser, Content: &UnknownContent{}},
		"sampling message with nil":  SamplingMessage{Content: []Content{nil}},
		"sampling messages with nil": SamplingMessage{Content: []Content{nil, nil}},
		"invalid UTF-8 in raw JSON":  LoggingMessageParams{Data: stdjson.RawMessage("\"\xff\"")},
	} {
		if out, err := stdjson.Marshal(v); err == nil {
			t.Errorf("%s: encoded as %s", name, out)
		}
	}
	if out, err := stdjson.Marshal(InitializeParams{ClientInfo: Implementation{Name: "a\xff"}}); err != nil {
		t.Errorf("a Go string that is not UTF-8 must be repaired: %s, %v", out, err)
	}
}
