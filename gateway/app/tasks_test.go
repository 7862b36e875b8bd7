package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// films serves a tool that runs as a task, until the test ends.
func films(t *testing.T, versions []string) string {
	s := server.New(mcp.Implementation{Name: "films", Version: "1"}, server.Options{
		Versions: versions, Tasks: tasks.New(tasks.Options{PollInterval: 100 * time.Millisecond}),
	})
	server.AddTool(s, mcp.Tool{Name: "render", Execution: tasks.May()}, tasks.Whole(
		func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
			title, err := server.ElicitAs[struct {
				Title string `json:"title"`
			}](ctx, req, "Which film?")
			return title.Title + " is ready", err
		}))
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return web.URL
}

// TestTasksOverHTTP begins tasks of servers of both eras with clients of both, stops the gateway, and has them finished through
// the next one, which has the same keys. They belong to the owner of the token.
func TestTasksOverHTTP(t *testing.T) {
	const file = `{"gateway": {"prefix": "always", "stateKeys": ["0123456789abcdef0123456789abcdef"],
		"auth": {"tokens": [{"name": "ann", "token": "the-token-of-ann-1"}, {"name": "bob", "token": "the-token-of-bob-1"}]}},
		"mcpServers": {"old": {"url": %q}, "new": {"url": %q}}}`
	conf := fmt.Sprintf(file, films(t, mcp.LegacyVersions()), films(t, mcp.ModernVersions()))
	dial := func(r *running, who string, mode client.Mode) *client.Client {
		t.Helper()
		c, err := client.DialHTTP(t.Context(), r.url, client.Options{
			Mode: mode, Tasks: true, Headers: http.Header{"Authorization": {"Bearer the-token-of-" + who + "-1"}},
			Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
				return client.Accept(map[string]any{"title": "Metropolis"})
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() }) //nolint:errcheck // its gateway may be gone
		return c
	}
	modes := []client.Mode{client.Legacy, client.Modern}

	first := start(t, read(t, conf))
	first.err.wait(t, "old: ready")
	first.err.wait(t, "new: ready")
	var ids []string
	for _, mode := range modes {
		for _, tool := range []string{"old__render", "new__render"} {
			call, err := dial(first, "ann", mode).StartTool(t.Context(), tool, nil)
			if err != nil || call.Task == nil {
				t.Fatalf("%s: %+v, %v", tool, call, err)
			}
			ids = append(ids, call.Task.ID)
		}
	}
	first.end(t)

	second := start(t, read(t, conf))
	for i, id := range ids {
		mode := modes[(i+i/2)%2] // each era finishes tasks that the other one has begun, too
		result, err := dial(second, "ann", mode).AwaitTask(t.Context(), id)
		if err != nil || result.Text() != "Metropolis is ready" {
			t.Errorf("task %d: %+v, %v", i, result, err)
		}
		if _, err := dial(second, "bob", mode).GetTask(t.Context(), id); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("task %d, by somebody else: %v", i, err)
		}
	}
	second.end(t)
}
