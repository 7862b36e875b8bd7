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

// TestTypeScriptRunsTasks has the official SDK 1.x call tools as tasks of 2025-11-25: one that asks, one that reports a failure
// and one that breaks.
func TestTypeScriptRunsTasks(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1.0.0"}, server.Options{Tasks: tasks.New(tasks.Options{PollInterval: 100 * time.Millisecond})})
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
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	driver := Driver{Name: "typescript-1-tasks", run: nodeDriver("tasks1.mjs")}
	report := driver.Run(t, Target{URL: web.URL + "/mcp"}, Plan{Steps: []Step{{Do: "call", Name: "ask"}, {Do: "call", Name: "fail"}, {Do: "call", Name: "break"}}})
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

// TestTasksOfServerEverything runs the task of the reference server, which asks its client in the middle.
func TestTasksOfServerEverything(t *testing.T) {
	command := Everything(t)
	c, err := client.DialStdio(t.Context(), client.Command{Path: command[0], Args: command[1:]}, client.Options{
		Mode: client.Legacy, Tasks: true, ConnectTimeout: time.Minute,
		Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			return client.Accept(map[string]any{"interpretation": "programming"})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	call, err := c.StartTool(ctx, "simulate-research-query", map[string]any{"topic": "python", "ambiguous": true})
	if err != nil || call.Task == nil {
		t.Fatalf("got %+v, %v", call, err)
	}
	var seen []mcp.TaskStatus
	result, err := c.AwaitTask(ctx, call.Task.ID, client.TaskOptions{OnStatus: func(task *mcp.Task) { seen = append(seen, task.Status) }})
	if err != nil || !strings.Contains(result.Text(), "python") {
		t.Fatalf("got %v, %v after %v", result, err, seen)
	}
}
