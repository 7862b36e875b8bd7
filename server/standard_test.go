package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// around is the options of a server with middleware.
func around(m ...server.Middleware) server.Options { return server.Options{Middleware: m} }

// One record for each request, without what was sent.
func TestLogging(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "duration" {
			return slog.Attr{}
		}
		return a
	}}))
	s := newServer(around(server.Logging(logger)))
	rawTool(t, s, "panics", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { panic("a secret") })
	rawTool(t, s, "x", func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		if string(req.Arguments()) != "{}" {
			return nil, errors.New("a secret")
		}
		return mcp.TextResult("a secret"), nil
	})
	for _, tc := range []struct{ method, members, want string }{
		{"tools/call", `"name":"x"`, `level=INFO msg="mcp: request" mcp.method.name=tools/call gen_ai.tool.name=x mcp.protocol.version=REVISION`},
		{"tools/call", `"name":"x","arguments":{"secret":1}`, `level=WARN msg="mcp: request" mcp.method.name=tools/call gen_ai.tool.name=x mcp.protocol.version=REVISION error.type=tool_error`},
		{"tools/call", `"name":"panics"`, `level=ERROR msg="mcp: request" mcp.method.name=tools/call gen_ai.tool.name=panics mcp.protocol.version=REVISION error.type=panic`},
		{"tools/call", `"name":"no"`, `level=WARN msg="mcp: request" mcp.method.name=tools/call gen_ai.tool.name=no mcp.protocol.version=REVISION error.type=-32602 rpc.response.status_code=-32602`},
		{"prompts/get", `"name":"p"`, `level=WARN msg="mcp: request" mcp.method.name=prompts/get gen_ai.prompt.name=p mcp.protocol.version=REVISION error.type=-32602 rpc.response.status_code=-32602`},
		{"tools/list", ``, `level=INFO msg="mcp: request" mcp.method.name=tools/list mcp.protocol.version=REVISION`},
	} {
		for _, revision := range bothEras {
			w := dial(t, s, revision)
			out.Reset()
			w.call(tc.method, tc.members)
			want := strings.ReplaceAll(tc.want, "REVISION", revision) + "\n"
			if got := out.String(); got != want {
				t.Errorf("%s %s\n got %s\nwant %s", tc.method, tc.members, got, want)
			}
		}
	}
}

// A request that takes too long is stopped by its context and answered with words of the limit, whatever the handler says.
func TestTimeout(t *testing.T) {
	const limit = 50 * time.Millisecond
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			s := newServer(around(server.Timeout(limit)))
			rawTool(t, s, "slow", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			rawTool(t, s, "done anyway", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				return mcp.TextResult("what there was"), nil
			})
			rawTool(t, s, "wrong", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return nil, errors.New("no") })
			s.AddPrompt(mcp.Prompt{Name: "slow"}, func(ctx context.Context, _ *server.Request, _ map[string]string) (*mcp.GetPromptResult, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			c := wire.Dial(t, s)
			const late = "the request took longer than 50ms and was stopped; ask for less, or try again"
			for tool, want := range map[string]string{"slow": "failed: " + late, "done anyway": "what there was", "wrong": "failed: no"} {
				if got := outcomeOf(c.CallTool(t.Context(), tool, nil)); got != want {
					t.Errorf("%s: %q, want %q", tool, got, want)
				}
			}
			_, err := c.GetPrompt(t.Context(), "slow", nil)
			if got := outcomeOf(nil, err); got != "error -32603: "+late {
				t.Errorf("prompt: %s", got)
			}
		})
	}
}

// The time that the client of a legacy revision takes to answer a question counts.
func TestTimeoutOfQuestion(t *testing.T) {
	s := asking(t, mcp.NeedInput().ListRoots("a"), around(server.Timeout(50*time.Millisecond)))
	for _, wire := range mcptest.Wires() {
		if wire.Modern {
			continue // whose client is asked between two requests
		}
		c := wire.Dial(t, s, client.Options{
			Capabilities: mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}},
			OnRequest: func(ctx context.Context, _ *client.IncomingRequest) (json.RawMessage, error) {
				<-ctx.Done() // the server tells that it need not be answered any more
				return nil, ctx.Err()
			},
		})
		if got := outcomeOf(c.CallTool(t.Context(), "x", nil)); !strings.Contains(got, "failed: the request took longer than 50ms") {
			t.Errorf("%s: %s", wire.Name, got)
		}
	}
}

