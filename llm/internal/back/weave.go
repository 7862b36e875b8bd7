package back

import (
	"strings"

	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/mcp"
)

// Weaver puts pictures and files back to the places in a text where a line stands for each of them, in their order.
type Weaver struct {
	Media []llm.Part

	// Place tells whether a line stands for the next of them, and what its name is.
	Place func(line string, next llm.Part) (name string, ok bool)
}

// Noted is a Place for the lines that [llm.Part.Placeholder] writes with a note.
func Noted(note string) func(string, llm.Part) (string, bool) {
	return func(line string, next llm.Part) (string, bool) {
		next.Name = ""
		name, ends := strings.CutSuffix(line, next.Placeholder(note)[1:])
		name, begins := strings.CutPrefix(name, "[")
		if !ends || !begins || name == "" {
			return "", ends && begins
		}
		return strings.CutSuffix(name, ", ")
	}
}

// Text is the content that a text stands for.
func (w *Weaver) Text(text string) []mcp.Content {
	var out []mcp.Content
	var lines []string
	settle := func() {
		if lines != nil {
			out = append(out, mcp.Text(strings.Join(lines, "\n")))
		}
		lines = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if len(w.Media) > 0 {
			if name, ok := w.Place(line, w.Media[0]); ok {
				settle()
				next := w.Media[0]
				if name != "" {
					next.Name = name
				}
				out, w.Media = append(out, next.Content()), w.Media[1:]
				continue
			}
		}
		lines = append(lines, line)
	}
	settle()
	return out
}

// Rest is what no line has stood for.
func (w *Weaver) Rest() []mcp.Content {
	var out []mcp.Content
	for _, p := range w.Media {
		out = append(out, p.Content())
	}
	w.Media = nil
	return out
}

// Header reads the line that stands before the media of a call's result, and says whose it is among the ids given.
func Header(text string, ids []string) (id string, ok bool) {
	if !strings.HasPrefix(text, "Output of ") {
		return "", false
	}
	for _, id := range ids {
		if strings.HasSuffix(text, " ("+id+"):") {
			return id, true
		}
	}
	return "", false
}
