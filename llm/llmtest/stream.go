package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

const streamMethod = "streamGenerateContent"

// wantsStream tells whether a request asks for its answer in pieces.
func wantsStream(r *http.Request, body map[string]any) bool {
	asked, _ := body["stream"].(bool)
	if has(body, "stream_options") != "" && !asked {
		refuse("the 'stream_options' parameter is only allowed when 'stream' is enabled")
	}
	return asked || strings.HasSuffix(r.URL.Path, ":"+streamMethod)
}

// event is one event of a stream. A name stands on a line of its own, as some vendors want it.
type event struct {
	name string
	data any
}

// writeStream writes an answer in pieces, in the order and with the oddities of the real endpoint: text and arguments in
// small pieces, parallel calls by turns where their index tells them apart, events that say nothing.
func writeStream(w http.ResponseWriter, r *http.Request, body map[string]any, answer any) {
	whole := answer.(map[string]any) // what the vendor's answer is written as, all through this package
	var events []event
	comments := true
	switch {
	case has(whole, "choices") != "":
		options, _ := body["stream_options"].(map[string]any)
		events = chatEvents(whole, options["include_usage"] == true)
	case whole["object"] == "response":
		events = responseEvents(whole)
	case whole["type"] == "message":
		events = messageEvents(whole)
	default:
		comments = false // the vendor's own client does not understand any
		events = geminiEvents(whole)
		if r.URL.Query().Get("alt") != "sse" { // a list, as the real one has it
			var list []any
			for _, e := range events {
				list = append(list, e.data)
			}
			if err := json.NewEncoder(w).Encode(list); err != nil {
				return // the client is gone
			}
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if comments {
		fmt.Fprint(w, ": a comment that keeps the connection alive\n\n")
	}
	for _, e := range events {
		if e.name != "" {
			fmt.Fprintf(w, "event: %s\n", e.name)
		}
		data, isText := e.data.(string)
		if !isText {
			data = text(e.data)
		}
		fmt.Fprintf(w, "data: %s\n\n", data)
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
	}
}

// bits cuts a text into pieces of a few characters.
func bits(s string) []string {
	var out []string
	for runes := []rune(s); len(runes) > 0; {
		n := min(5, len(runes))
		out = append(out, string(runes[:n]))
		runes = runes[n:]
	}
	return out
}

func chatEvents(whole map[string]any, usage bool) []event {
	choice := whole["choices"].([]any)[0].(map[string]any)
	message := choice["message"].(map[string]any)
	var events []event
	chunk := func(choices ...any) map[string]any {
		c := map[string]any{"id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"], "model": whole["model"], "choices": choices}
		if usage {
			c["usage"] = nil
		}
		if choices == nil {
			c["choices"] = []any{}
		}
		events = append(events, event{data: c})
		return c
	}
	delta := func(d map[string]any) { chunk(map[string]any{"index": 0, "delta": d, "finish_reason": nil}) }
	delta(map[string]any{"role": "assistant", "content": map[bool]any{true: "", false: nil}[message["content"] != nil]})
	for _, piece := range bits(str(message["content"])) {
		delta(map[string]any{"content": piece})
	}
	calls := list(message["tool_calls"])
	var args [][]string
	for i, c := range calls {
		call := c.(map[string]any)
		function := call["function"].(map[string]any)
		args = append(args, bits(str(function["arguments"])))
		delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": call["id"], "type": "function", "function": map[string]any{"name": function["name"], "arguments": ""}}}})
	}
	for left := true; left; {
		left = false
		for i := range args {
			if len(args[i]) > 0 {
				delta(map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": args[i][0]}}}})
				args[i], left = args[i][1:], true
			}
		}
	}
	chunk(map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": choice["finish_reason"]})
	if usage {
		chunk()["usage"] = map[string]any{"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
	}
	return append(events, event{data: "[DONE]"})
}

func responseEvents(whole map[string]any) []event {
	var events []event
	say := func(kind string, d map[string]any) {
		d["type"], d["sequence_number"] = kind, len(events)
		events = append(events, event{kind, d})
	}
	begun := map[string]any{}
	for name, v := range whole {
		begun[name] = v
	}
	begun["status"], begun["output"] = "in_progress", []any{}
	say("response.created", map[string]any{"response": begun})
	for i, v := range list(whole["output"]) {
		item := v.(map[string]any)
		id := item["id"]
		first := map[string]any{}
		for name, v := range item {
			first[name] = v
		}
		switch item["type"] {
		case "function_call":
			first["arguments"], first["status"] = "", "in_progress"
		case "message":
			first["content"], first["status"] = []any{}, "in_progress"
		}
		say("response.output_item.added", map[string]any{"output_index": i, "item": first})
		switch item["type"] {
		case "function_call":
			for _, piece := range bits(str(item["arguments"])) {
				say("response.function_call_arguments.delta", map[string]any{"output_index": i, "item_id": id, "delta": piece})
			}
			say("response.function_call_arguments.done", map[string]any{"output_index": i, "item_id": id, "arguments": item["arguments"]})
		case "message":
			part := list(item["content"])[0].(map[string]any)
			say("response.content_part.added", map[string]any{"output_index": i, "item_id": id, "content_index": 0, "part": map[string]any{"type": "output_text", "text": "", "annotations": []any{}}})
			for _, piece := range bits(str(part["text"])) {
				say("response.output_text.delta", map[string]any{"output_index": i, "item_id": id, "content_index": 0, "delta": piece})
			}
			say("response.output_text.done", map[string]any{"output_index": i, "item_id": id, "content_index": 0, "text": part["text"]})
			say("response.content_part.done", map[string]any{"output_index": i, "item_id": id, "content_index": 0, "part": part})
		}
		say("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	say("response.completed", map[string]any{"response": whole})
	return events
}

func messageEvents(whole map[string]any) []event {
	var events []event
	say := func(kind string, d map[string]any) {
		d["type"] = kind
		events = append(events, event{kind, d})
	}
	begun := map[string]any{}
	for name, v := range whole {
		begun[name] = v
	}
	begun["content"], begun["stop_reason"] = []any{}, nil
	say("message_start", map[string]any{"message": begun})
	say("ping", map[string]any{})
	for i, v := range list(whole["content"]) {
		block := v.(map[string]any)
		delta := func(d map[string]any) { say("content_block_delta", map[string]any{"index": i, "delta": d}) }
		if block["type"] == "tool_use" {
			say("content_block_start", map[string]any{"index": i, "content_block": map[string]any{"type": "tool_use", "id": block["id"], "name": block["name"], "input": map[string]any{}}})
			delta(map[string]any{"type": "input_json_delta", "partial_json": ""})
			if input := text(block["input"]); input != "{}" {
				for _, piece := range bits(input) {
					delta(map[string]any{"type": "input_json_delta", "partial_json": piece})
				}
			}
		} else {
			say("content_block_start", map[string]any{"index": i, "content_block": map[string]any{"type": "text", "text": ""}})
			for _, piece := range bits(str(block["text"])) {
				delta(map[string]any{"type": "text_delta", "text": piece})
			}
		}
		say("content_block_stop", map[string]any{"index": i})
	}
	say("message_delta", map[string]any{"delta": map[string]any{"stop_reason": whole["stop_reason"], "stop_sequence": nil}, "usage": map[string]any{"output_tokens": 1}})
	say("message_stop", map[string]any{})
	return events
}

func geminiEvents(whole map[string]any) []event {
	candidate := whole["candidates"].([]any)[0].(map[string]any)
	var events []event
	chunk := func(finish any, parts ...any) {
		c := map[string]any{"content": map[string]any{"role": "model", "parts": parts}}
		if finish != nil {
			c["finishReason"] = finish
		}
		events = append(events, event{data: map[string]any{"candidates": []any{c}, "modelVersion": whole["modelVersion"], "usageMetadata": map[string]any{"totalTokenCount": len(events)}}})
	}
	for _, p := range list(candidate["content"].(map[string]any)["parts"]) {
		part := p.(map[string]any)
		if has(part, "text") == "" {
			chunk(nil, part)
		}
		for _, piece := range bits(str(part["text"])) {
			chunk(nil, map[string]any{"text": piece})
		}
	}
	chunk(candidate["finishReason"], map[string]any{"text": ""})
	return events
}
