package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/portable"
	"github.com/rialto-mcp/rialto/mcp"
)

// Messages is the profile of the Messages API.
func Messages() llm.Profile {
	return llm.Profile{API: "anthropic messages", NameDigit: true, Dialect: portable.Anthropic, Strict: portable.AnthropicStrict, IDMax: 64}
}

// encode writes a value with its members in order. The values here are all of a kind that has a JSON form; text that is
// not UTF-8 is repaired.
func encode(v any) json.RawMessage {
	raw, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("llm/anthropic: " + err.Error()) // a shape of this package that cannot be written
	}
	return raw
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	InputSchema json.RawMessage `json:"input_schema"`
	Strict      bool            `json:"strict,omitzero"`
	Cache       *cacheControl   `json:"cache_control,omitzero"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// Tools writes the member "tools". It is nil for an empty set; tool_choice has to stay out then.
func Tools(set *llm.Set) json.RawMessage { return tools(set, false) }

// CachedTools is Tools with a mark on the last of them, which lets the API keep all definitions between requests.
func CachedTools(set *llm.Set) json.RawMessage { return tools(set, true) }

func tools(set *llm.Set, cached bool) json.RawMessage {
	var all []tool
	for _, t := range set.Tools() {
		all = append(all, tool{Name: t.Name, Description: t.Description, InputSchema: t.Input, Strict: t.Strict})
	}
	if all == nil {
		return nil
	}
	if cached {
		all[len(all)-1].Cache = &cacheControl{"ephemeral"}
	}
	return encode(all)
}

// Calls reads the calls of an answer, or of its member "content", in order; none is no error.
func Calls(answer json.RawMessage) ([]llm.Call, error) {
	content := answer
	if inner, ok := mcp.Member(answer, "content"); ok {
		content = inner
	}
	var blocks []struct {
		Type  string          `json:"type"`
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, fmt.Errorf("read the calls of an answer: %w", err)
	}
	var calls []llm.Call
	for _, b := range blocks {
		if b.Type == "tool_use" {
			calls = append(calls, llm.Call{ID: b.ID, Name: b.Name, Args: b.Input})
		}
	}
	return calls, nil
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func textOf(s string) textBlock { return textBlock{"text", s} }

type resultBlock struct {
	Type      string `json:"type"`
	ToolUseID string `json:"tool_use_id"`
	Content   []any  `json:"content,omitzero"`
	IsError   bool   `json:"is_error,omitzero"`
}

type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// Results writes the one message that answers all calls of an answer. The API takes text alone in a failed result, so the
// pictures of one stand behind the results.
func Results(results []llm.Result) json.RawMessage {
	var blocks, after []any
	for _, r := range results {
		b := resultBlock{Type: "tool_result", ToolUseID: r.ID, IsError: r.IsError}
		for _, p := range r.Parts {
			carried := block(p)
			_, inWords := carried.(textBlock)
			switch {
			case r.IsError && carried != nil && !inWords:
				b.Content = append(b.Content, textOf(p.Placeholder("shown below")))
				after = append(after, textOf(fmt.Sprintf("Output of %s (%s):", r.Name, r.ID)), carried)
			case carried != nil:
				b.Content = append(b.Content, carried)
			}
		}
		blocks = append(blocks, b)
	}
	return encode(message{"user", append(blocks, after...)})
}

// block writes a part; nil for a text that says nothing, which the API refuses.
func block(p llm.Part) any {
	source := map[string]string{"type": "base64", "media_type": p.MIME, "data": base64.StdEncoding.EncodeToString(p.Data)}
	switch {
	case p.Kind == llm.TextPart && strings.TrimSpace(p.Text) == "":
		return nil
	case p.Kind == llm.ImagePart && (p.MIME == "image/jpeg" || p.MIME == "image/png" || p.MIME == "image/gif" || p.MIME == "image/webp"):
		return map[string]any{"type": "image", "source": source}
	case p.MIME == "application/pdf":
		doc := map[string]any{"type": "document", "source": source}
		if p.Name != "" {
			doc["title"] = p.Name
		}
		return doc
	}
	return textOf(p.Placeholder("not shown"))
}

// ContextMessages writes context: the messages of a prompt, or resources as a message of the user. An assistant's pictures
// become lines. Messages that say nothing are left out.
func ContextMessages(messages ...llm.Message) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range messages {
		var blocks []any
		for _, p := range m.Parts {
			if m.Role == mcp.RoleAssistant {
				p = llm.Part{Kind: llm.TextPart, Text: p.Placeholder("not shown")}
			}
			if b := block(p); b != nil {
				blocks = append(blocks, b)
			}
		}
		if blocks != nil {
			out = append(out, encode(message{string(m.Role), blocks}))
		}
	}
	return out
}

// Message makes of an answer the message of the assistant that goes back, content as it came.
func Message(answer json.RawMessage) (json.RawMessage, error) {
	content, ok := mcp.Member(answer, "content")
	if !ok || len(content) == 0 || content[0] != '[' {
		return nil, fmt.Errorf("read the answer: it has no content")
	}
	return encode(struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}{"assistant", content}), nil
}
