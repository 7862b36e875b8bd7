package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict,omitzero"`
}

// ChatTools writes the member "tools". It is nil for an empty set: the API refuses an empty list, and then the members
// tool_choice and parallel_tool_calls have to stay out too.
func ChatTools(set *llm.Set) json.RawMessage {
	var all []chatTool
	for _, t := range set.Tools() {
		f := chatFunction{Name: t.Name, Description: t.Description, Parameters: t.Input}
		if set.Profile().API != compatible {
			f.Strict = &t.Strict
		}
		all = append(all, chatTool{"function", f})
	}
	if all == nil {
		return nil
	}
	return encode(all)
}

// ChatCalls reads the calls of an assistant's message, in order; none is no error. Arguments may be a string, as the API has
// it, or an object, as some endpoints have it. A call without an id gets one of its place; the message has to go back with
// the same then, see [WithIDs].
func ChatCalls(message json.RawMessage) ([]llm.Call, error) {
	var m struct {
		Calls []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
			Custom struct {
				Name  string          `json:"name"`
				Input json.RawMessage `json:"input"`
			} `json:"custom"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return nil, fmt.Errorf("read the calls of a message: %w", err)
	}
	var calls []llm.Call
	for i, c := range m.Calls {
		call := llm.Call{ID: c.ID, Name: c.Function.Name, Args: unquoted(c.Function.Arguments)}
		if call.Name == "" && c.Custom.Name != "" {
			call.Name, call.Args = c.Custom.Name, c.Custom.Input // a plain text; no tool of MCP takes that
		}
		if call.ID == "" {
			call.ID = minted(i)
		}
		calls = append(calls, call)
	}
	return calls, nil
}

func minted(i int) string { return fmt.Sprintf("call_%d", i) }

// WithIDs gives the calls of an assistant's message that have no id the one that [ChatCalls] gives them. Anything else stays
// as it is; a message whose calls all have ids comes back unchanged.
func WithIDs(message json.RawMessage) (json.RawMessage, error) {
	raw, ok := mcp.Member(message, "tool_calls")
	if !ok {
		return message, nil
	}
	var calls []json.RawMessage
	if err := json.Unmarshal(raw, &calls); err != nil {
		return nil, fmt.Errorf("read the calls of a message: %w", err)
	}
	changed := false
	for i, c := range calls {
		if id, _ := mcp.Meta(c).Text("id"); id == "" {
			with, err := mcp.Meta(c).With("id", minted(i))
			if err != nil {
				return nil, fmt.Errorf("read the calls of a message: %w", err)
			}
			calls[i], changed = json.RawMessage(with), true
		}
	}
	if !changed {
		return message, nil
	}
	return json.RawMessage(mcp.Meta(message).Set("tool_calls", encode(calls))), nil
}

// unquoted reads arguments out of the string they come in.
func unquoted(raw json.RawMessage) json.RawMessage {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		return json.RawMessage(text)
	}
	return raw
}

type chatMessage struct {
	Role       string `json:"role"`
	Content    any    `json:"content"`
	ToolCalls  any    `json:"tool_calls,omitzero"`
	ToolCallID string `json:"tool_call_id,omitzero"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func textOf(s string) textPart { return textPart{"text", s} }

// ChatResults writes one message for each result, to follow the assistant's message at once, and behind them one of the
// user with the pictures, sounds and PDFs, which the API takes nowhere else. A failed call begins with "Error: ".
func ChatResults(results []llm.Result) []json.RawMessage {
	return chatResults(results, true)
}

// CompatibleResults is ChatResults for endpoints that take text alone: what is none is named in a line.
func CompatibleResults(results []llm.Result) []json.RawMessage {
	return chatResults(results, false)
}

func chatResults(results []llm.Result, media bool) []json.RawMessage {
	var out []json.RawMessage
	var shown []any
	for _, r := range results {
		var lines []string
		first := true
		for _, p := range withMark(r) {
			carried := any(nil)
			if media {
				carried = chatPart(p)
			}
			switch {
			case p.Kind == llm.TextPart:
				lines = append(lines, p.Text)
			case carried == nil:
				lines = append(lines, p.Placeholder("not shown"))
			default:
				lines = append(lines, p.Placeholder("attached below"))
				if first {
					shown = append(shown, textOf(fmt.Sprintf("Output of %s (%s):", r.Name, r.ID)))
					first = false
				}
				shown = append(shown, carried)
			}
		}
		out = append(out, encode(chatMessage{Role: "tool", ToolCallID: r.ID, Content: strings.Join(lines, "\n")}))
	}
	if shown != nil {
		out = append(out, encode(chatMessage{Role: "user", Content: shown}))
	}
	return out
}

// chatPart writes a part of a user's message; nil where the API has none for it.
func chatPart(p llm.Part) any {
	switch {
	case p.Kind == llm.TextPart:
		return textOf(p.Text)
	case isPicture(p):
		return map[string]any{"type": "image_url", "image_url": map[string]string{"url": dataURL(p)}}
	case p.MIME == "audio/wav" || p.MIME == "audio/mpeg":
		format := "wav"
		if p.MIME == "audio/mpeg" {
			format = "mp3"
		}
		return map[string]any{"type": "input_audio", "input_audio": map[string]string{"data": base64.StdEncoding.EncodeToString(p.Data), "format": format}}
	case isPDF(p):
		return map[string]any{"type": "file", "file": map[string]string{"filename": fileName(p), "file_data": dataURL(p)}}
	}
	return nil
}

// ChatMessages writes context: the messages of a prompt, or resources as a message of the user. An assistant's pictures
// become lines, since the API takes them from the user alone.
func ChatMessages(messages ...llm.Message) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range messages {
		if m.Role == mcp.RoleAssistant {
			out = append(out, encode(chatMessage{Role: "assistant", Content: wordsOf(m.Parts)}))
			continue
		}
		var parts []any
		plain := true
		for _, p := range m.Parts {
			part := chatPart(p)
			if part == nil {
				part = textOf(p.Placeholder("not shown"))
			}
			plain = plain && p.Kind == llm.TextPart
			parts = append(parts, part)
		}
		if plain {
			out = append(out, encode(chatMessage{Role: "user", Content: wordsOf(m.Parts)}))
		} else {
			out = append(out, encode(chatMessage{Role: "user", Content: parts}))
		}
	}
	return out
}

func wordsOf(parts []llm.Part) string {
	var lines []string
	for _, p := range parts {
		lines = append(lines, p.Placeholder("not shown"))
	}
	return strings.Join(lines, "\n")
}

// Message takes the assistant's message out of an answer of Chat Completions: that of the first choice. It is to be sent
// back as it is.
func Message(answer json.RawMessage) (json.RawMessage, error) {
	var a struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(a.Choices) == 0 || len(a.Choices[0].Message) == 0 || a.Choices[0].Message[0] != '{' {
		return nil, errors.New("read the answer: it has no message")
	}
	return a.Choices[0].Message, nil
}
