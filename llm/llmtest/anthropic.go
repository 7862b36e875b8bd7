package llmtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var (
	anthropicName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
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
	req.offered(body)
	anthropicChoice(body, req.Tools)
	for _, stop := range list(body["stop_sequences"]) {
		if strings.TrimSpace(str(stop)) == "" {
			refuse("stop_sequences: each stop sequence must contain non-whitespace")
		}
	}
	if marks := cacheMarks(body); marks > 4 {
		refuse("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks)
	}
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

// offered judges the tools.
func (req *Request) offered(body map[string]any) {
	strict, optional := 0, 0
	for i, t := range list(body["tools"]) {
		tool, at := object(t, "a tool"), fmt.Sprintf("tools.%d.input_schema", i)
		req.Tools = append(req.Tools, str(tool["name"]))
		anthropicSchema(tool["input_schema"], at)
		if tool["strict"] == true {
			strict++
			optional += anthropicStrict(tool["input_schema"], at)
		}
	}
	names(req.Tools, anthropicName)
	if strict > 20 || optional > 24 {
		refuse("the compiled grammar is too large: %d strict tools with %d optional parameters", strict, optional)
	}
}

func anthropicChoice(body map[string]any, offered []string) {
	if has(body, "tool_choice") == "" {
		return
	}
	choice := object(body["tool_choice"], "tool_choice")
	thinking, _ := body["thinking"].(map[string]any)
	switch kind := str(choice["type"]); {
	case len(offered) == 0:
		refuse("tool_choice may only be specified while providing tools")
	case !slices.Contains([]string{"auto", "any", "tool", "none"}, kind):
		refuse("tool_choice: there is no type %q", kind)
	case kind == "tool" && !slices.Contains(offered, str(choice["name"])):
		refuse("tool_choice: there is no tool %q", choice["name"])
	case (kind == "any" || kind == "tool") && thinking["type"] == "enabled":
		refuse("thinking may not be enabled when tool_choice forces tool use")
	}
}

// cacheMarks counts the members cache_control, wherever they stand.
func cacheMarks(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if key == "cache_control" && inner != nil {
				n++
			} else if key != "input_schema" && key != "input" {
				n += cacheMarks(inner)
			}
		}
	case []any:
		for _, inner := range v {
			n += cacheMarks(inner)
		}
	}
	return n
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
		case m["role"] == "assistant" && kind != "text" && kind != "thinking" && kind != "redacted_thinking":
			refuse("%s: content of type %q is not allowed in a message of the assistant", at, kind)
		case kind == "thinking" && m["role"] == "assistant":
			if str(block["signature"]) == "" {
				refuse("%s: thinking needs its signature", at)
			}
		case kind == "redacted_thinking" && m["role"] == "assistant":
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
		source := object(block["source"], at)
		allowed := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
		if block["type"] == "document" {
			allowed = []string{"application/pdf"}
			if source["type"] == "text" {
				allowed = []string{"text/plain"}
			}
		}
		if kind := str(source["media_type"]); !slices.Contains(allowed, kind) {
			refuse("%s: the media type %q is not supported", at, kind)
		}
		if _, err := base64.StdEncoding.DecodeString(str(source["data"])); err != nil && source["type"] == "base64" {
			refuse("%s: invalid base64 data", at)
		}
	default:
		refuse("%s: content of type %q is not allowed here", at, block["type"])
	}
}
