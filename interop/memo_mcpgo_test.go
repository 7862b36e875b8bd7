package interop

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	mcpgoserver "github.com/mark3labs/mcp-go/server"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
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
	climb := mcpGoClimb{make(chan int)}
	s.AddTool(mcpgo.NewTool("climb", mcpgo.WithNumber("steps", mcpgo.Required())), climb.run)
	s.AddTool(mcpgo.NewTool("heard", mcpgo.WithNumber("step", mcpgo.Required())), climb.hear)
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

// mcpGoClimb takes a step once the client has heard of the one before. The library sends notices from a goroutine of their own, so
// that the last could come behind the answer, and nobody hears it there.
type mcpGoClimb struct{ heard chan int }

func (c mcpGoClimb) run(ctx context.Context, req mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	steps := req.GetInt("steps", 0)
	for step := 1; step <= steps && req.Params.Meta != nil; step++ {
		if err := mcpgoserver.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": req.Params.Meta.ProgressToken, "progress": step, "total": steps, "message": fmt.Sprintf("step %d", step),
		}); err != nil {
			return nil, err
		}
		select {
		case heard := <-c.heard:
			if heard != step {
				return nil, fmt.Errorf("the client has heard of step %d, want %d", heard, step)
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return mcpgo.NewToolResultText(fmt.Sprintf("climbed %d steps", steps)), nil
}

func (c mcpGoClimb) hear(ctx context.Context, req mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
	select {
	case c.heard <- req.GetInt("step", 0):
		return mcpgo.NewToolResultText("go on"), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// hearing is our client, which calls the tool "heard" for each step that it hears of.
type hearing struct{ *rialto }

func dialHearing(ctx context.Context, target Target, plan Plan) (session, error) {
	s, err := dialRialto(ctx, target, plan)
	if err != nil {
		return nil, err
	}
	return hearing{s.(*rialto)}, nil
}

func (h hearing) call(ctx context.Context, step Step, progress *progressLog) (any, error) {
	if step.Progress == 0 {
		return h.rialto.call(ctx, step, progress)
	}
	var said sync.WaitGroup
	defer said.Wait()
	return h.client.CallTool(ctx, step.Name, step.Arguments, client.CallOptions{OnProgress: func(p mcp.ProgressParams) {
		progress.add(progressOf(p))
		said.Go(func() { _, _ = h.client.CallTool(ctx, "heard", map[string]any{"step": p.Progress}) }) // who climbs says what is wrong
	}})
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
//
// Not with progress in sessions over HTTP, where mcp-go 1.2.1 loses notices now and then: a POST takes those of the next from the
// queue that they share, and drops them when its own answer has just gone out; with a store of events, the stream of the session
// keeps those that come while it opens to itself. Without sessions each POST has a queue of its own.
func TestMCPGoServers(t *testing.T) {
	drive := func(front Front, target Target) {
		t.Run(front.Name, func(t *testing.T) {
			front.run(t, Driver{Name: "rialto", Modern: !target.SSE, run: goDriver("rialto", dialHearing)}, target)
		})
	}
	drive(Front{Name: "stdio", Cases: memoCases(), Modern: true}, Target{Command: memoCommand(t, "mcp-go")})
	drive(Front{Name: "stdio-legacy", Cases: memoCases(), Modern: true, Era: "legacy"}, Target{Command: memoCommand(t, "mcp-go")})
	http := served(t, mcpgoserver.NewStreamableHTTPServer(mcpGoMemo()))
	drive(Front{Name: "http", Cases: memoCases(), Modern: true}, Target{URL: http + "/mcp"})
	drive(Front{Name: "http-sessions", Cases: without(memoCases(), "progress"), Modern: true, Era: "legacy"}, Target{URL: http + "/mcp"})
	sessionless := served(t, mcpgoserver.NewStreamableHTTPServer(mcpGoMemo(), mcpgoserver.WithStateLess(true)))
	drive(Front{Name: "http-sessionless", Cases: memoCases(), Modern: true, Era: "legacy"}, Target{URL: sessionless + "/mcp"})
	sse := served(t, mcpgoserver.NewSSEServer(mcpGoMemo())) + "/sse"
	drive(Front{Name: "sse", Cases: memoCases()}, Target{SSE: true, URL: sse})
	drive(Front{Name: "sse-found", Cases: memoCases()}, Target{URL: sse})
}
