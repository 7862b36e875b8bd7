package gemini

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/internal/back"
	"github.com/rialto-mcp/rialto/mcp"
)

// MetaDefinition is the member of a tool's _meta that holds what else its declaration said: an object with "behavior" and
// the like, and "name" where MCP does not take that name.
const MetaDefinition = "io.github.rialto-mcp/gemini"

// ReadTools reads the member "tools" of a request, so that functions declared for generateContent can be served over MCP.
// Schemas in "parameters" and "response", which are those of OpenAPI, become JSON Schema.
//
// It fails where the whole is no list; what is wrong with one declaration is among [llm.Definitions].Skipped.
func ReadTools(tools json.RawMessage) (*llm.Definitions, error) {
	if err := back.Valid(tools, '[', "read the declarations of tools"); err != nil {
		return nil, err
	}
	out := &llm.Definitions{}
	for tool := range jsonrpc.Elements(tools) {
		for name, v := range jsonrpc.Members(tool) {
			if name != "functionDeclarations" && name != "function_declarations" {
				out.Skipped = append(out.Skipped, llm.Skipped{Tool: name, Reason: fmt.Errorf("the tool %.80q is run by the API itself", name)})
				continue
			}
			for def := range jsonrpc.Elements(v) {
				t, err := readTool(def)
				if err != nil {
					out.Skipped = append(out.Skipped, llm.Skipped{Tool: back.Text(def, "name"), Reason: err})
					continue
				}
				out.Tools = append(out.Tools, t)
			}
		}
	}
	return out, nil
}

func readTool(def json.RawMessage) (mcp.Tool, error) {
	schema := func(plain, openAPI string) (json.RawMessage, error) {
		if s, ok := jsonrpc.Member(def, plain); ok && string(s) != "null" {
			return s, nil
		}
		s, ok := jsonrpc.Member(def, openAPI)
		if !ok || string(s) == "null" {
			return nil, nil
		}
		return fromOpenAPI(s, 0)
	}
	input, err := schema("parametersJsonSchema", "parameters")
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("its parameters: %w", err)
	}
	output, err := schema("responseJsonSchema", "response")
	if err != nil {
		return mcp.Tool{}, fmt.Errorf("its response: %w", err)
	}
	rest := jsonrpc.Without(def, "name", "description", "parameters", "parametersJsonSchema", "response", "responseJsonSchema")
	return back.Tool(MetaDefinition, back.Text(def, "name"), back.Text(def, "description"), input, output, rest)
}

// ReadContents reads contents, one or a whole conversation.
//
// Calls without an id get one of their place, and their results the same: by their order and name, as the API joins them.
// Media of a result go back to the places that [Results] left for them. Thinking is left out. It fails for a content of a
// role that it does not know.
func ReadContents(contents ...json.RawMessage) (*llm.History, error) {
	r := reader{history: &llm.History{}}
	for i, c := range contents {
		r.where = fmt.Sprintf("content %d", i)
		if err := back.Valid(c, '{', "read "+r.where); err != nil {
			return nil, err
		}
		role := mcp.RoleUser
		switch said := back.Text(c, "role"); said {
		case "user", "function", "":
		case "model":
			role = mcp.RoleAssistant
		default:
			return nil, fmt.Errorf("read %s: there is no role %.40q", r.where, said)
		}
		var blocks []mcp.Content
		parts, _ := jsonrpc.Member(c, "parts")
		for part := range jsonrpc.Elements(parts) {
			if b := r.part(part, i, len(blocks)); b != nil {
				blocks = append(blocks, b)
			}
		}
		r.history.Add(role, false, blocks...)
	}
	return r.history, nil
}

type reader struct {
	history *llm.History
	where   string
	open    []*mcp.ToolUseContent // calls that have no result yet
}

func (r *reader) part(part json.RawMessage, turn, place int) mcp.Content {
	if thought, _ := jsonrpc.Member(part, "thought"); string(thought) == "true" {
		r.history.Leave("%s: a thought", r.where)
		return nil
	}
	for name, v := range jsonrpc.Members(part) {
		switch name {
		case "text":
			if said, _ := jsonrpc.Text(v); said != "" {
				return mcp.Text(said)
			}
			return nil
		case "inlineData":
			return back.Encoded(back.Text(v, "mimeType"), back.Text(v, "data"), back.Text(v, "displayName"))
		case "fileData":
			return &mcp.ResourceLink{URI: back.Text(v, "fileUri"), Name: "file", MIMEType: back.Text(v, "mimeType")}
		case "functionCall":
			use := &mcp.ToolUseContent{ID: back.Text(v, "id"), Name: back.Text(v, "name"), Input: json.RawMessage("{}")}
			switch args, said := jsonrpc.Member(v, "args"); {
			case jsonrpc.IsObject(args):
				use.Input = args
			case said && string(args) != "null":
				r.history.Leave("%s: arguments of the call of %.80q that are no object", r.where, use.Name)
			}
			if use.ID == "" {
				use.ID = fmt.Sprintf("call_%d_%d", turn, place)
			}
			r.open = append(r.open, use)
			return use
		case "functionResponse":
			return r.result(v)
		case "thoughtSignature", "thought", "videoMetadata", "mediaResolution", "partMetadata":
		default:
			r.history.Leave("%s: %.80s", r.where, name)
			return nil
		}
	}
	return nil
}

// result reads a result, and finds the call that it answers.
func (r *reader) result(v json.RawMessage) mcp.Content {
	out := &mcp.ToolResultContent{ToolUseID: back.Text(v, "id"), Content: []mcp.Content{}}
	name := back.Text(v, "name")
	for i, call := range r.open {
		if out.ToolUseID == call.ID || out.ToolUseID == "" && call.Name == name {
			out.ToolUseID = call.ID
			r.open = append(r.open[:i:i], r.open[i+1:]...)
			break
		}
	}
	if out.ToolUseID == "" {
		out.ToolUseID = name // an answer without its call
	}
	answer, _ := jsonrpc.Member(v, "response")
	said, ok := jsonrpc.Member(answer, "error")
	if ok && string(said) != "null" {
		out.IsError = true
	} else if said, ok = jsonrpc.Member(answer, "output"); !ok {
		said = answer // an object without these two is the output itself
	}
	w := &back.Weaver{Place: inPlace()}
	parts, _ := jsonrpc.Member(v, "parts")
	var links []mcp.Content
	for part := range jsonrpc.Elements(parts) {
		c := r.part(part, 0, 0)
		p, inBytes := back.Part(c)
		_, isLink := c.(*mcp.ResourceLink)
		switch {
		case inBytes:
			w.Media = append(w.Media, p)
		case isLink:
			links = append(links, c)
		}
	}
	if text, isText := jsonrpc.Text(said); isText {
		if text != "" {
			out.Content = w.Text(text)
		}
	} else if len(said) > 0 {
		if !out.IsError {
			out.StructuredContent = said
		}
		out.Content = append(out.Content, mcp.Text(string(said)))
	}
	out.Content = append(append(out.Content, w.Rest()...), links...)
	return out
}

// inPlace tells which line stands for the next part: each kind is counted.
func inPlace() func(line string, next llm.Part) (string, bool) {
	counts := map[llm.PartKind]int{}
	return func(line string, next llm.Part) (string, bool) {
		ok := strings.TrimSpace(line) == fmt.Sprintf("[%s %d]", next.Kind, counts[next.Kind]+1)
		if ok {
			counts[next.Kind]++
		}
		return "", ok
	}
}
