package tasks_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/tasks"
)

// pair is two processes of one server that share a store of tasks: the first runs them, and requests come to the second.
type pair struct {
	store    *tasks.Memory
	first    *server.Server
	second   *server.Server
	ended    chan error // the cause of each end of "forever"
	reported chan error // faults of the stores, that no client is told of
}

// twins builds a pair inside a bubble, with or without a bus between them.
func twins(t *testing.T, withBus bool) *pair {
	t.Helper()
	p := &pair{store: tasks.NewMemory(tasks.MemoryLimits{}), ended: make(chan error, 1), reported: make(chan error, 10)}
	var bus state.Bus
	if withBus {
		memory := state.NewMemoryBus(state.BusLimits{})
		bus = memory
		t.Cleanup(func() {
			if n := memory.Len(); n != 0 {
				t.Errorf("%d subscriptions of the bus are left", n)
			}
		})
	}
	build := func() *server.Server {
		host := tasks.New(tasks.Options{Store: p.store, OnError: func(err error) { p.reported <- err }})
		s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: host, Bus: bus})
		server.AddTool(s, mcp.Tool{Name: "forever", Execution: tasks.May()}, tasks.Whole(func(ctx context.Context, _ *server.Request, _ none) (string, error) {
			<-ctx.Done()
			p.ended <- context.Cause(ctx)
			return "", context.Cause(ctx)
		}))
		server.AddTool(s, mcp.Tool{Name: "ask", Execution: tasks.May()}, tasks.Whole(func(ctx context.Context, req *server.Request, _ none) (string, error) {
			who, err := server.ElicitAs[name](ctx, req, "first?")
			if err != nil {
				return "", err
			}
			more, err := server.ElicitAs[name](ctx, req, "second?")
			return who.Name + " " + more.Name, err
		}, every))
		t.Cleanup(func() {
			if err := s.Shutdown(context.Background()); err != nil {
				t.Error(err)
			}
		})
		return s
	}
	p.first, p.second = build(), build()
	synctest.Wait() // both listen
	return p
}

func modes(t *testing.T, fn func(t *testing.T, opts client.Options)) {
	t.Helper()
	for name, mode := range map[string]client.Mode{"modern": client.Modern, "legacy": client.Legacy} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := able(t)
				opts.Mode = mode
				fn(t, opts)
			})
		})
	}
}

// TestTaskOfAnotherProcess answers, cancels and awaits a task by a process of the server that does not run it.
func TestTaskOfAnotherProcess(t *testing.T) {
	modes(t, func(t *testing.T, opts client.Options) {
		p := twins(t, true)
		here, there := mcptest.Pair(t, p.first, opts), mcptest.Pair(t, p.second, opts)
		task := start(t, here, "ask")
		if result, err := there.AwaitTask(t.Context(), task.ID); err != nil || result.Text() != "first second" {
			t.Errorf("got %v, %v", result, err)
		}
		task = start(t, here, "forever")
		if err := there.CancelTask(t.Context(), task.ID); err != nil {
			t.Fatal(err)
		}
		if cause := <-p.ended; !strings.Contains(cause.Error(), "cancelled") {
			t.Errorf("the work ended with %v", cause)
		}
		if task, err := here.GetTask(t.Context(), task.ID); err != nil || task.Status != mcp.TaskCancelled {
			t.Errorf("got %+v, %v", task, err)
		}
	})
}

// TestRefusedElsewhere refuses the question of a task that runs in another process: its work learns why.
func TestRefusedElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := twins(t, true)
		opts := able(t)
		opts.Mode = client.Legacy
		here := mcptest.Pair(t, p.first, opts)
		opts.Elicit = func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			return nil, mcp.Errorf(-32099, "not today")
		}
		there := mcptest.Pair(t, p.second, opts)
		task := start(t, here, "ask")
		if result, err := there.AwaitTask(t.Context(), task.ID); err != nil || !result.IsError || !strings.Contains(result.Text(), "not today") {
			t.Errorf("got %v, %v", result, err)
		}
	})
}

// TestNoWayToAnotherProcess asks without a bus: what takes the process that runs the task says so, to the client in words of its
// own, and everything else works.
func TestNoWayToAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := twins(t, false)
		opts := able(t)
		opts.Mode = client.Modern
		here, there := mcptest.Pair(t, p.first, opts), mcptest.Pair(t, p.second, opts)
		task := start(t, here, "ask")
		synctest.Wait()
		if task, err := there.GetTask(t.Context(), task.ID); err != nil || task.Status != mcp.TaskInputRequired || len(task.InputRequests) != 1 {
			t.Errorf("got %+v, %v", task, err)
		}
		err := there.UpdateTask(t.Context(), task.ID, mcp.InputResponses{"question-1": []byte(`{"action":"decline"}`)})
		if !errors.Is(err, mcp.CodeInternal) || !strings.Contains(err.Error(), "no way to it from here") {
			t.Errorf("got %v", err)
		}
		if why := <-p.reported; !strings.Contains(why.Error(), "server.Options.Bus") || !strings.Contains(why.Error(), "Mcp-Name") {
			t.Errorf("reported %v", why)
		}
		if err := there.CancelTask(t.Context(), task.ID); err != nil {
			t.Error(err)
		}
	})
}

// TestProcessOfATaskHasGone reaches for a process that has ended without a word.
func TestProcessOfATaskHasGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := twins(t, true)
		r := tasks.Record{ID: "left", Owner: "local", Host: "gone", Status: mcp.TaskWorking, Created: time.Now(), Updated: time.Now(), TTL: time.Hour, Poll: time.Second}
		if err := p.store.Create(t.Context(), r, 0); err != nil {
			t.Fatal(err)
		}
		opts := able(t)
		opts.Mode = client.Modern
		c := mcptest.Pair(t, p.second, opts)
		if err := c.UpdateTask(t.Context(), "left", mcp.InputResponses{}); !errors.Is(err, mcp.CodeInternal) || !strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("got %v", err)
		}
		if err := c.CancelTask(t.Context(), "left"); err != nil {
			t.Error(err)
		}
		if task, err := c.GetTask(t.Context(), "left"); err != nil || task.Status != mcp.TaskCancelled {
			t.Errorf("got %+v, %v", task, err)
		}
		for range 2 {
			if why := <-p.reported; !errors.Is(why, state.ErrNobody) {
				t.Errorf("reported %v", why)
			}
		}
	})
}
