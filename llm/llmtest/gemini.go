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
	geminiConfig(body, req.Tools)
	if len(list(body["contents"])) == 0 {
		refuse("contents is not specified")
	}
	waiting, ids := []string(nil), []string(nil)
	for i, c := range list(body["contents"]) {
		content := object(c, "a content")
		var calls, callIDs, answered []string
		if role := content["role"]; role != "user" && role != "model" {
			refuse("contents[%d]: please use a valid role: user, model", i)
		}
		if len(list(content["parts"])) == 0 {
			refuse("contents[%d].parts: must not be empty", i)
		}
		beside := false
		for j, p := range list(content["parts"]) {
			part := object(p, "a part")
			if call, ok := part["functionCall"].(map[string]any); ok {
				if len(calls) == 0 && part["thoughtSignature"] == nil {
					refuse("contents[%d].parts[%d]: function call is missing a thought_signature", i, j)
				}
				calls, callIDs = append(calls, str(call["name"])), append(callIDs, str(call["id"]))
				continue
			}
			if content["role"] == "model" && has(part, "functionResponse", "inlineData") != "" {
				refuse("contents[%d].parts[%d]: only text and calls are allowed in the role model", i, j)
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
			if k := len(answered); k < len(ids) && ids[k] != str(answer["id"]) {
				refuse("contents[%d].parts[%d]: the id %q is not that of the call", i, j, answer["id"])
			}
			answered = append(answered, str(answer["name"]))
			req.Results = append(req.Results, text(answer))
		}
		switch {
		case content["role"] == "model":
			req.Turn++
			req.Results = nil
			waiting, ids = calls, callIDs
			continue
		case !slices.Equal(waiting, answered) || answered != nil && beside:
			refuse("please ensure that the number of function response parts is equal to the number of function call parts of the function call turn")
		}
		waiting, ids = nil, nil
	}
	if waiting != nil {
		refuse("please ensure that function call turn comes before a function response turn")
	}
	return req
}

// geminiConfig judges which tools are to be called.
func geminiConfig(body map[string]any, offered []string) {
	tool, _ := body["toolConfig"].(map[string]any)
	config, _ := tool["functionCallingConfig"].(map[string]any)
	mode := str(config["mode"])
	if !slices.Contains([]string{"", "MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"}, mode) {
		refuse("Invalid value at 'tool_config.function_calling_config.mode': %q", mode)
	}
	for _, name := range list(config["allowedFunctionNames"]) {
		if mode != "ANY" && mode != "VALIDATED" {
			refuse("allowed_function_names is only allowed with the modes ANY and VALIDATED")
		}
		if !slices.Contains(offered, str(name)) {
			refuse("allowed_function_names: there is no function %q", name)
		}
	}
}
