package tasks_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// TestTasksBelongToTheirPrincipal asks for somebody else's task in every way: it does not exist.
func TestTasksBelongToTheirPrincipal(t *testing.T) {
	for name, mode := range map[string]client.Mode{"modern": client.Modern, "legacy": client.Legacy} {
		t.Run(name, func(t *testing.T) {
			s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{
				Tasks: tasks.New(tasks.Options{PageSize: 1}),
				HTTP: server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal {
					if user := r.Header.Get("X-User"); user != "" {
						return &mcp.Principal{Subject: user}
					}
					return nil
				}},
			})
			server.AddTool(s, mcp.Tool{Name: "forever", Execution: tasks.May()}, tasks.Whole(func(ctx context.Context, _ *server.Request, _ none) (string, error) {
				<-ctx.Done()
				return "", context.Cause(ctx)
			}))
			url := mcptest.Serve(t, s)
			dial := func(user string) *client.Client {
				opts := able(t)
				opts.Mode, opts.Headers = mode, http.Header{}
				if user != "" {
					opts.Headers.Set("X-User", user)
				}
				c, err := client.DialHTTP(t.Context(), url, opts)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				return c
			}
			ann, bob, nobody := dial("ann"), dial("bob"), dial("")
			task := start(t, ann, "forever")
			for _, c := range []*client.Client{bob, nobody} {
				_, get := c.GetTask(t.Context(), task.ID)
				_, await := c.AwaitTask(t.Context(), task.ID)
				if cancel := c.CancelTask(t.Context(), task.ID); !errors.Is(get, mcp.CodeInvalidParams) || !errors.Is(await, mcp.CodeInvalidParams) || !errors.Is(cancel, mcp.CodeInvalidParams) {
					t.Errorf("got %v, %v and %v", get, await, cancel)
				}
			}
			open := start(t, nobody, "forever")
			if _, err := dial("").GetTask(t.Context(), open.ID); err != nil {
				t.Errorf("a task of nobody, by its id: %v", err)
			}
			if _, err := ann.GetTask(t.Context(), open.ID); !errors.Is(err, mcp.CodeInvalidParams) {
				t.Errorf("a task of nobody, asked for by somebody: %v", err)
			}
			if mode == client.Legacy {
				lists(t, ann, bob, nobody)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_ = s.Shutdown(ctx) // the handler is shut down by its own clean-up
		})
	}
}

// lists reads lists of tasks, a page of one each: who is known sees the own ones, and who is not has no list.
func lists(t *testing.T, ann, bob, nobody *client.Client) {
	t.Helper()
	second := start(t, ann, "forever")
	page, err := ann.ListTasks(t.Context(), "")
	if err != nil || len(page.Tasks) != 1 || page.NextCursor == "" {
		t.Fatalf("got %+v, %v", page, err)
	}
	if page, err = ann.ListTasks(t.Context(), page.NextCursor); err != nil || len(page.Tasks) != 1 || page.NextCursor != "" || page.Tasks[0].ID != second.ID {
		t.Errorf("got %+v, %v", page, err)
	}
	if page, err = bob.ListTasks(t.Context(), ""); err != nil || len(page.Tasks) != 0 {
		t.Errorf("got %+v, %v", page, err)
	}
	if _, err := nobody.ListTasks(t.Context(), ""); !errors.Is(err, mcp.CodeMethodNotFound) {
		t.Errorf("got %v", err)
	}
	if caps := string(nobody.ServerCapabilities().Tasks); caps != `{"cancel":{},"requests":{"tools":{"call":{}}}}` {
		t.Errorf("declared %s", caps)
	}
}
