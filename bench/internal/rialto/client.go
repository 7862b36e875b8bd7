package rialto

import (
	"context"
	"fmt"

	"github.com/rialto-mcp/rialto/client"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

type caller struct{ client *client.Client }

// DialHTTP connects to a server by URL; the era is found out. It is used as it comes, without an http.Client: its own
// keeps as many connections as there are callers, which the clients that the other SDKs use have to be told.
func DialHTTP(ctx context.Context, url string) (echo.Caller, error) {
	c, err := client.DialHTTP(ctx, url, client.Options{})
	if err != nil {
		return nil, err
	}
	return caller{client: c}, nil
}

// DialStdio starts program and connects to it.
func DialStdio(ctx context.Context, program string) (echo.Caller, error) {
	c, err := client.DialStdio(ctx, client.Command{Path: program}, client.Options{})
	if err != nil {
		return nil, err
	}
	return caller{client: c}, nil
}

func (c caller) Echo(ctx context.Context, text string) (string, error) {
	result, err := c.client.CallTool(ctx, echo.Tool, echo.Input{Text: text})
	if err != nil {
		return "", err
	}
	if result.IsError || len(result.Content) != 1 {
		return "", fmt.Errorf("unexpected result of %d blocks, error %t", len(result.Content), result.IsError)
	}
	return result.Text(), nil
}

func (c caller) Close() error { return c.client.Close() }
