package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	anthropicKey  = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	anthropicID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
)

// Anthropic plays the Messages API at /v1/messages.
func Anthropic(script Script) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /v1/messages", serve(script, judgeMessages, func(t Turn) any {
		content, stop := []any{}, "end_turn"
		if t.Text != "" {
			content = append(content, map[string]any{"type": "text", "text": t.Text})
		}
		for i, c := range t.Calls {
			id := c.ID
			if id == "" {
				id = fmt.Sprintf("toolu_%d", i)
			}
			content = append(content, map[string]any{"type": "tool_use", "id": id, "name": c.Name, "input": c.Args})
			stop = "tool_use"
		}
		if t.Stop != "" {
			stop = t.Stop
		}
		return map[string]any{"id": "msg_1", "type": "message", "role": "assistant", "model": "fake-1", "content": content, "stop_reason": stop,
			"stop_sequence": nil, "usage": map[string]any{"input_tokens": 1, "output_tokens": 1}}
	}, func(text string) any {
		return map[string]any{"type": "error", "error": map[string]any{"type": "invalid_request_error", "message": text}}
	}))
	return mux
}

func judgeMessages(r *http.Request, body map[string]any) Request {
	version := r.Header.Get("anthropic-version")
	switch {
	case version == "":
		refuse("anthropic-version: header is required")
	case version >= "2026" && has(body, "temperature", "top_p", "top_k") != "":
		refuse("%s: Extra inputs are not permitted", has(body, "temperature", "top_p", "top_k"))
	case str(body["model"]) == "":
		refuse("model: Field required")
	}
	if _, ok := body["max_tokens"].(json.Number); !ok {
		refuse("max_tokens: Field required")
	}
	req := Request{}
	for i, t := range list(body["tools"]) {
		tool := object(t, "a tool")
		req.Tools = append(req.Tools, str(tool["name"]))
		anthropicSchema(tool["input_schema"], fmt.Sprintf("tools.%d.input_schema", i))
	}
	if len(req.Tools) == 0 && has(body, "tool_choice") != "" {
		refuse("tool_choice may only be specified while providing tools")
	}
	names(req.Tools, anthropicName)
	var open []string
	if len(list(body["messages"])) == 0 {
		refuse("messages: at least one message is required")
	}
	for i, m := range list(body["messages"]) {
		open = req.message(object(m, "a message"), open, i)
	}
	if len(open) > 0 {
		refuse("`tool_use` ids were found without `tool_result` blocks immediately after: %v", open)
	}
	return req
}

func (req *Request) message(m map[string]any, open []string, i int) []string {
	blocks := list(m["content"])
	if s, ok := m["content"].(string); ok {
		blocks = []any{map[string]any{"type": "text", "text": s}}
	}
	if m["role"] == "assistant" {
		req.Turn++
		req.Results = nil
	} else if m["role"] != "user" {
		refuse("messages.%d: there is no role %q", i, m["role"])
	}
	var uses []string
	afterText := false
	for j, b := range blocks {
		block, at := object(b, "a block"), fmt.Sprintf("messages.%d.content.%d", i, j)
		switch kind := str(block["type"]); {
		case kind == "tool_result" && m["role"] == "user":
			k := slices.Index(open, str(block["tool_use_id"]))
			if k < 0 {
				refuse("%s: unexpected `tool_use_id` found in `tool_result` blocks: %q", at, block["tool_use_id"])
			}
			if afterText {
				refuse("%s: tool_result blocks come first", at)
			}
			open = slices.Delete(slices.Clone(open), k, k+1)
			resultContent(block, at)
			req.Results = append(req.Results, text(block))
		case kind == "tool_use" && m["role"] == "assistant":
			object(block["input"], at+".input")
			if !anthropicID.MatchString(str(block["id"])) || !anthropicName.MatchString(str(block["name"])) {
				refuse("%s: the id or the name does not match its pattern", at)
			}
			uses = append(uses, str(block["id"]))
		default:
			afterText = true
			contentBlock(block, at)
			if kind == "text" && m["role"] == "user" {
				req.Asked = str(block["text"])
			}
		}
	}
	if len(open) > 0 {
		refuse("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %v", i, open)
	}
	return uses
}

func resultContent(block map[string]any, at string) {
	for _, c := range list(block["content"]) {
		inner := object(c, at)
		if block["is_error"] == true && inner["type"] != "text" {
			refuse("%s: all content must be type text if `is_error` is true", at)
		}
		contentBlock(inner, at)
	}
}

func contentBlock(block map[string]any, at string) {
	switch block["type"] {
	case "text":
		if strings.TrimSpace(str(block["text"])) == "" {
			refuse("%s: text content blocks must contain non-whitespace text", at)
		}
	case "image", "document":
		allowed := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
		if block["type"] == "document" {
			allowed = []string{"application/pdf", "text/plain"}
		}
		if kind := str(object(block["source"], at)["media_type"]); !slices.Contains(allowed, kind) {
			refuse("%s: the media type %q is not supported", at, kind)
		}
	default:
		refuse("%s: content of type %q is not allowed here", at, block["type"])
	}
}

// anthropicSchema judges the schema of a tool.
func anthropicSchema(v any, at string) {
	root := object(v, at)
	if root["type"] != "object" {
		refuse("%s.type: Input should be 'object'", at)
	}
	if key := has(root, "oneOf", "anyOf", "allOf"); key != "" {
		refuse("%s: input_schema does not support oneOf, allOf, or anyOf at the top level", at)
	}
	if properties, ok := root["properties"].(map[string]any); ok {
		for key := range properties {
			if !anthropicKey.MatchString(key) {
				refuse("%s: property keys should match pattern %s; got %q", at, anthropicKey, key)
			}
		}
	}
	walk(root, at, func(s map[string]any, at string) {
		_, isList := s["items"].([]any)
		_, flag := s["exclusiveMinimum"].(bool)
		if isList || flag {
			refuse("%s: JSON schema is invalid. It must match JSON Schema draft 2020-12", at)
		}
	})
}
