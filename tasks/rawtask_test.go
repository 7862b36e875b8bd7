package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/tasks"
)

// relaying is a client as a relay has it: what the server asks about a task goes to that task.
func relaying(t *testing.T, w mcptest.Wire) (c *client.Client, task func(tool string) *client.RawTask) {
	var relayed atomic.Pointer[client.RawTask]
	c = w.Dial(t, serve(t, tasks.Options{}), client.Options{
		Tasks: true, Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}},
		OnRequest: func(ctx context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
			if req.Task == "" {
				return nil, mcp.Errorf(mcp.CodeInternal, "it belongs to no task")
			}
			return relayed.Load().Ask(ctx, req)
		},
	})
	return c, func(tool string) *client.RawTask {
		t.Helper()
		params := jsonrpc.With(nil, json.RawMessage("{}"), "name", jsonrpc.AppendString(nil, tool))
		r, err := c.Raw(t.Context(), mcp.MethodCallTool, params, client.RawOptions{Task: json.RawMessage(`{"ttl":60000}`)})
		if err != nil || r.ResultType != mcp.ResultTask {
			t.Fatalf("%s: got %+v, %v, want a task", tool, r, err)
		}
		one := c.RawTask(text(r.Result, "taskId"))
		relayed.Store(one)
		t.Cleanup(one.Close)
		return one
	}
}

func text(obj json.RawMessage, name string) string {
	raw, _ := jsonrpc.Member(obj, name)
	s, _ := jsonrpc.Text(raw)
	return s
}

