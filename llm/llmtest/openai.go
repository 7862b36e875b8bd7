package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

var openAIName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// OpenAI plays Chat Completions at /v1/chat/completions and Responses at /v1/responses.
func OpenAI(script Script) http.Handler {
	wrong := func(text string) any {
		return map[string]any{"error": map[string]any{"message": text, "type": "invalid_request_error"}}
	}
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", serve(script, judgeChat, chatAnswer, wrong))
	mux.Handle("POST /v1/responses", serve(script, judgeResponses, responsesAnswer, wrong))
	return mux
}

func chatAnswer(t Turn) any {
	message := map[string]any{"role": "assistant", "content": nil}
	stop := "stop"
	if t.Text != "" {
		message["content"] = t.Text
	}
	var calls []any
	for i, c := range t.Calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d", i)
		}
		calls = append(calls, map[string]any{"id": id, "type": "function", "function": map[string]any{"name": c.Name, "arguments": string(c.Args)}})
	}
	if calls != nil {
		message["tool_calls"], stop = calls, "tool_calls"
	}
	if t.Stop != "" {
		stop = t.Stop
	}
	return map[string]any{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "fake-1",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": stop}}}
}

func judgeChat(_ *http.Request, body map[string]any) Request {
	if str(body["model"]) == "" {
		refuse("you must provide a model parameter")
	}
	var offered []string
	tools, given := body["tools"]
	if given && len(list(tools)) == 0 {
		refuse("[] is too short - 'tools'")
	}
	if key := has(body, "tool_choice", "parallel_tool_calls"); key != "" && !given {
		refuse("%s is only allowed when 'tools' are specified", key)
	}
	if len(list(tools)) > 128 {
		refuse("Invalid 'tools': array too long")
	}
	for i, t := range list(tools) {
		if kind := object(t, "a tool")["type"]; kind != "function" {
			refuse("tools.%d: type %q", i, kind)
		}
		f := object(object(t, "a tool")["function"], "function")
		offered = append(offered, str(f["name"]))
		openAISchema(f["parameters"], f["strict"] == true, fmt.Sprintf("tools.%d", i))
	}
	names(offered, openAIName)
	openAIChoice(body["tool_choice"], offered, true)
	if len(list(body["stop"])) > 4 {
		refuse("Invalid 'stop': array too long")
	}
	req := Request{Tools: offered}
	var open []string
	if len(list(body["messages"])) == 0 {
		refuse("[] is too short - 'messages'")
	}
	for i, m := range list(body["messages"]) {
		open = req.chatMessage(object(m, "a message"), open, i)
	}
	if len(open) > 0 {
		refuse("an assistant message with 'tool_calls' must be followed by tool messages; missing: %v", open)
	}
	return req
}

// chatMessage judges one message. open are the ids that have to be answered before anything else comes.
func (req *Request) chatMessage(m map[string]any, open []string, i int) []string {
	role := str(m["role"])
	if len(open) > 0 && role != "tool" {
		refuse("messages.%d: an assistant message with 'tool_calls' must be followed by tool messages; missing: %v", i, open)
	}
	switch role {
	case "assistant":
		req.Turn++
		req.Results = nil
		calls, given := m["tool_calls"]
		if given && len(list(calls)) == 0 {
			refuse("messages.%d: [] is too short - 'tool_calls'", i)
		}
		if m["content"] == nil && !given {
			refuse("messages.%d: content must not be null", i)
		}
		chatParts(m["content"], i, "text", "refusal")
		for _, c := range list(calls) {
			f := object(object(c, "a call")["function"], "function")
			if args, ok := f["arguments"].(string); !ok || !json.Valid([]byte(args)) {
				refuse("messages.%d: arguments must be a string of JSON", i)
			}
			id := str(object(c, "a call")["id"])
			if id == "" || len(id) > 64 {
				refuse("messages.%d: the id %q is none", i, id)
			}
			open = append(open, id)
		}
	case "tool":
		at := slices.Index(open, str(m["tool_call_id"]))
		if at < 0 {
			refuse("messages.%d: 'tool' must be a response to a preceding message with 'tool_calls'", i)
		}
		open = slices.Delete(slices.Clone(open), at, at+1)
		if m["content"] == nil {
			refuse("messages.%d: a tool message needs content", i)
		}
		chatParts(m["content"], i, "text")
		req.Results = append(req.Results, text(m))
	case "user":
		req.Asked = text(m["content"])
		if s, ok := m["content"].(string); ok {
			req.Asked = s
		}
		chatParts(m["content"], i, "text", "image_url", "input_audio", "file")
	case "system", "developer":
		chatParts(m["content"], i, "text")
	default:
		refuse("messages.%d: there is no role %q", i, role)
	}
	return open
}

// openAIChoice judges the member tool_choice: a word, or a tool by its name, which Chat Completions has one level deeper.
func openAIChoice(choice any, offered []string, nested bool) {
	if word, ok := choice.(string); ok || choice == nil {
		if ok && word != "none" && word != "auto" && word != "required" {
			refuse("Invalid value for 'tool_choice': %q", word)
		}
		return
	}
	o := object(choice, "tool_choice")
	if o["type"] != "function" {
		return // allowed_tools and the vendor's own tools
	}
	if nested {
		o = object(o["function"], "tool_choice.function")
	}
	if name := str(o["name"]); !slices.Contains(offered, name) {
		refuse("Invalid value for 'tool_choice': there is no tool %q", name)
	}
}

