package main

import (
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/upstream"
)

// TestTokenCosts holds that the most expensive tool comes first, and that a tool that no model can be shown is named with the
// reason instead of counted.
func TestTokenCosts(t *testing.T) {
	tool := func(name, definition string) upstream.Item {
		return upstream.Item{Key: name, Raw: []byte(`{"name":"` + name + `",` + definition + `}`)}
	}
	costs, skipped, err := costsOf(t.Context(), []upstream.Item{
		tool("small", `"inputSchema":{"type":"object"}`),
		tool("odd", `"inputSchema":{"type":"array"}`),
		tool("broken", `"inputSchema":{"type":"object"},"description":7`),
		tool("long", `"inputSchema":{"type":"object"},"description":"Says in many words that which could be said in few, and says it again for those who were late"`),
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	sum := 0
	for _, c := range costs.Tools {
		names = append(names, c.Name)
		sum += c.Tokens
	}
	if !slices.Equal(names, []string{"long", "small"}) || costs.Total != sum || costs.Tools[0].Tokens < costs.Tools[1].Tokens+15 {
		t.Errorf("got %+v", costs)
	}
	if len(skipped) != 2 {
		t.Errorf("left out: %q", skipped)
	}
	for _, line := range skipped {
		t.Log(line)
	}
}
