package observe_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/observe"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

type textIn struct {
	Text string `json:"text"`
}

// everything has one of each, and tools that end in different ways.
func everything(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "echo"}, func(_ context.Context, _ *server.Request, in textIn) (string, error) { return in.Text, nil })
	server.AddTool(s, mcp.Tool{Name: "fail"}, func(context.Context, *server.Request, struct{}) (string, error) { return "", errors.New("sorry") })
	server.AddTool(s, mcp.Tool{Name: "refuse"}, func(context.Context, *server.Request, struct{}) (string, error) {
		return "", mcp.Errorf(mcp.Code(1234), "vendor trouble with do-not-log-me")
	})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		answer, err := server.ElicitAs[textIn](ctx, req, "Which?")
		return answer.Text, err
	})
	server.AddTool(s, mcp.Tool{Name: "trace"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		parent, state, baggage := req.Trace()
		return strings.Join([]string{parent, state, baggage, req.Header("Traceparent")}, "|"), nil
	})
	s.AddResource(mcp.Resource{URI: "memo://one", Name: "one"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("memo://one", "", "first")}}, nil
	})
	s.AddPrompt(mcp.Prompt{Name: "greet"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("hi")}}}, nil
	})
}

// denies is a policy against one tool.
func denies(name string) bridge.Step {
	return func(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
		if p.Name == name {
			observe.Decide(ctx, "deny", "no "+name)
			return nil, mcp.Errorf(mcp.CodeInvalidParams, "not for you")
		}
		observe.Decide(ctx, "allow", "")
		return next(ctx)
	}
}

// answering lets a client answer questions.
func answering() client.Options {
	return client.Options{Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
		return client.Accept(textIn{"this"})
	}}
}

// TestAudit holds what a line says of each request, whatever the eras: who, what, where, what came of it, how long it
// took, and no credential.
func TestAudit(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, upModern, observe.AuditOptions{Arguments: observe.Digest}, nil, everything, denies("ask"))
		c := w.dial(t, modern, client.Options{})
		call := func(name string, args any, o ...client.CallOptions) { _, _ = c.CallTool(t.Context(), name, args, o...) }
		meta, err := mcp.NewMeta("traceparent", parent)
		if err != nil {
			t.Fatal(err)
		}
		call("echo", textIn{"hello"}, client.CallOptions{Meta: meta})
		call("fail", struct{}{})
		call("refuse", struct{}{})
		call("ask", struct{}{})
		call("nosuch", struct{}{})
		_, _ = c.ReadResource(t.Context(), "memo://one")
		_, _ = c.ReadResource(t.Context(), "memo://two")
		_, _ = c.GetPrompt(t.Context(), "greet", nil)
		_, _ = c.ListTools(t.Context(), nil)

		lines := w.lines(t)
		want := []line{
			{"method": "tools/call", "kind": "tool", "server": "a", "name": "echo", "outcome": "ok", "decision": "allow",
				"trace": "4bf92f3577b34da6a3ce929d0e0e4736", "code": nil, "reason": nil},
			{"name": "fail", "outcome": "tool error", "code": nil},
			{"name": "refuse", "outcome": "error", "code": 1234, "reason": nil}, // what a server says may hold anything
			{"name": "ask", "outcome": "refused", "decision": "deny", "rule": "no ask", "code": int(mcp.CodeInvalidParams), "reason": "not for you"},
			{"server": nil, "shown": "nosuch", "outcome": "refused", "code": int(mcp.CodeInvalidParams)},
			{"method": "resources/read", "kind": "resource", "name": "memo://one", "outcome": "ok"},
			{"name": "memo://two", "outcome": "error", "code": nil, "reason": mcp.CodeResourceNotFound.String()}, // its number is the era's
			{"method": "prompts/get", "kind": "prompt", "name": "greet", "outcome": "ok"},
		}
		if len(lines) != len(want) {
			t.Fatalf("%d lines: %v", len(lines), lines)
		}
		for i, l := range lines {
			l.is(t, want[i])
			l.is(t, line{"client": "probe 7", "principal": map[string]any{"issuer": "https://as.example", "subject": "ann"}})
			if l["time"] == nil || l["id"] == nil || l["durationMs"] == nil || l["from"] == nil || l["revision"] == nil || l["bytesIn"].(float64) <= 0 {
				t.Errorf("something is missing in %v", l)
			}
			if (l["session"] != nil) != !modern {
				t.Errorf("the session: %v", l)
			}
		}
		if l := lines[0]; l["bytesOut"].(float64) <= 0 || len(l["argumentsSha256"].(string)) != 64 || l["arguments"] != nil {
			t.Errorf("%v", l)
		}
	})
}

