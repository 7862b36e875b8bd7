package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// jobs is a server whose tools run as tasks.
func jobs(name string, modern, http bool) backend {
	return backend{
		name: name, modern: modern, http: http,
		opts: server.Options{Tasks: tasks.New(tasks.Options{PollInterval: 100 * time.Millisecond})},
		fill: func(s *server.Server) { fillJobs(s, name) },
	}
}

func fillJobs(s *server.Server, name string) {
	add := func(tool string, how *mcp.ToolExecution, fn func(context.Context, *server.Request, noInput) (string, error)) {
		server.AddTool(s, mcp.Tool{Name: tool, Execution: how}, fn)
	}
	add("work", tasks.May(), tasks.Whole(func(context.Context, *server.Request, noInput) (string, error) { return "done by " + name, nil }))
	add("ask", tasks.May(), tasks.Whole(askName))
	add("fail", tasks.May(), tasks.Whole(func(context.Context, *server.Request, noInput) (string, error) { return "", errors.New("no paper") }))
	add("break", tasks.May(), tasks.Whole(func(context.Context, *server.Request, noInput) (string, error) {
		return "", mcp.Errorf(4711, "broken").WithData(map[string]int{"n": 7})
	}))
	add("forever", tasks.May(), tasks.Whole(func(ctx context.Context, _ *server.Request, _ noInput) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}))
	add("must", tasks.Must(), tasks.Whole(askName))
	add("quick", tasks.May(), func(context.Context, *server.Request, noInput) (string, error) { return "at once", nil })
	add("plain", nil, func(context.Context, *server.Request, noInput) (string, error) { return "no task", nil })
	server.AddTool(s, mcp.Tool{Name: "list", Execution: tasks.May()},
		tasks.Whole(func(context.Context, *server.Request, noInput) ([]int, error) { return []int{1, 2}, nil }))
}

func askName(ctx context.Context, req *server.Request, _ noInput) (string, error) {
	who, err := server.ElicitAs[struct {
		Name string `json:"name"`
	}](ctx, req, "Who are you?")
	return "hello " + who.Name, err
}

// able is a client that takes tasks and says its name.
func able(t *testing.T) client.Options {
	return client.Options{
		Tasks: true,
		Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			return client.Accept(map[string]any{"name": "Ada"})
		},
		OnError: func(err error) { t.Logf("client: %v", err) },
	}
}

// begin calls a tool that has to become a task.
func begin(t *testing.T, c *client.Client, tool string) *mcp.Task {
	t.Helper()
	call, err := c.StartTool(t.Context(), tool, nil)
	if err != nil || call.Task == nil {
		t.Fatalf("%s: got %+v, %v, want a task", tool, call, err)
	}
	return call.Task
}

// overBoth runs a test in every pairing, all in memory and all over HTTP.
func overBoth(t *testing.T, run func(t *testing.T, http, clientModern, serverModern bool)) {
	for _, http := range []bool{false, true} {
		t.Run(map[bool]string{false: "pipe", true: "http"}[http], func(t *testing.T) {
			pairings(t, func(t *testing.T, clientModern, serverModern bool) { run(t, http, clientModern, serverModern) })
		})
	}
}

func (w *world) dialBy(t *testing.T, http, modern bool, o client.Options) *client.Client {
	t.Helper()
	if http {
		return w.dialHTTP(t, modern, o)
	}
	return w.dial(t, modern, o)
}

// TestTasksInEveryPairing has clients of both eras run the tasks of servers of both eras: to their results, through their
// questions, to their failures, and to their cancellation.
func TestTasksInEveryPairing(t *testing.T) {
	overBoth(t, func(t *testing.T, http, clientModern, serverModern bool) {
		t.Parallel()
		w := newWorld(t, route.Naming{}, jobs("jobs", serverModern, http))
		c := w.dialBy(t, http, clientModern, able(t))
		for _, tool := range []struct{ name, want string }{
			{"work", "done by jobs"},
			{"ask", "hello Ada"},
			{"must", "hello Ada"},
			{"fail", "no paper"},
			{"list", "[1,2]"},
		} {
			task := begin(t, c, tool.name)
			result, err := c.AwaitTask(t.Context(), task.ID)
			if err != nil || result.Text() != tool.want || result.IsError != (tool.name == "fail") {
				t.Errorf("%s: got %+v, %v", tool.name, result, err)
			}
			state, err := c.GetTask(t.Context(), task.ID)
			want := mcp.TaskCompleted
			if tool.name == "fail" && !clientModern {
				want = mcp.TaskFailed
			}
			if err != nil || state.ID != task.ID || state.Status != want || (state.Result != nil) != clientModern || state.TTLMs == nil {
				t.Errorf("%s: the state is %+v, %v", tool.name, state, err)
			}
		}

		broken := begin(t, c, "break")
		var fault *mcp.Error
		if _, err := c.AwaitTask(t.Context(), broken.ID); !errors.As(err, &fault) || fault.Code != 4711 || string(fault.Data) != `{"n":7}` {
			t.Errorf("a tool that breaks: %v", err)
		}

		stays := begin(t, c, "forever")
		if err := c.CancelTask(t.Context(), stays.ID); err != nil {
			t.Error(err)
		}
		if _, err := c.AwaitTask(t.Context(), stays.ID); !errors.Is(err, client.ErrTaskCancelled) {
			t.Errorf("a task that was cancelled: %v", err)
		}
		if err := c.CancelTask(t.Context(), stays.ID); (err == nil) != clientModern {
			t.Errorf("cancelled again: %v", err)
		}

		for _, id := range []string{"nobody's", stays.ID[:len(stays.ID)-2]} {
			if _, err := c.GetTask(t.Context(), id); !errors.Is(err, mcp.CodeInvalidParams) {
				t.Errorf("task %.10q: %v", id, err)
			}
		}
	})
}

