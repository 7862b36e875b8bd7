package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// counted is what a careless server has for tasks: it numbers them from one on, for everybody who asks.
type counted struct {
	name string
	made atomic.Int64
}

var _ server.Tasks = (*counted)(nil)

func (c *counted) Attach(s *server.Server) {
	s.Handle(mcp.MethodGetTask, c.get)
	s.Handle(mcp.MethodUpdateTask, c.get)
	s.Handle(mcp.MethodCancelTask, c.get)
	s.Handle(mcp.MethodTaskResult, func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage(`{"content":[{"type":"text","text":"done by ` + c.name + `"}]}`)}, nil
	})
}

func (c *counted) Capability(*server.Request) json.RawMessage {
	return json.RawMessage(`{"cancel":{},"requests":{"tools":{"call":{}}}}`)
}
func (c *counted) Finished(context.Context, *server.Request, server.TaskOutcome) (*server.ExtensionResult, error) {
	return &server.ExtensionResult{Type: mcp.ResultTask, Result: c.state(strconv.FormatInt(c.made.Add(1), 10), mcp.TaskWorking)}, nil
}
func (c *counted) Task(context.Context, string) json.RawMessage          { return nil }
func (c *counted) Follows(context.Context, *server.Request, string) bool { return false }
func (c *counted) Shutdown(context.Context) error                        { return nil }
func (c *counted) state(id string, status mcp.TaskStatus) json.RawMessage {
	return fmt.Appendf(nil, `{"taskId":%q,"status":%q,"createdAt":"2026-11-30T00:00:00Z","lastUpdatedAt":"2026-11-30T00:00:00Z","ttlMs":null,"pollIntervalMs":100}`, id, status)
}

func (c *counted) get(_ context.Context, req *server.Request) (*server.RawResult, error) {
	raw, _ := jsonrpc.Member(req.Params(), "taskId")
	id, _ := jsonrpc.Text(raw)
	if n, err := strconv.ParseInt(id, 10, 64); err != nil || n < 1 || n > c.made.Load() {
		return nil, mcp.InvalidParams("no such task")
	}
	state := c.state(id, mcp.TaskCompleted)
	return &server.RawResult{Result: jsonrpc.With(nil, state, "result", []byte(`{"content":[{"type":"text","text":"done by `+c.name+`"}]}`))}, nil
}

// careless is a server that numbers its tasks.
func careless(name string, modern bool) backend {
	host := &counted{name: name}
	return backend{name: name, modern: modern, opts: server.Options{Tasks: host}, fill: func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "count", Execution: &mcp.ToolExecution{TaskSupport: mcp.TaskOptional}},
			func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
				if !req.MayBeTask() {
					return "at once", nil
				}
				task, err := host.Finished(ctx, req, server.TaskOutcome{})
				if err != nil {
					return "", err
				}
				return "", task
			})
	}}
}

// TestOneIDOfManyServers has servers that give the same ids to their tasks: each task leads back to its own server.
func TestOneIDOfManyServers(t *testing.T) {
	pairings(t, func(t *testing.T, clientModern, serverModern bool) {
		w := newWorld(t, route.Naming{Mode: route.Always}, careless("red", serverModern), careless("blue", serverModern))
		c := w.dial(t, clientModern, able(t))
		seen := map[string]bool{}
		for _, name := range []string{"red", "blue", "blue", "red"} {
			task := begin(t, c, name+"__count")
			if seen[task.ID] {
				t.Errorf("an id was given twice: %s", task.ID)
			}
			seen[task.ID] = true
			result, err := c.AwaitTask(t.Context(), task.ID)
			if err != nil || result.Text() != "done by "+name {
				t.Errorf("%s: got %+v, %v", name, result, err)
			}
		}
	})
}

