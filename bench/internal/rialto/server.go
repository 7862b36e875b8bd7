// Package rialto is the echo server on this tree's own SDK.
package rialto

import (
	"context"
	"net/http"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

// Handler serves both eras over HTTP. The legacy era is sessionless unless stateful is set.
func Handler(stateful bool) (http.Handler, error) {
	return newServer(server.Options{HTTP: server.HTTPOptions{Sessionless: !stateful}}).Handler(), nil
}

// RunStdio serves standard input and output.
func RunStdio(ctx context.Context) error {
	return newServer(server.Options{}).RunStdio(ctx)
}

func newServer(options server.Options) *server.Server {
	s := server.New(mcp.Implementation{Name: "bench", Version: "1.0.0"}, options)
	for _, name := range echo.Names() {
		server.AddTool(s, mcp.Tool{Name: name, Description: echo.Description}, answer)
	}
	return s
}

func answer(_ context.Context, _ *server.Request, in echo.Input) (string, error) { return in.Text, nil }
