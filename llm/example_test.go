package llm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/llm"
	"github.com/rialto-mcp/rialto/llm/anthropic"
	"github.com/rialto-mcp/rialto/llm/gemini"
	"github.com/rialto-mcp/rialto/llm/llmtest"
	"github.com/rialto-mcp/rialto/llm/openai"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// tides connects to a server in memory.
func tides() (c *client.Client, stop func()) {
	s := server.New(mcp.Implementation{Name: "tides", Version: "1.0.0"}, server.Options{})
	type place struct {
		Harbour string `json:"harbour" jsonschema:"the harbour's name"`
		Days    int    `json:"days,omitempty" jsonschema:"min=1"`
	}
	server.AddTool(s, mcp.Tool{Name: "tide.table", Description: "Tides at a harbour"}, func(_ context.Context, _ *server.Request, in place) (string, error) {
		return "High water at " + in.Harbour + ": 03:12", nil
	})
	near, far := transport.Pair(0)
	served := make(chan error)
	go func() { served <- s.Serve(context.Background(), far) }()
	c, err := client.Connect(context.Background(), near, client.Options{})
	if err != nil {
		panic(err)
	}
	return c, func() {
		if err := c.Close(); err != nil {
			panic(err)
		}
		<-served
	}
}

func Example() {
	ctx := context.Background()
	c, stop := tides()
	defer stop()
	set, err := llm.Tools(ctx, llm.Client(c), llm.Options{Profile: openai.Chat()})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", openai.ChatTools(set))

	// What the model answers:
	message := json.RawMessage(`{"role":"assistant","content":null,"tool_calls":[
	  {"id":"c1","type":"function","function":{"name":"tide_table_d45c4d07","arguments":"{\"harbour\":\"Bergen\"}"}},
	  {"id":"c2","type":"function","function":{"name":"tide_table_d45c4d07","arguments":"{\"harbour\":\"Oslo\",\"days\":0}"}}]}`)
	calls, err := openai.ChatCalls(message)
	if err != nil {
		panic(err)
	}
	for _, m := range openai.ChatResults(set.InvokeAll(ctx, calls)) {
		fmt.Printf("%s\n", m)
	}
	// Output:
	// [{"type":"function","function":{"name":"tide_table_d45c4d07","description":"Tides at a harbour","parameters":{"type":"object","properties":{"harbour":{"type":"string","description":"the harbour's name"},"days":{"type":"integer","minimum":1}},"required":["harbour"],"additionalProperties":false},"strict":false}}]
	// {"role":"tool","content":"High water at Bergen: 03:12","tool_call_id":"c1"}
	// {"role":"tool","content":"Error: The arguments do not fit the tool: /days: must be at least 1, got 0","tool_call_id":"c2"}
}

func ExampleTools_report() {
	list := llm.List(
		mcp.Tool{Name: "files.search", InputSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","pattern":"^[a-z]+$"}}}`)},
		mcp.Tool{Name: "broken", InputSchema: json.RawMessage(`{"type":"array"}`)},
	)
	for _, profile := range []llm.Profile{anthropic.Messages(), gemini.GenerateContent()} {
		set, err := llm.Tools(context.Background(), list, llm.Options{Profile: profile})
		if err != nil {
			panic(err)
		}
		for _, t := range set.Tools() {
			fmt.Println(profile.API, t.Name, "from", t.Original, t.Edits)
		}
		for _, s := range set.Skipped() {
			fmt.Println(profile.API, "without", s.Tool+":", s.Reason)
		}
	}
	// Output:
	// anthropic messages files_search_3ee10e34 from files.search []
	// anthropic messages without broken: its input schema: its root is of type ["array"]; arguments are always an object
	// gemini files.search from files.search [widened /properties/name: pattern: the dialect does not know it; arguments that break it are accepted]
	// gemini without broken: its input schema: its root is of type ["array"]; arguments are always an object
}

func ExampleSet_WithSearch() {
	ctx := context.Background()
	c, stop := tides()
	defer stop()
	all, err := llm.Tools(ctx, llm.Client(c), llm.Options{})
	if err != nil {
		panic(err)
	}
	set := all.WithSearch()
	for _, t := range set.Tools() {
		fmt.Println(t.Name)
	}
	r := set.Invoke(ctx, llm.Call{Name: llm.CallTool, Args: json.RawMessage(`{"name":"` + all.Search("harbour tides", 1)[0].Name + `","arguments":{"harbour":"Bergen"}}`)})
	fmt.Println(r.Text())
	// Output:
	// search_tools
	// call_tool
	// High water at Bergen: 03:12
}

func ExampleEndpoint() {
	web := httptest.NewServer(llmtest.OpenAI(func(llmtest.Request) llmtest.Turn { return llmtest.Turn{Text: "Low tide."} }))
	defer web.Close()
	sampler := &openai.Sampler{
		Endpoint: llm.Endpoint{BaseURL: web.URL + "/v1", Key: "the key"},
		Model:    "some-model",
		Approve: func(_ context.Context, req *client.SamplingRequest) error {
			fmt.Println("asked for", req.MaxTokens, "tokens")
			return nil // or client.ErrUserRejected
		},
	}
	options := client.Options{CreateMessage: sampler.CreateMessage, SamplingTools: true}

	answer, err := options.CreateMessage(context.Background(), &client.SamplingRequest{CreateMessageParams: mcp.CreateMessageParams{
		MaxTokens: 100, Messages: []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: []mcp.Content{mcp.Text("How is the tide?")}}},
	}})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Text())
	// Output:
	// asked for 100 tokens
	// Low tide.
}

// An index finds tools by words without a model in sight: for a relay, say, or a page.
func ExampleIndex() {
	tools := []llm.Listed{
		{Server: "mail", Tool: mcp.Tool{Name: "sendMessage", Description: "Sends a letter to somebody"}},
		{Server: "files", Tool: mcp.Tool{Name: "delete_all_files", Description: "Empties a folder"}},
	}
	for _, i := range llm.NewIndex(tools).Search("deleting a file") {
		fmt.Println(tools[i].Tool.Name)
	}
	// Output:
	// delete_all_files
	// sendMessage
}
