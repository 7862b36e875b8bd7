package server_test

import (
	"context"
	"fmt"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// A middleware stands around every request, whatever becomes of it.
func ExampleMiddleware() {
	counted := func(next server.Call) server.Call {
		return func(ctx context.Context, req *server.Request) (*server.Result, error) {
			result, err := next(ctx, req)
			if err != nil {
				fmt.Println(req.Method(), req.Name(), "refused:", err)
				return nil, err
			}
			fmt.Println(req.Method(), req.Name(), result.Size(), "bytes")
			return result, nil
		}
	}
	s := server.New(mcp.Implementation{Name: "weather", Version: "1.2.0"}, server.Options{
		Middleware: []server.Middleware{counted, server.Only(server.MaxResultBytes(1<<20), "tools/call", "resources/read")},
	})
	server.AddTool(s, mcp.Tool{Name: "now"}, func(context.Context, *server.Request, struct{}) (string, error) { return "rain", nil })

	ask(s, "tools/call", `{"name":"now"}`)
	ask(s, "tools/call", `{"name":"tomorrow"}`)
	// Output:
	// tools/call now 43 bytes
	// {"content":[{"type":"text","text":"rain"}]}
	// tools/call tomorrow refused: invalid params: unknown tool: tomorrow
	// error {"code":-32602,"message":"unknown tool: tomorrow"}
}
