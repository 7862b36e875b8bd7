package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

func ExampleText() {
	web := httptest.NewServer(llmtest.OpenAI(func(llmtest.Request) llmtest.Turn {
		return llmtest.Turn{Text: "Let me look.", Calls: []llm.Call{{ID: "c1", Name: "tide", Args: json.RawMessage(`{"harbour":"Bergen"}`)}}}
	}))
	defer web.Close()
	endpoint := llm.Endpoint{BaseURL: web.URL + "/v1"}
	body := json.RawMessage(`{"model":"some-model","stream":true,"messages":[{"role":"user","content":"Tide in Bergen?"}]}`)

	answer := &openai.ChatStream{}
	for text, err := range llm.Text(endpoint.Stream(context.Background(), "/chat/completions", nil, body), answer) {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%q\n", text)
	}
	whole, err := answer.Answer() // as it would have come at once
	if err != nil {
		panic(err)
	}
	message, err := openai.Message(whole)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", message)
	// Output:
	// "Let m"
	// "e loo"
	// "k."
	// {"role":"assistant","content":"Let me look.","tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{\"harbour\":\"Bergen\"}"}}]}
}

func ExampleDefinitions() {
	// What a program has for OpenAI: definitions, and a function that answers a call with a message.
	definitions := json.RawMessage(`[{"type":"function","function":{"name":"tide","description":"Tides at a harbour",
	  "parameters":{"type":"object","properties":{"harbour":{"type":"string"}},"required":["harbour"]}}}]`)
	run := func(name string, args json.RawMessage) json.RawMessage {
		return json.RawMessage(`{"role":"tool","tool_call_id":"1","content":"High water at 03:12"}`)
	}

	defs, err := openai.ReadTools(definitions)
	if err != nil {
		panic(err)
	}
	s := server.New(mcp.Implementation{Name: "tides", Version: "1.0.0"}, server.Options{})
	for _, t := range defs.Tools {
		err := s.AddRawTool(t, func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
			history, err := openai.ReadChat(run(t.Name, req.Arguments()))
			if err != nil {
				return nil, err
			}
			return llm.CallResult(history.Results()[0]), nil
		})
		if err != nil {
			panic(err)
		}
	}

	near, far := transport.Pair(0)
	served := make(chan error)
	go func() { served <- s.Serve(context.Background(), far) }()
	c, err := client.Connect(context.Background(), near, client.Options{})
	if err != nil {
		panic(err)
	}
	result, err := c.CallTool(context.Background(), "tide", map[string]any{"harbour": "Bergen"})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text())
	if err := c.Close(); err != nil {
		panic(err)
	}
	<-served
	// Output: High water at 03:12
}
