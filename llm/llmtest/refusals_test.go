package llmtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/llm/llmtest"
)

// times writes n members, elements or levels.
func times(n int, format string) string {
	var all []string
	for i := range n {
		if strings.Contains(format, "%") {
			all = append(all, fmt.Sprintf(format, i))
		} else {
			all = append(all, format)
		}
	}
	return strings.Join(all, ",")
}

// refused are requests, each with one thing that the real endpoint refuses; why is "" for those that are taken. A row's body
// is put into the place that its kind has in a request that is taken.
var refused = []struct{ kind, body, why string }{
	// Names, everywhere.
	{"chat name", `a-b_1`, ``},
	{"chat name", `a.b`, `does not match`},
	{"chat name", ``, `does not match`},
	{"chat name", strings.Repeat("x", 65), `does not match`},
	{"chat name", `größe`, `does not match`},
	{"responses name", `a.b`, `does not match`},
	{"anthropic name", strings.Repeat("x", 128), ``},
	{"anthropic name", strings.Repeat("x", 129), `does not match`},
	{"anthropic name", `a.b`, `does not match`},
	{"anthropic name", `a b`, `does not match`},
	{"gemini name", `a.b:c-d`, ``},
	{"gemini name", `1a`, `does not match`},
	{"gemini name", strings.Repeat("x", 65), `does not match`},
	{"gemini name", `a/b`, `does not match`},

	// Chat Completions: the request.
	{"chat", `"tools":[]`, `too short - 'tools'`},
	{"chat", `"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}]`, `there twice`},
	{"chat", `"tools":[{"type":"tool","function":{"name":"t"}}]`, `type "tool"`},
	{"chat", `"tools":[{"type":"function","name":"t"}]`, `function must be an object`},
	{"chat", `"tools":[` + times(129, `{"type":"function","function":{"name":"t%d","parameters":{"type":"object","properties":{}}}}`) + `]`, `array too long`},
	{"chat", `"parallel_tool_calls":true`, `only allowed when 'tools'`},
	{"chat", `"tool_choice":"auto"`, `only allowed when 'tools'`},
	{"chat choice", `"auto"`, ``},
	{"chat choice", `"any"`, `Invalid value`},
	{"chat choice", `{"type":"function","function":{"name":"t"}}`, ``},
	{"chat choice", `{"type":"function","name":"t"}`, `must be an object`},
	{"chat choice", `{"type":"function","function":{"name":"u"}}`, `there is no tool "u"`},
	{"chat", `"stop":["a","b","c","d","e"]`, `array too long`},
	{"chat", `"model":""`, `model parameter`},
	{"chat", `"messages":[]`, `too short - 'messages'`},

	// Chat Completions: messages.
	{"chat turn", `{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"y"}`, ``},
	{"chat turn", `{"role":"tool","tool_call_id":"b","content":"x"},{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"y"}]}`, ``},
	{"chat turn", `{"role":"tool","tool_call_id":"a","content":"x"}`, `missing`},
	{"chat turn", `{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"y"},{"role":"tool","tool_call_id":"b","content":"y"}`, `must be followed by tool messages`},
	{"chat turn", `{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"a","content":"y"}`, `must be a response to a preceding`},
	{"chat turn", `{"role":"tool","tool_call_id":"a","content":null}`, `needs content`},
	{"chat turn", `{"role":"tool","tool_call_id":"a","content":[]}`, `too short - 'content'`},
	{"chat turn", `{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}`, `"image_url" is not allowed here`},
	{"chat message", `{"role":"assistant","content":null}`, `must not be null`},
	{"chat message", `{"role":"assistant","content":"x","tool_calls":[]}`, `too short - 'tool_calls'`},
	{"chat message", `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":{}}}]}`, `string of JSON`},
	{"chat message", `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":""}}]}`, `string of JSON`},
	{"chat message", `{"role":"assistant","tool_calls":[{"id":"` + strings.Repeat("x", 65) + `","type":"function","function":{"name":"t","arguments":"{}"}}]}`, `is none`},
	{"chat message", `{"role":"robot","content":"x"}`, `no role "robot"`},
	{"chat message", `{"role":"system","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]}`, `not allowed here`},
	{"chat message", `{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///x"}}]}`, `cannot be fetched`},

	// Schemas of OpenAI.
	{"chat schema", `{"type":"array","items":{}}`, `must be of type 'object'`},
	{"chat schema", `{"properties":{}}`, `must be of type 'object'`},
	{"chat schema", `"x"`, `must be an object`},
	{"chat schema", `{"type":"object"}`, `missing properties`},
	{"chat schema", `{"type":"object","properties":{"a":{"type":"object"}}}`, `missing properties`},
	{"chat schema", `{"type":"object","properties":{"a":{"type":"array"}}}`, `missing items`},
	{"chat schema", `{"type":"object","properties":{"a":{"type":"array","prefixItems":[{}]}}}`, `missing items`},
	{"chat schema", `{"type":"object","properties":{},"anyOf":[{}]}`, `"anyOf" at the top level`},
	{"chat schema", `{"type":"object","properties":{},"oneOf":[{}]}`, `"oneOf" at the top level`},
	{"chat schema", `{"type":"object","properties":{},"allOf":[{}]}`, `"allOf" at the top level`},
	{"chat schema", `{"type":"object","properties":{},"not":{}}`, `"not" at the top level`},
	{"chat schema", `{"type":"object","properties":{},"enum":[{}]}`, `"enum" at the top level`},
	{"chat schema", `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"}]}}}`, ``},
	{"chat schema", `{"type":"object","properties":{"a":"string"}}`, `is no schema`},
	{"chat schema", `{"type":"object","properties":{"a":{"type":"text"}}}`, `not valid under any`},
	{"chat schema", `{"type":"object","properties":{},"required":"a"}`, `must be a list`},
	{"chat schema", `{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}}}`, `undefined schema`},
	{"responses schema", `{"type":"object"}`, `missing properties`},
	{"strict", `{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"],"additionalProperties":false}`, ``},
	{"strict", `{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`, `must include every key`},
	{"strict", `{"type":"object","properties":{}}`, `'additionalProperties' is required`},
	{"strict a", `{"$ref":"#/$defs/b","description":"x"}`, `$ref cannot have keywords`},
	{"strict a", `{"type":"string","default":"x"}`, `"default" is not permitted`},
	{"strict a", `{"type":"string","minLength":1}`, `"minLength" is not permitted`},
	{"strict a", `{"type":"string","format":"uri"}`, `not a valid format`},
	{"strict a", `{"type":"string","format":"date"}`, ``},
	{"strict a", `{}`, `must have a 'type'`},
	{"strict a", `true`, `a boolean is no schema`},
	{"strict a", `{"type":"array","items":{"type":"string"},"uniqueItems":true}`, `"uniqueItems" is not permitted`},
	{"strict a", `{"type":"string","not":{"type":"string"}}`, `"not" is not permitted`},
	{"strict a", `{"oneOf":[{"type":"string"}]}`, `"oneOf" is not permitted`},
	{"strict a", `{"allOf":[{"type":"string"}]}`, `"allOf" is not permitted`},
	{"strict a", `{"type":"string","enum":[` + times(1001, `"%d"`) + `]}`, `exceeds the limits`},
	{"strict a", strings.Repeat(`{"type":"array","items":`, 10) + `{"type":"string"}` + strings.Repeat(`}`, 10), `exceeds the limits`},

	// Responses.
	{"responses", `"tools":[{"type":"function","name":"t","parameters":{"type":"object","properties":{}}}]`, `strict is not said`},
	{"responses", `"tools":[]`, `too short`},
	{"responses", `"tool_choice":"auto"`, `only allowed when`},
	{"responses", `"model":""`, `model parameter`},
	{"responses", `"tools":[{"type":"function","function":{"name":"t"},"strict":false}]`, `must be an object`},
	{"responses choice", `{"type":"function","name":"t"}`, ``},
	{"responses choice", `{"type":"function","function":{"name":"t"}}`, `there is no tool`},
	{"responses turn", `{"type":"function_call_output","call_id":"a","output":"x"}`, ``},
	{"responses turn", `{"type":"function_call_output","call_id":"fc_1","output":"x"}`, `no tool call found`},
	{"responses turn", ``, `no tool output found`},
	{"responses output", `[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"data:image/png;base64,AA"}]`, ``},
	{"responses output", `[]`, `output is missing`},
	{"responses output", `[{"type":"input_audio"}]`, `not allowed`},
	{"responses output", `[{"type":"input_file","file_data":"data:application/pdf;base64,AA"}]`, `needs a filename`},
	{"responses output", `"` + strings.Repeat("x", 10_485_761) + `"`, `too long`},
	{"responses items", `{"type":"function_call","call_id":"a","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"x"}`, `without its required 'reasoning'`},
	{"responses items", `{"type":"reasoning","id":"rs_1","summary":[]}`, `without its required following item`},
	{"responses items", `{"type":"reasoning"},{"type":"function_call","call_id":"` + strings.Repeat("x", 65) + `","name":"t","arguments":"{}"}`, `Invalid 'call_id'`},

	// Messages of Anthropic: the request.
	{"anthropic", `"max_tokens":null`, `max_tokens: Field required`},
	{"anthropic", `"model":""`, `model: Field required`},
	{"anthropic", `"tool_choice":{"type":"auto"}`, `while providing tools`},
	{"anthropic", `"messages":[]`, `at least one message`},
	{"anthropic", `"temperature":1`, ``},
	{"anthropic 2026", `"temperature":1`, `temperature: Extra inputs`},
	{"anthropic 2026", `"top_k":1`, `top_k: Extra inputs`},
	{"anthropic no version", `"temperature":1`, `header is required`},
	{"anthropic", `"stop_sequences":[" "]`, `non-whitespace`},
	{"anthropic choice", `{"type":"none"}`, ``},
	{"anthropic choice", `{"type":"any","disable_parallel_tool_use":true}`, ``},
	{"anthropic choice", `{"type":"required"}`, `no type "required"`},
	{"anthropic choice", `"auto"`, `must be an object`},
	{"anthropic choice", `{"type":"tool","name":"u"}`, `no tool "u"`},
	{"anthropic choice", `{"type":"any"},"thinking":{"type":"enabled","budget_tokens":1024}`, `thinking may not be enabled`},
	{"anthropic", `"tools":[{"name":"t"}]`, `input_schema must be an object`},
	{"anthropic", `"tools":[` + times(5, `{"name":"t%d","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}`) + `]`, `maximum of 4 blocks`},
	{"anthropic schema", `{}`, `should be 'object'`},
	{"anthropic schema", `{"type":"object","anyOf":[{}]}`, `at the top level`},
	{"anthropic schema", `{"type":"object","properties":{"a":{"oneOf":[{}]}}}`, ``},
	{"anthropic schema", `{"type":"object","properties":{"größe":{}}}`, `property keys`},
	{"anthropic schema", `{"type":"object","properties":{"a":{"properties":{"größe":{}}}}}`, ``},
	{"anthropic schema", `{"type":"object","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`, `draft 2020-12`},
	{"anthropic schema", `{"type":"object","properties":{"a":{"items":[{}]}}}`, `draft 2020-12`},
	{"anthropic", `"tools":[{"name":"t","strict":true,"input_schema":{"type":"object","properties":{}}}]`, `explicitly set to false`},
	{"anthropic", `"tools":[{"name":"t","strict":true,"input_schema":{"type":"object","properties":{"a":{"type":"string","pattern":"x"}},"additionalProperties":false}}]`, `"pattern" is not supported`},
	{"anthropic", `"tools":[` + times(21, `{"name":"t%d","strict":true,"input_schema":{"type":"object","additionalProperties":false}}`) + `]`, `grammar is too large`},

	// Messages of Anthropic: blocks.
	{"anthropic turn", `{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"b"}`, ``},
	{"anthropic turn", `{"type":"tool_result","tool_use_id":"a"}`, `without ` + "`tool_result`"}, {"anthropic turn", `{"type":"tool_result","tool_use_id":"c"}`, `unexpected ` + "`tool_use_id`"},
	{"anthropic turn", `{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result","tool_use_id":"b"}`, `come first`},
	{"anthropic turn", `{"type":"tool_result","tool_use_id":"a"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"b"}`, `without ` + "`tool_result`"},
	{"anthropic result", `"is_error":true,"content":[{"type":"text","text":"x"}]`, ``},
	{"anthropic result", `"is_error":true,"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]`, `must be type text`},
	{"anthropic result", `"content":[{"type":"text","text":" "}]`, `non-whitespace`},
	{"anthropic result", `"content":[{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":"AAAA"}}]`, `"image/tiff" is not supported`},
	{"anthropic result", `"content":[{"type":"audio"}]`, `"audio" is not allowed`},
	{"anthropic result", `"content":[{"type":"resource"}]`, `"resource" is not allowed`},
	{"anthropic result", `"content":[{"type":"document","source":{"type":"base64","media_type":"text/plain","data":"AAAA"}}]`, `"text/plain" is not supported`},
	{"anthropic result", `"content":[{"type":"document","source":{"type":"text","media_type":"text/html","data":"x"}}]`, `"text/html" is not supported`},
	{"anthropic result", `"content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}}]`, `invalid base64`},
	{"anthropic message", `{"role":"assistant","content":[{"type":"tool_use","id":"a.b","name":"t","input":{}}]}`, `does not match`},
	{"anthropic message", `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t"}]}`, `must be an object`},
	{"anthropic message", `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":"{}"}]}`, `must be an object`},
	{"anthropic message", `{"role":"assistant","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}`, `not allowed in a message of the assistant`},
	{"anthropic message", `{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}`, `needs its signature`},
	{"anthropic message", `{"role":"tool","content":"x"}`, `no role "tool"`},
	{"anthropic message", `{"role":"user","content":""}`, `non-whitespace`},

	// Gemini.
	{"gemini", `"tools":[{"functionDeclarations":[` + times(129, `{"name":"t%d"}`) + `]}]`, `at most 128`},
	{"gemini", `"contents":[]`, `contents is not specified`},
	{"gemini", `"tools":[{"functionDeclarations":[{"name":"t","parameters":{"type":"object","properties":{"a":{"type":"string"}}},"parametersJsonSchema":{"type":"object"}}]}]`, `mutually exclusive`},
	{"gemini config", `{"mode":"ANY","allowedFunctionNames":["t"]}`, ``},
	{"gemini config", `{"mode":"AUTO","allowedFunctionNames":["t"]}`, `only allowed with`},
	{"gemini config", `{"mode":"required"}`, `Invalid value`},
	{"gemini config", `{"mode":"ANY","allowedFunctionNames":["u"]}`, `no function "u"`},
	{"gemini json", `{"type":"object","properties":{"a":{"type":"string"}}}`, ``},
	{"gemini json", `{"type":"object","properties":{}}`, `non-empty`},
	{"gemini json", `{"type":"object","additionalProperties":{"type":"string"}}`, ``},
	{"gemini json a", `{"type":"object","properties":{}}`, `non-empty`},
	{"gemini json a", `{"const":"x"}`, `"const"`},
	{"gemini json a", `{"type":"string","pattern":"x"}`, `"pattern"`},
	{"gemini json a", `{"allOf":[{}]}`, `"allOf"`},
	{"gemini json a", `{"type":"string","$schema":"x"}`, `"$schema"`},
	{"gemini json a", `{"type":["string","null"]}`, `not repeating`},
	{"gemini json a", `true`, `a boolean is no schema`},
	{"gemini json a", `{"type":"array"}`, `items: missing field`},
	{"gemini json a", `{"type":"object","properties":{"a":{}},"required":["b"]}`, `not defined: "b"`},
	{"gemini json a", `{"required":["b"]}`, `only allowed for OBJECT`},
	{"gemini json a", `{"$ref":"#/$defs/x"}`, `undefined schema`},
	{"gemini json a", `{"$ref":"#","type":"object"}`, `beside $ref`},
	{"gemini json a", `{"enum":[true]}`, `strings or numbers`},
	{"gemini parameters", `{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}`, ``},
	{"gemini parameters a", `{"type":"integer","enum":[1]}`, `must be strings`},
	{"gemini parameters a", `{"type":"object","additionalProperties":false}`, `"additionalProperties"`},
	{"gemini parameters a", `{"$ref":"#"}`, `"$ref"`},
	{"gemini parameters a", `{"type":"number","exclusiveMinimum":1}`, `"exclusiveMinimum"`},
	{"gemini parameters a", `{"oneOf":[{}]}`, `"oneOf"`},
	{"gemini parameters a", `{"type":"string","format":"uri"}`, `only 'enum' and 'date-time'`},
	{"gemini parameters", `{"type":"object","properties":{"a-b":{"type":"string"}}}`, `property name "a-b"`},
	{"gemini turn", `{"functionResponse":{"id":"a","name":"t","response":{}}},{"functionResponse":{"name":"t","response":{"output":1}}}`, ``},
	{"gemini turn", `{"functionResponse":{"id":"a","name":"t","response":{}}}`, `number of function response parts`},
	{"gemini turn", `{"functionResponse":{"id":"a","name":"t","response":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"t","response":{}}}`, `number of function response parts`},
	{"gemini turn", `{"functionResponse":{"id":"a","name":"t","response":{}}},{"functionResponse":{"name":"t","response":{}}},{"inlineData":{"mimeType":"image/png","data":"AA"}}`, `number of function response parts`},
	{"gemini turn", `{"functionResponse":{"id":"b","name":"t","response":{}}},{"functionResponse":{"name":"t","response":{}}}`, `is not that of the call`},
	{"gemini turn", `{"functionResponse":{"id":"a","name":"t","response":"x"}},{"functionResponse":{"name":"t","response":{}}}`, `response must be an object`},
	{"gemini turn", `{"functionResponse":{"id":"a","name":"t","response":{},"parts":[]}},{"functionResponse":{"name":"t","response":{}}}`, ``},
	{"gemini 2 turn", `{"functionResponse":{"id":"a","name":"t","response":{},"parts":[]}},{"functionResponse":{"name":"t","response":{}}}`, `multimodal function responses`},
	{"gemini content", `{"role":"model","parts":[{"functionCall":{"name":"t"}}]},{"role":"user","parts":[{"functionResponse":{"name":"t","response":{}}}]}`, `missing a thought_signature`},
	{"gemini content", `{"role":"function","parts":[{"text":"x"}]}`, `valid role`},
	{"gemini content", `{"role":"user","parts":[]}`, `must not be empty`},
	{"gemini content", `{"role":"model","parts":[{"functionCall":{"name":"t"},"thoughtSignature":"s"}]}`, `comes before a function response turn`},
}

