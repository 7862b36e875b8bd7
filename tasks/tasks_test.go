package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

type none struct{}

type name struct {
	Name string `json:"name"`
}

// every keeps tests from waiting longer than they have to.
var every = tasks.RunOptions{PollInterval: 100 * time.Millisecond}

// serve builds a server with tools that run as tasks.
func serve(t testing.TB, opts tasks.Options) *server.Server {
	t.Helper()
	opts.OnError = func(err error) { t.Errorf("store: %v", err) }
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: tasks.New(opts), OnError: func(err error) { t.Logf("server: %v", err) }})
	add := func(name string, how *mcp.ToolExecution, fn func(context.Context, *server.Request, none) (string, error)) {
		server.AddTool(s, mcp.Tool{Name: name, Execution: how}, tasks.Whole(fn, every))
	}
	add("job", tasks.May(), func(ctx context.Context, req *server.Request, _ none) (string, error) {
		req.Progress(ctx, 1, 2, "half way")
		return "done", pause(ctx, 20*time.Millisecond)
	})
	add("late", tasks.May(), func(ctx context.Context, req *server.Request, _ none) (string, error) {
		for n := 1.0; ; n++ { // the first ones may come before the client knows of the task
			req.Progress(ctx, n, 0, "half way")
			if err := pause(ctx, 10*time.Millisecond); err != nil {
				return "", err
			}
		}
	})
	add("must", tasks.Must(), func(context.Context, *server.Request, none) (string, error) { return "done", nil })
	add("fail", tasks.May(), func(context.Context, *server.Request, none) (string, error) { return "", errors.New("no paper") })
	add("break", tasks.May(), func(context.Context, *server.Request, none) (string, error) {
		return "", mcp.Errorf(4711, "broken").WithData(map[string]int{"part": 7})
	})
	add("panic", tasks.May(), func(context.Context, *server.Request, none) (string, error) { panic("oh") })
	add("forever", tasks.May(), func(ctx context.Context, _ *server.Request, _ none) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	})
	add("ask", tasks.May(), func(ctx context.Context, req *server.Request, _ none) (string, error) {
		first, err := server.ElicitAs[name](ctx, req, "first?")
		if err != nil {
			return "", err
		}
		second, err := server.ElicitAs[name](ctx, req, "second?", server.Named("question-1"))
		return first.Name + " " + second.Name, err
	})
	add("return", tasks.May(), func(_ context.Context, req *server.Request, _ none) (string, error) {
		answer, err := req.InputResponses().Elicit("who")
		if answer == nil || err != nil {
			return "", mcp.NeedInput().WithState("kept").Elicit("who", mcp.ElicitFormParams{Message: "who?", RequestedSchema: form})
		}
		return req.State() + " " + string(answer.Content), nil
	})
	server.AddTool(s, mcp.Tool{Name: "first", Execution: tasks.May()}, func(ctx context.Context, req *server.Request, _ none) (string, error) {
		who, err := server.ElicitAs[name](ctx, req, "before?")
		if err != nil {
			return "", err
		}
		return tasks.Run(ctx, req, func(context.Context, *server.Request) (string, error) { return "hello " + who.Name, nil }, every)
	})
	server.AddTool(s, mcp.Tool{Name: "never"}, func(ctx context.Context, req *server.Request, _ none) (string, error) {
		return tasks.Run(ctx, req, func(context.Context, *server.Request) (string, error) { return "at once", nil })
	})
	server.AddTool(s, mcp.Tool{Name: "bare", Execution: tasks.May()}, func(context.Context, *server.Request, none) (string, error) { return "no task", nil })
	server.AddTool(s, mcp.Tool{Name: "list", Execution: tasks.May()}, tasks.Whole(func(context.Context, *server.Request, none) ([]int, error) { return []int{1}, nil }, every))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return s
}