// TestAuditOfTasks holds that a call that goes on as a task has a line, and each request about the task one without its id.
func TestAuditOfTasks(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, upModern, observe.AuditOptions{}, nil, func(s *server.Server) {
			server.AddTool(s, mcp.Tool{Name: "work", Execution: tasks.May()},
				tasks.Whole(func(context.Context, *server.Request, struct{}) (string, error) { return "done", nil }))
		})
		c := w.dial(t, modern, client.Options{Tasks: true})
		begun, err := c.StartTool(t.Context(), "work", nil)
		if err != nil || begun.Task == nil {
			t.Fatalf("%+v, %v", begun, err)
		}
		if r, err := c.AwaitTask(t.Context(), begun.Task.ID); err != nil || r.Text() != "done" {
			t.Fatalf("%+v, %v", r, err)
		}
		lines := w.lines(t)
		lines[0].is(t, line{"method": "tools/call", "name": "work", "outcome": "ok", "server": "a"})
		if len(lines) < 2 {
			t.Fatalf("no line about the task: %v", lines)
		}
		for _, l := range lines[1:] {
			l.is(t, line{"outcome": "ok", "kind": "tool", "name": "work", "server": "a"})
			method, _ := l["method"].(string)
			if shown, _ := l["shown"].(string); !strings.HasPrefix(method, "tasks/") || len(shown) != 16 || strings.Contains(begun.Task.ID, shown) {
				t.Errorf("%v", l)
			}
		}
	})
}

// TestAuditOfQuestions holds that questions and answers are counted, in whatever way they are asked.
func TestAuditOfQuestions(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, upModern, observe.AuditOptions{}, nil, everything)
		c := w.dial(t, modern, answering())
		if r, err := c.CallTool(t.Context(), "ask", struct{}{}); err != nil || r.Text() != "this" {
			t.Fatalf("%+v, %v", r, err)
		}
		lines := w.lines(t)
		if !modern {
			if len(lines) != 1 {
				t.Fatalf("%v", lines)
			}
			lines[0].is(t, line{"outcome": "ok", "asked": 1, "answered": 1})
			return
		}
		if len(lines) != 2 {
			t.Fatalf("%v", lines)
		}
		lines[0].is(t, line{"name": "ask", "outcome": "asks", "asked": 1, "answered": nil})
		lines[1].is(t, line{"name": "ask", "outcome": "ok", "asked": nil, "answered": 1})
	})
}

// masks is a policy that keeps a word from servers.
func masks(word string) bridge.Step {
	return func(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
		p.Params = bytes.ReplaceAll(p.Params, []byte(word), []byte("[masked]"))
		return next(ctx)
	}
}

// TestAuditInFull holds that arguments and results are held when that is wanted, as the server got and gave them, with what looks
// like a secret hidden, and that those of a request that was refused are not.
func TestAuditInFull(t *testing.T) {
	w := newWorld(t, true, observe.AuditOptions{Arguments: observe.Full, Results: observe.Full}, nil, everything, denies("fail"), masks("ann@example.com"))
	c := w.dial(t, true, client.Options{})
	_, _ = c.CallTool(t.Context(), "echo", map[string]any{"text": "Bearer do-not-log-me to ann@example.com", "password": "do-not-log-me"})
	_, _ = c.CallTool(t.Context(), "fail", map[string]any{"text": "ann@example.com"})
	lines := w.lines(t)
	lines[0].is(t, line{"arguments": map[string]any{"text": "*** to [masked]", "password": "***"}})
	if lines[0]["result"] == nil {
		t.Errorf("no result: %v", lines[0])
	}
	lines[1].is(t, line{"arguments": nil, "outcome": "refused"})
	if digest, _ := lines[1]["argumentsSha256"].(string); len(digest) != 64 {
		t.Errorf("no digest: %v", lines[1])
	}
}

