package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// server is the far end of the examples: a small scripted server of the modern era.
func server() transport.Conn {
	conn, _ := play(modern(script{
		"tools/list": result(`{"tools":[{"name":"forecast","inputSchema":{"type":"object"}},{"name":"stations","inputSchema":{"type":"object"}}]}`),
		"tools/call": says(
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":{token},"progress":1,"total":2,"message":"asking the stations"}}`,
			`{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"sunny"}]}}`),
	}))
	return conn
}

func Example() {
	ctx := context.Background()
	c, err := client.Connect(ctx, server(), client.Options{}) // or DialHTTP, or DialStdio
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	for tool, err := range c.Tools(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tool.Name)
	}
	out, err := c.CallTool(ctx, "forecast", map[string]any{"city": "Oslo"}, client.CallOptions{
		OnProgress: func(p mcp.ProgressParams) { fmt.Println(p.Progress, "of", *p.Total, p.Message) },
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out.Text())
	// Output:
	// forecast
	// stations
	// 1 of 2 asking the stations
	// sunny
}

// A verdict that was kept saves the next connection its probe.
func ExampleClient_Verdict() {
	ctx := context.Background()
	c, err := client.Connect(ctx, server(), client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	kept := c.Verdict() // can be written as JSON
	c.Close()
	again, err := client.Connect(ctx, server(), client.Options{Verdict: &kept})
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	fmt.Println(kept.Era, again.ProtocolVersion(), again.ServerInfo().Name)
	// Output: modern 2026-07-28 new
}

// Start hands over a call that is under way, for relays.
func ExampleClient_Start() {
	ctx := context.Background()
	c, err := client.Connect(ctx, server(), client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	params := json.RawMessage(`{"name":"forecast","_meta":{"progressToken":"theirs"}}`)
	stream, err := c.Start(ctx, "tools/call", params, client.RawOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for m, err := stream.Next(ctx); err == nil; m, err = stream.Next(ctx) {
		fmt.Println(m.Method)
	}
	result, err := stream.Result()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(result.Result))
	// Output:
	// notifications/progress
	// {"content":[{"type":"text","text":"sunny"}]}
}

func ExampleDialStdio() {
	ctx := context.Background()
	_, err := client.DialStdio(ctx, client.Command{Path: "no-such-server", Env: []string{"PATH=/usr/bin"}, Stderr: os.Stderr}, client.Options{})
	fmt.Println(err)
	// Output: connect to "no-such-server": start: cannot start "no-such-server": executable file not found in $PATH; searched PATH: /usr/bin; give the full path of the program, or set PATH for it
}

// A middleware stands around all requests: this one puts the trace of its context into each.
func ExampleMiddleware() {
	traced := func(next client.Call) client.Call {
		return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
			meta, err := req.Meta.With("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
			if err != nil {
				return nil, err
			}
			req.Meta = meta
			result, err := next(ctx, req)
			fmt.Println(req.Method, err)
			return result, err
		}
	}
	ctx := context.Background()
	c, err := client.Connect(ctx, server(), client.Options{Middleware: []client.Middleware{traced}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	if _, err := c.CallTool(ctx, "forecast", nil); err != nil {
		log.Fatal(err)
	}
	// Output:
	// tools/call <nil>
}
