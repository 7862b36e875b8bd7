package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// relayedTasks is what a relay sets Options.Tasks to: its tasks run elsewhere.
type relayedTasks struct{}

func (relayedTasks) Attach(*server.Server) {}
func (relayedTasks) Capability(*server.Request) json.RawMessage {
	return json.RawMessage(`{"requests":{"tools":{"call":{}}}}`)
}
func (relayedTasks) Finished(context.Context, *server.Request, server.TaskOutcome) (*server.ExtensionResult, error) {
	return nil, errors.New("not here")
}
func (relayedTasks) Task(_ context.Context, id string) json.RawMessage {
	return json.RawMessage(`{"taskId":"` + id + `","status":"completed","ttlMs":null,"result":{"content":[]}}`)
}
func (relayedTasks) Follows(_ context.Context, _ *server.Request, id string) bool { return id == "t1" }
func (relayedTasks) Shutdown(context.Context) error                               { return nil }

const declared = `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// TestJudgeTask has a relay answer calls with tasks of another server, where the client takes that by its revision.
func TestJudgeTask(t *testing.T) {
	const task = `{"taskId":"t1","status":"working","createdAt":"2026-11-30T00:00:00Z","lastUpdatedAt":"2026-11-30T00:00:00Z","ttlMs":5}`
	s := server.New(mcp.Implementation{Name: "relay", Version: "1"}, server.Options{
		Tasks: relayedTasks{}, Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}},
		Fallback: func(_ context.Context, req *server.Request) (*server.RawResult, error) {
			if err := req.JudgeTask(req.Name()); err != nil { // the tools are called like their support
				return nil, err
			}
			if !req.MayBeTask() {
				return &server.RawResult{Result: json.RawMessage(`{"content":[]}`)}, nil
			}
			if ttl, ok := req.TaskTTL(); ok && ttl != time.Minute {
				t.Errorf("a life of %s", ttl)
			}
			return &server.RawResult{ResultType: mcp.ResultTask, Result: json.RawMessage(task)}, nil
		},
	})
	for _, c := range []struct{ revision, caps, call, want string }{
		{legacy, `{}`, `"name":"optional","task":{"ttl":60000}`, `"task":{"taskId":"t1"`},
		{legacy, `{}`, `"name":"optional"`, `"content":[]`},
		{legacy, `{}`, `"name":"required"`, `-32601`},
		{legacy, `{}`, `"name":"forbidden","task":{}`, `-32601`},
		{mcp.Version20250618, `{}`, `"name":"optional","task":{}`, `"content":[]`},
		{modern, declared, `"name":"optional"`, `"resultType":"task"`},
		{modern, declared, `"name":"forbidden","task":{}`, `"content":[]`},
		{modern, `{}`, `"name":"optional"`, `"content":[]`},
		{modern, `{}`, `"name":"required"`, `-32021`},
	} {
		if got := string(dialWith(t, s, c.revision, c.caps).call("tools/call", c.call).Frame()); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %s, want %s", c.revision, c.call, got, c.want)
		}
	}
}

// TestListener tells clients of a task that runs elsewhere after its call was answered: a session of 2025-11-25 by itself, a
// client of the modern era by its listen.
func TestListener(t *testing.T) {
	listeners := make(chan *server.Listener, 1)
	s := server.New(mcp.Implementation{Name: "relay", Version: "1"}, server.Options{
		Tasks: relayedTasks{},
		Fallback: func(_ context.Context, req *server.Request) (*server.RawResult, error) {
			listeners <- req.Listener()
			return &server.RawResult{Result: json.RawMessage(`{}`)}, nil
		},
	})
	for revision, hears := range map[string]bool{mcp.Version20250618: false, legacy: true, modern: false} {
		w := dialWith(t, s, revision, declared)
		w.call("example/begin", ``)
		l := <-listeners
		if (l != nil) != hears {
			t.Errorf("%s: %v", revision, l)
		}
		if l == nil {
			continue
		}
		l.TaskChanged("t1")
		w.Expect(`{"method":"notifications/tasks/status","params":{"taskId":"t1","status":"completed","ttl":null}}`)
		if err := l.Notify(t.Context(), mcp.NotifyProgress, json.RawMessage(`{"progressToken":1,"progress":2}`)); err != nil {
			t.Error(err)
		}
		w.Expect(`{"method":"notifications/progress","params":{"progressToken":1,"progress":2}}`)
	}
	w := dialWith(t, s, modern, declared)
	w.Send(`{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"taskIds":["t1","t2"]},"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + declared + `}}}`)
	w.Expect(`{"method":"notifications/subscriptions/acknowledged"}`)
	if ids := s.TasksFollowed(); len(ids) != 1 || ids[0] != "t1" {
		t.Errorf("followed: %q", ids)
	}
	s.TaskChanged("t1")
	w.Expect(`{"method":"notifications/tasks"}`)
}
