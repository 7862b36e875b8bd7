package mcptest_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// room is what the handlers of this test ask for.
type room struct {
	Guest  string `json:"guest"`
	Nights int    `json:"nights" jsonschema:"default=2"`
}

// TestAskingByCallOnEveryWire: one plain handler asks for everything there is to ask, tells of its work and does a step once,
// and it is all the same on every wire and in both eras. So are a prompt and a resource.
func TestAskingByCallOnEveryWire(t *testing.T) {
	for _, w := range mcptest.Wires() {
		t.Run(w.Name, func(t *testing.T) {
			var steps []string
			ask := func(ctx context.Context, req *server.Request) (string, error) {
				req.Progress(ctx, 1, 4, "")
				who, err := server.ElicitAs[room](ctx, req, "Who?")
				if err != nil {
					return "", err
				}
				req.Progress(ctx, 2, 4, "")
				receipt, err := server.Once(ctx, req, "hold", func(_ context.Context, key string) (string, error) {
					steps = append(steps, key)
					return "held", nil
				})
				if err != nil {
					return "", err
				}
				page, err := req.ElicitURL(ctx, mcp.ElicitURLParams{Message: "Pay", URL: "https://a.example/pay"})
				if err != nil {
					return "", err
				}
				req.Progress(ctx, 3, 4, "")
				if err := req.Until(ctx, func(context.Context) (bool, error) { return true, nil }); err != nil {
					return "", err
				}
				answers, err := req.Ask(ctx, mcp.NeedInput().ListRoots("roots").CreateMessage("model", mcp.CreateMessageParams{
					MaxTokens: 9, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("?")}}},
				}))
				if err != nil {
					return "", err
				}
				said, err := answers.Message("model")
				if err != nil {
					return "", err
				}
				req.Progress(ctx, 4, 4, "")
				return fmt.Sprintf("%s %d %s %s %s", who.Guest, who.Nights, receipt, page.Action, said.Text()), nil
			}
			s := server.New(mcp.Implementation{Name: "rooms", Version: "1.0.0"}, server.Options{})
			server.AddTool(s, mcp.Tool{Name: "ask", Description: "Asks"},
				func(ctx context.Context, req *server.Request, _ struct{}) (string, error) { return ask(ctx, req) })
			s.AddPrompt(mcp.Prompt{Name: "ask"}, func(ctx context.Context, req *server.Request, _ map[string]string) (*mcp.GetPromptResult, error) {
				text, err := ask(ctx, req)
				return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.UserMessage(mcp.Text(text))}}, err
			})
			s.AddResource(mcp.Resource{URI: "ask:1", Name: "ask"}, func(ctx context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
				text, err := ask(ctx, req)
				return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("ask:1", "", text)}}, err
			})
			var mu sync.Mutex
			var asked []string
			note := func(what string) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, what)
			}
			c := w.Dial(t, s, client.Options{
				Roots: []mcp.Root{{URI: "file:///work"}},
				Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
					note(req.Message)
					return client.Accept(map[string]string{"guest": "Ada"})
				},
				CreateMessage: func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
					note("model")
					return &mcp.CreateMessageResult{Model: "m", Content: []mcp.Content{mcp.Text("hm")}}, nil
				},
				ElicitURL: func(_ context.Context, req *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
					note(req.Message)
					return client.Accept(nil)
				},
			})
			const want = "Ada 2 held accept hm"
			var told []float64
			out, err := c.CallTool(t.Context(), "ask", nil, client.CallOptions{OnProgress: func(p mcp.ProgressParams) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, p.Progress)
			}})
			check(t, err)
			mu.Lock()
			if want := []string{"Who?", "Pay", "model"}; out.Text() == "" || !slices.Equal(asked, want) || len(steps) != 1 {
				t.Errorf("asked %q, steps %q", asked, steps)
			}
			if want := []float64{1, 2, 3, 4}; !slices.Equal(told, want) {
				t.Errorf("progress %v", told)
			}
			mu.Unlock()
			prompt, err := c.GetPrompt(t.Context(), "ask", nil)
			check(t, err)
			read, err := c.ReadResource(t.Context(), "ask:1")
			check(t, err)
			said, ok := prompt.Messages[0].Content.(*mcp.TextContent)
			if out.Text() != want || !ok || said.Text != want || read.Contents[0].Text != want {
				t.Errorf("tool %q, prompt %+v, resource %q", out.Text(), said, read.Contents[0].Text)
			}
			if len(steps) != 3 || steps[0] == steps[1] || steps[1] == steps[2] {
				t.Errorf("idempotency keys of three calls %q", steps)
			}
		})
	}
}
