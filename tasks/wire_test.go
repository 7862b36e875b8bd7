package tasks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
	"github.com/rialto-mcp/rialto/transport"
)

// connect serves a scripted peer and completes the handshake of 2025-11-25.
func connect(t *testing.T, s *server.Server) (*mcptest.Peer, string) {
	t.Helper()
	p, conn := mcptest.NewPeer(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), conn) }() // ends with the peer, awaited below
	t.Cleanup(func() {
		p.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	p.Send(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`)
	greeting := p.Expect(`{"id":0}`)
	p.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return p, string(greeting.Result)
}

// answered reads frames until the answer to a request, and returns it and what came before.
func answered(p *mcptest.Peer, id string) (answer string, before []string) {
	for {
		m := p.Next()
		if m.Method == "" && string(m.ID.Raw()) == id {
			return string(m.Frame()), before
		}
		before = append(before, string(m.Frame()))
	}
}

func holds(t *testing.T, frame string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(frame, part) {
			t.Errorf("%s lacks %s", frame, part)
		}
	}
}

// TestTasksOf20251125 speaks the experimental tasks frame by frame: their names, the blocking result with its question, the
// notices, and the refusals.
func TestTasksOf20251125(t *testing.T) {
	p, greeting := connect(t, serve(t, tasks.Options{}))
	holds(t, greeting, `"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
	if strings.Contains(greeting, mcp.ExtensionTasks) {
		t.Errorf("the extension is declared: %s", greeting)
	}

	p.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","task":{"ttl":60000},"_meta":{"progressToken":"p"}}}`)
	created, notices := answered(p, "1")
	holds(t, created, `{"result":{"task":{"taskId":"`[1:], `"status":"working"`, `"ttl":60000`, `"pollInterval":100`, `"createdAt":"`)
	var wire struct {
		Result struct {
			Task struct {
				TaskID string `json:"taskId"`
			} `json:"task"`
		} `json:"result"`
	}
	if err := json.Unmarshal([]byte(created), &wire); err != nil {
		t.Fatal(err)
	}
	id := wire.Result.Task.TaskID

	p.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tasks/result","params":{"taskId":%q}}`, id))
	for _, name := range []string{"Ada", "Bo"} {
		for {
			m := p.Next()
			if m.Method == mcp.NotifyTaskStatus {
				notices = append(notices, string(m.Frame()))
				continue
			}
			holds(t, string(m.Frame()), `"method":"elicitation/create"`, `"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}`)
			p.Reply(m, fmt.Sprintf(`{"action":"accept","content":{"name":%q}}`, name))
			break
		}
	}
	result, before := answered(p, "2")
	holds(t, result, `"text":"Ada Bo"`, `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+id+`"}}`)
	notices = append(notices, before...)

	p.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"taskId":%q}}`, id))
	state, before := answered(p, "3")
	notices = append(notices, before...)
	holds(t, state, `"status":"completed"`, `"ttl":60000`)
	if strings.Contains(state, `"result":{"result"`) || strings.Contains(state, "Ada") {
		t.Errorf("the result is part of the state: %s", state)
	}
	for n, c := range []struct{ request, want string }{
		{`"method":"tasks/list"`, `"tasks":[{"taskId":"` + id},
		{`"method":"tasks/list","params":{"cursor":"x"}`, `"code":-32602`},
		{`"method":"tasks/cancel","params":{"taskId":"` + id + `"}`, `"code":-32602`},
		{`"method":"tasks/update","params":{"taskId":"` + id + `","inputResponses":{}}`, `"code":-32601`},
		{`"method":"tasks/result","params":{"taskId":"x"}`, `"code":-32602`},
		{`"method":"tools/call","params":{"name":"never","task":{}}`, `"code":-32601`},
		{`"method":"tools/call","params":{"name":"must"}`, `"code":-32601`},
		{`"method":"tools/call","params":{"name":"bare","task":{}}`, `"status":"completed"`},
		{`"method":"tools/list"`, `"execution":{"taskSupport":"required"}`},
	} {
		at := fmt.Sprint(10 + n)
		p.Send(`{"jsonrpc":"2.0","id":` + at + `,` + c.request + `}`)
		answer, before := answered(p, at)
		notices = append(notices, before...)
		holds(t, answer, c.want)
	}
	ended := func(frame string) bool { return strings.Contains(frame, `"status":"completed"`) }
	for !slices.ContainsFunc(notices, ended) { // a notice comes when it comes
		notices = append(notices, string(p.Next().Frame()))
	}
	for _, notice := range notices {
		holds(t, notice, `"method":"notifications/tasks/status"`, `"ttl":60000`, id)
	}
}

// TestOlderRevisionsHaveNoTasks calls the tools of a client before 2025-11-25.
func TestOlderRevisionsHaveNoTasks(t *testing.T) {
	s := serve(t, tasks.Options{})
	near, far := transport.Pair(0)
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), far) }() // ends with the client, awaited below
	opts := able(t)
	opts.Versions = []string{mcp.Version20250618}
	c, err := client.Connect(t.Context(), near, opts)
	if err != nil {
		t.Fatal(err)
	}
	if result, err := c.CallTool(t.Context(), "job", nil); err != nil || result.Text() != "done" {
		t.Errorf("got %v, %v", result, err)
	}
	if _, err := c.CallTool(t.Context(), "must", nil); !errors.Is(err, mcp.CodeMethodNotFound) || !strings.Contains(err.Error(), "has no tasks") {
		t.Errorf("got %v", err)
	}
	if c.ServerCapabilities().Tasks != nil {
		t.Error("tasks are declared")
	}
	if err := errors.Join(c.Close(), <-served); err != nil {
		t.Error(err)
	}
}