// TestAuditRefuses holds that a call that the log cannot take up does not reach the server.
func TestAuditRefuses(t *testing.T) {
	// The log of this world is fine; that a place is asked for is held by TestRefuse. Here every call gives its place back.
	w := newWorld(t, true, observe.AuditOptions{OnFailure: observe.Refuse}, nil, everything)
	c := w.dial(t, true, client.Options{})
	for range 20 {
		if _, err := c.CallTool(t.Context(), "echo", textIn{"x"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.lines(t)); n != 20 {
		t.Errorf("%d lines", n)
	}
}

// TestTraceContext holds that the trace context of a client reaches the server as it is, one of a wrong form does not, and that
// of the HTTP request stays at the gateway.
func TestTraceContext(t *testing.T) {
	const other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, upModern, observe.AuditOptions{}, nil, everything)
		c := w.dial(t, modern, client.Options{Headers: map[string][]string{"Traceparent": {other}}})
		for _, tc := range []struct{ parent, state, baggage, want string }{
			{parent, "a=1,b=2", "k=v", parent + "|a=1,b=2|k=v|"},
			{"00-bad", "a=1", "k=v", "||k=v|"},
			{"", "", "", "|||"},
		} {
			var meta mcp.Meta
			for key, value := range map[string]string{"traceparent": tc.parent, "tracestate": tc.state, "baggage": tc.baggage} {
				if value != "" {
					var err error
					if meta, err = meta.With(key, value); err != nil {
						t.Fatal(err)
					}
				}
			}
			r, err := c.CallTool(t.Context(), "trace", struct{}{}, client.CallOptions{Meta: meta})
			if err != nil || r.Text() != tc.want {
				t.Errorf("%+v: %v, %v", tc, r.Text(), err)
			}
		}
		lines := w.lines(t)
		lines[0].is(t, line{"trace": parent[3:35], "traceLink": other[3:35]})
		lines[1].is(t, line{"trace": nil, "traceLink": other[3:35]})
	})
}

// TestRequestLog holds that each request has one record at debug, and none above.
func TestRequestLog(t *testing.T) {
	var text bytes.Buffer
	level := slog.LevelVar{}
	level.Set(slog.LevelDebug)
	w := newWorld(t, true, observe.AuditOptions{}, slog.New(slog.NewTextHandler(&text, &slog.HandlerOptions{Level: &level})), everything)
	c := w.dial(t, true, client.Options{})
	_, _ = c.CallTool(t.Context(), "echo", textIn{"x"})
	got := text.String()
	for _, want := range []string{"level=DEBUG", "method=tools/call", "outcome=ok", "server=a", "name=echo", "subject=ann", `client="probe 7"`} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	level.Set(slog.LevelInfo)
	_, _ = c.CallTool(t.Context(), "echo", textIn{"x"})
	if text.String() != got {
		t.Errorf("a record above debug: %s", text.String()[len(got):])
	}
}

// TestUnauthenticated holds what is noted of a request that was not let in.
func TestUnauthenticated(t *testing.T) {
	w := newWorld(t, true, observe.AuditOptions{}, nil, everything)
	r := httptest.NewRequest("POST", "/mcp", nil)
	r.Header.Set("Authorization", "Bearer do-not-log-me")
	r.Header.Set("Mcp-Method", "tools/call")
	observe.New(w.audit, nil).Unauthenticated(r, 401, "the token has expired")
	w.lines(t)[0].is(t, line{"outcome": "refused", "status": 401, "reason": "the token has expired", "method": "tools/call", "from": r.RemoteAddr})
}
