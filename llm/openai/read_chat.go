package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/back"
	"github.com/rialto-mcp/rialto/mcp"
)

// ReadChat reads messages of Chat Completions, one or a whole conversation.
//
// Pictures, sounds and files of results, which [ChatResults] puts into a message of the user behind them, go back to the
// places that they come from. Text that begins with "Error: " stays text: the API has no mark for a failed call, and a tool
// may well begin so. It fails for a message of a role that it does not know, and for calls whose arguments are no object.
func ReadChat(messages ...json.RawMessage) (*llm.History, error) {
	r := chatReader{history: &llm.History{}}
	for i, m := range messages {
		what := fmt.Sprintf("read message %d", i)
		if err := back.Valid(m, '{', what); err != nil {
			return nil, err
		}
		if err := r.message(m, i); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
	}
	r.settle()
	return r.history, nil
}

// chatReader holds the results of a turn back until the message with their media may have come.
type chatReader struct {
	history *llm.History
	open    []chatResult
}

type chatResult struct {
	id, text string
	parts    []mcp.Content // where it came in parts
	media    []llm.Part
}

func (r *chatReader) message(m json.RawMessage, i int) error {
	role := back.Text(m, "role")
	content, _ := jsonrpc.Member(m, "content")
	if role == "tool" {
		one := chatResult{id: back.Text(m, "tool_call_id")}
		text, isText := jsonrpc.Text(content)
		if one.text = text; !isText {
			one.parts = r.parts(content, i)
		}
		r.open = append(r.open, one)
		return nil
	}
	if role == "user" && r.attached(content, i) {
		return nil
	}
	r.settle()
	switch role {
	case "system", "developer":
		r.history.Say(contentText(content))
	case "user":
		r.history.Add(mcp.RoleUser, false, r.blocks(content, i)...)
	case "assistant":
		blocks := r.blocks(content, i)
		if said := back.Text(m, "refusal"); said != "" {
			blocks = append(blocks, mcp.Text(said))
		}
		if sound, _ := jsonrpc.Member(m, "audio"); back.Text(sound, "transcript") != "" {
			blocks = append(blocks, mcp.Text(back.Text(sound, "transcript")))
			r.history.Leave("message %d: a sound, of which its words stay", i)
		}
		for _, thinking := range []string{"reasoning_content", "reasoning", "reasoning_details"} {
			if v, ok := jsonrpc.Member(m, thinking); ok && string(v) != "null" {
				r.history.Leave("message %d: %s", i, thinking)
			}
		}
		calls, err := ChatCalls(m)
		if err != nil {
			return err
		}
		uses, err := toolUses(calls)
		if err != nil {
			return err
		}
		r.history.Add(mcp.RoleAssistant, false, append(blocks, uses...)...)
	default:
		return fmt.Errorf("there is no role %.40q", role)
	}
	return nil
}

// toolUses writes calls.
func toolUses(calls []llm.Call) ([]mcp.Content, error) {
	var out []mcp.Content
	for _, c := range calls {
		input, err := back.Arguments(c.Args)
		if err != nil {
			return nil, fmt.Errorf("the call %.80q of %.80q: %w", c.ID, c.Name, err)
		}
		out = append(out, &mcp.ToolUseContent{ID: c.ID, Name: c.Name, Input: input})
	}
	return out, nil
}

// attached reads a message of the user that holds the media of the results before it, and nothing else.
func (r *chatReader) attached(content json.RawMessage, i int) bool {
	if len(r.open) == 0 || !jsonrpc.IsArray(content) {
		return false
	}
	var ids []string
	for _, one := range r.open {
		ids = append(ids, one.id)
	}
	media := map[string][]llm.Part{}
	at := ""
	for part := range jsonrpc.Elements(content) {
		if back.Text(part, "type") == "text" {
			id, ok := back.Header(back.Text(part, "text"), ids)
			if !ok {
				return false
			}
			at = id
			continue
		}
		one, ok := back.Part(r.part(part, i))
		if at == "" || !ok {
			return false
		}
		media[at] = append(media[at], one)
	}
	for k := range r.open {
		r.open[k].media = media[r.open[k].id]
	}
	return true
}

// settle writes the results that are open.
func (r *chatReader) settle() {
	for _, one := range r.open {
		w := &back.Weaver{Media: one.media, Place: back.Noted("attached below")}
		content := one.parts
		if content == nil {
			content = w.Text(one.text)
		}
		r.history.Add(mcp.RoleUser, true, &mcp.ToolResultContent{ToolUseID: one.id, Content: append(content, w.Rest()...)})
	}
	r.open = nil
}

// blocks reads the content of a message: a text, or a list of parts.
func (r *chatReader) blocks(content json.RawMessage, i int) []mcp.Content {
	if text, ok := jsonrpc.Text(content); ok {
		if text == "" {
			return nil
		}
		return []mcp.Content{mcp.Text(text)}
	}
	return r.parts(content, i)
}

func (r *chatReader) parts(content json.RawMessage, i int) []mcp.Content {
	out := []mcp.Content{}
	for part := range jsonrpc.Elements(content) {
		if c := r.part(part, i); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// part reads one part; nil where MCP has no word for it.
func (r *chatReader) part(part json.RawMessage, i int) mcp.Content {
	kind := back.Text(part, "type")
	inner, _ := jsonrpc.Member(part, kind)
	switch kind {
	case "text", "refusal":
		return mcp.Text(back.Text(part, kind))
	case "image_url":
		return back.Media(back.Text(inner, "url"), "image", "")
	case "input_audio":
		format := back.Text(inner, "format")
		if format == "mp3" {
			format = "mpeg"
		}
		return back.Encoded("audio/"+format, back.Text(inner, "data"), "")
	case "file":
		return file(r.history, inner, fmt.Sprintf("message %d", i))
	}
	r.history.Leave("message %d: a part of type %.80q", i, kind)
	return nil
}

// file reads a file: its bytes, its address, or a name that means nothing outside the API.
func file(h *llm.History, f json.RawMessage, where string) mcp.Content {
	name := back.Text(f, "filename")
	switch data := back.Text(f, "file_data"); {
	case strings.HasPrefix(data, "data:"):
		return back.Media(data, "file", name)
	case data != "":
		return back.Encoded("", data, name)
	case back.Text(f, "file_url") != "":
		return back.Media(back.Text(f, "file_url"), "file", name)
	}
	return kept(h, "file", back.Text(f, "file_id")+" "+name, where)
}

// kept is the line for what only the API has.
func kept(h *llm.History, kind, name, where string) mcp.Content {
	h.Leave("%s: %s that only the API has", where, kind)
	return mcp.Text(fmt.Sprintf("[%s %s, not shown]", kind, strings.TrimSpace(name)))
}
