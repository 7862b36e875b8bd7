package mcp

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sample is one value of a wire type as a peer may send it; members the type does not know stand last in each object.
type sample struct {
	target func() any
	wire   string
}

func of[T any](wire string) sample { return sample{func() any { return new(T) }, wire} }

var samples = []sample{
	of[Icon](`{"src":"https://a/b.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark","x":1}`),
	of[Annotations](`{"audience":["user","assistant"],"priority":0,"lastModified":"2026-01-02T03:04:05Z","x":{"y":[1]}}`),
	of[Implementation](`{"name":"a","title":"A","version":"1","description":"d","websiteUrl":"https://a","icons":[{"src":"data:,","z":0}],"x":null}`),
	of[Capability](`{"x":1.50}`),
	of[SamplingCapability](`{"context":{},"tools":{"x":1},"y":2}`),
	of[ElicitationCapability](`{}`),
	of[ElicitationCapability](`{"form":{},"url":{},"x":1}`),
	of[RootsCapability](`{"listChanged":true,"x":1}`),
	of[ClientCapabilities](`{"experimental":{"a":{},"b":{"c":1}},"sampling":{},"elicitation":{},"roots":{},"tasks":{"list":{}},"extensions":{"a.b/c":{}},"x":9007199254740993}`),
	of[PromptsCapability](`{"listChanged":true,"x":1}`),
	of[ResourcesCapability](`{"subscribe":true,"listChanged":true,"x":1}`),
	of[ToolsCapability](`{"listChanged":true,"x":1}`),
	of[ServerCapabilities](`{"experimental":{},"logging":{},"completions":{"x":1},"prompts":{},"resources":{},"tools":{},"tasks":{},"extensions":{"a.b/c":{"d":[]}},"x":1}`),
	of[ToolAnnotations](`{"title":"t","readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"x":1}`),
	of[ToolExecution](`{"taskSupport":"optional","x":1}`),
	of[Tool](`{"name":"t","title":"T","description":"d","inputSchema":{"type":"object","properties":{"n":{"default":1.0}}},"outputSchema":{"anyOf":[true]},"annotations":{"readOnlyHint":true},"execution":{},"icons":[],"_meta":{"a/b":1},"x":{"\u0061":"\u00e9"}}`),
	of[ListToolsResult](`{"tools":[{"name":"t","inputSchema":{"type":"object"}}],"nextCursor":"","_meta":{},"x":1}`),
	of[CallToolParams](`{"name":"t","arguments":{"n":9007199254740993},"_meta":{"progressToken":1},"x":1}`),
	of[CallToolResult](`{"content":[{"type":"text","text":"a\nb"},{"type":"hologram","x":1}],"structuredContent":null,"isError":true,"_meta":{"a":1},"x":1}`),
	of[Resource](`{"uri":"u","name":"n","title":"t","description":"d","mimeType":"text/plain","annotations":{},"size":0,"icons":[],"_meta":{},"x":1}`),
	of[ResourceTemplate](`{"uriTemplate":"u{x}","name":"n","title":"t","description":"d","mimeType":"m","annotations":{},"icons":[],"_meta":{},"x":1}`),
	of[ListResourcesResult](`{"resources":[{"uri":"u","name":"n"}],"nextCursor":"c","_meta":{},"x":1}`),
	of[ListResourceTemplatesResult](`{"resourceTemplates":[{"uriTemplate":"u","name":"n"}],"nextCursor":"c","_meta":{},"x":1}`),
	of[ReadResourceParams](`{"uri":"u","_meta":{},"x":1}`),
	of[SubscribeParams](`{"uri":"u","_meta":{},"x":1}`),
	of[ResourceUpdatedParams](`{"uri":"u","_meta":{},"x":1}`),
	of[ResourceContents](`{"uri":"u","mimeType":"m","text":"","_meta":{},"x":1}`),
	of[ResourceContents](`{"uri":"u","blob":"AAEC","x":1}`),
	of[ResourceContents](`{"uri":"u","blob":"not base64"}`),
	of[ReadResourceResult](`{"contents":[{"uri":"u","text":"t"},{"uri":"v","blob":""}],"_meta":{},"x":1}`),
	of[PromptArgument](`{"name":"n","title":"t","description":"d","required":true,"x":1}`),
	of[Prompt](`{"name":"n","title":"t","description":"d","arguments":[{"name":"a"}],"icons":[],"_meta":{},"x":1}`),
	of[ListPromptsResult](`{"prompts":[{"name":"n"}],"nextCursor":"c","_meta":{},"x":1}`),
	of[GetPromptParams](`{"name":"n","arguments":{"a":"1","b":"2"},"_meta":{},"x":1}`),
	of[PromptMessage](`{"role":"user","content":{"type":"text","text":"t"},"x":1}`),
	of[GetPromptResult](`{"description":"d","messages":[{"role":"assistant","content":{"type":"?"}}],"_meta":{},"x":1}`),
	of[TextContent](`{"type":"text","text":"","annotations":{"priority":0.5},"_meta":{},"x":1}`),
	of[ImageContent](`{"type":"image","data":"AAEC","mimeType":"image/png","annotations":{},"_meta":{},"x":1}`),
	of[AudioContent](`{"type":"audio","data":"","mimeType":"audio/wav","annotations":{},"_meta":{},"x":1}`),
	of[ResourceLink](`{"type":"resource_link","uri":"u","name":"n","title":"t","description":"d","mimeType":"m","annotations":{},"size":3,"icons":[],"_meta":{},"x":1}`),
	of[EmbeddedResource](`{"type":"resource","resource":{"uri":"u","text":"t","y":1},"annotations":{},"_meta":{},"x":1}`),
	of[ToolUseContent](`{"type":"tool_use","id":"i","name":"n","input":{"a":1},"_meta":{},"x":1}`),
	of[ToolResultContent](`{"type":"tool_result","toolUseId":"i","content":[{"type":"image","data":"%%","mimeType":"m"}],"structuredContent":[1],"isError":true,"_meta":{},"x":1}`),
	of[UnknownContent](`{"type":"hologram","depth":3}`),
	of[CompletionRef](`{"type":"ref/prompt","name":"n","title":"t","x":1}`),
	of[CompletionArgument](`{"name":"n","value":"","x":1}`),
	of[CompletionContext](`{"arguments":{"a":"b"},"x":1}`),
	of[CompleteParams](`{"ref":{"type":"ref/resource","uri":"u"},"argument":{"name":"n","value":"v"},"context":{},"_meta":{},"x":1}`),
	of[Completion](`{"values":[],"total":0,"hasMore":false,"x":1}`),
	of[CompleteResult](`{"completion":{"values":["a"]},"_meta":{},"x":1}`),
	of[ToolChoice](`{"mode":"none","x":1}`),
	of[ModelHint](`{"name":"m","x":1}`),
	of[ModelPreferences](`{"hints":[{"name":"m"}],"costPriority":0,"speedPriority":0.5,"intelligencePriority":1,"x":1}`),
	of[SamplingMessage](`{"role":"user","content":{"type":"text","text":"t"},"_meta":{},"x":1}`),
	of[SamplingMessage](`{"role":"assistant","content":[{"type":"text","text":"t"},{"type":"tool_use","id":"i","name":"n","input":{}}]}`),
	of[CreateMessageParams](`{"messages":[{"role":"user","content":[]}],"modelPreferences":{},"systemPrompt":"s","includeContext":"none","temperature":0,"maxTokens":0,"stopSequences":["x"],"metadata":{"a":1},"tools":[],"toolChoice":{},"_meta":{},"x":1}`),
	of[CreateMessageResult](`{"role":"assistant","content":{"type":"text","text":"t"},"model":"m","stopReason":"endTurn","_meta":{},"x":1}`),
	of[Root](`{"uri":"file:///a","name":"n","_meta":{},"x":1}`),
	of[ListRootsResult](`{"roots":[{"uri":"file:///a"}],"_meta":{},"x":1}`),
	of[LoggingMessageParams](`{"level":"info","logger":"l","data":null,"_meta":{},"x":1}`),
	of[SetLevelParams](`{"level":"debug","_meta":{},"x":1}`),
	of[ProgressParams](`{"progressToken":"\u0061","progress":0,"total":0,"message":"m","_meta":{},"x":1}`),
	of[CancelledParams](`{"requestId":9007199254740993,"reason":"r","_meta":{},"x":1}`),
	of[ListParams](`{"cursor":"","_meta":{},"x":1}`),
	of[Params](`{"_meta":{},"x":1}`),
	of[Result](`{"_meta":{"b":1,"a":2},"x":1}`),
	of[SubscriptionFilter](`{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["u"],"taskIds":["t"]}`),
	of[Task](`{"taskId":"t","status":"input_required","statusMessage":"m","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"later","ttlMs":null,"pollIntervalMs":5,"inputRequests":{"q":{"method":"roots/list"}},"result":{"content":[]},"error":{"code":1,"message":"m"},"_meta":{},"x":1.50}`),
	of[ListenParams](`{"notifications":{},"_meta":{},"x":1}`),
	of[SubscriptionsAcknowledgedParams](`{"notifications":{},"_meta":{},"x":1}`),
	of[DiscoverResult](`{"supportedVersions":["a"],"capabilities":{},"instructions":"i","_meta":{},"x":1}`),
	of[InitializeParams](`{"protocolVersion":"v","capabilities":{},"clientInfo":{"name":"n","version":"1"},"_meta":{},"x":1}`),
	of[InitializeResult](`{"protocolVersion":"v","capabilities":{},"serverInfo":{"name":"n","version":"1"},"instructions":"i","_meta":{},"x":1}`),
	of[ElicitFormParams](`{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"b":{"type":"boolean","default":false}}},"_meta":{},"x":1}`),
	of[ElicitURLParams](`{"mode":"url","message":"m","url":"https://a","elicitationId":"e","_meta":{},"x":1}`),
	of[ElicitationCompleteParams](`{"elicitationId":"e","_meta":{},"x":1}`),
	of[ElicitResult](`{"action":"accept","content":{"a":1},"_meta":{},"x":1}`),
	of[InputRequest](`{"method":"roots/list","params":{},"x":1}`),
	of[InputRequired](`{"inputRequests":{"a":{"method":"roots/list"},"b":{"method":"elicitation/create","params":{}}},"requestState":"","_meta":{},"x":1}`),
	of[InputResponses](`{"a":{"action":"accept"},"b":null}`),
	of[Meta](`{"progressToken":1,"a.b/c":{"d":1.0}}`),
	of[Token](`"\u0061"`),
	of[CacheHint](`{"ttlMs":0,"cacheScope":"private"}`),
	of[Principal](`{"issuer":"i","subject":"s","clientId":"c","scopes":["x"],"claims":{"a":1}}`),
}

