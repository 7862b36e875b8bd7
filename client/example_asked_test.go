package client_test

import (
	"context"
	"fmt"
	"log"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// asking is the far end of the examples: a scripted server that asks for something before it answers.
func asking(question string) transport.Conn {
	conn, _ := play(modern(script{
		"tools/call": rounds(`{"content":[{"type":"text","text":"done"}]}`, `"inputRequests":{"q":`+question+`}`),
	}))
	return conn
}

func call(opts client.Options, question string) {
	ctx := context.Background()
	c, err := client.Connect(ctx, asking(question), opts)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	out, err := c.CallTool(ctx, "order", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Text())
}

// Elicit shows the form of a server. The call goes on with what the user has filled in, and with the form's own defaults for
// the rest.
func ExampleOptions_elicit() {
	opts := client.Options{
		Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			fmt.Println(req.Message)
			for _, field := range req.Fields {
				fmt.Printf("- %s (%s) default [%s] %v\n", field.Title, field.Type, field.Default, field.Choices)
			}
			filled := map[string]any{"size": "l", "count": 99}
			if err := req.Check(filled); err != nil { // as the server would
				fmt.Println("try again:", err)
				filled["count"] = 2
			}
			return client.Accept(filled) // or client.Decline(), or client.Cancel()
		},
	}
	call(opts, `{"method":"elicitation/create","params":{"message":"Which pizza?","requestedSchema":{"type":"object","properties":{
		"size":{"type":"string","title":"Size","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
		"count":{"type":"integer","title":"How many","maximum":9,"default":1}}}}}`)
	// Output:
	// Which pizza?
	// - Size (string) default [] [{s Small} {l Large}]
	// - How many (integer) default [1] []
	// try again: /count: must be at most 9, got 99
	// done
}

// ElicitURL shows a page. Nothing is opened before the user has agreed.
func ExampleOptions_elicitURL() {
	opts := client.Options{
		ElicitURL: func(_ context.Context, req *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			fmt.Printf("%s\nOpen a page of %s? %s\n", req.Message, req.Host, req.URL)
			return client.Decline() // or open req.URL, and client.Accept(nil)
		},
	}
	call(opts, `{"method":"elicitation/create","params":{"mode":"url","message":"Please sign in","url":"https://login.example.com/start?for=you"}}`)
	// Output:
	// Please sign in
	// Open a page of login.example.com? https://login.example.com/start?for=you
	// done
}

// CreateMessage lends the server this program's model.
func ExampleOptions_createMessage() {
	opts := client.Options{
		CreateMessage: func(_ context.Context, req *client.SamplingRequest) (*mcp.CreateMessageResult, error) {
			for _, m := range req.Messages {
				for _, block := range m.Content {
					if text, ok := block.(*mcp.TextContent); ok {
						fmt.Println(m.Role, "says", text.Text)
					}
				}
			}
			return &mcp.CreateMessageResult{Model: "parrot-1", Content: []mcp.Content{mcp.Text("polly")}}, nil // or client.ErrUserRejected
		},
	}
	call(opts, `{"method":"sampling/createMessage","params":{"maxTokens":50,"messages":[{"role":"user","content":{"type":"text","text":"who?"}}]}}`)
	// Output:
	// user says who?
	// done
}

// Subscribe brings news in both eras.
func ExampleClient_Subscribe() {
	ctx := context.Background()
	conn, p := play(modern(subscribable()))
	c, err := client.Connect(ctx, conn, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	sub, err := c.Subscribe(ctx, client.Filter{ResourceSubscriptions: []string{"file:///log"}}, client.SubscribeOptions{Reconnect: true})
	if err != nil {
		log.Fatal(err)
	}
	defer sub.Close()
	fmt.Println("granted:", sub.Honoured().ResourceSubscriptions)
	updated("modern", p, "file:///log")
	for event, err := range sub.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Kind, event.URI)
		break
	}
	// Output:
	// granted: [file:///log]
	// resource updated file:///log
}
