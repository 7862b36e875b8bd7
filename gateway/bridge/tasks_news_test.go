package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// steps is a server whose task goes on when it is told to, and says how far it is.
func steps(name string, modern, http bool, next <-chan string) backend {
	b := jobs(name, modern, http)
	b.fill = func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "steps", Execution: tasks.May()}, tasks.Whole(
			func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
				for n := 1.0; ; n++ {
					select {
					case step, more := <-next:
						if !more {
							return "there", nil
						}
						req.Progress(ctx, n, 0, step)
					case <-ctx.Done():
						return "", context.Cause(ctx)
					}
				}
			}))
	}
	return b
}

// TestNewsOfTasks has clients hear of their tasks through the gateway in the form of their era: a session of 2025-11-25 by
// itself, and a client of the modern era by its listen.
func TestNewsOfTasks(t *testing.T) {
	overBoth(t, func(t *testing.T, http, clientModern, serverModern bool) {
		t.Parallel()
		next := make(chan string)
		w := newWorld(t, route.Naming{}, steps("far", serverModern, http, next))
		told := make(chan json.RawMessage, 100)
		o := able(t)
		o.OnNotification = func(_ context.Context, method string, params json.RawMessage) {
			if method == mcp.NotifyTaskStatus {
				told <- params
			}
		}
		c := w.dialBy(t, http, clientModern, o)
		task := begin(t, c, "steps")
		if clientModern {
			hearByListen(t, c, task.ID, next)
			return
		}
		next <- "half way"
		for said := ""; said != "half way"; said = member(t, <-told, "statusMessage") {
		}
		close(next)
		for {
			news := <-told
			if got := member(t, news, "taskId"); got != task.ID {
				t.Fatalf("news of %q", got)
			}
			if member(t, news, "status") == string(mcp.TaskCompleted) {
				break
			}
		}
	})
}

func hearByListen(t *testing.T, c *client.Client, id string, next chan string) {
	t.Helper()
	news, err := c.FollowTasks(t.Context(), id, "nobody's")
	if err != nil {
		t.Fatal(err)
	}
	defer news.Close()
	if len(news.IDs()) != 1 {
		t.Errorf("told of %q", news.IDs())
	}
	next <- "half way"
	for said := ""; said != "half way"; {
		task, err := news.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		said = task.StatusMessage
	}
	close(next)
	var last *mcp.Task
	for {
		task, err := news.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last = task
	}
	if last == nil || last.ID != id || last.Status != mcp.TaskCompleted || !strings.Contains(string(last.Result), "there") {
		t.Errorf("the last news: %+v", last)
	}
}

func member(t *testing.T, obj json.RawMessage, name string) string {
	t.Helper()
	raw, _ := jsonrpc.Member(obj, name)
	text, _ := jsonrpc.Text(raw)
	return text
}

