package examples

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// What the page for authors of clients shows of kept answers, checked outputs, methods of vendors and traces.

type userKey struct{}

// userOf tells on whose behalf a program works.
func userOf(ctx context.Context) string {
	user, _ := ctx.Value(userKey{}).(string)
	return user
}

func Example_kept() {
	s := server.New(mcp.Implementation{Name: "stock", Version: "1.0.0"}, server.Options{Cache: mcp.CacheFor(time.Minute, mcp.CachePublic)})
	server.AddTool(s, mcp.Tool{Name: "count"}, func(context.Context, *server.Request, struct{}) (string, error) { return "7", nil })
	asked := 0
	counted := func(next client.Call) client.Call {
		return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
			asked++
			return next(ctx, req)
		}
	}
	// [cache]
	opts := client.Options{Cache: client.CacheOptions{
		Partition:    userOf,      // private answers are kept for each user apart
		Floor:        time.Minute, // lists of legacy servers, which cannot say how long
		StaleOnError: time.Hour,   // rather an old answer than none
	}}
	// [end]
	opts.Middleware = []client.Middleware{counted}
	c, done := connect(s, opts)
	defer done()
	ctx := context.WithValue(context.Background(), userKey{}, "ada")
	for range 3 {
		if _, err := c.ListTools(ctx, nil); err != nil {
			panic(err)
		}
	}
	fmt.Println("asked", asked)
	// [refresh]
	page, err := c.ListTools(ctx, nil, client.CallOptions{Cache: client.CacheRefresh})
	// [end]
	if err != nil {
		panic(err)
	}
	fmt.Println("asked", asked, page.Tools[0].Name)
	// Output:
	// asked 1
	// asked 2 count
}

// brokenMeter is a server that promises a number and sends a word.
func brokenMeter() *server.Server {
	spoil := func(next server.Call) server.Call {
		return func(ctx context.Context, req *server.Request) (*server.Result, error) {
			if req.Method() == mcp.MethodCallTool {
				return server.NewResult(json.RawMessage(`{"content":[],"structuredContent":{"litres":"a lot"}}`)), nil
			}
			return next(ctx, req)
		}
	}
	s := server.New(mcp.Implementation{Name: "meter", Version: "1.0.0"}, server.Options{Middleware: []server.Middleware{spoil}})
	type reading struct {
		Litres float64 `json:"litres"`
	}
	server.AddTool(s, mcp.Tool{Name: "read"}, func(context.Context, *server.Request, struct{}) (reading, error) { return reading{}, nil })
	return s
}

func Example_output() {
	ctx := context.Background()
	c, done := connect(brokenMeter(), client.Options{})
	defer done()
	for _, err := range c.Tools(ctx) {
		if err != nil {
			panic(err)
		}
	}
	// [output]
	result, err := c.CallTool(ctx, "read", nil)
	if broken := (*client.OutputError)(nil); errors.As(err, &broken) {
		result = broken.Result // the tool has run, and this is what it sent
	}
	// [end]
	fmt.Println(err)
	fmt.Println(string(result.StructuredContent))
	// Output:
	// call tool "read": the result breaks the output schema that the server lists for the tool: /litres: must be a number
	// {"litres":"a lot"}
}

// Order and Receipt are what a shop's own method takes and gives.
type Order struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

type Receipt struct {
	Total float64 `json:"total"`
}

func Example_vendor() {
	s := server.New(mcp.Implementation{Name: "shop", Version: "1.0.0"}, server.Options{})
	s.Handle("acme/buy", func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(`{"total":7.5}`)}, nil
	})
	// [handlers]
	opts := client.Options{Vendor: []client.VendorHandler{
		client.OnNotification("acme/price", func(_ context.Context, changed Order) {
			fmt.Println("another price for", changed.Item)
		}),
		client.HandleRequest("acme/confirm", func(_ context.Context, _ *client.IncomingRequest, o Order) (Receipt, error) {
			return Receipt{Total: float64(o.Count)}, nil
		}),
	}}
	// [end]
	ctx := context.Background()
	c, done := connect(s, opts)
	defer done()
	// [request]
	receipt, err := client.Request[Receipt](ctx, c, "acme/buy", Order{Item: "pear", Count: 3})
	// [end]
	if err != nil {
		panic(err)
	}
	// [notify]
	err = c.Notify(ctx, "acme/seen", json.RawMessage(`{"item":"pear"}`))
	// [end]
	fmt.Println(receipt.Total, err)
	// Output: 7.5 <nil>
}

func Example_trace() {
	s := server.New(mcp.Implementation{Name: "stock", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "count"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		traceparent, _, _ := req.Trace()
		return traceparent, nil
	})
	current := func(context.Context) string { return "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }
	// [trace]
	opts := client.Options{Trace: func(ctx context.Context) client.Trace {
		return client.Trace{Parent: current(ctx)} // from the tracing library of your choice
	}}
	// [end]
	c, done := connect(s, opts)
	defer done()
	out, err := c.CallTool(context.Background(), "count", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(out.Text())
	// Output: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
}