var form = json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`)

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// able is a client with tasks that answers forms by their message.
func able(testing.TB) client.Options {
	return client.Options{
		Tasks: true,
		Elicit: func(_ context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			return client.Accept(map[string]any{"name": strings.TrimSuffix(req.Message, "?")})
		},
	}
}

// each runs a test over every wire.
func each(t *testing.T, test func(t *testing.T, w mcptest.Wire, dial func(...client.Options) *client.Client)) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, tasks.Options{})
			test(t, wire, func(opts ...client.Options) *client.Client { return wire.Dial(t, s, opts...) })
		})
	}
}

func start(t *testing.T, c *client.Client, tool string) *mcp.Task {
	t.Helper()
	call, err := c.StartTool(t.Context(), tool, nil)
	if err != nil || call.Task == nil {
		t.Fatalf("%s did not go on as a task: %+v, %v", tool, call, err)
	}
	return call.Task
}

// TestTaskOnEveryWire starts a task, looks at it, and fetches its result.
func TestTaskOnEveryWire(t *testing.T) {
	each(t, func(t *testing.T, _ mcptest.Wire, dial func(...client.Options) *client.Client) {
		c := dial(able(t))
		task := start(t, c, "job")
		if task.Status != mcp.TaskWorking || task.TTLMs == nil || *task.TTLMs != 3_600_000 || task.PollIntervalMs == nil || len(task.ID) < 26 {
			t.Errorf("created %+v", task)
		}
		var seen []mcp.TaskStatus
		result, err := c.AwaitTask(t.Context(), task.ID, client.TaskOptions{OnStatus: func(task *mcp.Task) { seen = append(seen, task.Status) }})
		if err != nil || result.Text() != "done" {
			t.Errorf("got %v, %v", result, err)
		}
		if len(seen) == 0 || seen[len(seen)-1] != mcp.TaskCompleted {
			t.Errorf("seen %v", seen)
		}
		if result, err := c.CallTool(t.Context(), "list", nil); err != nil || result.StructuredContent == nil {
			t.Errorf("structured content: %v, %v", result, err)
		}
	})
}

// TestCallAwaitsItsTask uses tasks without a word of them, and tools that are called in one way only.
func TestCallAwaitsItsTask(t *testing.T) {
	each(t, func(t *testing.T, _ mcptest.Wire, dial func(...client.Options) *client.Client) {
		c := dial(able(t))
		for tool, want := range map[string]string{
			"job": "done", "must": "done", "never": "at once", "bare": "no task", "fail": "no paper", "first": "hello before",
		} {
			if result, err := c.CallTool(t.Context(), tool, nil); err != nil || result.Text() != want || result.IsError != (tool == "fail") {
				t.Errorf("%s: got %v, %v", tool, result, err)
			}
		}
		for tool, want := range map[string]string{"never": "at once"} {
			if call, err := c.StartTool(t.Context(), tool, nil); err != nil || call.Task != nil || call.Result.Text() != want {
				t.Errorf("%s: got %+v, %v", tool, call, err)
			}
		}
	})
}

// TestClientWithoutTasks calls the same tools from a client that knows no tasks.
func TestClientWithoutTasks(t *testing.T) {
	each(t, func(t *testing.T, w mcptest.Wire, dial func(...client.Options) *client.Client) {
		opts := able(t)
		opts.Tasks = false
		c := dial(opts)
		for tool, want := range map[string]string{"job": "done", "first": "hello before", "ask": "first second"} {
			if result, err := c.CallTool(t.Context(), tool, nil); err != nil || result.Text() != want {
				t.Errorf("%s: got %v, %v", tool, result, err)
			}
		}
		want := mcp.CodeMethodNotFound
		if w.Modern {
			want = mcp.CodeMissingCapability
		}
		var refused *mcp.Error
		if _, err := c.CallTool(t.Context(), "must", nil); !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("must: %v", err)
		} else if need, _ := refused.MissingCapabilityData(); w.Modern && !need.HasExtension(mcp.ExtensionTasks) {
			t.Errorf("must: %s", refused.Data)
		}
	})
}

// TestFailures tells a tool that reports a failure from a protocol error, and keeps what each was.
func TestFailures(t *testing.T) {
	each(t, func(t *testing.T, w mcptest.Wire, dial func(...client.Options) *client.Client) {
		c := dial(able(t))
		task := start(t, c, "fail")
		result, err := c.AwaitTask(t.Context(), task.ID)
		if err != nil || !result.IsError || result.Text() != "no paper" {
			t.Errorf("got %v, %v", result, err)
		}
		want := mcp.TaskFailed
		if w.Modern {
			want = mcp.TaskCompleted
		}
		if task, err := c.GetTask(t.Context(), task.ID); err != nil || task.Status != want {
			t.Errorf("got %+v, %v; want %s", task, err, want)
		}
		task = start(t, c, "break")
		var broken *mcp.Error
		if _, err := c.AwaitTask(t.Context(), task.ID); !errors.As(err, &broken) || broken.Code != 4711 || string(broken.Data) != `{"part":7}` {
			t.Errorf("got %v", err)
		}
		if task, err := c.GetTask(t.Context(), task.ID); err != nil || task.Status != mcp.TaskFailed || task.StatusMessage != "broken" {
			t.Errorf("got %+v, %v", task, err)
		}
		task = start(t, c, "panic")
		if _, err := c.AwaitTask(t.Context(), task.ID); !errors.Is(err, mcp.CodeInternal) || strings.Contains(err.Error(), "oh") {
			t.Errorf("got %v", err)
		}
	})
}

// TestQuestionsInsideATask asks by call and by return while the work waits.
func TestQuestionsInsideATask(t *testing.T) {
	each(t, func(t *testing.T, w mcptest.Wire, dial func(...client.Options) *client.Client) {
		opts := able(t)
		var keys atomic.Int32
		answer := opts.Elicit
		opts.Elicit = func(ctx context.Context, req *client.ElicitRequest) (*mcp.ElicitResult, error) {
			keys.Add(1)
			return answer(ctx, req)
		}
		c := dial(opts)
		for tool, want := range map[string]string{"ask": "first second", "return": `kept {"name":"who"}`} {
			task := start(t, c, tool)
			if result, err := c.AwaitTask(t.Context(), task.ID); err != nil || result.Text() != want {
				t.Errorf("%s: got %v, %v", tool, result, err)
			}
		}
		if keys.Load() != 3 {
			t.Errorf("%d questions were asked", keys.Load())
		}
	})
}

// TestCancelOnEveryWire ends a task, and what a second cancellation is answered.
func TestCancelOnEveryWire(t *testing.T) {
	each(t, func(t *testing.T, w mcptest.Wire, dial func(...client.Options) *client.Client) {
		c := dial(able(t))
		task := start(t, c, "forever")
		if err := c.CancelTask(t.Context(), task.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := c.AwaitTask(t.Context(), task.ID); !errors.Is(err, client.ErrTaskCancelled) {
			t.Errorf("got %v", err)
		}
		if err := c.CancelTask(t.Context(), task.ID); w.Modern && err != nil || !w.Modern && !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("again: %v", err)
		}
		if _, err := c.GetTask(t.Context(), "nothing"); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("unknown: %v", err)
		}
	})
}

// TestAnotherClientFinishesATask takes a task up by its id when the client that started it has gone.
func TestAnotherClientFinishesATask(t *testing.T) {
	each(t, func(t *testing.T, _ mcptest.Wire, dial func(...client.Options) *client.Client) {
		first := dial(able(t))
		task := start(t, first, "ask")
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		second := dial(able(t))
		if result, err := second.AwaitTask(t.Context(), task.ID); err != nil || result.Text() != "first second" {
			t.Errorf("got %v, %v", result, err)
		}
	})
}
