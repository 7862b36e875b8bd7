package interop

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// TestGatewayTasks puts the npm reference server, which has the tasks of 2025-11-25 and asks in the middle of one, behind the
// gateway, as a program and over HTTP. Clients of both eras follow its task to the end and answer what it asks, and so does one
// that knows no tasks.
func TestGatewayTasks(t *testing.T) {
	t.Parallel() // the tasks wait more than they work
	bin := buildGateway(t)
	for name, entry := range map[string]func(*testing.T) map[string]any{
		"program": func(t *testing.T) map[string]any { return commandEntry(Everything(t)) },
		"http":    func(t *testing.T) map[string]any { return map[string]any{"url": StartEverything(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, told := startGateway(t, bin, saveConfig(t, map[string]any{"everything": entry(t)}), 1)
			if strings.Contains(told, "failed") {
				t.Fatalf("the server is not ready:\n%s", told)
			}
			for _, mode := range []client.Mode{client.Modern, client.Legacy} {
				c, err := client.DialHTTP(t.Context(), url, client.Options{
					Mode: mode, Tasks: true,
					Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
						return client.Accept(map[string]any{"interpretation": "programming"})
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				research(t, c)
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// research runs the task of the reference server that asks what is meant.
func research(t *testing.T, c *client.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	call, err := c.StartTool(ctx, "simulate-research-query", map[string]any{"topic": "python", "ambiguous": true})
	if err != nil || call.Task == nil {
		t.Errorf("got %+v, %v, want a task", call, err)
		return
	}
	var seen []mcp.TaskStatus
	result, err := c.AwaitTask(ctx, call.Task.ID, client.TaskOptions{OnStatus: func(task *mcp.Task) { seen = append(seen, task.Status) }})
	if err != nil || !strings.Contains(result.Text(), "python") || !strings.Contains(result.Text(), "programming") {
		t.Errorf("got %v, %v after %v", result, err, seen)
	}
	state, err := c.GetTask(ctx, call.Task.ID)
	if err != nil || state.Status != mcp.TaskCompleted {
		t.Errorf("at last: %+v, %v", state, err)
	}
}

// TestGatewayTasksOfTypeScript has the official SDK 1.x run tasks of 2025-11-25 through the gateway, whose servers are of either
// era: one that asks, one that reports a failure and one that breaks.
func TestGatewayTasksOfTypeScript(t *testing.T) {
	bin := buildGateway(t)
	for name, versions := range map[string][]string{"modern": mcp.ModernVersions(), "legacy": mcp.LegacyVersions()} {
		t.Run(name, func(t *testing.T) {
			s := server.New(mcp.Implementation{Name: "jobs", Version: "1.0.0"}, server.Options{
				Versions: versions, Tasks: tasks.New(tasks.Options{PollInterval: 100 * time.Millisecond}),
			})
			addJobs(s)
			web := httptest.NewServer(s.Handler())
			t.Cleanup(func() {
				if err := s.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
				web.Close()
			})
			url, told := startGateway(t, bin, saveConfig(t, map[string]any{"jobs": map[string]any{"url": web.URL + "/mcp"}}), 1)
			if strings.Contains(told, "failed") {
				t.Fatalf("the server is not ready:\n%s", told)
			}
			runJobs(t, url)
		})
	}
}

// addJobs adds tools that run as tasks.
func addJobs(s *server.Server) {
	add := func(name string, fn func(context.Context, *server.Request, struct{}) (string, error)) {
		server.AddTool(s, mcp.Tool{Name: name, Execution: tasks.Must()}, tasks.Whole(fn))
	}
	add("ask", func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		who, err := server.ElicitAs[struct {
			Name string `json:"name"`
		}](ctx, req, "Who are you?")
		return "hello " + who.Name, err
	})
	add("fail", func(context.Context, *server.Request, struct{}) (string, error) { return "", errors.New("no paper") })
	add("break", func(context.Context, *server.Request, struct{}) (string, error) {
		return "", mcp.Errorf(4711, "broken")
	})
}

// runJobs has the TypeScript client call them.
func runJobs(t *testing.T, url string) {
	t.Helper()
	driver := Driver{Name: "typescript-1-tasks", run: nodeDriver("tasks1.mjs")}
	report := driver.Run(t, Target{URL: url}, Plan{Steps: []Step{{Do: "call", Name: "ask"}, {Do: "call", Name: "fail"}, {Do: "call", Name: "break"}}})
	if report.Error != nil {
		t.Fatalf("connect: %d %s", report.Error.Code, report.Error.Message)
	}
	SaysText("hello Ada")(t, report.Steps[0])
	if got := string(report.Steps[1].Result); !strings.Contains(got, "no paper") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("a tool that fails: %s, %+v", got, report.Steps[1].Error)
	}
	if failed := report.Steps[2].Error; failed == nil || !strings.Contains(failed.Message, "broken") {
		t.Errorf("a tool that breaks: %+v", failed)
	}
}
