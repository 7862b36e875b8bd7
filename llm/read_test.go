package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/openai"
)

// TestDefinitionsAreRead shows the definitions that programs write for each API, and the tools of MCP that they are.
func TestDefinitionsAreRead(t *testing.T) {
	for _, tc := range []struct {
		name          string
		read          func(json.RawMessage) (*llm.Definitions, error)
		tools         string
		want, skipped string
	}{
		{"chat", openai.ReadTools, `[
			{"type":"function","function":{"name":"tide_table","description":"Tides","parameters":{"type":"object","properties":{"h":{"type":["string","null"]}},"required":["h"],"additionalProperties":false},"strict":true}},
			{"type":"function","function":{"name":"now"}},
			{"type":"custom","custom":{"name":"grammar","format":{"type":"text"}}},
			{"type":"function","function":{"name":"list","parameters":{"type":"array"}}},
			{"type":"function","function":{"parameters":{}}}]`,
			`{"name":"tide_table","description":"Tides","inputSchema":{"type":"object","properties":{"h":{"type":["string","null"]}},"required":["h"],"additionalProperties":false},"_meta":{"io.github.rialto-mcp/openai":{"strict":true}}}
{"name":"now","inputSchema":{"type":"object"}}`,
			`grammar: it takes a plain text; a tool of MCP takes an object
list: its input schema: its root is of type "array"; arguments are always an object
function: it has no name`},
		{"responses", openai.ReadTools, `[
			{"type":"function","name":"tide","parameters":null,"strict":false,"output_schema":{"type":"object"}},
			{"type":"web_search"},
			{"type":"namespace","name":"sea","tools":[{"type":"function","name":"wind","parameters":{"properties":{}},"strict":null}]}]`,
			`{"name":"tide","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"_meta":{"io.github.rialto-mcp/openai":{"strict":false}}}
{"name":"sea.wind","inputSchema":{"properties":{},"type":"object"},"_meta":{"io.github.rialto-mcp/openai":{"strict":null,"namespace":"sea"}}}`,
			`web_search: a tool of type "web_search" is run by the API itself`},
		{"the older functions", openai.ReadTools, `[{"name":"tide","description":"Tides","parameters":{"type":"object"}}]`,
			`{"name":"tide","description":"Tides","inputSchema":{"type":"object"}}`, ``},
		{"anthropic", anthropic.ReadTools, `[
			{"name":"tide","description":"Tides","input_schema":{"type":"object","properties":{"h":{}}},"cache_control":{"type":"ephemeral"},"input_examples":[{"h":1}]},
			{"type":"custom","name":"wind","input_schema":{"type":"object"}},
			{"type":"web_search_20250305","name":"web_search"}]`,
			`{"name":"tide","description":"Tides","inputSchema":{"type":"object","properties":{"h":{}}},"_meta":{"io.github.rialto-mcp/anthropic":{"cache_control":{"type":"ephemeral"},"input_examples":[{"h":1}]}}}
{"name":"wind","inputSchema":{"type":"object"}}`,
			`web_search: a tool of type "web_search_20250305" is made by the vendor`},
		{"gemini", gemini.ReadTools, `[{"googleSearch":{}},{"functionDeclarations":[
			{"name":"tide:now","behavior":"BLOCKING","parametersJsonSchema":{"type":"object","properties":{"h":{"type":"string"}}},"responseJsonSchema":{"type":"object"}},
			{"name":"old","parameters":{"type":"OBJECT","propertyOrdering":["b","a"],"required":["a"],"properties":{
				"a":{"type":"STRING","nullable":true,"enum":["x"],"maxLength":"9","example":"x"},
				"b":{"type":"INTEGER","format":"enum","enum":["1","2"]},
				"c":{"type":"ARRAY","items":{"type":"NUMBER","format":"float"},"minItems":"1"},
				"d":{"nullable":true,"anyOf":[{"type":"STRING"},{"type":"BOOLEAN"}]}}},"response":{"type":"OBJECT"}},
			{"name":"broken","parameters":{"type":"OBJECT","properties":{"a":true}}}]}]`,
			`{"name":"tide_now_11fbc6ab","inputSchema":{"type":"object","properties":{"h":{"type":"string"}}},"outputSchema":{"type":"object"},"_meta":{"io.github.rialto-mcp/gemini":{"behavior":"BLOCKING","name":"tide:now"}}}
{"name":"old","inputSchema":{"type":"object","required":["a"],"properties":{"b":{"type":"integer","enum":[1,2]},"a":{"type":["string","null"],"enum":["x",null],"maxLength":9,"examples":["x"]},` +
				`"c":{"type":"array","items":{"type":"number","format":"float"},"minItems":1},"d":{"anyOf":[{"type":"string"},{"type":"boolean"},{"type":"null"}]}}},"outputSchema":{"type":"object"}}`,
			`googleSearch: the tool "googleSearch" is run by the API itself
broken: its parameters: a schema is no object`},
	} {
		defs, err := tc.read(json.RawMessage(tc.tools))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		var got, skipped []string
		for _, tool := range defs.Tools {
			got = append(got, wire(t, tool))
		}
		for _, s := range defs.Skipped {
			skipped = append(skipped, fmt.Sprintf("%s: %v", s.Tool, s.Reason))
		}
		if strings.Join(got, "\n") != tc.want || strings.Join(skipped, "\n") != tc.skipped {
			t.Errorf("%s:\ngot  %s\nwant %s\nskipped %s\nwant    %s", tc.name, strings.Join(got, "\n"), tc.want, strings.Join(skipped, "\n"), tc.skipped)
		}
		for _, broken := range []string{`{"a":1}`, `[`, ``, `[{"name":"a","name":"b"}]`} {
			if _, err := tc.read(json.RawMessage(broken)); err == nil {
				t.Errorf("%s: %q is read", tc.name, broken)
			}
		}
	}
}

