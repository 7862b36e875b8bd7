package anthropic

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/back"
	"github.com/rialto-mcp/rialto/mcp"
)

// MetaDefinition is the member of a tool's _meta that holds what else its definition said: an object with "cache_control",
// "input_examples" and the like, and "name" where MCP does not take that name.
const MetaDefinition = "io.github.rialto-mcp/anthropic"

// ReadTools reads the member "tools" of a request, so that functions written for the Messages API can be served over MCP.
//
// It fails where the whole is no list; what is wrong with one definition is among [llm.Definitions].Skipped.
func ReadTools(tools json.RawMessage) (*llm.Definitions, error) {
	if err := back.Valid(tools, '[', "read the definitions of tools"); err != nil {
		return nil, err
	}
	out := &llm.Definitions{}
	for def := range jsonrpc.Elements(tools) {
		name, kind := back.Text(def, "name"), back.Text(def, "type")
		if kind != "" && kind != "custom" {
			out.Skipped = append(out.Skipped, llm.Skipped{Tool: name, Reason: fmt.Errorf("a tool of type %.80q is made by the vendor", kind)})
			continue
		}
		input, _ := jsonrpc.Member(def, "input_schema")
		rest := jsonrpc.Without(def, "type", "name", "description", "input_schema")
		t, err := back.Tool(MetaDefinition, name, back.Text(def, "description"), input, nil, rest)
		if err != nil {
			out.Skipped = append(out.Skipped, llm.Skipped{Tool: name, Reason: err})
			continue
		}
		out.Tools = append(out.Tools, t)
	}
	return out, nil
}

// ReadMessages reads messages, one or a whole conversation; an answer is read as well.
//
// The pictures of a failed call, which [Results] puts behind the results, go back into the result. Thinking is left out. It
// fails for a message of a role that it does not know.
func ReadMessages(messages ...json.RawMessage) (*llm.History, error) {
	h := &llm.History{}
	for i, m := range messages {
		what := fmt.Sprintf("read message %d", i)
		if err := back.Valid(m, '{', what); err != nil {
			return nil, err
		}
		content, _ := jsonrpc.Member(m, "content")
		r := reader{history: h, where: fmt.Sprintf("message %d", i)}
		blocks := r.content(content)
		switch role := back.Text(m, "role"); role {
		case "user":
			h.Add(mcp.RoleUser, false, r.attached(blocks)...)
		case "assistant":
			h.Add(mcp.RoleAssistant, false, blocks...)
		case "system":
			for _, b := range blocks {
				if t, ok := b.(*mcp.TextContent); ok {
					h.Say(t.Text)
				}
			}
		default:
			return nil, fmt.Errorf("%s: there is no role %.40q", what, role)
		}
	}
	return h, nil
}

type reader struct {
	history *llm.History
	where   string
}

// content reads a text, or a list of blocks.
func (r reader) content(content json.RawMessage) []mcp.Content {
	if text, ok := jsonrpc.Text(content); ok {
		if text == "" {
			return nil
		}
		return []mcp.Content{mcp.Text(text)}
	}
	var out []mcp.Content
	for block := range jsonrpc.Elements(content) {
		out = append(out, r.block(block)...)
	}
	return out
}

func (r reader) block(block json.RawMessage) []mcp.Content {
	switch kind := back.Text(block, "type"); kind {
	case "text":
		return []mcp.Content{mcp.Text(back.Text(block, "text"))}
	case "image", "document":
		return r.source(block, kind)
	case "search_result":
		inner, _ := jsonrpc.Member(block, "content")
		said := []string{back.Text(block, "title"), back.Text(block, "source")}
		for _, b := range r.content(inner) {
			if t, ok := b.(*mcp.TextContent); ok {
				said = append(said, t.Text)
			}
		}
		return []mcp.Content{mcp.Text(strings.Join(said, "\n"))}
	case "tool_use":
		input, _ := jsonrpc.Member(block, "input")
		if !jsonrpc.IsObject(input) {
			r.history.Leave("%s: arguments of the call of %.80q that are no object", r.where, back.Text(block, "name"))
			input = json.RawMessage("{}")
		}
		return []mcp.Content{&mcp.ToolUseContent{ID: back.Text(block, "id"), Name: back.Text(block, "name"), Input: input}}
	case "tool_result":
		inner, _ := jsonrpc.Member(block, "content")
		failed, _ := jsonrpc.Member(block, "is_error")
		content := r.content(inner)
		if content == nil {
			content = []mcp.Content{}
		}
		return []mcp.Content{&mcp.ToolResultContent{ToolUseID: back.Text(block, "tool_use_id"), Content: content, IsError: string(failed) == "true"}}
	default:
		r.history.Leave("%s: %.80s", r.where, kind) // the model's thinking, and what the API does by itself
	}
	return nil
}

// source reads a picture or a document.
func (r reader) source(block json.RawMessage, kind string) []mcp.Content {
	source, _ := jsonrpc.Member(block, "source")
	title := back.Text(block, "title")
	switch how := back.Text(source, "type"); how {
	case "base64":
		return []mcp.Content{back.Encoded(back.Text(source, "media_type"), back.Text(source, "data"), title)}
	case "url":
		return []mcp.Content{back.Media(back.Text(source, "url"), kind, title)}
	case "text":
		uri := title
		if u, err := url.Parse(title); err != nil || u.Scheme == "" {
			uri = llm.FileURI(title)
		}
		return []mcp.Content{&mcp.EmbeddedResource{Resource: mcp.TextResource(uri, back.Text(source, "media_type"), back.Text(source, "data"))}}
	case "content":
		inner, _ := jsonrpc.Member(source, "content")
		return r.content(inner)
	default:
		r.history.Leave("%s: %s that only the API has", r.where, kind)
		return []mcp.Content{mcp.Text(fmt.Sprintf("[%s %s, not shown]", kind, back.Text(source, "file_id")))}
	}
}

// attached puts the media that stand behind the results of failed calls back into them.
func (r reader) attached(blocks []mcp.Content) []mcp.Content {
	results := map[string]*mcp.ToolResultContent{}
	var ids []string
	for _, b := range blocks {
		if result, ok := b.(*mcp.ToolResultContent); ok && result.IsError {
			results[result.ToolUseID] = result
			ids = append(ids, result.ToolUseID)
		}
	}
	media := map[string][]llm.Part{}
	var out []mcp.Content
	for i := 0; i < len(blocks); i++ {
		if t, ok := blocks[i].(*mcp.TextContent); ok && i+1 < len(blocks) {
			id, isHead := back.Header(t.Text, ids)
			if part, carried := back.Part(blocks[i+1]); isHead && carried {
				media[id] = append(media[id], part)
				i++
				continue
			}
		}
		out = append(out, blocks[i])
	}
	for id, parts := range media {
		w := &back.Weaver{Media: parts, Place: back.Noted("shown below")}
		var content []mcp.Content
		for _, b := range results[id].Content {
			if t, ok := b.(*mcp.TextContent); ok {
				content = append(content, w.Text(t.Text)...)
			} else {
				content = append(content, b)
			}
		}
		results[id].Content = append(content, w.Rest()...)
	}
	return out
}
