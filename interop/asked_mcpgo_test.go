package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"

	"github.com/rialto-mcp/rialto/client"
)

// mcp-go asks a client of the legacy era by requests, and by its refusal -32042 never.
func TestMCPGoAsksOurClient(t *testing.T) {
	s := mcpgoserver.NewMCPServer("asking", "1", mcpgoserver.WithElicitation(), mcpgoserver.WithRoots())
	s.EnableSampling()
	s.AddTool(mcpgo.NewTool("ask"), func(ctx context.Context, _ mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		form := mcpgo.ElicitationRequest{Params: mcpgo.ElicitationParams{Message: "?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"count": map[string]any{"type": "integer"}, "size": map[string]any{"type": "string", "default": "l"}},
		}}}
		filled, err := s.RequestElicitation(ctx, form)
		if err != nil {
			return nil, fmt.Errorf("form: %w", err)
		}
		page, err := s.RequestURLElicitation(ctx, mcpgoserver.ClientSessionFromContext(ctx), "e1", "https://a.example/", "?")
		if err != nil {
			return nil, fmt.Errorf("page: %w", err)
		}
		prompt := mcpgo.CreateMessageRequest{}
		prompt.CreateMessageParams = mcpgo.CreateMessageParams{MaxTokens: 9, Messages: []mcpgo.SamplingMessage{{Role: "user", Content: mcpgo.NewTextContent("?")}}}
		said, err := s.RequestSampling(ctx, prompt)
		if err != nil {
			return nil, fmt.Errorf("model: %w", err)
		}
		roots, err := s.RequestRoots(ctx, mcpgo.ListRootsRequest{})
		if err != nil {
			return nil, fmt.Errorf("roots: %w", err)
		}
		content, err := json.Marshal(filled.Content)
		return mcpgo.NewToolResultText(fmt.Sprintln(string(content), page.Action, said.Model, said.Content, roots.Roots[0].URI)), err
	})
	web := httptest.NewServer(mcpgoserver.NewStreamableHTTPServer(s))
	t.Cleanup(web.Close)
	opts, shown := answering()
	opts.Mode = client.Legacy
	called(t, dialed(t, Target{URL: web.URL + "/mcp"}, opts), "ask", nil, `{"count":3,"size":"l"}`, "accept", "parrot", "squawk", "file:///work")
	if !strings.Contains(shown(), "page of a.example") {
		t.Errorf("shown: %s", shown())
	}
}