// TestTasksBelongToTheirPrincipal has two principals, whom the servers take for one: neither gets at a task of the other, though
// it knows its id, and though it could guess that of the server.
func TestTasksBelongToTheirPrincipal(t *testing.T) {
	pairings(t, func(t *testing.T, clientModern, serverModern bool) {
		w := newWorldWith(t, bridge.Options{Server: server.Options{HTTP: byName}}, careless("red", serverModern))
		ann, bob := w.dialAs(t, clientModern, "ann", able(t)), w.dialAs(t, clientModern, "bob", able(t))
		hers, his := begin(t, ann, "count"), begin(t, bob, "count")
		for _, id := range []string{hers.ID, "1", "", strings.ToUpper(hers.ID)} {
			for method, params := range map[string]string{
				mcp.MethodGetTask: `{"taskId":%q}`, mcp.MethodCancelTask: `{"taskId":%q}`,
				mcp.MethodUpdateTask: `{"taskId":%q,"inputResponses":{}}`, mcp.MethodTaskResult: `{"taskId":%q}`,
			} {
				if (method == mcp.MethodUpdateTask) != clientModern && (method == mcp.MethodUpdateTask || method == mcp.MethodTaskResult) {
					continue // of the other era
				}
				if f := fault(t, bob, method, fmt.Sprintf(params, id)); f.Code != mcp.CodeInvalidParams {
					t.Errorf("%s %.10q: %v", method, id, f)
				}
			}
		}
		if _, err := ann.AwaitTask(t.Context(), hers.ID); err != nil {
			t.Errorf("her own: %v", err)
		}
		again := w.dialAs(t, !clientModern, "ann", able(t))
		if _, err := again.AwaitTask(t.Context(), hers.ID); err != nil {
			t.Errorf("her own, by a client of the other era: %v", err)
		}
		if clientModern {
			return
		}
		page, err := bob.ListTasks(t.Context(), "")
		if err != nil || len(page.Tasks) != 1 || page.Tasks[0].ID != his.ID {
			t.Errorf("his list: %+v, %v", page, err)
		}
		nobody := w.dialHTTP(t, false, able(t))
		if _, err := nobody.ListTasks(t.Context(), ""); !errors.Is(err, mcp.CodeMethodNotFound) {
			t.Errorf("the list of nobody: %v", err)
		}
		if strings.Contains(string(nobody.ServerCapabilities().Tasks), "list") {
			t.Errorf("nobody is offered a list: %s", nobody.ServerCapabilities().Tasks)
		}
		free := begin(t, nobody, "count")
		if _, err := w.dialHTTP(t, true, able(t)).AwaitTask(t.Context(), free.ID); err != nil {
			t.Errorf("a task of nobody, whose id is the key: %v", err)
		}
		if _, err := bob.GetTask(t.Context(), free.ID); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("a task of nobody, by somebody: %v", err)
		}
	})
}

// TestTasksOutliveTheGateway begins a task through one gateway and fetches its result through another one that has the same keys,
// as after a restart. A gateway with other keys knows nothing of it.
func TestTasksOutliveTheGateway(t *testing.T) {
	pairings(t, func(t *testing.T, clientModern, serverModern bool) {
		keys := [][]byte{[]byte("0123456789abcdef0123456789abcdef")}
		o := bridge.Options{Server: server.Options{StateKeys: keys}}
		w := newWorldWith(t, o, jobs("jobs", serverModern, false))
		asks := begin(t, w.dial(t, clientModern, able(t)), "ask")

		anew := func(o bridge.Options) *client.Client {
			next := &world{set: w.set}
			next.raise(t, o)
			return next.dial(t, clientModern, able(t))
		}
		c := anew(o)
		result, err := c.AwaitTask(t.Context(), asks.ID)
		if err != nil || result.Text() != "hello Ada" {
			t.Errorf("got %+v, %v", result, err)
		}
		if _, err := anew(bridge.Options{}).GetTask(t.Context(), asks.ID); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("by other keys: %v", err)
		}
	})
}

