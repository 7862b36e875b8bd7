// Package mcpgo is the echo server and client on github.com/mark3labs/mcp-go.
package mcpgo

import (
	"context"
	"net/http"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

// Handler serves both eras over HTTP. The legacy era is sessionless unless stateful is set.
func Handler(stateful bool) (http.Handler, error) {
	session := server.WithStateLess(true)
	if stateful {
		session = server.WithStateful(true)
	}
	return server.NewStreamableHTTPServer(newServer(), session), nil
}

// RunStdio serves standard input and output.
func RunStdio(ctx context.Context) error {
	return server.NewStdioServer(newServer()).Listen(ctx, os.Stdin, os.Stdout)
}

func newServer() *server.MCPServer {
	s := server.NewMCPServer("bench", "1.0.0", server.WithToolCapabilities(true), server.WithInputSchemaValidation())
	handler := mcp.NewTypedToolHandler(func(_ context.Context, _ mcp.CallToolRequest, in echo.Input) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(in.Text), nil
	})
	for _, name := range echo.Names() {
		s.AddTool(mcp.NewTool(name, mcp.WithDescription(echo.Description), mcp.WithInputSchema[echo.Input]()), handler)
	}
	return s
}
