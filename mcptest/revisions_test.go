package mcptest_test

import (
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
)

// TestEveryRevision pins the client to each revision, over every wire of its era. The server is the same all the time.
func TestEveryRevision(t *testing.T) {
	for _, revision := range mcp.Versions() {
		t.Run(revision, func(t *testing.T) {
			for _, w := range mcptest.Wires() {
				if w.Modern == mcp.IsModern(revision) {
					t.Run(w.Name, func(t *testing.T) { tryRevision(t, w, revision) })
				}
			}
		})
	}
}

func tryRevision(t *testing.T, w mcptest.Wire, revision string) {
	c := w.Dial(t, library(), client.Options{Versions: []string{revision}})
	if got := c.ProtocolVersion(); got != revision {
		t.Fatalf("it speaks %s", got)
	}
	tools, err := c.ListTools(t.Context(), nil)
	check(t, err)
	if len(tools.Tools) != 5 || tools.Tools[0].Name != "count" {
		t.Errorf("tools: %+v", tools.Tools)
	}
	found, err := c.CallTool(t.Context(), "find", nil)
	check(t, err)
	const book = `{"title":"Go","pages":380}`
	if found.Text() != book || string(found.StructuredContent) != book { // the text is for revisions without the other
		t.Errorf("found %q, structured %q", found.Text(), found.StructuredContent)
	}
	lost, err := c.CallTool(t.Context(), "lose", nil)
	check(t, err)
	if !lost.IsError || lost.Text() != "it is gone" {
		t.Errorf("lost: %+v", lost)
	}
	read, err := c.ReadResource(t.Context(), "shelf:2/7")
	check(t, err)
	if read.Contents[0].Text != "2,7" {
		t.Errorf("read: %+v", read)
	}
	greeting, err := c.GetPrompt(t.Context(), "greet", map[string]string{"name": "Ada"})
	check(t, err)
	if text, ok := greeting.Messages[0].Content.(*mcp.TextContent); !ok || text.Text != "Hello Ada" {
		t.Errorf("prompt: %+v", greeting)
	}
	check(t, c.Ping(t.Context()))
}
