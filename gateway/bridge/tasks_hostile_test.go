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
)

// oddTasks is a server of the modern era whose task is in any state that it likes.
type oddTasks struct {
	counted
	created, state string
}

func (o *oddTasks) Attach(s *server.Server) {
	say := func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(o.state)}, nil
	}
	for _, method := range []string{mcp.MethodGetTask, mcp.MethodUpdateTask, mcp.MethodCancelTask} {
		s.Handle(method, say)
	}
}

func (o *oddTasks) backend() backend {
	return backend{name: "odd", modern: true, opts: server.Options{Tasks: o}, fill: func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "odd", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskRequired}},
			func(context.Context, *server.Request, noInput) (string, error) {
				return "", &server.ExtensionResult{Type: mcp.ResultTask, Result: json.RawMessage(o.created)}
			})
	}}
}

// TestTasksOfOddServers has a server answer with tasks that are none, for clients that take tasks and for those that do not: each
// gets an error that names the server, in good time, and nothing of what the server has said is taken for an answer.
func TestTasksOfOddServers(t *testing.T) {
	const times = `"createdAt":"2026-11-30T00:00:00Z","lastUpdatedAt":"2026-11-30T00:00:00Z","ttlMs":60000,"pollIntervalMs":1`
	for _, tc := range []struct{ name, created, state, want string }{
		{"no id", `{"status":"working",` + times + `}`, `{}`, "no taskId"},
		{"an id that is a number", `{"taskId":1,"status":"working",` + times + `}`, `{}`, "no taskId"},
		{"an id beyond measure", `{"taskId":"` + strings.Repeat("x", 100_000) + `","status":"working",` + times + `}`, `{"taskId":"x","status":"completed","result":{"content":[]},` + times + `}`, ""},
		{"completed without a result", `{"taskId":"t","status":"working",` + times + `}`, `{"taskId":"t","status":"completed",` + times + `}`, "no result"},
		{"completed with a result that is none", `{"taskId":"t","status":"working",` + times + `}`, `{"taskId":"t","status":"completed","result":[1],` + times + `}`, "no result"},
		{"failed without an error", `{"taskId":"t","status":"working",` + times + `}`, `{"taskId":"t","status":"failed","statusMessage":"out of ink",` + times + `}`, "out of ink"},
		{"failed with an error that is none", `{"taskId":"t","status":"working",` + times + `}`, `{"taskId":"t","status":"failed","error":"oh",` + times + `}`, "cannot be read"},
		{"cancelled by nobody", `{"taskId":"t","status":"working",` + times + `}`, `{"taskId":"t","status":"cancelled",` + times + `}`, "cancelled"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := &oddTasks{created: tc.created, state: tc.state}
			w := newWorld(t, route.Naming{}, o.backend())
			for _, clientModern := range []bool{false, true} {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				plain := able(t)
				plain.Tasks = false
				_, err := w.dial(t, clientModern, plain).CallTool(ctx, "odd", nil)
				if ctx.Err() != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
					t.Errorf("a plain call, modern %v: %v, want %q", clientModern, err, tc.want)
				}
				c := w.dial(t, clientModern, able(t))
				call, err := c.StartTool(ctx, "odd", nil)
				if err != nil {
					continue // said at once
				}
				if call.Task == nil {
					t.Fatalf("modern %v: %+v", clientModern, call)
				}
				result, err := c.AwaitTask(ctx, call.Task.ID)
				if ctx.Err() != nil || err == nil && tc.want != "" && len(result.Content) > 0 {
					t.Errorf("the task, modern %v: %+v, %v", clientModern, result, err)
				}
			}
		})
	}
}

// TestQuestionsThatAreNone has a task ask for what no client is asked: the server is told so, or the question is passed over, and
// nobody is asked.
func TestQuestionsThatAreNone(t *testing.T) {
	const head = `{"taskId":"t","createdAt":"2026-11-30T00:00:00Z","lastUpdatedAt":"2026-11-30T00:00:00Z","ttlMs":60000,"pollIntervalMs":1,"status":`
	for _, questions := range []string{`[]`, `{"a":1}`, `{"a":{"method":"vendor/steal"}}`, `{"a":{"params":{}}}`} {
		o := &oddTasks{created: head + `"working"}`, state: head + `"input_required","inputRequests":` + questions + `}`}
		w := newWorld(t, route.Naming{}, o.backend())
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		plain := able(t)
		plain.Tasks = false
		plain.OnRequest = func(_ context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
			t.Errorf("asked %s", req.Method)
			return nil, errors.New("no")
		}
		if _, err := w.dial(t, false, plain).CallTool(ctx, "odd", nil); err == nil {
			t.Errorf("%s: it ended well", questions)
		}
	}
}
