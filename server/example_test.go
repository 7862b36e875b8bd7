package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// ask plays a client of the newest revision: it sends one request over an in-memory connection and prints what it gets,
// without the members that every answer of its kind carries.
func ask(s *server.Server, method, params string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, end := transport.Pair(0)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, end) }()

	envelope := `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	whole := jsonrpc.With(nil, json.RawMessage(params), "_meta", []byte(envelope))
	err := client.Write(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+string(whole)+`}`))
	frame, readErr := client.Read(ctx)
	if err := errors.Join(err, readErr, client.Close(), <-served); err != nil {
		fmt.Println("failed:", err)
		return
	}
	if fault, ok := jsonrpc.Member(frame, "error"); ok {
		fmt.Println("error", string(fault))
		return
	}
	result, _ := jsonrpc.Member(frame, "result")
	fmt.Println(string(jsonrpc.Without(result, "resultType", "ttlMs", "cacheScope", "_meta", "requestState")))
}

func ExampleAddTool() {
	s := server.New(mcp.Implementation{Name: "weather", Version: "1.2.0"}, server.Options{})

	type Query struct {
		City string        `json:"city" jsonschema:"the town to look at"`
		Days int           `json:"days" jsonschema:"min=1,max=7,default=3,description=how far to look"`
		Step time.Duration `json:"step,omitempty"`
	}
	type Forecast struct {
		City string   `json:"city"`
		Days []string `json:"days"`
	}
	server.AddTool(s, mcp.Tool{Name: "forecast", Description: "Weather for the next days"},
		func(_ context.Context, _ *server.Request, in Query) (Forecast, error) {
			if in.City == "Atlantis" {
				return Forecast{}, errors.New("Atlantis has no weather") //nolint:staticcheck // a sentence for the model
			}
			out := Forecast{City: in.City}
			for range in.Days {
				out.Days = append(out.Days, "rain")
			}
			return out, nil
		})

	ask(s, "tools/call", `{"name":"forecast","arguments":{"city":"Bergen","days":2}}`)
	ask(s, "tools/call", `{"name":"forecast","arguments":{"city":"Atlantis"}}`)
	ask(s, "tools/call", `{"name":"forecast","arguments":{"city":"Bergen","days":9}}`)
	// Output:
	// {"content":[{"type":"text","text":"{\"city\":\"Bergen\",\"days\":[\"rain\",\"rain\"]}"}],"structuredContent":{"city":"Bergen","days":["rain","rain"]}}
	// {"content":[{"type":"text","text":"Atlantis has no weather"}],"isError":true}
	// {"content":[{"type":"text","text":"Invalid arguments for tool forecast: /days: must be at most 7, got 9"}],"isError":true}
}

// A handler that lacks something asks for it by returning the question. The next run finds the answer.
func ExampleAddTool_question() {
	s := server.New(mcp.Implementation{Name: "weather", Version: "1.2.0"}, server.Options{})

	type City struct {
		Name string `json:"name"`
	}
	form := mcp.ElicitFormParams{
		Message:         "Which city?",
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	}
	server.AddTool(s, mcp.Tool{Name: "forecast"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		answer, err := req.InputResponses().Elicit("city")
		if err != nil {
			return "", err
		}
		if answer == nil {
			return "", mcp.NeedInput().Elicit("city", form)
		}
		if !answer.Accepted() {
			return "rain somewhere", nil
		}
		var city City
		if err := json.Unmarshal(answer.Content, &city); err != nil {
			return "", err
		}
		return "rain in " + city.Name, nil
	})

	ask(s, "tools/call", `{"name":"forecast"}`)
	ask(s, "tools/call", `{"name":"forecast","inputResponses":{"city":{"action":"accept","content":{"name":"Oslo"}}}}`)
	// Output:
	// {"inputRequests":{"city":{"method":"elicitation/create","params":{"message":"Which city?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}}}
	// {"content":[{"type":"text","text":"rain in Oslo"}]}
}

func ExampleServer_AddRawTool() {
	s := server.New(mcp.Implementation{Name: "echo", Version: "1"}, server.Options{})

	err := s.AddRawTool(mcp.Tool{
		Name:        "echo",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}, func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		return mcp.TextResult("you sent " + string(req.Arguments())), nil
	})
	if err != nil {
		fmt.Println(err)
	}

	ask(s, "tools/call", `{"name":"echo","arguments":{"text":"hi","more":1.0}}`)
	ask(s, "tools/call", `{"name":"echo"}`)
	// Output:
	// {"content":[{"type":"text","text":"you sent {\"text\":\"hi\",\"more\":1.0}"}]}
	// {"content":[{"type":"text","text":"Invalid arguments for tool echo: misses \"text\""}],"isError":true}
}

func ExampleServer_AddResource() {
	s := server.New(mcp.Implementation{Name: "notes", Version: "1"}, server.Options{})

	s.AddResource(mcp.Resource{URI: "note:today", Name: "today", MIMEType: "text/plain"},
		func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("note:today", "text/plain", "buy milk")}}, nil
		})

	ask(s, "resources/list", `{}`)
	ask(s, "resources/read", `{"uri":"note:today"}`)
	ask(s, "resources/read", `{"uri":"note:yesterday"}`)
	// Output:
	// {"resources":[{"uri":"note:today","name":"today","mimeType":"text/plain"}]}
	// {"contents":[{"uri":"note:today","mimeType":"text/plain","text":"buy milk"}]}
	// error {"code":-32602,"message":"resource not found: note:yesterday","data":{"uri":"note:yesterday"}}
}

func ExampleServer_AddResourceTemplate() {
	s := server.New(mcp.Implementation{Name: "library", Version: "1"}, server.Options{})

	titles := map[string]string{"1": "Peer Gynt", "2": "Hunger"}
	s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "book:{id}{?format}", Name: "book"},
		func(_ context.Context, req *server.Request, vars map[string]string) (*mcp.ReadResourceResult, error) {
			title, ok := titles[vars["id"]]
			if !ok {
				return nil, mcp.ResourceNotFound(req.Name())
			}
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: title + vars["format"]}}}, nil
		})
	s.CompleteTemplate("book:{id}{?format}", "id", func(_ context.Context, _ *server.Request, value string, _ map[string]string) ([]string, error) {
		return []string{"1", "2"}, nil
	})

	ask(s, "resources/read", `{"uri":"book:2?format=.txt"}`)
	ask(s, "resources/read", `{"uri":"book:3"}`)
	ask(s, "completion/complete", `{"ref":{"type":"ref/resource","uri":"book:{id}{?format}"},"argument":{"name":"id","value":""}}`)
	// Output:
	// {"contents":[{"uri":"book:2?format=.txt","text":"Hunger.txt"}]}
	// error {"code":-32602,"message":"resource not found: book:3","data":{"uri":"book:3"}}
	// {"completion":{"values":["1","2"],"total":2,"hasMore":false}}
}

func ExampleServer_AddPrompt() {
	s := server.New(mcp.Implementation{Name: "letters", Version: "1"}, server.Options{})

	s.AddPrompt(mcp.Prompt{Name: "thank", Arguments: []mcp.PromptArgument{{Name: "who", Required: true}}},
		func(_ context.Context, _ *server.Request, args map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{
				mcp.UserMessage(mcp.Text("Write a short letter that thanks " + args["who"])),
			}}, nil
		})

	ask(s, "prompts/get", `{"name":"thank","arguments":{"who":"Ada"}}`)
	ask(s, "prompts/get", `{"name":"thank"}`)
	// Output:
	// {"messages":[{"role":"user","content":{"type":"text","text":"Write a short letter that thanks Ada"}}]}
	// error {"code":-32602,"message":"prompt thank needs the argument \"who\""}
}

func ExampleServer_CompletePrompt() {
	s := server.New(mcp.Implementation{Name: "letters", Version: "1"}, server.Options{})
	s.AddPrompt(mcp.Prompt{Name: "thank", Arguments: []mcp.PromptArgument{{Name: "who"}, {Name: "team"}}},
		func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
			return nil, nil
		})

	members := map[string][]string{"": {"Ada", "Alan", "Grace"}, "navy": {"Grace"}}
	s.CompletePrompt("thank", "who", func(_ context.Context, _ *server.Request, value string, settled map[string]string) ([]string, error) {
		var fit []string
		for _, name := range members[settled["team"]] {
			if strings.HasPrefix(name, value) {
				fit = append(fit, name)
			}
		}
		return fit, nil
	})

	const ref = `"ref":{"type":"ref/prompt","name":"thank"}`
	ask(s, "completion/complete", `{`+ref+`,"argument":{"name":"who","value":"A"}}`)
	ask(s, "completion/complete", `{`+ref+`,"argument":{"name":"who","value":""},"context":{"arguments":{"team":"navy"}}}`)
	// Output:
	// {"completion":{"values":["Ada","Alan"],"total":2,"hasMore":false}}
	// {"completion":{"values":["Grace"],"total":1,"hasMore":false}}
}

func ExampleServer_Handle() {
	s := server.New(mcp.Implementation{Name: "vendor", Version: "1"}, server.Options{})

	s.Handle("example.com/version", func(_ context.Context, req *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(`{"version":"7.1","asked":` + string(req.Params()) + `}`)}, nil
	})

	ask(s, "example.com/version", `{"long":true}`)
	ask(s, "example.com/other", `{}`)
	// Output:
	// {"version":"7.1","asked":{"long":true}}
	// error {"code":-32601,"message":"Method not found: nothing here answers \"example.com/other\"; check the spelling"}
}

func ExampleServer_Handler() {
	s := server.New(mcp.Implementation{Name: "greeter", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "greet"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return "hello, " + req.Header("User-Agent"), nil
	})

	mux := http.NewServeMux()
	mux.Handle("/mcp", s.Handler())
	web := httptest.NewServer(mux)
	defer web.Close()

	// A client of revision 2025-06-18 opens a session; the same address serves every other revision.
	post := func(session, body string) (string, string) {
		req, err := http.NewRequest(http.MethodPost, web.URL+"/mcp", strings.NewReader(body))
		if err != nil {
			return "", err.Error()
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("User-Agent", "old friend")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err.Error()
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			return "", err.Error()
		}
		return res.Header.Get("Mcp-Session-Id"), string(answer)
	}
	session, _ := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	_, answer := post(session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet"}}`)
	fmt.Println(answer)
	// Output:
	// {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"hello, old friend"}]}}
}

func ExampleServer_Middleware() {
	s := server.New(mcp.Implementation{Name: "greeter", Version: "1"}, server.Options{})

	website := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the website") })
	whole := s.Middleware("/mcp")(website)

	for _, path := range []string{"/", "/mcp"} {
		answer := httptest.NewRecorder()
		whole.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, http.NoBody))
		fmt.Println(path, strings.Contains(answer.Body.String(), "the website"))
	}
	// Output:
	// / true
	// /mcp false
}
