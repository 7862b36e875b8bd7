package llm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
)

// Definitions are tools that a program has written for a model API, as tools of MCP: see openai.ReadTools,
// anthropic.ReadTools and gemini.ReadTools. What a definition holds beside name, description and schemas (strict, marks of
// caches, examples) stands in the tool's _meta, under the name that the vendor's package documents.
//
// A tool with an output schema has to answer with structured content. Where the program's results are texts alone, take the
// schema out.
type Definitions struct {
	Tools   []mcp.Tool
	Skipped []Skipped // what no server can run, a search that the API itself does, say; and what has no schema
}

// History is a conversation that a program keeps in the shapes of a model API, as messages of MCP: see openai.ReadChat,
// openai.ReadResponses, anthropic.ReadMessages and gemini.ReadContents.
//
// Results of calls stand in messages of the user that hold nothing else, as MCP wants it.
type History struct {
	System   string // what systems and developers say, joined by empty lines
	Messages []mcp.SamplingMessage

	// Left says what MCP has no word for, and where it stood: the model's thinking, tools that the API runs, files that only the
	// API has. What a reader would miss has a line in its place.
	Left []string
}

// Add adds blocks of one message. Results of calls are parted from all else, and go with those before them. Blocks go with
// those before them as well where the API tells one message in several items, and joined says so.
func (h *History) Add(role mcp.Role, joined bool, blocks ...mcp.Content) {
	var results, others []mcp.Content
	for _, b := range blocks {
		if _, ok := b.(*mcp.ToolResultContent); ok {
			results = append(results, b)
		} else {
			others = append(others, b)
		}
	}
	h.add(mcp.RoleUser, true, true, results)
	h.add(role, joined, false, others)
}

func (h *History) add(role mcp.Role, joined, results bool, blocks []mcp.Content) {
	if len(blocks) == 0 {
		return
	}
	if n := len(h.Messages); n > 0 && joined && h.Messages[n-1].Role == role {
		last := &h.Messages[n-1]
		if _, ok := last.Content[0].(*mcp.ToolResultContent); ok == results {
			last.Content = append(last.Content, blocks...)
			return
		}
	}
	h.Messages = append(h.Messages, mcp.SamplingMessage{Role: role, Content: slices.Clone(blocks)})
}

// Say adds to System.
func (h *History) Say(text string) {
	if h.System != "" && text != "" {
		h.System += "\n\n"
	}
	h.System += text
}

// Leave notes what is left out.
func (h *History) Leave(format string, args ...any) {
	h.Left = append(h.Left, fmt.Sprintf(format, args...))
}

// Results are the results of calls, in order. ToolUseID is the id of the call in the API.
func (h *History) Results() []*mcp.ToolResultContent {
	var all []*mcp.ToolResultContent
	for _, m := range h.Messages {
		for _, b := range m.Content {
			if r, ok := b.(*mcp.ToolResultContent); ok {
				all = append(all, r)
			}
		}
	}
	return all
}

// CallResult is what answers tools/call: for a program whose functions write results for a model API, and that serves them.
func CallResult(c *mcp.ToolResultContent) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: c.Content, StructuredContent: c.StructuredContent, IsError: c.IsError}
}

// Media is a part of bytes: a picture, a sound, or a file. The type is brought into its usual spelling, and read off the
// bytes where it is missing. name and uri may be empty.
func Media(mimeType string, data []byte, name, uri string) Part {
	return media(mimeType, data, name, uri)
}

// Content is the part as content of MCP: text, picture or sound, and any other file as an embedded resource. A file without
// an address gets one of its name.
func (p Part) Content() mcp.Content {
	switch p.Kind {
	case TextPart:
		return mcp.Text(p.Text)
	case ImagePart:
		return mcp.Image(p.MIME, p.Data)
	case AudioPart:
		return mcp.Audio(p.MIME, p.Data)
	}
	uri := p.URI
	if uri == "" {
		uri = FileURI(p.Name)
	}
	return &mcp.EmbeddedResource{Resource: mcp.BlobResource(uri, p.MIME, p.Data)}
}

// FileURI is an address for a file of which only the name is known; "data" where that is not known either. A [Part] of a file
// with this address has that name again, without folders. Nothing can be read there.
func FileURI(name string) string {
	if name == "" {
		name = "data"
	}
	var out strings.Builder
	out.WriteString("file:///")
	for i := range len(name) {
		c := name[i]
		plain := c > ' ' && c < 0x7F && !strings.ContainsRune(`"#%<>?\^`+"`{|}", rune(c))
		if c == '/' && (i == 0 || name[i-1] == '.') {
			plain = false // no way up and no second root
		}
		if plain {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	return out.String()
}