// TestCallsWithoutTasks has clients that take no tasks call tools that may or must run as such: they are answered like any
// call, questions on the way included.
func TestCallsWithoutTasks(t *testing.T) {
	overBoth(t, func(t *testing.T, http, clientModern, serverModern bool) {
		t.Parallel()
		w := newWorld(t, route.Naming{}, jobs("jobs", serverModern, http))
		o := able(t)
		o.Tasks = false
		c := w.dialBy(t, http, clientModern, o)
		for tool, want := range map[string]string{"work": "done by jobs", "ask": "hello Ada", "must": "hello Ada", "quick": "at once", "plain": "no task"} {
			result, err := c.CallTool(t.Context(), tool, nil)
			if err != nil || result.Text() != want {
				t.Errorf("%s: got %+v, %v", tool, result, err)
			}
		}
		if _, err := c.GetTask(t.Context(), "x"); err == nil {
			t.Error("a task that there is not was found")
		}
	})
}

// TestWhatIsSaidOfTasks shows what clients are told: of the front, of each tool, and where a wish for a task is refused.
func TestWhatIsSaidOfTasks(t *testing.T) {
	pairings(t, func(t *testing.T, clientModern, serverModern bool) {
		bare := backend{name: "bare", modern: serverModern, fill: func(s *server.Server) {
			server.AddTool(s, mcp.Tool{Name: "alone", Execution: tasks.May()}, func(context.Context, *server.Request, noInput) (string, error) { return "alone", nil })
		}}
		w := newWorld(t, route.Naming{}, jobs("jobs", serverModern, false), bare)
		c := w.dial(t, clientModern, able(t))
		caps := c.ServerCapabilities()
		if _, ok := caps.Extensions[mcp.ExtensionTasks]; ok != clientModern || (caps.Tasks != nil) == clientModern {
			t.Errorf("declared: %+v", caps)
		}
		support := map[string]string{}
		for tool, err := range c.Tools(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			support[tool.Name] = ""
			if tool.Execution != nil {
				support[tool.Name] = tool.Execution.TaskSupport
			}
		}
		want := map[string]string{"work": "optional", "must": "optional", "plain": "", "alone": "forbidden"}
		if serverModern { // which says nothing of single tools
			want["plain"], want["alone"] = "optional", ""
		}
		for tool, how := range want {
			if clientModern {
				how = "" // there is no such member
			}
			if support[tool] != how {
				t.Errorf("%s: %q, want %q", tool, support[tool], how)
			}
		}
		if clientModern {
			return
		}
		if f := fault(t, c, mcp.MethodCallTool, `{"name":"alone","task":{}}`); f.Code != mcp.CodeMethodNotFound {
			t.Errorf("a task of a tool that runs as none: %v", f)
		}
	})
}

// TestAnswersAtOnceAsTasks has a client of 2025-11-25 ask for a task where the server of the modern era, which decides, answers at
// once: what it has said is kept for the client.
func TestAnswersAtOnceAsTasks(t *testing.T) {
	for _, serverModern := range []bool{false, true} {
		w := newWorld(t, route.Naming{}, jobs("jobs", serverModern, false))
		c := w.dial(t, false, able(t))
		r, err := c.Raw(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"quick"}`), client.RawOptions{Task: json.RawMessage(`{"ttl":120000}`)})
		if err != nil || r.ResultType != mcp.ResultTask || !strings.Contains(string(r.Result), `"ttlMs":120000`) {
			t.Fatalf("got %+v, %v", r, err)
		}
		var task mcp.Task
		if err := json.Unmarshal(r.Result, &task); err != nil {
			t.Fatal(err)
		}
		result, err := c.AwaitTask(t.Context(), task.ID)
		if err != nil || result.Text() != "at once" {
			t.Errorf("got %+v, %v", result, err)
		}
		related, _ := result.Meta.Get(mcp.MetaRelatedTask)
		if string(related) != `{"taskId":"`+task.ID+`"}` {
			t.Errorf("it belongs to %s", related)
		}
		if err := c.CancelTask(t.Context(), task.ID); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("cancelled: %v", err)
		}
	}
}

// TestTasksOfTwoServers has two servers give the same id to their tasks: each is found again where it is.
func TestTasksOfTwoServers(t *testing.T) {
	pairings(t, func(t *testing.T, clientModern, serverModern bool) {
		w := newWorld(t, route.Naming{Mode: route.Always}, jobs("red", serverModern, false), jobs("blue", serverModern, false))
		c := w.dial(t, clientModern, able(t))
		red, blue := begin(t, c, "red__work"), begin(t, c, "blue__work")
		for _, one := range []struct{ id, want string }{{red.ID, "done by red"}, {blue.ID, "done by blue"}} {
			result, err := c.AwaitTask(t.Context(), one.id)
			if err != nil || result.Text() != one.want {
				t.Errorf("got %+v, %v, want %s", result, err, one.want)
			}
		}
		if clientModern {
			return
		}
		page, err := c.ListTasks(t.Context(), "")
		if err != nil || len(page.Tasks) != 2 || page.Tasks[0].ID != red.ID || page.Tasks[1].ID != blue.ID || page.Tasks[0].Status != mcp.TaskCompleted {
			t.Errorf("listed: %+v, %v", page, err)
		}
		if _, err := c.ListTasks(t.Context(), "x"); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("a cursor of nobody: %v", err)
		}
	})
}