// TestTaskOfAServerThatIsGone asks for a task whose server was taken out, or is down.
func TestTaskOfAServerThatIsGone(t *testing.T) {
	for _, clientModern := range []bool{false, true} {
		w := newWorld(t, route.Naming{}, careless("red", true), careless("blue", true))
		c := w.dial(t, clientModern, able(t))
		var ids []string
		for _, name := range []string{"red", "blue"} {
			ids = append(ids, begin(t, c, name+"__count").ID)
		}
		w.reload(t, route.Naming{}, "blue")
		if _, err := c.GetTask(t.Context(), ids[0]); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("of a server that was taken out: %v", err)
		}
		if _, err := c.AwaitTask(t.Context(), ids[1]); err != nil {
			t.Errorf("of the other one: %v", err)
		}
		if !clientModern {
			if page, err := c.ListTasks(t.Context(), ""); err != nil || len(page.Tasks) != 1 {
				t.Errorf("listed: %+v, %v", page, err)
			}
		}
	}
}

// TestRulesOfTasks holds tasks to the rules for the tool that they come from: who may not see it may not see them, and what is
// handed out takes the steps.
func TestRulesOfTasks(t *testing.T) {
	pairings(t, func(t *testing.T, clientModern, serverModern bool) {
		var hidden atomic.Bool
		seen := make(chan string, 100)
		rules := bridge.Rules{
			Sight: func(*server.Request) bridge.Sight {
				return bridge.Sight{Key: fmt.Sprint(hidden.Load()), Shows: func(_ route.Kind, to route.Target) bool { return !hidden.Load() || to.Name != "work" }}
			},
			Steps: []bridge.Step{func(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
				result, err := next(ctx)
				if err == nil && p.Task && p.Resumed {
					seen <- p.Server + " " + p.Name
					result.Result = json.RawMessage(strings.ReplaceAll(string(result.Result), "done", "redacted"))
				}
				return result, err
			}},
		}
		w := newWorldWith(t, bridge.Options{Rules: rules}, jobs("jobs", serverModern, false))
		c := w.dial(t, clientModern, able(t))
		task := begin(t, c, "work")
		result, err := c.AwaitTask(t.Context(), task.ID)
		if err != nil || result.Text() != "redacted by jobs" {
			t.Errorf("got %+v, %v", result, err)
		}
		if got := <-seen; got != "jobs work" {
			t.Errorf("the step saw %q", got)
		}
		hidden.Store(true)
		if _, err := c.GetTask(t.Context(), task.ID); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("a task of a tool that is not shown: %v", err)
		}
	})
}

// TestListOfTasks turns the pages of a long list: each task once, the oldest first.
func TestListOfTasks(t *testing.T) {
	w := newWorld(t, route.Naming{}, careless("red", true), careless("blue", false))
	c := w.dial(t, false, able(t))
	var want, got []string
	for i := range 60 {
		want = append(want, begin(t, c, []string{"red", "blue"}[i%2]+"__count").ID)
	}
	pages := 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		page, err := c.ListTasks(t.Context(), cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range page.Tasks {
			got = append(got, task.ID)
		}
		cursor = page.NextCursor
	}
	if pages != 2 || !slices.Equal(got, want) {
		t.Errorf("%d pages, %d tasks, want 2 and %d", pages, len(got), len(want))
	}
}

// TestEndOfASessionEndsItsNews has a session end before its task: nothing is held for it any more, and the task goes on.
func TestEndOfASessionEndsItsNews(t *testing.T) {
	next := make(chan string)
	w := newWorld(t, route.Naming{}, steps("far", true, false, next))
	c, err := client.DialHTTP(t.Context(), listen(t, w.bridge.Server()), ofEra(false, able(t)))
	if err != nil {
		t.Fatal(err)
	}
	task := begin(t, c, "steps")
	if n := w.bridge.FollowedTasks(); n != 1 {
		t.Errorf("%d tasks are followed", n)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	for w.bridge.FollowedTasks() > 0 { // the session ends a moment later
		runtime.Gosched()
	}
	close(next)
	if result, err := w.dialHTTP(t, true, able(t)).AwaitTask(t.Context(), task.ID); err != nil || result.Text() != "there" {
		t.Errorf("got %+v, %v", result, err)
	}
}