func wire(t *testing.T, v interface {
	AppendJSON([]byte) ([]byte, error)
}) string {
	t.Helper()
	raw, err := v.AppendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestDeepSchemasAreLeftOut holds that a declaration that nests without end is left out, alone.
func TestDeepSchemasAreLeftOut(t *testing.T) {
	deep := `{"type":"OBJECT","properties":{"a":` + strings.Repeat(`{"type":"ARRAY","items":`, 1000) + `{"type":"STRING"}` + strings.Repeat("}", 1000) + `}}`
	defs, err := gemini.ReadTools(json.RawMessage(`[{"functionDeclarations":[{"name":"deep","parameters":` + deep + `},{"name":"flat"}]}]`))
	if err != nil || len(defs.Tools) != 1 || len(defs.Skipped) != 1 || !strings.Contains(defs.Skipped[0].Reason.Error(), "too deep") {
		t.Errorf("%v, %+v", err, defs)
	}
}

// TestHistoriesAreRead shows conversations in the shape of each API, and the messages of MCP that they are.
func TestHistoriesAreRead(t *testing.T) {
	for _, tc := range []struct {
		name       string
		read       func(...json.RawMessage) (*llm.History, error)
		said       string // a message a line
		system     string
		want, left string
	}{
		{"chat", openai.ReadChat, `
{"role":"system","content":"Short."}
{"role":"developer","content":[{"type":"text","text":"Kind."}]}
{"role":"user","content":[{"type":"text","text":"Tide?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgowMDAw"}},{"type":"image_url","image_url":{"url":"https://example.com/a.png"}},{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}},{"type":"file","file":{"filename":"a b.pdf","file_data":"data:application/pdf;base64,JVBERi0"}},{"type":"file","file":{"file_id":"file-1"}}]}
{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{\"h\":12345678901234567890}"}},{"id":"c2","type":"function","function":{"name":"tide","arguments":""}}]}
{"role":"tool","tool_call_id":"c1","content":"Error: no station"}
{"role":"tool","tool_call_id":"c2","content":[{"type":"text","text":"high"},{"type":"text","text":"low"}]}
{"role":"assistant","content":"","refusal":"No."}`, "Short.\n\nKind.", `
user {"type":"text","text":"Tide?"} {"type":"image","data":"iVBORw0KGgowMDAw","mimeType":"image/png"} {"type":"resource_link","uri":"https://example.com/a.png","name":"image"} {"type":"audio","data":"UklGRg==","mimeType":"audio/wav"} {"type":"resource","resource":{"uri":"file:///a%20b.pdf","mimeType":"application/pdf","blob":"JVBERi0="}} {"type":"text","text":"[file file-1, not shown]"}
assistant {"type":"tool_use","id":"c1","name":"tide","input":{"h":12345678901234567890}} {"type":"tool_use","id":"c2","name":"tide","input":{}}
user {"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"Error: no station"}]} {"type":"tool_result","toolUseId":"c2","content":[{"type":"text","text":"high"},{"type":"text","text":"low"}]}
assistant {"type":"text","text":"No."}`, `message 2: file that only the API has; message 3: reasoning_content`},
		{"chat, media of a result behind it, and the next question", openai.ReadChat, `
{"role":"tool","tool_call_id":"c1","content":"here:\n[image/png, 12 B, attached below]\nnice"}
{"role":"user","content":[{"type":"text","text":"Output of tide (c1):"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgowMDAw"}}]}
{"role":"user","content":"Output of tide (c1):"}`, "", `
user {"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"here:"},{"type":"image","data":"iVBORw0KGgowMDAw","mimeType":"image/png"},{"type":"text","text":"nice"}]}
user {"type":"text","text":"Output of tide (c1):"}`, ``},
		{"responses", openai.ReadResponses, `
{"role":"developer","content":"Short."}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Tide?"},{"type":"input_image","image_url":"data:image/gif;base64,R0lG"},{"type":"input_image","file_id":"f1"},{"type":"input_file","file_url":"https://example.com/x.pdf","filename":"x.pdf"}]}
{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Looking."}]}
{"type":"function_call","id":"fc","call_id":"c1","name":"tide","arguments":"{}"}
{"type":"function_call","id":"fd","call_id":"c2","name":"tide","arguments":"{\"d\":1}"}
{"type":"function_call_output","call_id":"c1","output":"high"}
{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"see"},{"type":"input_file","filename":"r.pdf","file_data":"data:application/pdf;base64,JVBERi0="}]}
{"type":"web_search_call","id":"w"}`, "Short.", `
user {"type":"text","text":"Tide?"} {"type":"image","data":"R0lG","mimeType":"image/gif"} {"type":"text","text":"[image f1, not shown]"} {"type":"resource_link","uri":"https://example.com/x.pdf","name":"x.pdf"}
assistant {"type":"text","text":"Looking."} {"type":"tool_use","id":"c1","name":"tide","input":{}} {"type":"tool_use","id":"c2","name":"tide","input":{"d":1}}
user {"type":"tool_result","toolUseId":"c1","content":[{"type":"text","text":"high"}]} {"type":"tool_result","toolUseId":"c2","content":[{"type":"text","text":"see"},{"type":"resource","resource":{"uri":"file:///r.pdf","mimeType":"application/pdf","blob":"JVBERi0="}}]}`,
			`item 1: image that only the API has; item 2: reasoning; item 8: web_search_call`},
		{"anthropic", anthropic.ReadMessages, `
{"role":"system","content":"Short."}
{"role":"user","content":[{"type":"text","text":"Tide?"},{"type":"document","title":"t:1","source":{"type":"text","media_type":"text/plain","data":"inside"}},{"type":"document","title":"a.pdf","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}},{"type":"image","source":{"type":"file","file_id":"f1"}},{"type":"search_result","title":"T","source":"https://example.com","content":[{"type":"text","text":"body"}]}]}
{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"Looking."},{"type":"tool_use","id":"t1","name":"tide","input":{"d":1}},{"type":"tool_use","id":"t2","name":"tide","input":{}}]}
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":"broken"},{"type":"text","text":"[image/png, 12 B, shown below]"}]},{"type":"tool_result","tool_use_id":"t2"},{"type":"text","text":"Output of tide (t1):"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgowMDAw"}},{"type":"text","text":"And now?"}]}`, "Short.", `
user {"type":"text","text":"Tide?"} {"type":"resource","resource":{"uri":"t:1","mimeType":"text/plain","text":"inside"}} {"type":"resource","resource":{"uri":"file:///a.pdf","mimeType":"application/pdf","blob":"JVBERi0="}} {"type":"resource_link","uri":"https://example.com/a.png","name":"image"} {"type":"text","text":"[image f1, not shown]"} {"type":"text","text":"T\nhttps://example.com\nbody"}
assistant {"type":"text","text":"Looking."} {"type":"tool_use","id":"t1","name":"tide","input":{"d":1}} {"type":"tool_use","id":"t2","name":"tide","input":{}}
user {"type":"tool_result","toolUseId":"t1","content":[{"type":"text","text":"broken"},{"type":"image","data":"iVBORw0KGgowMDAw","mimeType":"image/png"}],"isError":true} {"type":"tool_result","toolUseId":"t2","content":[]}
user {"type":"text","text":"And now?"}`, `message 1: image that only the API has; message 2: thinking`},
		{"gemini", gemini.ReadContents, `
{"role":"user","parts":[{"text":"Tide?"},{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}},{"fileData":{"fileUri":"gs://b/x","mimeType":"image/png"}}]}
{"role":"model","parts":[{"text":"hm","thought":true},{"thoughtSignature":"s","functionCall":{"name":"tide","args":{"d":1}}},{"functionCall":{"name":"tide"}},{"functionCall":{"id":"x","name":"wind"}},{"executableCode":{"code":"1"}}]}
{"role":"user","parts":[{"functionResponse":{"name":"tide","response":{"output":"see\n[image 1]\nthere"},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgowMDAw"}}]}},{"functionResponse":{"name":"tide","response":{"error":"no station"}}},{"functionResponse":{"id":"x","name":"wind","response":{"knots":7}}}]}`, "", `
user {"type":"text","text":"Tide?"} {"type":"audio","data":"UklGRg==","mimeType":"audio/wav"} {"type":"resource_link","uri":"gs://b/x","name":"file","mimeType":"image/png"}
assistant {"type":"tool_use","id":"call_1_0","name":"tide","input":{"d":1}} {"type":"tool_use","id":"call_1_1","name":"tide","input":{}} {"type":"tool_use","id":"x","name":"wind","input":{}}
user {"type":"tool_result","toolUseId":"call_1_0","content":[{"type":"text","text":"see"},{"type":"image","data":"iVBORw0KGgowMDAw","mimeType":"image/png"},{"type":"text","text":"there"}]} {"type":"tool_result","toolUseId":"call_1_1","content":[{"type":"text","text":"no station"}],"isError":true} {"type":"tool_result","toolUseId":"x","content":[{"type":"text","text":"{\"knots\":7}"}],"structuredContent":{"knots":7}}`,
			`content 1: a thought; content 1: executableCode`},
	} {
		var messages []json.RawMessage
		for line := range strings.SplitSeq(strings.TrimSpace(tc.said), "\n") {
			messages = append(messages, json.RawMessage(line))
		}
		h, err := tc.read(messages...)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		got := ""
		for _, m := range h.Messages {
			got += "\n" + string(m.Role)
			for _, b := range m.Content {
				got += " " + wire(t, b)
			}
		}
		if got != strings.TrimRight(tc.want, "\n") || h.System != tc.system || strings.Join(h.Left, "; ") != tc.left {
			t.Errorf("%s: system %q, left %q\ngot  %s\nwant %s", tc.name, h.System, strings.Join(h.Left, "; "), got, tc.want)
		}
	}
}

// TestHistoriesThatCannotBeRead holds that what would change its meaning is an error, with the place.
func TestHistoriesThatCannotBeRead(t *testing.T) {
	for _, tc := range []struct {
		read       func(...json.RawMessage) (*llm.History, error)
		said, want string
	}{
		{openai.ReadChat, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"t","arguments":"{\"d\":"}}]}`, `read message 1: the call "c" of "t": its arguments are no JSON object`},
		{openai.ReadChat, `{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"t","arguments":"{\"d\":1,\"d\":2}"}}]}`, "no JSON object"},
		{openai.ReadChat, `{"role":"judge","content":"x"}`, `read message 1: there is no role "judge"`},
		{openai.ReadChat, `[]`, "read message 1: it is no JSON object"},
		{openai.ReadResponses, `{"type":"function_call","call_id":"c","name":"t","arguments":"[1]"}`, "read item 1: the call"},
		{openai.ReadResponses, `{"role":"judge","content":"x"}`, "no role"},
		{anthropic.ReadMessages, `{"role":"judge","content":"x"}`, "no role"},
		{anthropic.ReadMessages, `{"role"`, "no valid JSON"},
		{gemini.ReadContents, `{"role":"judge","parts":[]}`, "no role"},
		{gemini.ReadContents, `7`, "read content 1: it is no JSON object"},
	} {
		if _, err := tc.read(json.RawMessage(`{"role":"user","content":"x"}`), json.RawMessage(tc.said)); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.said, err, tc.want)
		}
	}
}

// FuzzReadBack holds that nothing that is read back crashes a reader or makes JSON that is none.
func FuzzReadBack(f *testing.F) {
	for _, seed := range []string{
		`[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}]`, `[{"functionDeclarations":[{"name":"t","parameters":{"type":"OBJECT","nullable":true,"enum":["1"],"anyOf":[{}],"properties":{"a":{"items":{}}}}}]}]`,
		`{"role":"tool","tool_call_id":"c","content":"[image/png, 1 B, attached below]"}`, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:,x"}},{"type":"file","file":{"file_data":"x-_="}}]}`,
		`{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"data:image/png;base64,!"}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"x"},{"type":"text","text":"Output of x (t):"},{"type":"image","source":{"type":"base64","data":"AA=="}}]}`,
		`{"role":"model","parts":[{"functionCall":{"name":"t"}},{"functionResponse":{"name":"t","response":{"output":"[image 1]"},"parts":[{"inlineData":{"mimeType":"image/png","data":"AA"}}]}}]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, read := range []func(json.RawMessage) (*llm.Definitions, error){openai.ReadTools, anthropic.ReadTools, gemini.ReadTools} {
			if defs, err := read(json.RawMessage(raw)); err == nil {
				for _, tool := range defs.Tools {
					if got := wire(t, tool); !json.Valid([]byte(got)) {
						t.Errorf("%q makes %s", raw, got)
					}
				}
			}
		}
		for _, read := range []func(...json.RawMessage) (*llm.History, error){openai.ReadChat, openai.ReadResponses, anthropic.ReadMessages, gemini.ReadContents} {
			h, err := read(json.RawMessage(raw), json.RawMessage(raw))
			if err != nil {
				continue
			}
			for _, m := range h.Messages {
				for _, b := range m.Content {
					if got := wire(t, b); !json.Valid([]byte(got)) {
						t.Errorf("%q makes %s", raw, got)
					}
				}
			}
		}
	})
}
