package interop

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
)

// mcpGoMemo is node/server2.mjs once more, built on mcp-go.
func mcpGoMemo() *mcpgoserver.MCPServer {
	s := mcpgoserver.NewMCPServer("memo", "1.0.0", mcpgoserver.WithToolCapabilities(true), mcpgoserver.WithPromptCapabilities(true),
		mcpgoserver.WithResourceCapabilities(false, true), mcpgoserver.WithCompletions(),
		mcpgoserver.WithPromptCompletionProvider(mcpGoWords{}), mcpgoserver.WithResourceCompletionProvider(mcpGoWords{}))
	s.AddTool(mcpgo.NewTool("say", mcpgo.WithString("text", mcpgo.Required())),
		func(_ context.Context, req mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			return mcpgo.NewToolResultText(req.GetString("text", "")), nil
		})
	s.AddTool(mcpgo.NewTool("climb", mcpgo.WithNumber("steps", mcpgo.Required())), mcpGoClimb)
	s.AddTool(mcpgo.NewTool("reading", mcpgo.WithString("city", mcpgo.Required()), mcpgo.WithOutputSchema[reading]()),
		func(_ context.Context, req mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
			if req.GetString("city", "") != "Oslo" {
				return mcpgo.NewToolResultError("there is no such reading"), nil
			}
			return mcpgo.NewToolResultStructured(reading{4.5, "rain"}, `{"celsius":4.5,"sky":"rain"}`), nil
		})
	s.AddTool(mcpgo.NewTool("stumble"), func(context.Context, mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
		return mcpgo.NewToolResultError("stumbled on purpose"), nil
	})
	s.AddResource(mcpgo.NewResource("memo://welcome", "welcome", mcpgo.WithMIMEType("text/plain")), mcpGoRead)
	s.AddResourceTemplate(mcpgo.NewResourceTemplate(noteTemplate, "note", mcpgo.WithTemplateMIMEType("text/plain")), mcpGoRead)
	s.AddPrompt(mcpgo.NewPrompt("greeting", mcpgo.WithArgument("name", mcpgo.RequiredArgument()), mcpgo.WithArgument("language", mcpgo.RequiredArgument())),
		func(_ context.Context, req mcpgo.GetPromptRequest) (*mcpgo.GetPromptResult, error) {
			text := fmt.Sprintf("Greet %s in %s.", req.Params.Arguments["name"], req.Params.Arguments["language"])
			return mcpgo.NewGetPromptResult("", []mcpgo.PromptMessage{mcpgo.NewPromptMessage(mcpgo.RoleUser, mcpgo.NewTextContent(text))}), nil
		})
	return s
}

func mcpGoRead(_ context.Context, req mcpgo.ReadResourceRequest) ([]mcpgo.ResourceContents, error) {
	text := "welcome to the memo server"
	if id, ok := strings.CutPrefix(req.Params.URI, "memo://note/"); ok {
		text = "memo number " + id
	}
	return []mcpgo.ResourceContents{mcpgo.TextResourceContents{URI: req.Params.URI, MIMEType: "text/plain", Text: text}}, nil
}

func mcpGoClimb(ctx context.Context, req mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	steps := req.GetInt("steps", 0)
	for step := 1; step <= steps && req.Params.Meta != nil; step++ {
		if err := mcpgoserver.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": req.Params.Meta.ProgressToken, "progress": step, "total": steps, "message": fmt.Sprintf("step %d", step),
		}); err != nil {
			return nil, err
		}
		time.Sleep(20 * time.Millisecond) // the library sends notices from a goroutine of their own
	}
	return mcpgo.NewToolResultText(fmt.Sprintf("climbed %d steps", steps)), nil
}

// mcpGoWords completes what the memo server has.
type mcpGoWords struct{}

func (mcpGoWords) CompletePromptArgument(_ context.Context, _ string, a mcpgo.CompleteArgument, _ mcpgo.CompleteContext) (*mcpgo.Completion, error) {
	return &mcpgo.Completion{Values: memoCompletes(a.Name, a.Value)}, nil
}

func (mcpGoWords) CompleteResourceArgument(_ context.Context, _ string, a mcpgo.CompleteArgument, _ mcpgo.CompleteContext) (*mcpgo.Completion, error) {
	return &mcpgo.Completion{Values: memoCompletes(a.Name, a.Value)}, nil
}

// TestMCPGoServers drives servers on mcp-go with our client: over stdio, over HTTP with sessions and without, over HTTP+SSE, in
// each era they have there.
func TestMCPGoServers(t *testing.T) {
	ours(t, Front{Name: "stdio", Cases: memoCases(), Modern: true}, Target{Command: memoCommand(t, "mcp-go")})
	ours(t, Front{Name: "stdio-legacy", Cases: memoCases(), Modern: true, Era: "legacy"}, Target{Command: memoCommand(t, "mcp-go")})
	unordered := slices.Clone(memoCases())
	for i := range unordered {
		if unordered[i].Name == "progress" {
			unordered[i].Check = climbsSomehow(4) // it comes on the stream of the call and on the one of the session, as it falls
		}
	}
	http := served(t, mcpgoserver.NewStreamableHTTPServer(mcpGoMemo()))
	ours(t, Front{Name: "http", Cases: memoCases(), Modern: true}, Target{URL: http + "/mcp"})
	ours(t, Front{Name: "http-sessions", Cases: unordered, Modern: true, Era: "legacy"}, Target{URL: http + "/mcp"})
	sessionless := served(t, mcpgoserver.NewStreamableHTTPServer(mcpGoMemo(), mcpgoserver.WithStateLess(true)))
	ours(t, Front{Name: "http-sessionless", Cases: unordered, Modern: true, Era: "legacy"}, Target{URL: sessionless + "/mcp"})
	sse := served(t, mcpgoserver.NewSSEServer(mcpGoMemo())) + "/sse"
	ours(t, Front{Name: "sse", Cases: memoCases()}, Target{SSE: true, URL: sse})
	ours(t, Front{Name: "sse-found", Cases: memoCases()}, Target{URL: sse})
}

// climbsSomehow demands progress 1, 2, ... up to the total, in any order.
func climbsSomehow(total int) func(testing.TB, Outcome) {
	return func(t testing.TB, out Outcome) {
		t.Helper()
		slices.SortFunc(out.Progress, func(a, b Progress) int { return int(a.Progress - b.Progress) })
		climbs(fmt.Sprintf("climbed %d steps", total), total)(t, out)
	}
}
