package openai

import (
	"encoding/json"
	"fmt"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/back"
	"github.com/rialto-mcp/rialto/mcp"
)

// ReadResponses reads items of the Responses API, of the members "input" and "output" alike, one or a whole conversation.
// Items of the model that follow each other become one message. Text that begins with "Error: " stays text, as in
// [ReadChat]. It fails for calls whose arguments are no object.
func ReadResponses(items ...json.RawMessage) (*llm.History, error) {
	h := &llm.History{}
	for i, item := range items {
		what := fmt.Sprintf("read item %d", i)
		if err := back.Valid(item, '{', what); err != nil {
			return nil, err
		}
		if err := readItem(h, item, i); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}
	return h, nil
}

func readItem(h *llm.History, item json.RawMessage, i int) error {
	where := fmt.Sprintf("item %d", i)
	switch kind := back.Text(item, "type"); kind {
	case "message", "":
		content, _ := jsonrpc.Member(item, "content")
		blocks := responseBlocks(h, content, where)
		switch role := back.Text(item, "role"); role {
		case "system", "developer":
			for _, b := range blocks {
				if t, ok := b.(*mcp.TextContent); ok {
					h.Say(t.Text)
				}
			}
		case "assistant":
			h.Add(mcp.RoleAssistant, true, blocks...)
		case "user":
			h.Add(mcp.RoleUser, false, blocks...)
		default:
			return fmt.Errorf("there is no role %.40q", role)
		}
	case "function_call":
		args, _ := jsonrpc.Member(item, "arguments")
		uses, err := toolUses([]llm.Call{{ID: back.Text(item, "call_id"), Name: back.Text(item, "name"), Args: args}})
		if err != nil {
			return err
		}
		h.Add(mcp.RoleAssistant, true, uses...)
	case "function_call_output":
		output, _ := jsonrpc.Member(item, "output")
		content := responseBlocks(h, output, where)
		if content == nil {
			content = []mcp.Content{}
		}
		h.Add(mcp.RoleUser, true, &mcp.ToolResultContent{ToolUseID: back.Text(item, "call_id"), Content: content})
	default:
		h.Leave("%s: %.80s", where, kind) // the model's thinking, and what the API does by itself
	}
	return nil
}

// responseBlocks reads content: a text, or a list of parts.
func responseBlocks(h *llm.History, content json.RawMessage, where string) []mcp.Content {
	if text, ok := jsonrpc.Text(content); ok {
		if text == "" {
			return nil
		}
		return []mcp.Content{mcp.Text(text)}
	}
	var out []mcp.Content
	for part := range jsonrpc.Elements(content) {
		switch kind := back.Text(part, "type"); kind {
		case "input_text", "output_text", "text":
			out = append(out, mcp.Text(back.Text(part, "text")))
		case "refusal":
			out = append(out, mcp.Text(back.Text(part, "refusal")))
		case "input_image":
			if address := back.Text(part, "image_url"); address != "" {
				out = append(out, back.Media(address, "image", ""))
			} else {
				out = append(out, kept(h, "image", back.Text(part, "file_id"), where))
			}
		case "input_file":
			out = append(out, file(h, part, where))
		default:
			h.Leave("%s: a part of type %.80q", where, kind)
		}
	}
	return out
}
