package gosdk

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

type caller struct {
	session *mcp.ClientSession
	http    *http.Client // nil on stdio
}

// DialHTTP connects to a server by URL; the library finds the era.
func DialHTTP(ctx context.Context, url string) (echo.Caller, error) {
	hc := echo.HTTPClient()
	return connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: hc}, hc)
}

// DialStdio starts program and connects to it.
func DialStdio(ctx context.Context, program string) (echo.Caller, error) {
	return connect(ctx, &mcp.CommandTransport{Command: exec.Command(program)}, nil)
}

func connect(ctx context.Context, t mcp.Transport, hc *http.Client) (echo.Caller, error) {
	c := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1.0.0"}, nil)
	session, err := c.Connect(ctx, t, nil)
	if err != nil {
		return nil, err
	}
	return caller{session: session, http: hc}, nil
}

func (c caller) Echo(ctx context.Context, text string) (string, error) {
	result, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: echo.Tool, Arguments: map[string]any{"text": text}})
	if err != nil {
		return "", err
	}
	if len(result.Content) == 1 {
		if block, ok := result.Content[0].(*mcp.TextContent); ok && !result.IsError {
			return block.Text, nil
		}
	}
	return "", fmt.Errorf("unexpected result of %d blocks, error %t", len(result.Content), result.IsError)
}

func (c caller) Close() error {
	err := c.session.Close()
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	return err
}