// TestProgressOfTasks has the progress of a task reach a client of 2025-11-25 after its call was answered, under the client's own
// token and with the id that the client knows.
func TestProgressOfTasks(t *testing.T) {
	next := make(chan string)
	w := newWorld(t, route.Naming{}, steps("far", false, false, next))
	c := w.dial(t, false, able(t))
	told := make(chan json.RawMessage, 100)
	r, err := c.Raw(t.Context(), mcp.MethodCallTool, json.RawMessage(`{"name":"steps"}`), client.RawOptions{
		Task: json.RawMessage("{}"), OnProgress: func(json.RawMessage) {}, OnTaskProgress: func(params json.RawMessage) { told <- params },
	})
	if err != nil || r.ResultType != mcp.ResultTask {
		t.Fatalf("got %+v, %v", r, err)
	}
	var news json.RawMessage
	for news == nil { // the first ones may come before everybody knows of the task
		select {
		case next <- "half way":
		case news = <-told:
		}
	}
	close(next)
	want := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}`, member(t, r.Result, "taskId"))
	if member(t, news, "message") != "half way" || !strings.Contains(string(news), want) {
		t.Errorf("told: %s, want %s in it", news, want)
	}
}

// TestQuestionsOfTasksReachTheirClient has two clients at once run tasks of one server that asks: each question reaches the
// client that has begun the task, though a server on a pipe asks both over one connection.
func TestQuestionsOfTasksReachTheirClient(t *testing.T) {
	overBoth(t, func(t *testing.T, http, clientModern, serverModern bool) {
		t.Parallel()
		w := newWorld(t, route.Naming{}, jobs("jobs", serverModern, http))
		var running sync.WaitGroup
		for _, who := range []string{"Ada", "Bo", "Cy"} {
			o := able(t)
			o.Elicit = func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
				return client.Accept(map[string]any{"name": who})
			}
			c := w.dialBy(t, http, clientModern, o)
			for range 2 {
				running.Go(func() {
					call, err := c.StartTool(t.Context(), "ask", nil)
					if err != nil || call.Task == nil {
						t.Errorf("%s: %+v, %v", who, call, err)
						return
					}
					result, err := c.AwaitTask(t.Context(), call.Task.ID)
					if err != nil || result.Text() != "hello "+who {
						t.Errorf("%s: got %+v, %v", who, result, err)
					}
				})
			}
		}
		running.Wait()
	})
}

// TestQuestionsThatNobodyTakes has a task ask a client that has not declared to answer, or that refuses: the server is told, and
// the task ends by what it makes of that.
func TestQuestionsThatNobodyTakes(t *testing.T) {
	pairings(t, func(t *testing.T, clientModern, serverModern bool) {
		w := newWorld(t, route.Naming{}, jobs("jobs", serverModern, false))
		for name, o := range map[string]client.Options{
			"not declared": {Tasks: true},
			"declined": {Tasks: true, Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
				return client.Decline()
			}},
		} {
			t.Run(name, func(t *testing.T) {
				c := w.dial(t, clientModern, o)
				task := begin(t, c, "ask")
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if result, err := c.AwaitTask(ctx, task.ID); ctx.Err() != nil || err == nil && !result.IsError {
					t.Errorf("got %+v, %v", result, err)
				}
			})
		}
	})
}

// TestCallGivenUpCancelsItsTask has a client that takes no tasks give up its call: the task that the gateway waits for is
// cancelled.
func TestCallGivenUpCancelsItsTask(t *testing.T) {
	pairings(t, func(t *testing.T, clientModern, serverModern bool) {
		waited, ended := make(chan struct{}, 1), make(chan error, 1)
		b := jobs("jobs", serverModern, false)
		b.opts.Middleware = []server.Middleware{server.Only(func(next server.Call) server.Call {
			return func(ctx context.Context, req *server.Request) (*server.Result, error) {
				select {
				case waited <- struct{}{}:
				default:
				}
				return next(ctx, req)
			}
		}, mcp.MethodGetTask)}
		b.fill = func(s *server.Server) {
			server.AddTool(s, mcp.Tool{Name: "forever", Execution: tasks.Must()}, tasks.Whole(
				func(ctx context.Context, _ *server.Request, _ noInput) (string, error) {
					<-ctx.Done()
					ended <- context.Cause(ctx)
					return "", context.Cause(ctx)
				}))
		}
		w := newWorld(t, route.Naming{}, b)
		o := able(t)
		o.Tasks = false
		c := w.dial(t, clientModern, o)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-waited; cancel() }() // ends with the call
		if _, err := c.CallTool(ctx, "forever", nil); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "cancelled") {
			t.Errorf("the work ended with %v", err)
		}
	})
}

// TestQuestionOfATaskBesideACall has a task ask on a pipe while the only call under way is another client's, whom nobody can tell
// from the one that is asked but by the name of the task.
func TestQuestionOfATaskBesideACall(t *testing.T) {
	for _, clientModern := range []bool{false, true} {
		entered, leave := make(chan struct{}), make(chan struct{})
		b := jobs("jobs", false, false)
		b.fill = func(s *server.Server) {
			fillJobs(s, "jobs")
			server.AddTool(s, mcp.Tool{Name: "wait"}, func(context.Context, *server.Request, noInput) (string, error) {
				close(entered)
				<-leave
				return "waited", nil
			})
		}
		w := newWorld(t, route.Naming{}, b)
		other := able(t)
		other.Elicit = func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			t.Error("the client of another call was asked")
			return client.Decline()
		}
		done := make(chan error, 1)
		bystander := w.dial(t, clientModern, other)
		go func() { // ends with the call
			_, err := bystander.CallTool(t.Context(), "wait", nil)
			done <- err
		}()
		<-entered
		asks := w.dial(t, clientModern, able(t))
		for range 2 { // the first question must not make the calls come one at a time
			task := begin(t, asks, "ask")
			if result, err := asks.AwaitTask(t.Context(), task.ID); err != nil || result.Text() != "hello Ada" {
				t.Errorf("got %+v, %v", result, err)
			}
		}
		close(leave)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
