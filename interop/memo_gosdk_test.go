package interop

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// goSDKMemo is node/server2.mjs once more, built on the official Go SDK.
func goSDKMemo() *gosdk.Server {
	s := gosdk.NewServer(&gosdk.Implementation{Name: "memo", Version: "1.0.0"}, &gosdk.ServerOptions{CompletionHandler: goSDKCompletes})
	gosdk.AddTool(s, &gosdk.Tool{Name: "say", Description: "Says a text back"},
		func(_ context.Context, _ *gosdk.CallToolRequest, in sayInput) (*gosdk.CallToolResult, any, error) {
			return goSDKText(in.Text), nil, nil
		})
	gosdk.AddTool(s, &gosdk.Tool{Name: "climb", Description: "Climbs some steps and reports each"}, goSDKClimb)
	gosdk.AddTool(s, &gosdk.Tool{Name: "reading", Description: "The weather in a city, as structured content"},
		func(_ context.Context, _ *gosdk.CallToolRequest, in readingInput) (*gosdk.CallToolResult, reading, error) {
			if in.City != "Oslo" {
				return nil, reading{}, errors.New("there is no reading of " + in.City)
			}
			return nil, reading{4.5, "rain"}, nil
		})
	gosdk.AddTool(s, &gosdk.Tool{Name: "stumble", Description: "Always fails"},
		func(context.Context, *gosdk.CallToolRequest, struct{}) (*gosdk.CallToolResult, any, error) {
			return nil, nil, errors.New("stumbled on purpose")
		})
	s.AddResource(&gosdk.Resource{Name: "welcome", URI: "memo://welcome", MIMEType: "text/plain"},
		func(_ context.Context, req *gosdk.ReadResourceRequest) (*gosdk.ReadResourceResult, error) {
			return goSDKContents(req, "welcome to the memo server"), nil
		})
	s.AddResourceTemplate(&gosdk.ResourceTemplate{Name: "note", URITemplate: noteTemplate, MIMEType: "text/plain"},
		func(_ context.Context, req *gosdk.ReadResourceRequest) (*gosdk.ReadResourceResult, error) {
			return goSDKContents(req, "memo number "+strings.TrimPrefix(req.Params.URI, "memo://note/")), nil
		})
	s.AddPrompt(&gosdk.Prompt{Name: "greeting", Arguments: []*gosdk.PromptArgument{{Name: "name", Required: true}, {Name: "language", Required: true}}},
		func(_ context.Context, req *gosdk.GetPromptRequest) (*gosdk.GetPromptResult, error) {
			text := fmt.Sprintf("Greet %s in %s.", req.Params.Arguments["name"], req.Params.Arguments["language"])
			return &gosdk.GetPromptResult{Messages: []*gosdk.PromptMessage{{Role: "user", Content: &gosdk.TextContent{Text: text}}}}, nil
		})
	return s
}

func goSDKText(text string) *gosdk.CallToolResult {
	return &gosdk.CallToolResult{Content: []gosdk.Content{&gosdk.TextContent{Text: text}}}
}

func goSDKContents(req *gosdk.ReadResourceRequest, text string) *gosdk.ReadResourceResult {
	return &gosdk.ReadResourceResult{Contents: []*gosdk.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: text}}}
}

func goSDKClimb(ctx context.Context, req *gosdk.CallToolRequest, in climbInput) (*gosdk.CallToolResult, any, error) {
	for step := 1; step <= in.Steps; step++ {
		if err := req.Session.NotifyProgress(ctx, &gosdk.ProgressNotificationParams{
			ProgressToken: req.Params.GetProgressToken(), Progress: float64(step), Total: float64(in.Steps), Message: fmt.Sprintf("step %d", step),
		}); err != nil {
			return nil, nil, err
		}
	}
	return goSDKText(fmt.Sprintf("climbed %d steps", in.Steps)), nil, nil
}

// memoWords are what can be typed in the places of the memo server that complete.
var memoWords = map[string][]string{"language": {"dutch", "danish", "french"}, "id": {"1", "12", "2"}}

func memoCompletes(place, typed string) (out []string) {
	for _, word := range memoWords[place] {
		if strings.HasPrefix(word, typed) {
			out = append(out, word)
		}
	}
	return out
}

func goSDKCompletes(_ context.Context, req *gosdk.CompleteRequest) (*gosdk.CompleteResult, error) {
	values := memoCompletes(req.Params.Argument.Name, req.Params.Argument.Value)
	return &gosdk.CompleteResult{Completion: gosdk.CompletionResultDetails{Values: values}}, nil
}

// TestGoSDKServers drives servers on the official Go SDK with our client: over stdio, over HTTP with sessions and without,
// over HTTP+SSE, in each era they have there.
func TestGoSDKServers(t *testing.T) {
	same := func(*http.Request) *gosdk.Server { return goSDKMemo() }
	one := goSDKMemo()
	ours(t, Front{Name: "stdio", Modern: true, Cases: memoCases()}, Target{Command: memoCommand(t, "go-sdk")})
	ours(t, Front{Name: "stdio-legacy", Modern: true, Era: "legacy", Cases: memoCases()}, Target{Command: memoCommand(t, "go-sdk")})
	sessions := served(t, gosdk.NewStreamableHTTPHandler(func(*http.Request) *gosdk.Server { return one }, nil))
	ours(t, Front{Name: "http-sessions", Cases: memoCases(), Era: "legacy"}, Target{URL: sessions})
	sessionless := served(t, gosdk.NewStreamableHTTPHandler(same, &gosdk.StreamableHTTPOptions{Stateless: true}))
	ours(t, Front{Name: "http-modern", Modern: true, Cases: memoCases()}, Target{URL: sessionless})
	ours(t, Front{Name: "http-sessionless", Modern: true, Era: "legacy", Cases: memoCases()}, Target{URL: sessionless})
	plain := served(t, gosdk.NewStreamableHTTPHandler(same, &gosdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
	ours(t, Front{Name: "http-json", Modern: true, Cases: without(memoCases(), "progress")}, Target{URL: plain})
	sse := served(t, gosdk.NewSSEHandler(same, nil))
	ours(t, Front{Name: "sse", Cases: memoCases()}, Target{SSE: true, URL: sse})
	ours(t, Front{Name: "sse-found", Cases: memoCases()}, Target{URL: sse})
}
