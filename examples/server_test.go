package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// What the page for authors of servers shows beside the programs. The code between the marks stands on the page.

// connect opens a client over memory. Its clean-up is for the end of the example.
func connect(s *server.Server, opts client.Options) (*client.Client, func()) {
	ours, theirs := transport.Pair(0)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), theirs) }() // ends with the client
	c, err := client.Connect(context.Background(), ours, opts)
	if err != nil {
		panic(err)
	}
	return c, func() {
		if err := errors.Join(c.Close(), <-served); err != nil {
			panic(err)
		}
	}
}

func newShop(opts server.Options) *server.Server {
	return server.New(mcp.Implementation{Name: "shop", Version: "1.0.0"}, opts)
}

// The server is one http.Handler. It lives beside the pages of a web server that stands already.
func Example_mount() {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the shop window") })
	s := newShop(server.Options{})

	// [mount]
	site := s.Middleware("/mcp")(pages) // /mcp is the server's, all else goes on to your pages
	// [end]

	web := httptest.NewServer(site)
	defer web.Close()
	answer, err := http.Get(web.URL)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Status)
	c, err := client.DialHTTP(context.Background(), web.URL+"/mcp", client.Options{})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	fmt.Println(c.ServerInfo().Name)
	// Output:
	// 200 OK
	// shop
}

func buy(_ context.Context, _ *server.Request, in struct{ Item string }) (string, error) {
	switch in.Item {
	case "moon":
		return "", errors.New("the moon is not for sale; try an apple") // the model reads this, and may try again
	case "secret":
		return "", mcp.InvalidParams("no such item") // the client gets the code, the model sees nothing
	case "broken":
		return "", mcp.Errorf(mcp.CodeInternal, "the till is stuck").Because(errors.New("dial 10.0.0.7: refused"))
	}
	return "here is your " + in.Item, nil
}

func Example_errors() {
	s := newShop(server.Options{})
	server.AddTool(s, mcp.Tool{Name: "buy"}, buy)
	c, done := connect(s, client.Options{})
	defer done()
	for _, item := range []string{"apple", "moon", "secret", "broken"} {
		result, err := c.CallTool(context.Background(), "buy", map[string]string{"Item": item})
		if err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(result.IsError, result.Text())
	}
	// Output:
	// false here is your apple
	// true the moon is not for sale; try an apple
	// error: call tool "buy": peer: invalid params: no such item
	// error: call tool "buy": peer: internal error: the till is stuck
}

// Options are one struct; what is not set has a default, and what limits has a way out.
func Example_options() {
	// [options]
	s := newShop(server.Options{
		Instructions: "Sells apples. Ask the tool stock before buy.",
		PageSize:     100,                                        // zero: lists in one page
		MaxInFlight:  64,                                         // zero: 256 at once for one peer; negative: no limit
		Cache:        mcp.CacheFor(time.Minute, mcp.CachePublic), // how long clients may keep lists and reads
		Logger:       slog.New(slog.NewTextHandler(os.Stderr, nil)),
		HTTP: server.HTTPOptions{
			MaxBodyBytes:   1 << 20, // zero: 10 MiB; negative: no limit
			AllowedOrigins: []string{"https://shop.example"},
			SecurityValidator: func(r *http.Request) error {
				if r.Header.Get("X-Shop-Key") != "sesame" {
					return errors.New("the header X-Shop-Key is missing or wrong")
				}
				return nil
			},
		},
	})
	// [end]
	web := httptest.NewServer(s.Handler())
	defer web.Close()
	_, err := client.DialHTTP(context.Background(), web.URL, client.Options{})
	fmt.Println(errors.Is(err, client.ErrUnauthorized))
	c, err := client.DialHTTP(context.Background(), web.URL, client.Options{Headers: http.Header{"X-Shop-Key": {"sesame"}}})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	fmt.Println(c.Instructions())
	// Output:
	// true
	// Sells apples. Ask the tool stock before buy.
}

