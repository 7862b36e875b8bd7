package mcp

import (
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reflected encodes what AppendJSON encodes by hand through the tags of the plain twin.
func reflected(v any) ([]byte, error) {
	opts := json.JoinOptions(encodeOptions, json.WithMarshalers(json.MarshalToFunc(writeContent)))
	switch v := v.(type) {
	case *Icon:
		return json.Marshal(plainIcon(*v), opts)
	case *Annotations:
		return json.Marshal(plainAnnotations(*v), opts)
	case *Tool:
		return json.Marshal(plainTool(*v), opts)
	case *ToolAnnotations:
		return json.Marshal(plainToolAnnotations(*v), opts)
	case *ToolExecution:
		return json.Marshal(plainToolExecution(*v), opts)
	case *ListToolsResult:
		return json.Marshal(plainListToolsResult(*v), opts)
	case *CallToolResult:
		return json.Marshal(plainCallToolResult(*v), opts)
	case *Resource:
		return json.Marshal(plainResource(*v), opts)
	case *ResourceTemplate:
		return json.Marshal(plainResourceTemplate(*v), opts)
	case *ListResourcesResult:
		return json.Marshal(plainListResourcesResult(*v), opts)
	case *ListResourceTemplatesResult:
		return json.Marshal(plainListResourceTemplatesResult(*v), opts)
	case *ReadResourceResult:
		return json.Marshal(plainReadResourceResult(*v), opts)
	case *Prompt:
		return json.Marshal(plainPrompt(*v), opts)
	case *PromptArgument:
		return json.Marshal(plainPromptArgument(*v), opts)
	case *ListPromptsResult:
		return json.Marshal(plainListPromptsResult(*v), opts)
	case *TextContent:
		return json.Marshal(tagged[plainTextContent]{TypeText, (*plainTextContent)(v)}, opts)
	case *ImageContent:
		return json.Marshal(tagged[plainImageContent]{TypeImage, (*plainImageContent)(v)}, opts)
	case *AudioContent:
		return json.Marshal(tagged[plainAudioContent]{TypeAudio, (*plainAudioContent)(v)}, opts)
	case *ResourceLink:
		return json.Marshal(tagged[plainResourceLink]{TypeResourceLink, (*plainResourceLink)(v)}, opts)
	case *EmbeddedResource:
		return json.Marshal(tagged[plainEmbeddedResource]{TypeResource, (*plainEmbeddedResource)(v)}, opts)
	case *ToolUseContent:
		return json.Marshal(tagged[plainToolUseContent]{TypeToolUse, (*plainToolUseContent)(v)}, opts)
	case *ToolResultContent:
		return json.Marshal(tagged[plainToolResultContent]{TypeToolResult, (*plainToolResultContent)(v)}, opts)
	}
	return nil, nil
}

func writeContent(enc *jsontext.Encoder, c Content) error {
	var raw []byte
	var err error
	if unknown, ok := c.(*UnknownContent); ok {
		raw = unknown.Raw
	} else if raw, err = reflected(c); err != nil {
		return err
	}
	return enc.WriteValue(raw)
}

func TestAppendJSONEqualsReflection(t *testing.T) {
	compared := 0
	for _, s := range samples {
		v := s.target()
		if err := stdjson.Unmarshal([]byte(s.wire), v); err != nil {
			t.Fatal(err)
		}
		want, err := reflected(v)
		if err != nil {
			t.Fatalf("%T: %v", v, err)
		}
		if want == nil {
			continue
		}
		compared++
		got, err := v.(appender).AppendJSON([]byte("prefix"))
		if err != nil || string(got) != "prefix"+string(want) {
			t.Errorf("%T (%v):\n append  %s\n reflect %s", v, err, got, want)
		}
	}
	if compared < 22 {
		t.Errorf("only %d samples have a fast encoder", compared)
	}
}

func TestAppendJSONZeroValues(t *testing.T) {
	for _, c := range []struct {
		v    appender
		want string
	}{
		{CallToolResult{}, `{"content":[]}`},
		{ListToolsResult{}, `{"tools":[]}`},
		{ListResourcesResult{}, `{"resources":[]}`},
		{ListResourceTemplatesResult{}, `{"resourceTemplates":[]}`},
		{ListPromptsResult{}, `{"prompts":[]}`},
		{ReadResourceResult{}, `{"contents":[]}`},
		{Tool{Name: "t"}, `{"name":"t","inputSchema":{"type":"object"}}`},
		{TextContent{}, `{"type":"text","text":""}`},
		{ImageContent{}, `{"type":"image","data":"","mimeType":""}`},
		{ToolUseContent{}, `{"type":"tool_use","id":"","name":"","input":{}}`},
		{ToolResultContent{}, `{"type":"tool_result","toolUseId":"","content":[]}`},
		{BlobResource("u", "", nil), `{"uri":"u","blob":""}`},
		{TextResource("u", "", ""), `{"uri":"u","text":""}`},
		{ToolExecution{}, `{}`},
		{ToolExecution{Extra: jsontext.Value(`{"x":1}`)}, `{"x":1}`},
		{ToolExecution{Extra: jsontext.Value(`{}`)}, `{}`},
		{Text("a\xffb<>&"), "{\"type\":\"text\",\"text\":\"a\ufffdb<>&\"}"},
		{CallToolResult{StructuredContent: stdjson.RawMessage("{\n \"a\" : \"\\u0061\" }")}, `{"content":[],"structuredContent":{"a":"\u0061"}}`},
	} {
		if got, err := c.v.AppendJSON(nil); err != nil || string(got) != c.want {
			t.Errorf("%T: got %s (%v), want %s", c.v, got, err, c.want)
		}
	}
}

func TestAppendJSONRefuses(t *testing.T) {
	for name, v := range map[string]appender{
		"broken raw member":        CallToolResult{StructuredContent: stdjson.RawMessage(`{`)},
		"two values":               CallToolResult{StructuredContent: stdjson.RawMessage(`1 2`)},
		"duplicate in raw":         CallToolResult{StructuredContent: stdjson.RawMessage(`{"a":1,"a":2}`)},
		"extra repeats a field":    Tool{Name: "t", Extra: jsontext.Value(`{"name":"u"}`)},
		"extra is no object":       Tool{Name: "t", Extra: jsontext.Value(`[1]`)},
		"nil block":                CallToolResult{Content: []Content{nil}},
		"broken block in a list":   CallToolResult{Content: []Content{&UnknownContent{Raw: stdjson.RawMessage(`{`)}, Text("a")}},
		"broken _meta":             ListToolsResult{Meta: Meta(`{"a"`)},
		"broken meta of a element": ListToolsResult{Tools: []Tool{{Meta: Meta(`{"a"`)}, {}}},
	} {
		got, err := v.AppendJSON([]byte("kept"))
		if err == nil || string(got) != "kept" {
			t.Errorf("%s: got %s, error %v", name, got, err)
		}
	}
}

func TestTextContentDoesNotAllocate(t *testing.T) {
	result := TextResult(strings.Repeat("plain text with \"quotes\" and é\n", 20))
	buf := make([]byte, 0, 4096)
	allocs := testing.AllocsPerRun(100, func() {
		out, err := result.AppendJSON(buf)
		if err != nil || len(out) == 0 {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations for a text result, want 0", allocs)
	}
}

func BenchmarkCallToolResultAppend(b *testing.B) {
	result := TextResult("The weather in Oslo is fine, 21 degrees.")
	buf := make([]byte, 0, 4096)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := result.AppendJSON(buf); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCallToolResultDecode(b *testing.B) {
	wire := []byte(`{"content":[{"type":"text","text":"The weather in Oslo is fine, 21 degrees."}]}`)
	b.ReportAllocs()
	for b.Loop() {
		var out CallToolResult
		if err := json.Unmarshal(wire, &out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkListToolsDecode(b *testing.B) {
	tool := Tool{Name: "forecast", Description: "d", InputSchema: stdjson.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}}}`)}
	wire, err := ListToolsResult{Tools: append(make([]Tool, 0, 51), repeat(tool, 51)...)}.AppendJSON(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(wire)))
	for b.Loop() {
		var out ListToolsResult
		if err := json.Unmarshal(wire, &out); err != nil || len(out.Tools) != 51 {
			b.Fatal(err)
		}
	}
}

func repeat(tool Tool, n int) []Tool {
	tools := make([]Tool, n)
	for i := range tools {
		tools[i] = tool
	}
	return tools
}

// Every exported type with JSON methods stands in the table of samples.
func TestSamplesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range samples {
		seen[reflect.TypeOf(s.target()).Elem().Name()] = true
	}
	for _, name := range typesWithJSON(t) {
		if !seen[name] {
			t.Errorf("%s has no sample", name)
		}
	}
}