// places are where the bodies of each kind go: an address, and a request with a mark.
var places = map[string][2]string{
	"chat":             {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}],MARK}`},
	"chat name":        {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"MARK","parameters":{"type":"object","properties":{}}}}]}`},
	"chat choice":      {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object","properties":{}}}}],"tool_choice":MARK}`},
	"chat schema":      {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"t","parameters":MARK}}]}`},
	"strict":           {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"t","strict":true,"parameters":MARK}}]}`},
	"strict a":         {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"t","strict":true,"parameters":{"type":"object","properties":{"a":MARK},"required":["a"],"additionalProperties":false,"$defs":{"b":{"type":"string"}}}}}]}`},
	"chat message":     {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"},MARK]}`},
	"chat turn":        {"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"t","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"t","arguments":"{}"}}]},MARK]}`},
	"responses":        {"/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"}],MARK}`},
	"responses name":   {"/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"}],"tools":[{"type":"function","name":"MARK","parameters":{"type":"object","properties":{}},"strict":false}]}`},
	"responses schema": {"/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"}],"tools":[{"type":"function","name":"t","parameters":MARK,"strict":false}]}`},
	"responses choice": {"/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"}],"tools":[{"type":"function","name":"t","parameters":{"type":"object","properties":{}},"strict":false}],"tool_choice":MARK}`},
	"responses items":  {"/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"},MARK]}`},
	"responses turn":   {"/v1/responses", `{"model":"m","input":[{"role":"user","content":"x"},{"type":"reasoning","id":"rs_1","summary":[]},{"type":"function_call","id":"fc_1","call_id":"a","name":"t","arguments":"{}"}MARK]}`},
	"responses output": {"/v1/responses", `{"model":"m","input":[{"type":"reasoning","id":"rs_1","summary":[]},{"type":"function_call","id":"fc_1","call_id":"a","name":"t","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":MARK}]}`},

	"anthropic":            {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],MARK}`},
	"anthropic 2026":       {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],MARK}`},
	"anthropic no version": {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],MARK}`},
	"anthropic name":       {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"MARK","input_schema":{"type":"object"}}]}`},
	"anthropic schema":     {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"t","input_schema":MARK}]}`},
	"anthropic choice":     {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"}],"tools":[{"name":"t","input_schema":{"type":"object"}}],"tool_choice":MARK}`},
	"anthropic message":    {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},MARK]}`},
	"anthropic turn":       {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}},{"type":"tool_use","id":"b","name":"t","input":{}}]},{"role":"user","content":[MARK]}]}`},
	"anthropic result":     {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"t","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a",MARK}]}]}`},

	"gemini":              {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],MARK}`},
	"gemini name":         {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"MARK"}]}]}`},
	"gemini config":       {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"t"}]}],"toolConfig":{"functionCallingConfig":MARK}}`},
	"gemini json":         {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"t","parametersJsonSchema":MARK}]}]}`},
	"gemini json a":       {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"t","parametersJsonSchema":{"type":"object","properties":{"a":MARK}}}]}]}`},
	"gemini parameters":   {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"t","parameters":MARK}]}]}`},
	"gemini parameters a": {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"t","parameters":{"type":"object","properties":{"a":MARK}}}]}]}`},
	"gemini content":      {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]},MARK]}`},
	"gemini turn":         {"/v1beta/models/gemini-3-pro:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"t"},"thoughtSignature":"s"},{"functionCall":{"name":"t"}}]},{"role":"user","parts":[MARK]}]}`},
	"gemini 2 turn":       {"/v1beta/models/gemini-2.5-flash:generateContent", `{"contents":[{"role":"user","parts":[{"text":"x"}]},{"role":"model","parts":[{"functionCall":{"id":"a","name":"t"},"thoughtSignature":"s"},{"functionCall":{"name":"t"}}]},{"role":"user","parts":[MARK]}]}`},
}

