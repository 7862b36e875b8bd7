package tasks_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/tasks"
)

// states reads news until all tasks have ended, and returns the last state of each.
func states(t *testing.T, n *client.TaskNews) map[string]*mcp.Task {
	t.Helper()
	last := map[string]*mcp.Task{}
	for {
		task, err := n.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return last
		}
		if err != nil {
			t.Fatal(err)
		}
		last[task.ID] = task
	}
}

// TestFollowTasks hears of two tasks to their ends; one that is nobody's is left out. Sessions of the legacy era need not ask.
func TestFollowTasks(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			s := serve(t, tasks.Options{})
			c := wire.Dial(t, s, able(t))
			asks, stays := start(t, c, "ask"), start(t, c, "forever")
			news, err := c.FollowTasks(t.Context(), asks.ID, stays.ID, asks.ID, "nobody's")
			if !wire.Modern {
				if !errors.Is(err, mcp.CodeMethodNotSupported) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer news.Close()
			if len(news.IDs()) != 2 {
				t.Errorf("told of %q", news.IDs())
			}
			if _, err := c.AwaitTask(t.Context(), asks.ID); err != nil {
				t.Error(err)
			}
			if err := c.CancelTask(t.Context(), stays.ID); err != nil {
				t.Error(err)
			}
			last := states(t, news)
			result := &mcp.CallToolResult{}
			if err := result.UnmarshalJSON(last[asks.ID].Result); err != nil || result.Text() != "first second" || last[stays.ID].Status != mcp.TaskCancelled {
				t.Errorf("got %+v, %v", last, err)
			}
			if _, err := news.Next(t.Context()); !errors.Is(err, io.EOF) {
				t.Errorf("after the end: %v", err)
			}
			if _, err := c.FollowTasks(t.Context(), "nobody's"); !errors.Is(err, mcp.CodeInvalidParams) {
				t.Errorf("of nothing: %v", err)
			}
			opts := able(t)
			opts.Tasks = false
			if _, err := wire.Dial(t, s, opts).FollowTasks(t.Context(), asks.ID); !errors.Is(err, mcp.CodeMissingCapability) {
				t.Errorf("without the extension: %v", err)
			}
		})
	}
}

// TestFollowElsewhere hears of a task by another process of its server than the one that runs it.
func TestFollowElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := twins(t, true)
		opts := able(t)
		opts.Mode = client.Modern
		here, there := mcptest.Pair(t, p.first, opts), mcptest.Pair(t, p.second, opts)
		task := start(t, here, "ask")
		news, err := there.FollowTasks(t.Context(), task.ID)
		if err != nil {
			t.Fatal(err)
		}
		defer news.Close()
		if _, err := here.AwaitTask(t.Context(), task.ID); err != nil {
			t.Error(err)
		}
		if last := states(t, news)[task.ID]; last.Status != mcp.TaskCompleted {
			t.Errorf("got %+v", last)
		}
	})
}
