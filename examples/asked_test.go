package examples

import (
	"context"
	"fmt"
	"strings"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// What the page for authors of clients shows of questions and of news.

// askUser stands for a program's own dialog.
func askUser(_ context.Context, _ string, fields []mcp.FormField) (map[string]any, bool) {
	filled := map[string]any{}
	for _, field := range fields {
		if field.Required {
			filled[field.Name] = "Bergen"
		}
	}
	return filled, true
}

// askModel stands for a program's own model.
func askModel(context.Context, []mcp.SamplingMessage) (string, error) { return "rain", nil }

// One set of handlers answers servers of both eras.
func Example_answers() {
	// [answers]
	opts := client.Options{
		Elicit: func(ctx context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			filled, ok := askUser(ctx, req.Message, req.Fields)
			if !ok {
				return client.Decline()
			}
			return client.Accept(filled)
		},
		CreateMessage: func(ctx context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
			text, err := askModel(ctx, req.Messages)
			if err != nil {
				return nil, err
			}
			return &mcp.CreateMessageResult{Model: "small-1", Content: []mcp.Content{mcp.Text(text)}}, nil
		},
		Roots: []mcp.Root{{URI: "file:///home/ada/weather", Name: "weather"}},
	}
	// [end]
	s := server.New(mcp.Implementation{Name: "weather", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "forecast", Description: "Asks where, guesses, and says where it keeps that"}, guess)
	for _, mode := range []client.Mode{client.Modern, client.Legacy} {
		opts.Mode = mode
		c, done := connect(s, opts)
		out, err := c.CallTool(context.Background(), "forecast", nil)
		if err != nil {
			panic(err)
		}
		fmt.Println(c.ProtocolVersion(), out.Text())
		done()
	}
	// Output:
	// 2026-07-28 {"city":"Bergen","unit":"C"}: rain, in file:///home/ada/weather
	// 2025-11-25 {"city":"Bergen","unit":"C"}: rain, in file:///home/ada/weather
}

func guess(_ context.Context, req *server.Request, _ struct{}) (string, error) {
	form, _ := req.InputResponses().Elicit("city")
	said, _ := req.InputResponses().Message("guess")
	roots, _ := req.InputResponses().Roots("roots")
	if form == nil || said == nil || roots == nil {
		return "", mcp.NeedInput().
			Elicit("city", mcp.ElicitFormParams{Message: "Which city?", RequestedSchema: []byte(
				`{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"unit":{"type":"string","enum":["C","F"],"default":"C"}}}`)}).
			CreateMessage("guess", mcp.CreateMessageParams{MaxTokens: 9, Messages: []mcp.SamplingMessage{
				{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("How is the weather?")}},
			}}).
			ListRoots("roots")
	}
	return fmt.Sprintf("%s: %s, in %s", form.Content, said.Text(), roots.Roots[0].URI), nil
}

// A page is shown, and opened only when the user agrees.
func Example_page() {
	show := func(...string) bool { return true }
	open := func(url string) error { return nil }

	// [page]
	visit := func(ctx context.Context, req *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
		if !show(req.Message, req.Host, req.URL) {
			return client.Decline()
		}
		if err := open(req.URL); err != nil {
			return nil, err
		}
		return client.Accept(nil)
	}
	opts := client.Options{ElicitURL: visit}
	// [end]
	fmt.Println(opts.ElicitURL != nil)
	// Output: true
}

// News of single resources, and of lists, in either era.
func Example_subscribe() {
	s := newShop(server.Options{})
	s.AddResource(mcp.Resource{URI: "stock:apples", Name: "apples"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("stock:apples", "", "2")}}, nil
	})
	c, done := connect(s, client.Options{Mode: client.Modern})
	defer done()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var told []string
	reread := func(what string) {
		told = append(told, what)
		stop()
	}

	// [subscribe]
	sub, err := c.Subscribe(ctx, client.Filter{
		ToolsListChanged:      true,
		ResourceSubscriptions: []string{"stock:apples"},
	}, client.SubscribeOptions{Reconnect: true})
	if err != nil {
		panic(err)
	}
	defer sub.Close()
	s.ResourceUpdated("stock:apples") // the server's side
	for event, err := range sub.Events(ctx) {
		if err != nil {
			break // ctx has ended
		}
		switch event.Kind {
		case client.ResourceUpdated:
			reread(event.URI)
		case client.ToolsChanged:
			reread("the tools")
		case client.Gap: // the stream was lost for a while
			reread("everything")
		}
	}
	// [end]
	fmt.Println(strings.Join(told, ", "))
	// Output: stock:apples
}
