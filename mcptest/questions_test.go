package mcptest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// curious is a server that asks everything there is to ask, in one round and then in another.
func curious() *server.Server {
	s := server.New(mcp.Implementation{Name: "curious", Version: "1.0.0"}, server.Options{})
	ask := func(req *server.Request) (string, error) {
		form, _ := req.InputResponses().Elicit("form")
		page, _ := req.InputResponses().Elicit("page")
		said, _ := req.InputResponses().Message("model")
		roots, _ := req.InputResponses().Roots("roots")
		switch {
		case page != nil:
			return req.State() + " " + string(page.Action), nil
		case form == nil || said == nil || roots == nil:
			return "", mcp.NeedInput().
				Elicit("form", mcp.ElicitFormParams{Message: "?", RequestedSchema: []byte(`{"type":"object","properties":{"size":{"type":"string","enum":["s","l"],"default":"l"}}}`)}).
				CreateMessage("model", mcp.CreateMessageParams{MaxTokens: 9, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("?")}}}}).
				ListRoots("roots")
		}
		state := fmt.Sprintf("%s %s %s %s", form.Action, form.Content, said.Text(), roots.Roots[0].URI)
		return "", mcp.NeedInput().WithState(state).ElicitURL("page", mcp.ElicitURLParams{Message: "?", URL: "https://a.example/"})
	}
	server.AddTool(s, mcp.Tool{Name: "ask", Description: "Asks"},
		func(_ context.Context, req *server.Request, _ struct{}) (string, error) { return ask(req) })
	s.AddPrompt(mcp.Prompt{Name: "ask"}, func(_ context.Context, req *server.Request, _ map[string]string) (*mcp.GetPromptResult, error) {
		text, err := ask(req)
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{mcp.UserMessage(mcp.Text(text))}}, err
	})
	s.AddResource(mcp.Resource{URI: "ask:1", Name: "ask"}, func(_ context.Context, req *server.Request) (*mcp.ReadResourceResult, error) {
		text, err := ask(req)
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("ask:1", "", text)}}, err
	})
	return s
}

// TestQuestionsOnEveryWire: one set of handlers answers the same server on every wire and in both eras.
func TestQuestionsOnEveryWire(t *testing.T) {
	for _, w := range mcptest.Wires() {
		t.Run(w.Name, func(t *testing.T) {
			c := w.Dial(t, curious(), client.Options{
				Roots:  []mcp.Root{{URI: "file:///work"}},
				Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) { return client.Accept(nil) },
				CreateMessage: func(context.Context, *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
					return &mcp.CreateMessageResult{Model: "m", Content: []mcp.Content{mcp.Text("hm")}}, nil
				},
				ElicitURL: func(_ context.Context, r *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
					if (r.ElicitationID == "") != w.Modern || r.Host != "a.example" {
						return nil, fmt.Errorf("got %+v", r)
					}
					return client.Decline()
				},
			})
			const want = `accept {"size":"l"} hm file:///work decline`
			out, err := c.CallTool(t.Context(), "ask", nil)
			check(t, err)
			prompt, err := c.GetPrompt(t.Context(), "ask", nil)
			check(t, err)
			read, err := c.ReadResource(t.Context(), "ask:1")
			check(t, err)
			said, _ := prompt.Messages[0].Content.(*mcp.TextContent)
			if out.Text() != want || said == nil || said.Text != want || read.Contents[0].Text != want {
				t.Errorf("tool %q, prompt %+v, resource %q", out.Text(), said, read.Contents[0].Text)
			}
		})
	}
}

// TestSubscriptionsOnEveryWire: the same call brings the same news on every wire and in both eras.
func TestSubscriptionsOnEveryWire(t *testing.T) {
	for _, w := range mcptest.Wires() {
		t.Run(w.Name, func(t *testing.T) {
			s := library()
			c := w.Dial(t, s)
			filter := client.Filter{ToolsListChanged: true, ResourceSubscriptions: []string{"book:1"}}
			sub, err := c.Subscribe(t.Context(), filter)
			check(t, err)
			again, err := c.Subscribe(t.Context(), filter)
			check(t, err)
			if h := sub.Honoured(); !h.ToolsListChanged || len(h.ResourceSubscriptions) != 1 {
				t.Errorf("honoured %+v", h)
			}
			s.ResourceUpdated("book:2")
			s.ResourceUpdated("book:1")
			s.RemoveTool("lose")
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			for _, each := range []*client.Subscription{sub, again} {
				got := map[string]int{}
				for range 2 {
					e, err := each.Next(ctx)
					check(t, err)
					got[e.Kind.String()+" "+e.URI]++
				}
				if got["resource updated book:1"] != 1 || got["tools changed "] != 1 {
					t.Errorf("got %v", got)
				}
				check(t, each.Close())
				if _, err := each.Next(ctx); !errors.Is(err, io.EOF) {
					t.Errorf("after Close: %v", err)
				}
			}
		})
	}
}
