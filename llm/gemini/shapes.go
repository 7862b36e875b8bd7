package gemini

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/portable"
	"github.com/rialto-mcp/rialto/mcp"
)

// GenerateContent is the profile of generateContent with parametersJsonSchema.
func GenerateContent() llm.Profile {
	return llm.Profile{API: "gemini", NameExtra: ".:-", Dialect: portable.Gemini, ToolsMax: 128}
}

// Older is the profile for what takes the member parameters alone: older models and the live API.
func Older() llm.Profile {
	p := GenerateContent()
	p.API, p.NameExtra, p.Dialect = "gemini older", "-", portable.GeminiOpenAPI
	return p
}

// encode writes a value with its members in order. The values here are all of a kind that has a JSON form; text that is
// not UTF-8 is repaired.
func encode(v any) json.RawMessage {
	raw, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		panic("llm/gemini: " + err.Error()) // a shape of this package that cannot be written
	}
	return raw
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitzero"`
	Parameters  json.RawMessage `json:"parameters,omitzero"`
	JSONSchema  json.RawMessage `json:"parametersJsonSchema,omitzero"`
}

// Tools writes the member "tools": one tool with all declarations. It is nil for an empty set.
func Tools(set *llm.Set) json.RawMessage {
	var all []declaration
	for _, t := range set.Tools() {
		d := declaration{Name: t.Name, Description: t.Description}
		properties, _ := jsonrpc.Member(t.Input, "properties")
		open, has := jsonrpc.Member(t.Input, "additionalProperties")
		bare := string(properties) == "{}" && (!has || string(open) == "false") // an object without properties is refused
		switch {
		case bare:
		case set.Profile().Dialect == portable.GeminiOpenAPI:
			d.Parameters = t.Input
		default:
			d.JSONSchema = t.Input
		}
		all = append(all, d)
	}
	if all == nil {
		return nil
	}
	return encode([]map[string]any{{"functionDeclarations": all}})
}

// Calls reads the calls of a content ({"role","parts"}), in order; none is no error. Where the API gives no ids the calls
// have none either, and the order tells which result is whose.
func Calls(content json.RawMessage) ([]llm.Call, error) {
	var c struct {
		Parts []struct {
			Call *struct {
				ID   string          `json:"id"`
				Name string          `json:"name"`
				Args json.RawMessage `json:"args"`
			} `json:"functionCall"`
		} `json:"parts"`
	}
	if err := json.Unmarshal(content, &c); err != nil {
		return nil, fmt.Errorf("read the calls of a content: %w", err)
	}
	var calls []llm.Call
	for _, p := range c.Parts {
		if p.Call != nil {
			calls = append(calls, llm.Call{ID: p.Call.ID, Name: p.Call.Name, Args: p.Call.Args})
		}
	}
	return calls, nil
}

type content struct {
	Role  string `json:"role"`
	Parts []any  `json:"parts"`
}

type response struct {
	ID       string         `json:"id,omitzero"`
	Name     string         `json:"name"`
	Response map[string]any `json:"response"`
	Parts    []any          `json:"parts,omitzero"`
}

// Results writes the one content that answers all calls of a turn. Models from Gemini 3 on take pictures, sounds and PDFs
// within a result.
func Results(results []llm.Result) json.RawMessage { return write(results, true) }

// OlderResults is Results for models before Gemini 3, which take text alone there: what is none is named in a line.
func OlderResults(results []llm.Result) json.RawMessage { return write(results, false) }

func write(results []llm.Result, media bool) json.RawMessage {
	out := content{Role: "user"}
	for _, r := range results {
		answer := response{ID: r.ID, Name: r.Name}
		var lines []string
		counts := map[llm.PartKind]int{}
		for _, p := range r.Parts {
			part := inline(p)
			switch {
			case p.Kind == llm.TextPart:
				lines = append(lines, p.Text)
			case part == nil || !media:
				lines = append(lines, p.Placeholder("not shown"))
			default:
				counts[p.Kind]++
				lines = append(lines, fmt.Sprintf("[%s %d]", p.Kind, counts[p.Kind]))
				answer.Parts = append(answer.Parts, part)
			}
		}
		said := strings.Join(lines, "\n")
		switch {
		case r.IsError:
			answer.Response = map[string]any{"error": said}
		case jsonrpc.IsObject(r.Structured) && !speaks(r):
			answer.Response = map[string]any{"output": r.Structured}
		default:
			answer.Response = map[string]any{"output": said}
		}
		out.Parts = append(out.Parts, map[string]any{"functionResponse": answer})
	}
	return encode(out)
}

// speaks tells whether the server has said it in words.
func speaks(r llm.Result) bool {
	return r.Full == nil || len(r.Full.Content) > 0 && (strings.TrimSpace(r.Full.Text()) != "" || len(r.Parts) > 1)
}

// inline writes bytes; nil for what models do not take.
func inline(p llm.Part) any {
	switch p.MIME {
	case "image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", "application/pdf",
		"audio/wav", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac":
	default:
		return nil
	}
	return map[string]any{"inlineData": map[string]string{"mimeType": p.MIME, "data": base64.StdEncoding.EncodeToString(p.Data)}}
}

// Contents writes context: the messages of a prompt, or resources as a message of the user.
func Contents(messages ...llm.Message) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range messages {
		c := content{Role: "user"}
		if m.Role == mcp.RoleAssistant {
			c.Role = "model"
		}
		for _, p := range m.Parts {
			if part := inline(p); part != nil {
				c.Parts = append(c.Parts, part)
			} else {
				c.Parts = append(c.Parts, map[string]string{"text": p.Placeholder("not shown")})
			}
		}
		if c.Parts != nil {
			out = append(out, encode(c))
		}
	}
	return out
}

// Content takes the model's content out of an answer: that of the first candidate. It is to be sent back as it is.
func Content(answer json.RawMessage) (json.RawMessage, error) {
	var a struct {
		Candidates []struct {
			Content json.RawMessage `json:"content"`
		} `json:"candidates"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(a.Candidates) == 0 || !jsonrpc.IsObject(a.Candidates[0].Content) {
		return nil, fmt.Errorf("read the answer: it has no content")
	}
	return a.Candidates[0].Content, nil
}
