package openai

import (
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

type responseTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // always said: without it the service may choose strict by itself
}

// ResponseTools writes the member "tools" of the Responses API; nil for an empty set.
func ResponseTools(set *llm.Set) json.RawMessage {
	var all []responseTool
	for _, t := range set.Tools() {
		all = append(all, responseTool{"function", t.Name, t.Description, t.Input, t.Strict})
	}
	if all == nil {
		return nil
	}
	return encode(all)
}

// ResponseCalls reads the calls among the items of an answer's member "output". All items, those of reasoning too, have to
// be sent back as they came and in order, before the results.
func ResponseCalls(output json.RawMessage) ([]llm.Call, error) {
	var items []struct {
		Type      string          `json:"type"`
		CallID    string          `json:"call_id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		Input     json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(output, &items); err != nil {
		return nil, fmt.Errorf("read the calls of an answer: %w", err)
	}
	var calls []llm.Call
	for _, item := range items {
		switch item.Type {
		case "function_call":
			calls = append(calls, llm.Call{ID: item.CallID, Name: item.Name, Args: unquoted(item.Arguments)})
		case "custom_tool_call":
			calls = append(calls, llm.Call{ID: item.CallID, Name: item.Name, Args: item.Input}) // a plain text; no tool of MCP takes that
		}
	}
	return calls, nil
}

type responseOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output any    `json:"output"`
}

// ResponseResults writes one item for each result. A failed call begins with "Error: ".
func ResponseResults(results []llm.Result) []json.RawMessage {
	var out []json.RawMessage
	for _, r := range results {
		parts := withMark(r)
		item := responseOutput{Type: "function_call_output", CallID: r.ID}
		if len(parts) == 1 && parts[0].Kind == llm.TextPart {
			item.Output = parts[0].Text
		} else {
			item.Output = responseParts(parts)
		}
		out = append(out, encode(item))
	}
	return out
}

func responseParts(parts []llm.Part) []any {
	var out []any
	for _, p := range parts {
		switch {
		case isPicture(p):
			out = append(out, map[string]string{"type": "input_image", "image_url": dataURL(p), "detail": "auto"})
		case isPDF(p):
			out = append(out, map[string]string{"type": "input_file", "filename": fileName(p), "file_data": dataURL(p)})
		default:
			out = append(out, textPart{"input_text", p.Placeholder("not shown")})
		}
	}
	return out
}

// ResponseMessages writes context as items of the member "input".
func ResponseMessages(messages ...llm.Message) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range messages {
		if m.Role == mcp.RoleAssistant {
			out = append(out, encode(chatMessage{Role: "assistant", Content: wordsOf(m.Parts)}))
		} else {
			out = append(out, encode(chatMessage{Role: "user", Content: responseParts(m.Parts)}))
		}
	}
	return out
}
