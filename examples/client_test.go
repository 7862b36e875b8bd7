package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// What the page for authors of clients shows beside the program ask.

// startShop serves a shop over HTTP. Its tool count reports progress, wait never answers.
func startShop() (url string, stop func()) {
	s := newShop(server.Options{})
	server.AddTool(s, mcp.Tool{Name: "buy", Description: "Buys an item"}, buy)
	server.AddTool(s, mcp.Tool{Name: "count", Description: "Counts the apples"},
		func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			req.Progress(ctx, 1, 2, "one apple")
			req.Progress(ctx, 2, 2, "two apples")
			return "2 apples", nil
		})
	server.AddTool(s, mcp.Tool{Name: "wait", Description: "Waits for ever"},
		func(ctx context.Context, _ *server.Request, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
	web := httptest.NewServer(s.Handler())
	return web.URL, web.Close
}

// dialShop is a client of that shop.
func dialShop() (c *client.Client, done func()) {
	url, stop := startShop()
	c, err := client.DialHTTP(context.Background(), url, client.Options{})
	if err != nil {
		panic(err)
	}
	return c, func() { c.Close(); stop() }
}

// A verdict saves the next connection to the same server the round trip of finding out.
func Example_verdict() {
	url, stop := startShop()
	defer stop()
	ctx := context.Background()

	// [verdict]
	c, err := client.DialHTTP(ctx, url, client.Options{})
	if err != nil {
		panic(err)
	}
	kept, err := json.Marshal(c.Verdict()) // store it where the address is stored
	// [end]
	if err != nil {
		panic(err)
	}
	defer c.Close()

	// [redial]
	var verdict client.Verdict
	if err := json.Unmarshal(kept, &verdict); err != nil {
		panic(err)
	}
	again, err := client.DialHTTP(ctx, url, client.Options{Verdict: &verdict})
	// [end]
	if err != nil {
		panic(err)
	}
	defer again.Close()
	fmt.Println(verdict.Era, again.ServerInfo().Name)
	// Output: modern shop
}

// Time limits, and what their end looks like.
func Example_timeouts() {
	c, done := dialShop()
	defer done()
	ctx := context.Background()

	// [timeouts]
	result, err := c.CallTool(ctx, "count", nil, client.CallOptions{
		Timeout:         5 * time.Second, // without a sign of life
		Total:           time.Minute,     // whatever happens
		ResetOnProgress: true,
		OnProgress: func(p mcp.ProgressParams) {
			fmt.Printf("%.0f of %.0f: %s\n", p.Progress, *p.Total, p.Message)
		},
	})
	// [end]
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Text())

	_, err = c.CallTool(ctx, "wait", nil, client.CallOptions{Timeout: 50 * time.Millisecond})
	fmt.Println(errors.Is(err, mcp.CodeRequestTimeout))
	// Output:
	// 1 of 2: one apple
	// 2 of 2: two apples
	// 2 apples
	// true
}

// The raw door: any method, token for token.
func Example_raw() {
	c, done := dialShop()
	defer done()
	ctx := context.Background()

	// [raw]
	params := json.RawMessage(`{"name":"buy","arguments":{"Item":"pear"}}`)
	answer, err := c.Raw(ctx, "tools/call", params, client.RawOptions{})
	if err != nil {
		panic(err)
	}
	content, _ := mcp.Member(answer.Result, "content")
	fmt.Println(string(content))
	// [end]

	// [stream]
	stream, err := c.Start(ctx, "tools/call", json.RawMessage(`{"name":"count","_meta":{"progressToken":1}}`), client.RawOptions{})
	if err != nil {
		panic(err)
	}
	defer stream.Close()
	for {
		message, err := stream.Next(ctx)
		if err != nil {
			break // io.EOF: the call has ended, and Result says how
		}
		fmt.Println(message.Method)
	}
	answer, err = stream.Result()
	// [end]
	if err != nil {
		panic(err)
	}
	content, _ = mcp.Member(answer.Result, "content")
	fmt.Println(string(content))
	// Output:
	// [{"type":"text","text":"here is your pear"}]
	// notifications/progress
	// notifications/progress
	// [{"type":"text","text":"2 apples"}]
}

// Functions hear of changes; the stream that brings the news opens by itself.
func Example_changes() {
	s := newShop(server.Options{})
	server.AddTool(s, mcp.Tool{Name: "buy"}, buy)
	c, done := connect(s, client.Options{Mode: client.Legacy})
	defer done()
	changed := make(chan struct{}, 1)

	// [changes]
	stop := c.OnToolsChange(func() { changed <- struct{}{} }) // several may be registered
	defer stop()
	// [end]
	if err := c.Ping(context.Background()); err != nil {
		panic(err)
	}
	s.RemoveTool("buy")
	<-changed
	page, err := c.ListTools(context.Background(), nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(page.Tools))
	// Output: 0
}