// until looks at a task until it has a status, and returns it.
func until(t *testing.T, task *client.RawTask, status mcp.TaskStatus) json.RawMessage {
	t.Helper()
	for {
		state, err := task.Get(t.Context(), client.RawOptions{})
		if err != nil {
			t.Fatal(err)
		}
		switch now := text(state, "status"); now {
		case string(status):
			return state
		case string(mcp.TaskWorking), string(mcp.TaskInputRequired):
		default:
			t.Fatalf("it is %s: %s", now, state)
		}
		if err := pause(t.Context(), 10*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}

// question is the only one that a task shows, with its key.
func question(t *testing.T, state json.RawMessage) (key string, q json.RawMessage) {
	t.Helper()
	requests, _ := jsonrpc.Member(state, "inputRequests")
	for k, one := range jsonrpc.Members(requests) {
		if key != "" {
			t.Errorf("several questions: %s", requests)
		}
		key, q = k, one
	}
	return key, q
}

// TestRawTask reads tasks in one form on every wire, though on the legacy era results come by a request of their own and
// questions on its stream.
func TestRawTask(t *testing.T) {
	each(t, func(t *testing.T, w mcptest.Wire, _ func(...client.Options) *client.Client) {
		c, begin := relaying(t, w)

		asks := begin("ask")
		for _, answer := range []string{"Ada", "Bo"} {
			state := until(t, asks, mcp.TaskInputRequired)
			key, q := question(t, state)
			if params, _ := jsonrpc.Member(q, "params"); text(q, "method") != mcp.MethodElicit || text(params, "message") == "" {
				t.Errorf("the question is %s", q)
			}
			answers := jsonrpc.With(nil, json.RawMessage("{}"), key, []byte(`{"action":"accept","content":{"name":"`+answer+`"}}`))
			if err := asks.Update(t.Context(), answers, client.RawOptions{}); err != nil {
				t.Fatal(err)
			}
			for next := key; next == key; { // until it has been taken
				next, _ = question(t, mustGet(t, asks))
			}
		}
		state := until(t, asks, mcp.TaskCompleted)
		if result, _ := jsonrpc.Member(state, "result"); string(result) != `{"content":[{"type":"text","text":"Ada Bo"}]}` {
			t.Errorf("the result is %s", result)
		}

		failed, _ := jsonrpc.Member(until(t, begin("fail"), mcp.TaskCompleted), "result")
		if is, _ := jsonrpc.Member(failed, "isError"); string(is) != "true" {
			t.Errorf("a failure that the tool reports: %s", failed)
		}
		broken, _ := jsonrpc.Member(until(t, begin("break"), mcp.TaskFailed), "error")
		if string(broken) != `{"code":4711,"message":"broken","data":{"part":7}}` {
			t.Errorf("an error: %s", broken)
		}

		stays := begin("forever")
		if brief, err := stays.State(t.Context(), client.RawOptions{}); err != nil || text(brief, "status") != string(mcp.TaskWorking) {
			t.Errorf("the state: %s, %v", brief, err)
		}
		if err := stays.Cancel(t.Context(), client.RawOptions{}); err != nil {
			t.Error(err)
		}
		until(t, stays, mcp.TaskCancelled)

		if _, err := c.RawTask("nobody's").Get(t.Context(), client.RawOptions{}); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("a task that there is not: %v", err)
		}
	})
}

func mustGet(t *testing.T, task *client.RawTask) json.RawMessage {
	t.Helper()
	state, err := task.Get(t.Context(), client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// TestRawTaskRefuses refuses a question of a task, where the revision has such an answer, and gives up one that is being waited
// for.
func TestRawTaskRefuses(t *testing.T) {
	each(t, func(t *testing.T, w mcptest.Wire, _ func(...client.Options) *client.Client) {
		_, begin := relaying(t, w)
		asks := begin("ask")
		key, _ := question(t, until(t, asks, mcp.TaskInputRequired))
		if refused := asks.Refuse(key, mcp.Errorf(-1, "no")); refused == w.Modern {
			t.Errorf("refused: %v", refused)
		}
		if asks.Refuse("another", mcp.Errorf(-1, "no")) {
			t.Error("a question that there is not was refused")
		}
		if w.Modern {
			return
		}
		result, _ := jsonrpc.Member(until(t, asks, mcp.TaskCompleted), "result")
		if is, _ := jsonrpc.Member(result, "isError"); string(is) != "true" {
			t.Errorf("the task has come to %s", result)
		}
		left := begin("ask")
		until(t, left, mcp.TaskInputRequired)
		left.Close()
		for !left.Idle() {
			if err := pause(t.Context(), time.Millisecond); err != nil {
				t.Fatal("something is held for a task that was let go")
			}
		}
	})
}

// TestProgressOfARawTask hears of the progress of a task after its call was answered, on the legacy era.
func TestProgressOfARawTask(t *testing.T) {
	each(t, func(t *testing.T, w mcptest.Wire, dial func(...client.Options) *client.Client) {
		c, told := dial(client.Options{Tasks: true}), make(chan json.RawMessage, 1)
		_, err := c.Raw(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"late"}`), client.RawOptions{
			Task: json.RawMessage("{}"), OnProgress: func(json.RawMessage) {}, OnTaskProgress: func(params json.RawMessage) { told <- params },
		})
		if err != nil {
			t.Fatal(err)
		}
		if w.Modern {
			return // which has no such messages
		}
		if params := <-told; text(params, "message") != "half way" {
			t.Errorf("told: %s", params)
		}
	})
}

// TestToolTasks tells how tools run as tasks, in the words of 2025-11-25 on every wire.
func TestToolTasks(t *testing.T) {
	each(t, func(t *testing.T, w mcptest.Wire, dial func(...client.Options) *client.Client) {
		for tool, want := range map[string]string{
			`{"name":"a"}`: mcp.TaskForbidden,
			`{"name":"a","execution":{"taskSupport":"forbidden"}}`: mcp.TaskForbidden,
			`{"name":"a","execution":{"taskSupport":"optional"}}`:  mcp.TaskOptional,
			`{"name":"a","execution":{"taskSupport":"required"}}`:  mcp.TaskRequired,
		} {
			if w.Modern {
				want = mcp.TaskOptional // the server decides, call by call
			}
			if got := dial(client.Options{Tasks: true}).ToolTasks(json.RawMessage(tool)); got != want {
				t.Errorf("%s: %q, want %q", tool, got, want)
			}
		}
	})
}
