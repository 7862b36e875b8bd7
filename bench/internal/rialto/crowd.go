package rialto

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"

	"github.com/rialto-mcp/rialto/bench/internal/echo"
)

// The tools by which a crowd's server is watched.
const (
	changeTool = "change" // lets the list of tools change
	countTool  = "count"  // answers with the number of goroutines
)

// Crowd serves as Handler does, and can be watched besides.
func Crowd(stateful bool) (http.Handler, error) {
	s := newServer(server.Options{HTTP: server.HTTPOptions{Sessionless: !stateful}})
	server.AddTool(s, mcp.Tool{Name: changeTool}, func(context.Context, *server.Request, struct{}) (string, error) {
		server.AddTool(s, mcp.Tool{Name: "added", Description: echo.Description}, answer)
		return "done", nil
	})
	server.AddTool(s, mcp.Tool{Name: countTool}, func(context.Context, *server.Request, struct{}) (string, error) {
		return strconv.Itoa(runtime.NumGoroutine()), nil
	})
	return s.Handler(), nil
}

// Watcher is connected to a Crowd. It belongs to one goroutine.
type Watcher struct{ client *client.Client }

// Watch connects to the Crowd at url.
func Watch(ctx context.Context, url string) (*Watcher, error) {
	c, err := client.DialHTTP(ctx, url, client.Options{})
	if err != nil {
		return nil, err
	}
	return &Watcher{client: c}, nil
}

// Change lets the server's list of tools change.
func (w *Watcher) Change(ctx context.Context) error {
	_, err := w.call(ctx, changeTool)
	return err
}

// Goroutines returns how many the server has.
func (w *Watcher) Goroutines(ctx context.Context) (int, error) {
	text, err := w.call(ctx, countTool)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

func (w *Watcher) call(ctx context.Context, tool string) (string, error) {
	result, err := w.client.CallTool(ctx, tool, nil)
	switch {
	case err != nil:
		return "", err
	case result.IsError:
		return "", fmt.Errorf("%s: %s", tool, result.Text())
	}
	return result.Text(), nil
}

// Close ends the connection.
func (w *Watcher) Close() error { return w.client.Close() }