// The four ways through the two JSON packages must all keep every token.
func TestWireTypesKeepEveryToken(t *testing.T) {
	decoders := map[string]func([]byte, any) error{
		"encoding/json": stdjson.Unmarshal,
		"json v2":       func(in []byte, out any) error { return json.Unmarshal(in, out) },
	}
	encoders := map[string]func(any) ([]byte, error){
		"encoding/json": stdjson.Marshal,
		"json v2":       func(in any) ([]byte, error) { return json.Marshal(in, json.Deterministic(true)) },
	}
	for _, s := range samples {
		for from, decode := range decoders {
			for to, encode := range encoders {
				target := s.target()
				name := reflect.TypeOf(target).Elem().Name() + " " + from + " to " + to
				if err := decode([]byte(s.wire), target); err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				for _, v := range []any{target, reflect.ValueOf(target).Elem().Interface()} {
					out, err := encode(v)
					if err != nil {
						t.Errorf("%s: %v", name, err)
					} else if want, got := tokens(t, s.wire), tokens(t, string(out)); !reflect.DeepEqual(want, got) {
						t.Errorf("%s (%T):\n sent %s\n got  %s", name, v, s.wire, out)
					}
				}
			}
		}
	}
}

// tokens splits JSON into tokens: strings unquoted, numbers as written.
func tokens(t *testing.T, in string) []string {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewBufferString(in))
	var out []string
	for {
		tok, err := dec.ReadToken()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("%v in %s", err, in)
		}
		out = append(out, string(tok.Kind())+tok.String())
	}
}

