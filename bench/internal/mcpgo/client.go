package mcpgo

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

type caller struct {
	client *client.Client
	http   *http.Client // nil on stdio
}

// DialHTTP connects to a server by URL; the library finds the era.
func DialHTTP(ctx context.Context, url string) (echo.Caller, error) {
	hc := echo.HTTPClient()
	c, err := client.NewStreamableHttpClient(url, transport.WithHTTPBasicClient(hc))
	if err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	return initialize(ctx, caller{client: c, http: hc})
}

// DialStdio starts program and connects to it.
func DialStdio(ctx context.Context, program string) (echo.Caller, error) {
	c, err := client.NewStdioMCPClient(program, nil)
	if err != nil {
		return nil, err
	}
	return initialize(ctx, caller{client: c})
}

func initialize(ctx context.Context, c caller) (echo.Caller, error) {
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	request.Params.ClientInfo = mcp.Implementation{Name: "bench", Version: "1.0.0"}
	if _, err := c.client.Initialize(ctx, request); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c caller) Echo(ctx context.Context, text string) (string, error) {
	request := mcp.CallToolRequest{}
	request.Params.Name = echo.Tool
	request.Params.Arguments = map[string]any{"text": text}
	result, err := c.client.CallTool(ctx, request)
	if err != nil {
		return "", err
	}
	if len(result.Content) == 1 {
		if block, ok := result.Content[0].(mcp.TextContent); ok && !result.IsError {
			return block.Text, nil
		}
	}
	return "", fmt.Errorf("unexpected result of %d blocks, error %t", len(result.Content), result.IsError)
}

func (c caller) Close() error {
	err := c.client.Close()
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	return err
}