func chatParts(content any, i int, kinds ...string) {
	if parts, ok := content.([]any); ok && len(parts) == 0 {
		refuse("messages.%d: [] is too short - 'content'", i)
	}
	for _, p := range list(content) {
		part := object(p, "a part")
		if !slices.Contains(kinds, str(part["type"])) {
			refuse("messages.%d: content of type %q is not allowed here", i, part["type"])
		}
		if part["type"] == "image_url" && !strings.HasPrefix(str(object(part["image_url"], "image_url")["url"]), "data:image/") {
			refuse("messages.%d: the image cannot be fetched", i)
		}
	}
}

func responsesAnswer(t Turn) any {
	output := []any{map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{}}}
	for i, c := range t.Calls {
		id := c.ID
		if id == "" {
			id = fmt.Sprintf("call_%d", i)
		}
		output = append(output, map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": id, "name": c.Name, "arguments": string(c.Args), "status": "completed"})
	}
	if t.Text != "" {
		output = append(output, map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": t.Text, "annotations": []any{}}}})
	}
	return map[string]any{"id": "resp_1", "object": "response", "created_at": 1, "model": "fake-1", "status": "completed", "output": output}
}

func judgeResponses(_ *http.Request, body map[string]any) Request {
	req := Request{}
	if str(body["model"]) == "" {
		refuse("you must provide a model parameter")
	}
	tools, given := body["tools"]
	if key := has(body, "tool_choice", "parallel_tool_calls"); key != "" && !given {
		refuse("%s is only allowed when 'tools' are specified", key)
	}
	if given {
		if len(list(tools)) == 0 {
			refuse("[] is too short - 'tools'")
		}
		for i, t := range list(tools) {
			tool := object(t, "a tool")
			if tool["type"] != "function" {
				refuse("tools.%d: type %q", i, tool["type"])
			}
			if _, said := tool["strict"].(bool); !said {
				refuse("tools.%d: strict is not said; the service would choose", i)
			}
			req.Tools = append(req.Tools, str(tool["name"]))
			openAISchema(tool["parameters"], tool["strict"] == true, fmt.Sprintf("tools.%d", i))
		}
	}
	names(req.Tools, openAIName)
	openAIChoice(body["tool_choice"], req.Tools, false)
	open, reasoned := []string(nil), false
	items := list(body["input"])
	for i, item := range items {
		it := object(item, "an item")
		switch kind := str(it["type"]); {
		case kind == "reasoning":
			if i+1 == len(items) || !spoken(object(items[i+1], "an item")) {
				refuse("input.%d: the 'reasoning' item was provided without its required following item", i)
			}
			reasoned = true
			req.Turn++
			req.Results = nil
		case kind == "function_call":
			if !reasoned {
				refuse("input.%d: the function_call was provided without its required 'reasoning' item", i)
			}
			id := str(it["call_id"])
			if id == "" || len(id) > 64 {
				refuse("input.%d: Invalid 'call_id': 1 to 64 characters", i)
			}
			if _, ok := it["arguments"].(string); !ok {
				refuse("input.%d: arguments must be a string", i)
			}
			open = append(open, id)
		case kind == "function_call_output":
			at := slices.Index(open, str(it["call_id"]))
			if at < 0 {
				refuse("input.%d: no tool call found for function call output with call_id %q", i, it["call_id"])
			}
			open = slices.Delete(open, at, at+1)
			responsesOutput(it["output"], i)
			req.Results = append(req.Results, text(it))
		case it["role"] == "user":
			req.Asked = text(it["content"])
		}
	}
	if len(open) > 0 {
		refuse("no tool output found for function call %v", open)
	}
	return req
}

// spoken tells whether an item is what a reasoning leads to.
func spoken(item map[string]any) bool {
	return item["type"] == "function_call" || item["type"] == "message" || item["type"] == "reasoning" || item["type"] == "custom_tool_call"
}

// How many characters one output may have, by kind.
const (
	outputText  = 10_485_760
	outputImage = 20_971_520
	outputFile  = 73_400_320
)

func responsesOutput(output any, i int) {
	if words, ok := output.(string); ok {
		within(words, outputText, i)
		return
	}
	if len(list(output)) == 0 {
		refuse("input.%d: output is missing", i)
	}
	for _, p := range list(output) {
		part := object(p, "a part")
		switch part["type"] {
		case "input_text":
			within(str(part["text"]), outputText, i)
		case "input_image":
			within(str(part["image_url"]), outputImage, i)
			if !strings.HasPrefix(str(part["image_url"]), "data:image/") {
				refuse("input.%d: the image cannot be fetched", i)
			}
		case "input_file":
			within(str(part["file_data"]), outputFile, i)
			if str(part["filename"]) == "" || !strings.HasPrefix(str(part["file_data"]), "data:") {
				refuse("input.%d: a file needs a filename and its data as a data URL", i)
			}
		default:
			refuse("input.%d: output of type %q is not allowed", i, part["type"])
		}
	}
}

func within(text string, most, i int) {
	if len(text) > most {
		refuse("input.%d: string too long, at most %d characters", i, most)
	}
}