// TestRefusals holds that each endpoint refuses what the real one is known to refuse, in the vendor's form of an error, and
// takes what is beside it.
func TestRefusals(t *testing.T) {
	say := func(llmtest.Request) llmtest.Turn { return llmtest.Turn{Text: "fine"} }
	for _, tc := range refused {
		place := places[tc.kind]
		handler := llmtest.OpenAI(say)
		switch {
		case strings.HasPrefix(tc.kind, "anthropic"):
			handler = llmtest.Anthropic(say)
		case strings.HasPrefix(tc.kind, "gemini"):
			handler = llmtest.Gemini(say)
		}
		body := tc.body
		if tc.kind == "responses turn" && body != "" {
			body = "," + body
		}
		r := httptest.NewRequest(http.MethodPost, place[0], strings.NewReader(once(strings.Replace(place[1], "MARK", body, 1))))
		switch tc.kind {
		case "anthropic no version":
		case "anthropic 2026":
			r.Header.Set("anthropic-version", "2026-10-21")
		default:
			r.Header.Set("anthropic-version", "2023-06-01")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		raw, err := io.ReadAll(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		var answer struct{ Error struct{ Message string } }
		if err := json.Unmarshal(raw, &answer); err != nil {
			t.Fatal(err)
		}
		if (w.Code == http.StatusOK) != (tc.why == "") || !strings.Contains(answer.Error.Message, tc.why) {
			t.Errorf("%s: %.100s: status %d, %.300s; want %s", tc.kind, tc.body, w.Code, raw, tc.why)
		}
	}
}

// once takes out a member of the frame that the body gives anew.
func once(request string) string {
	for _, key := range []string{`"model":"m",`, `"max_tokens":9,`, `"messages":[{"role":"user","content":"x"}],`, `"contents":[{"role":"user","parts":[{"text":"x"}]}],`} {
		name := key[:strings.Index(key, ":")+1]
		if strings.Contains(request, key) && strings.Count(request, name) > 1 {
			return strings.Replace(request, key, "", 1)
		}
	}
	return request
}
