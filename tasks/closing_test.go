package tasks_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// TestDrainingCallsBeginNoTask shuts a server down while a call has not come to its task yet: it gets none, and is told why.
func TestDrainingCallsBeginNoTask(t *testing.T) {
	host := tasks.New(tasks.Options{})
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: host})
	entered := make(chan struct{})
	server.AddTool(s, mcp.Tool{Name: "slow", Execution: tasks.May()}, func(ctx context.Context, req *server.Request, _ none) (string, error) {
		close(entered)
		if err := host.Shutdown(ctx); err != nil { // as the server does first
			return "", err
		}
		return tasks.Run(ctx, req, func(context.Context, *server.Request) (string, error) {
			t.Error("the work began")
			return "", nil
		})
	})
	c := mcptest.Pair(t, s, client.Options{Tasks: true})
	_, err := c.StartTool(t.Context(), "slow", nil)
	<-entered
	if err == nil || !strings.Contains(err.Error(), "shutting down") || host.Running() != 0 {
		t.Errorf("got %v, and %d run", err, host.Running())
	}
}

// TestOnceInsideATask does a step before the task and one in it, and runs the work again with an answer: each is done once. A
// question that is declined or left is no reason to end.
func TestOnceInsideATask(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: tasks.New(tasks.Options{})})
	done := map[string]int{}
	step := func(ctx context.Context, req *server.Request, key string) (string, error) {
		return server.Once(ctx, req, key, func(context.Context, string) (string, error) { done[key]++; return key, nil })
	}
	server.AddTool(s, mcp.Tool{Name: "pay", Execution: tasks.May()}, func(ctx context.Context, req *server.Request, _ none) (string, error) {
		if _, err := step(ctx, req, "before"); err != nil {
			return "", err
		}
		return tasks.Run(ctx, req, func(ctx context.Context, req *server.Request) (string, error) {
			for _, key := range []string{"before", "inside"} {
				if _, err := step(ctx, req, key); err != nil {
					return "", err
				}
			}
			if req.InputResponses() == nil {
				return "", mcp.NeedInput().Elicit("who", mcp.ElicitFormParams{Message: "who?", RequestedSchema: form})
			}
			_, first := server.ElicitAs[name](ctx, req, "decline?")
			_, second := server.ElicitAs[name](ctx, req, "cancel?")
			if !errors.Is(first, server.ErrDeclined) || !errors.Is(second, server.ErrCancelled) {
				t.Errorf("got %v and %v", first, second)
			}
			return "paid", nil
		}, every)
	})
	opts := able(t)
	opts.Elicit = func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
		switch req.Message {
		case "decline?":
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		case "cancel?":
			return &mcp.ElicitResult{Action: mcp.ElicitCancel}, nil
		}
		return client.Accept(map[string]any{"name": "Ada"})
	}
	c := mcptest.Pair(t, s, opts)
	task := start(t, c, "pay")
	if result, err := c.AwaitTask(t.Context(), task.ID); err != nil || result.Text() != "paid" {
		t.Errorf("got %v, %v", result, err)
	}
	if done["before"] != 1 || done["inside"] != 1 {
		t.Errorf("steps were done %v times", done)
	}
}

// TestBothWaysOfAskingInATask asks by call and by return in the same run, again and again: what was answered is not asked again,
// and all questions together count against the limit.
func TestBothWaysOfAskingInATask(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: tasks.New(tasks.Options{}), MaxRounds: 5})
	runs := 0
	server.AddTool(s, mcp.Tool{Name: "curious", Execution: tasks.May()}, tasks.Whole(func(ctx context.Context, req *server.Request, _ none) (string, error) {
		if runs++; runs == 1 {
			req.Progress(ctx, 1, 0, "begun")
		}
		first, err := server.ElicitAs[name](ctx, req, "first?")
		if err != nil {
			return "", err
		}
		if first.Name != "first" {
			t.Errorf("run %d has %q", runs, first.Name)
		}
		return "", mcp.NeedInput().Elicit("more", mcp.ElicitFormParams{Message: "more?", RequestedSchema: form})
	}, every))
	var asked []string
	opts := able(t)
	answer := opts.Elicit
	opts.Elicit = func(ctx context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
		asked = append(asked, req.Message)
		return answer(ctx, req)
	}
	c := mcptest.Pair(t, s, opts)
	task := start(t, c, "curious")
	result, err := c.AwaitTask(t.Context(), task.ID)
	if err != nil || !strings.Contains(result.Text(), "asked 5 times") {
		t.Errorf("got %v, %v", result, err)
	}
	if got := strings.Join(asked, " "); got != "first? more? more? more? more?" {
		t.Errorf("asked %s", got)
	}
}