// TestNoticesOfTasks subscribes to a task on the modern era.
func TestNoticesOfTasks(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		if !wire.Modern {
			continue
		}
		t.Run(wire.Name, func(t *testing.T) {
			s := serve(t, tasks.Options{})
			c := wire.Dial(t, s, able(t))
			task := start(t, c, "ask")
			listen := func(c *client.Client) *client.Stream {
				stream, err := c.Start(t.Context(), mcp.MethodListen, fmt.Appendf(nil, `{"notifications":{"taskIds":[%q,"foreign"]}}`, task.ID), client.RawOptions{Timeout: -1, Total: -1})
				if err != nil {
					t.Fatal(err)
				}
				return stream
			}
			stream := listen(c)
			ack, err := stream.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			holds(t, string(ack.Params), `"taskIds":["`+task.ID+`"]`)
			if result, err := c.AwaitTask(t.Context(), task.ID); err != nil || result.Text() != "first second" {
				t.Errorf("got %v, %v", result, err)
			}
			for {
				event, err := stream.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if event.Method != mcp.NotifyTask {
					t.Fatalf("got %s", event.Method)
				}
				var news mcp.Task
				if err := json.Unmarshal(event.Params, &news); err != nil {
					t.Fatal(err)
				}
				if news.Status == mcp.TaskCompleted {
					holds(t, string(news.Result), "first second")
					break
				}
			}
			opts := able(t)
			opts.Tasks = false
			refused := listen(wire.Dial(t, s, opts))
			for err == nil {
				_, err = refused.Next(t.Context())
			}
			if _, err := refused.Result(); !errors.Is(err, mcp.CodeMissingCapability) {
				t.Errorf("without the extension: %v", err)
			}
		})
	}
}

