// Package gosdk is the echo server and client on github.com/modelcontextprotocol/go-sdk.
package gosdk

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

// Handler serves HTTP, with JSON answers as the others give them. A stateful handler of this library serves the
// legacy era alone, a stateless one both.
func Handler(stateful bool) (http.Handler, error) {
	s := newServer()
	options := &mcp.StreamableHTTPOptions{Stateless: !stateful, JSONResponse: true}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, options), nil
}

// RunStdio serves standard input and output.
func RunStdio(ctx context.Context) error {
	return newServer().Run(ctx, &mcp.StdioTransport{})
}

func newServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	for _, name := range echo.Names() {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: echo.Description}, answer)
	}
	return s
}

func answer(_ context.Context, _ *mcp.CallToolRequest, in echo.Input) (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
}