// A handler asks by returning a question. It runs again, from its top, when the answer is there.
func Example_ask() {
	s := newShop(server.Options{})
	// [ask]
	server.AddTool(s, mcp.Tool{Name: "wrap"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		answer, err := req.InputResponses().Elicit("colour")
		if err != nil {
			return "", err
		}
		if answer == nil { // the first run
			return "", mcp.NeedInput().Elicit("colour", mcp.ElicitFormParams{
				Message:         "Which colour should the paper have?",
				RequestedSchema: json.RawMessage(`{"type":"object","properties":{"colour":{"type":"string"}}}`),
			})
		}
		if !answer.Accepted() {
			return "plain, then", nil
		}
		return "wrapped: " + string(answer.Content), nil
	})
	// [end]
	can := mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Capability{}}}
	c, done := connect(s, client.Options{Capabilities: can})
	defer done()
	ctx := context.Background()
	_, err := c.CallTool(ctx, "wrap", nil, client.CallOptions{ManualInput: true})
	var asked *mcp.InputRequired
	if !errors.As(err, &asked) {
		panic(err)
	}
	fmt.Println(asked.Requests.Keys())
	answers := mcp.InputResponses{"colour": json.RawMessage(`{"action":"accept","content":{"colour":"red"}}`)}
	result, err := c.CallTool(ctx, "wrap", nil, client.CallOptions{ManualInput: true, InputResponses: answers})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text())
	// Output:
	// [colour]
	// wrapped: {"colour":"red"}
}

// askFor asks for one line of text.
func askFor(field string) *mcp.InputRequired {
	form := `{"type":"object","properties":{"` + field + `":{"type":"string","minLength":1}},"required":["` + field + `"]}`
	return mcp.NeedInput().Elicit(field, mcp.ElicitFormParams{Message: "Which " + field + "?", RequestedSchema: json.RawMessage(form)})
}

// A handler that asks twice keeps the first answer in the state. The clients here are of one era each.
func Example_askTwice() {
	s := newShop(server.Options{})
	// [state]
	server.AddTool(s, mcp.Tool{Name: "engrave"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		name, err := req.InputResponses().Elicit("name")
		if err != nil {
			return "", err
		}
		font, err := req.InputResponses().Elicit("font")
		if err != nil {
			return "", err
		}
		switch {
		case name != nil && !name.Accepted(), font != nil && !font.Accepted():
			return "nothing engraved", nil
		case font != nil: // the third run
			return req.State() + " in " + string(font.Content), nil
		case name != nil: // the second
			return "", askFor("font").WithState(string(name.Content))
		}
		return "", askFor("name")
	})
	// [end]
	answer := json.RawMessage(`{"action":"accept","content":{"name":"Ada","font":"Serif"}}`)
	can := mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Capability{}}}

	c, done := connect(s, client.Options{Mode: client.Legacy, Capabilities: can,
		OnRequest: func(context.Context, *client.IncomingRequest) (json.RawMessage, error) { return answer, nil }})
	defer done()
	result, err := c.CallTool(context.Background(), "engrave", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println("legacy:", result.Text())

	c, done = connect(s, client.Options{Mode: client.Modern, Capabilities: can})
	defer done()
	o := client.CallOptions{ManualInput: true}
	for range 3 {
		result, err = c.CallTool(context.Background(), "engrave", nil, o)
		var asked *mcp.InputRequired
		if errors.As(err, &asked) {
			o.RequestState, o.InputResponses = asked.State, mcp.InputResponses{asked.Requests.Keys()[0]: answer}
		}
	}
	if err != nil {
		panic(err)
	}
	fmt.Println("modern:", result.Text())
	// Output:
	// legacy: {"name":"Ada","font":"Serif"} in {"name":"Ada","font":"Serif"}
	// modern: {"name":"Ada","font":"Serif"} in {"name":"Ada","font":"Serif"}
}

// Tools come and go while the server runs.
func Example_registry() {
	s := newShop(server.Options{})
	c, done := connect(s, client.Options{})
	defer done()
	// [registry]
	server.AddTool(s, mcp.Tool{Name: "buy", Description: "Buys an item"}, buy) // or replaces the one of that name
	fmt.Println(s.HasTool("buy"), strings.Join(s.ToolNames(), " "))
	fmt.Println(s.RemoveTool("buy")) // how many there were
	// [end]
	fmt.Println(c.ServerInfo().Name)
	// Output:
	// true buy
	// 1
	// shop
}