// TestTimeOfATask lets time pass: a task is gone when its time is over, its work ends, and polls keep the interval.
func TestTimeOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: tasks.New(tasks.Options{TTL: time.Minute})})
		ended := make(chan error, 1)
		server.AddTool(s, mcp.Tool{Name: "long", Execution: tasks.May()}, tasks.Whole(func(ctx context.Context, _ *server.Request, _ none) (string, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return "", context.Cause(ctx)
		}))
		server.AddTool(s, mcp.Tool{Name: "half", Execution: tasks.May()}, tasks.Whole(func(ctx context.Context, _ *server.Request, _ none) (string, error) {
			return "done", pause(ctx, 30*time.Second)
		}, tasks.RunOptions{PollInterval: 5 * time.Second, TTL: time.Hour}))
		c := mcptest.Pair(t, s, able(t))
		task := start(t, c, "long")
		begun := time.Now()
		if _, err := c.AwaitTask(t.Context(), task.ID); !errors.Is(err, mcp.CodeInvalidParams) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(begun); took < time.Minute || took > time.Minute+2*time.Second {
			t.Errorf("it was gone after %s", took)
		}
		if cause := <-ended; !strings.Contains(cause.Error(), "time of the task is over") {
			t.Errorf("the work ended with %v", cause)
		}
		polls := 0
		task = start(t, c, "half")
		if result, err := c.AwaitTask(t.Context(), task.ID, client.TaskOptions{OnStatus: func(*mcp.Task) { polls++ }}); err != nil || result.Text() != "done" {
			t.Errorf("got %v, %v", result, err)
		}
		if polls < 6 || polls > 8 {
			t.Errorf("%d polls in 30 s of 5 s each", polls)
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestShutdownEndsTasks stops a server while a task runs.
func TestShutdownEndsTasks(t *testing.T) {
	store := tasks.NewMemory(tasks.MemoryLimits{})
	host := tasks.New(tasks.Options{Store: store})
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: host})
	server.AddTool(s, mcp.Tool{Name: "forever", Execution: tasks.May()}, tasks.Whole(func(ctx context.Context, _ *server.Request, _ none) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}))
	c := mcptest.Pair(t, s, able(t))
	task := start(t, c, "forever")
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := store.Get(t.Context(), task.ID)
	if err != nil || r.Status != mcp.TaskFailed || !strings.Contains(r.Message, "shut down") || host.Running() != 0 {
		t.Errorf("got %+v, %v, and %d run", r, err, host.Running())
	}
}

// TestLimitsOfTasks fills what is bounded.
func TestLimitsOfTasks(t *testing.T) {
	c := mcptest.Pair(t, serve(t, tasks.Options{MaxPerPrincipal: 2, MaxResultBytes: 10}), able(t))
	task := start(t, c, "job")
	if _, err := c.AwaitTask(t.Context(), task.ID); err == nil || !strings.Contains(err.Error(), "keeps at most 10") {
		t.Errorf("a large result: %v", err)
	}
	start(t, c, "forever")
	if _, err := c.StartTool(t.Context(), "forever", nil); err == nil || !strings.Contains(err.Error(), "2 tasks here already") {
		t.Errorf("one too many of a sender: %v", err)
	}
	opts := able(t)
	opts.Mode = client.Legacy
	old := mcptest.Pair(t, serve(t, tasks.Options{MaxResultBytes: 10}), opts)
	for tool, want := range map[string]string{"bare": "keeps at most 10", "break": "keeps at most 10"} { // by no task of its own; an error
		if _, err := old.AwaitTask(t.Context(), start(t, old, tool).ID); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	c = mcptest.Pair(t, serve(t, tasks.Options{MaxRunning: 1}), able(t))
	start(t, c, "forever")
	if _, err := c.StartTool(t.Context(), "forever", nil); err == nil || !strings.Contains(err.Error(), "Too many tasks") {
		t.Errorf("one too many at once: %v", err)
	}
}

// TestRefusalFromTheWork calls a tool whose work fails with the code of a method that there is not: that is no reason to call it in
// the other way, which would do the work twice.
func TestRefusalFromTheWork(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{Tasks: tasks.New(tasks.Options{})})
	runs := 0
	for name, how := range map[string]*mcp.ToolExecution{"may": tasks.May(), "never": nil} {
		server.AddTool(s, mcp.Tool{Name: name, Execution: how}, func(context.Context, *server.Request, none) (string, error) {
			runs++
			return "", mcp.MethodNotFound("pay")
		})
	}
	opts := able(t)
	opts.Mode = client.Legacy
	c := mcptest.Pair(t, s, opts)
	for _, tool := range []string{"may", "never"} {
		runs = 0
		if _, err := c.CallTool(t.Context(), tool, nil); !errors.Is(err, mcp.CodeMethodNotFound) || runs != 1 {
			t.Errorf("%s: %v, and it ran %d times", tool, err, runs)
		}
	}
}

// TestToolThatMustNeedsAHost adds a tool that runs as a task only to a server without tasks.
func TestToolThatMustNeedsAHost(t *testing.T) {
	s := server.New(mcp.Implementation{Name: "jobs", Version: "1"}, server.Options{})
	err := s.AddRawTool(mcp.Tool{Name: "must", Execution: tasks.Must()}, func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return nil, nil })
	if err == nil || !strings.Contains(err.Error(), "Options.Tasks") {
		t.Errorf("got %v", err)
	}
}