// A type that is decoded twice into the same value must not gather the unknown members of both.
func TestDecodeReplaces(t *testing.T) {
	tool := Tool{Name: "old", Title: "old"}
	for _, in := range []string{`{"name":"a","x":1}`, `{"name":"b","y":2}`} {
		if err := stdjson.Unmarshal([]byte(in), &tool); err != nil {
			t.Fatal(err)
		}
	}
	if string(tool.Extra) != `{"y":2}` || tool.Title != "" {
		t.Errorf("got %+v", tool)
	}
}

func TestRefusedInput(t *testing.T) {
	for name, s := range map[string]sample{
		"duplicate member":         of[Tool](`{"name":"a","name":"b"}`),
		"duplicate unknown member": of[Tool](`{"x":1,"x":2}`),
		"duplicate in a schema":    of[Tool](`{"inputSchema":{"a":1,"a":2}}`),
		"duplicate in _meta":       of[Result](`{"_meta":{"a":1,"a":2}}`),
		"invalid UTF-8":            of[Tool]("{\"name\":\"\xff\"}"),
		"array for an object":      of[Tool](`[]`),
		"wrong content type":       of[TextContent](`{"type":"image","text":"t"}`),
		"fraction as token":        of[ProgressParams](`{"progressToken":1.5}`),
		"object as list":           of[ListToolsResult](`{"tools":{}}`),
		"trailing bytes":           of[Tool](`{} x`),
	} {
		if err := stdjson.Unmarshal([]byte(s.wire), s.target()); err == nil {
			t.Errorf("%s: encoding/json accepts %s", name, s.wire)
		}
		if err := json.Unmarshal([]byte(s.wire), s.target()); err == nil {
			t.Errorf("%s: json v2 accepts %s", name, s.wire)
		}
	}
}

// Names that differ in case are other members (encoding/json alone would fold them).
func TestExactNames(t *testing.T) {
	var tool Tool
	if err := stdjson.Unmarshal([]byte(`{"name":"safe","Name":"danger","TITLE":"x"}`), &tool); err != nil {
		t.Fatal(err)
	}
	if tool.Name != "safe" || tool.Title != "" || string(tool.Extra) != `{"Name":"danger","TITLE":"x"}` {
		t.Errorf("got %+v", tool)
	}
}
