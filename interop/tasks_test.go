package interop

import (
	"context"
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
	addJobs(s)
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	runJobs(t, web.URL+"/mcp")
}

// TestTasksOfServerEverything runs the task of the reference server, which asks its client in the middle.
func TestTasksOfServerEverything(t *testing.T) {
	t.Parallel() // the task waits more than it works
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
