package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var geminiName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$`)

// Gemini plays generateContent at /v1beta/models/{model}:generateContent, and at {model}:streamGenerateContent. A model whose name begins with "gemini-2" takes
// no media within a result, as the real ones do not.
func Gemini(script Script) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1beta/models/{call}", serve(script, judgeGemini, func(t Turn) any {
		parts := []any{}
		if t.Text != "" {
			parts = append(parts, map[string]any{"text": t.Text})
		}
		for i, c := range t.Calls {
			call := map[string]any{"name": c.Name}
			if c.ID != "" {
				call["id"] = c.ID
			}
			if len(c.Args) > 0 && string(c.Args) != "{}" {
				call["args"] = json.RawMessage(c.Args)
			}
			part := map[string]any{"functionCall": call}
			if i == 0 {
				part["thoughtSignature"] = "c2lnbmVk"
			}
			parts = append(parts, part)
		}
		stop := "STOP"
		if t.Stop != "" {
			stop = t.Stop
		}
		return map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"role": "model", "parts": parts}, "finishReason": stop}}, "modelVersion": "fake-1"}
	}, func(text string) any {
		return map[string]any{"error": map[string]any{"code": 400, "status": "INVALID_ARGUMENT", "message": text}}
	}))
	return mux
}

func judgeGemini(r *http.Request, body map[string]any) Request {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	if method != "generateContent" && method != streamMethod {
		refuse("there is no method %q", method)
	}
	req := Request{}
	for i, t := range list(body["tools"]) {
		for j, d := range list(object(t, "a tool")["functionDeclarations"]) {
			f := object(d, "a declaration")
			req.Tools = append(req.Tools, str(f["name"]))
			geminiSchemas(f, fmt.Sprintf("tools[%d].function_declarations[%d]", i, j))
		}
	}
	if len(req.Tools) > 128 {
		refuse("at most 128 function declarations are allowed")
	}
	names(req.Tools, geminiName)
	waiting := []string(nil)
	for i, c := range list(body["contents"]) {
		content := object(c, "a content")
		var calls, answered []string
		beside := false
		for j, p := range list(content["parts"]) {
			part := object(p, "a part")
			if call, ok := part["functionCall"].(map[string]any); ok {
				if len(calls) == 0 && part["thoughtSignature"] == nil {
					refuse("contents[%d].parts[%d]: function call is missing a thought_signature", i, j)
				}
				calls = append(calls, str(call["name"]))
				continue
			}
			answer, ok := part["functionResponse"].(map[string]any)
			if !ok {
				beside = true
				req.Asked = text(part)
				continue
			}
			object(answer["response"], "response")
			if has(answer, "parts") != "" && strings.HasPrefix(model, "gemini-2") {
				refuse("contents[%d].parts[%d]: multimodal function responses are not supported by this model", i, j)
			}
			answered = append(answered, str(answer["name"]))
			req.Results = append(req.Results, text(answer))
		}
		switch {
		case content["role"] == "model":
			req.Turn++
			req.Results = nil
			waiting = calls
			continue
		case !slices.Equal(waiting, answered) || answered != nil && beside:
			refuse("please ensure that the number of function response parts is equal to the number of function call parts of the function call turn")
		}
		waiting = nil
	}
	return req
}

var openAPIKeywords = []string{
	"type", "format", "title", "description", "nullable", "default", "example", "enum", "items", "minItems", "maxItems", "minLength", "maxLength",
	"pattern", "minimum", "maximum", "properties", "required", "minProperties", "maxProperties", "anyOf", "propertyOrdering",
}

var jsonKeywords = []string{
	"$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items", "prefixItems", "minItems", "maxItems", "minimum",
	"maximum", "anyOf", "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
}

// geminiSchemas judges both kinds of parameters.
func geminiSchemas(f map[string]any, at string) {
	schema, old := f["parameters"]
	known := openAPIKeywords
	if !old {
		if schema, old = f["parametersJsonSchema"]; !old {
			return
		}
		known = jsonKeywords
	} else if has(f, "parametersJsonSchema") != "" {
		refuse("%s: parameters and parametersJsonSchema are mutually exclusive", at)
	}
	walk(schema, at, func(s map[string]any, at string) {
		for key := range s {
			if !slices.Contains(known, key) {
				refuse("Invalid JSON payload received. Unknown name %q at '%s': Cannot find field.", key, at)
			}
		}
		if list(s["type"]) != nil {
			refuse("%s: Proto field is not repeating, cannot start list", at)
		}
		if has(s, "properties", "required") != "" && s["type"] != "object" {
			refuse("%s: only allowed for OBJECT type", at)
		}
		if s["type"] == "array" && has(s, "items", "prefixItems") == "" {
			refuse("%s.items: missing field", at)
		}
		for _, v := range list(s["enum"]) {
			if _, word := v.(string); !word && f["parameters"] != nil {
				refuse("%s.enum: must be strings", at)
			}
		}
		for _, name := range list(s["required"]) {
			if _, ok := object(s["properties"], at)[str(name)]; !ok {
				refuse("%s.required: property is not defined: %q", at, name)
			}
		}
	})
	if root := object(schema, at); root["type"] != "object" || len(object(root["properties"], at)) == 0 {
		refuse("%s: should be non-empty for OBJECT type", at)
	}
}