// Requests that come too fast are refused and told when to come again; each sender has a measure of its own.
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(around(server.Only(server.RateLimit(server.RateLimitOptions{PerSecond: 2, Burst: 3}), mcp.MethodCallTool, mcp.MethodPing)))
		rawTool(t, s, "x", nothing)
		for _, revision := range bothEras {
			w := dial(t, s, revision)
			other := dial(t, s, revision)
			const ok, refused = `{"content":[]}`, `error -32603 {"retryAfterMs":%d}`
			for _, step := range []struct {
				after time.Duration
				want  string
			}{
				{0, ok},
				{0, ok},
				{0, ok},
				{0, fmt.Sprintf(refused, 500)},
				{100 * time.Millisecond, fmt.Sprintf(refused, 400)},
				{400 * time.Millisecond, ok},
				{0, fmt.Sprintf(refused, 500)},
				{time.Hour, ok},
				{0, ok},
				{0, ok},
				{0, fmt.Sprintf(refused, 500)},
			} {
				time.Sleep(step.after)
				w.want("tools/call", `"name":"x"`, step.want)
			}
			other.want("tools/call", `"name":"x"`, ok)
			if revision == legacy {
				w.want("ping", ``, `{}`)
			}
		}
	})
}

// The number of senders that are counted apart is bounded: those beyond share a measure, until others have been quiet.
func TestRateLimitBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(around(server.Only(server.RateLimit(server.RateLimitOptions{
			PerSecond: 1, MaxKeys: 2,
			Key: func(req *server.Request) string { return string(req.Arguments()) },
		}), mcp.MethodCallTool)))
		rawTool(t, s, "x", nothing)
		w := dial(t, s, modern)
		call := func(key, want string) {
			t.Helper()
			w.want("tools/call", fmt.Sprintf(`"name":"x","arguments":{"key":%q}`, key), want)
		}
		const ok, refused = `{"content":[]}`, `error -32603 {"retryAfterMs":1000}`
		call("a", ok)
		call("b", ok)
		call("c", ok)
		call("d", refused) // for c and it are one
		time.Sleep(time.Second)
		call("d", ok)
		call("c", ok)
	})
}

// No more requests run at once than there are places; one more waits, or is refused.
func TestConcurrency(t *testing.T) {
	for _, revision := range bothEras {
		for _, tc := range []struct {
			wait time.Duration
			want string
		}{{0, "error -32603"}, {time.Second, "error -32603"}, {time.Minute, `{"content":[]}`}} {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(around(server.Concurrency(1, tc.wait)))
				rawTool(t, s, "x", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
					time.Sleep(3 * time.Second)
					return nil, nil
				})
				first, second := dial(t, s, revision), dial(t, s, revision)
				first.start("tools/call", `"name":"x"`)
				synctest.Wait()
				if revision == legacy {
					second.want("ping", ``, `{}`)
				}
				second.want("tools/call", `"name":"x"`, tc.want)
				if m := first.Next(); m.Error != nil {
					t.Errorf("the first: %s", m.Frame())
				}
				time.Sleep(4 * time.Second)
				first.want("tools/call", `"name":"x"`, `{"content":[]}`)
			})
		}
	}
}

// A result over the limit is not sent, and the error says how large it was.
func TestMaxResultBytes(t *testing.T) {
	opts := around(server.MaxResultBytes(200))
	opts.Logger = slog.New(slog.DiscardHandler)
	s := newServer(opts)
	rawTool(t, s, "x", func(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		var in struct{ N int }
		err := json.Unmarshal(req.Arguments(), &in)
		return mcp.TextResult(strings.Repeat("x", in.N)), err
	})
	s.AddResource(mcp.Resource{URI: "x:1", Name: "x"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: strings.Repeat("x", 300)}}}, nil
	})
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			c := wire.Dial(t, s)
			for n, want := range map[int]string{
				100: strings.Repeat("x", 100),
				300: "failed: the result has 339 bytes, and this server sends at most 200; ask for less",
			} {
				if got := outcomeOf(c.CallTool(t.Context(), "x", map[string]int{"N": n})); got != want {
					t.Errorf("%d: %s", n, got)
				}
			}
			_, err := c.ReadResource(t.Context(), "x:1")
			if got := outcomeOf(nil, err); !strings.HasPrefix(got, "error -32603: the result has 33") {
				t.Errorf("resource: %s", got)
			}
		})
	}
}

// Limits that bound nothing are a mistake of the programmer.
func TestMiddlewarePanics(t *testing.T) {
	for name, build := range map[string]func(){
		"Timeout":        func() { server.Timeout(0) },
		"Concurrency":    func() { server.Concurrency(0, 0) },
		"MaxResultBytes": func() { server.MaxResultBytes(-1) },
		"RateLimit":      func() { server.RateLimit(server.RateLimitOptions{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s takes anything", name)
				}
			}()
			build()
		}()
	}
}
