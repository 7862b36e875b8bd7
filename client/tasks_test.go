package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
)

// scripted connects a client with tasks to a peer played by hand, on the modern era.
func scripted(t *testing.T, opts client.Options) (*client.Client, *mcptest.Peer) {
	t.Helper()
	p, conn := mcptest.NewPeer(t)
	opts.Mode, opts.Tasks = client.Modern, true
	greeted := make(chan struct{})
	go func() { // ends with its answer
		defer close(greeted)
		p.Reply(p.Expect(`{"method":"server/discover"}`), `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`)
	}()
	c, err := client.Connect(t.Context(), conn, opts)
	if err != nil {
		t.Fatal(err)
	}
	<-greeted
	t.Cleanup(func() { c.Close() })
	return c, p
}

func taskJSON(kind, status, more string) string {
	return fmt.Sprintf(`{"resultType":%q,"taskId":"t1","status":%q,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttlMs":null,"pollIntervalMs":5000%s}`, kind, status, more)
}

// TestAwaitTaskFrameByFrame follows a task that asks, shows its question again after the answer, and is lost sight of once.
func TestAwaitTaskFrameByFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c, p := scripted(t, client.Options{CallTimeout: 3 * time.Second, Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			return client.Accept(map[string]any{"a": 1})
		}})
		question := `,"inputRequests":{"q1":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"integer"}}}}}}`
		go func() { // ends with its last answer
			call := p.Expect(`{"method":"tools/call","params":{"name":"slow","_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}}}`)
			began := time.Now()
			p.Reply(call, taskJSON("task", "working", ""))
			get := func() {
				p.Reply(p.Expect(`{"method":"tasks/get","params":{"taskId":"t1"}}`), taskJSON("complete", "input_required", question))
			}
			get()
			if waited := time.Since(began); waited < 5*time.Second || waited > 7*time.Second {
				t.Errorf("the first look came after %s", waited)
			}
			p.Reply(p.Expect(`{"method":"tasks/update","params":{"taskId":"t1","inputResponses":{"q1":{"action":"accept"}}}}`), `{"resultType":"complete"}`)
			get() // not there yet
			p.Expect(`{"method":"tasks/get"}`)
			p.Expect(`{"method":"notifications/cancelled"}`) // nobody has answered for the whole timeout
			p.Reply(p.Expect(`{"method":"tasks/get"}`), taskJSON("complete", "completed", `,"result":{"content":[{"type":"text","text":"done"}]}`))
		}()
		result, err := c.CallTool(t.Context(), "slow", nil)
		if err != nil || result.Text() != "done" || asked != 1 {
			t.Errorf("got %v, %v; asked %d times", result, err, asked)
		}
	})
}

// TestTasksWhereTheyDoNotBelong reads answers that are no tasks, and tasks that are no answers.
func TestTasksWhereTheyDoNotBelong(t *testing.T) {
	c, p := scripted(t, client.Options{})
	go func() { // ends with its last answer
		p.Reply(p.Expect(`{"method":"prompts/get"}`), taskJSON("task", "working", ""))
		p.Reply(p.Expect(`{"method":"tools/call"}`), `{"resultType":"task","status":"working"}`)
		p.Reply(p.Expect(`{"method":"tasks/get"}`), taskJSON("complete", "failed", `,"error":{"code":-32007,"message":"broken","data":{"part":7}}`))
		p.Reply(p.Expect(`{"method":"tasks/get"}`), taskJSON("complete", "failed", ``))
		p.Reply(p.Expect(`{"method":"tasks/get"}`), taskJSON("complete", "input_required", `,"inputRequests":{"q":{"method":"roots/list"}}`))
	}()
	if _, err := c.GetPrompt(t.Context(), "p", nil); !errors.Is(err, mcp.CodeInvalidResult) {
		t.Errorf("a prompt: %v", err)
	}
	if _, err := c.StartTool(t.Context(), "x", nil); !errors.Is(err, mcp.CodeInvalidResult) {
		t.Errorf("a task without an id: %v", err)
	}
	var broken *mcp.Error
	if _, err := c.AwaitTask(t.Context(), "t1"); !errors.As(err, &broken) || broken.Code != -32007 || !broken.Remote || string(broken.Data) != `{"part":7}` {
		t.Errorf("a task that has failed: %v", err)
	}
	if _, err := c.AwaitTask(t.Context(), "t1"); !errors.Is(err, mcp.CodeInternal) {
		t.Errorf("a task that has failed and does not say why: %v", err)
	}
	if _, err := c.AwaitTask(t.Context(), "t1"); !errors.Is(err, mcp.CodeInputHandlerMissing) {
		t.Errorf("a question that nobody here answers: %v", err)
	}
}

// TestNewsOfTasksThatAreNone reads what a server must not send where news of tasks are expected.
func TestNewsOfTasksThatAreNone(t *testing.T) {
	const ack = "notifications/subscriptions/acknowledged"
	for name, c := range map[string]struct {
		method, params string
		want           error
	}{
		"a change before the acknowledgement": {"notifications/tasks", `{"taskId":"t1","status":"working"}`, nil},
		"tasks that are no list":              {ack, `{"notifications":{"taskIds":"t1"}}`, mcp.CodeInvalidParams},
		"no tasks":                            {ack, `{"notifications":{}}`, mcp.CodeInvalidParams},
		"no filter":                           {ack, `{"notifications":[]}`, mcp.CodeInvalidResult},
	} {
		t.Run(name, func(t *testing.T) {
			client, p := scripted(t, client.Options{})
			go func() { // ends with its notice
				listen := p.Expect(`{"method":"subscriptions/listen","params":{"notifications":{"taskIds":["t1"]}}}`)
				params := jsonrpc.With(nil, []byte(c.params), "_meta", fmt.Appendf(nil, `{"io.modelcontextprotocol/subscriptionId":%s}`, listen.ID.Raw()))
				p.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, c.method, params))
			}()
			if _, err := client.FollowTasks(t.Context(), "t1"); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
