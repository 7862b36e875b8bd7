package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// instead makes a middleware that answers by itself.
func instead(result *server.Result, err error) server.Middleware {
	return func(server.Call) server.Call {
		return func(context.Context, *server.Request) (*server.Result, error) { return result, err }
	}
}

// inside makes a middleware of its Call, which gets the next one.
func inside(call func(ctx context.Context, req *server.Request, next server.Call) (*server.Result, error)) server.Middleware {
	return func(next server.Call) server.Call {
		return func(ctx context.Context, req *server.Request) (*server.Result, error) { return call(ctx, req, next) }
	}
}

// outcomeOf is the answer to a call of a tool in one line.
func outcomeOf(out *mcp.CallToolResult, err error) string {
	var remote *mcp.Error
	switch {
	case errors.As(err, &remote):
		return fmt.Sprintf("error %d: %s", remote.Code, remote.Message)
	case err != nil:
		return err.Error()
	case out.IsError:
		return "failed: " + out.Text()
	}
	return out.Text()
}

// What a middleware makes of a call reaches every client alike.
func TestMiddlewareOnEveryWire(t *testing.T) {
	type key struct{}
	cases := []struct {
		name   string
		around server.Middleware
		want   string
	}{
		{"passes on", func(next server.Call) server.Call { return next }, "hello "},
		{"adds to the context", inside(func(ctx context.Context, req *server.Request, next server.Call) (*server.Result, error) {
			return next(context.WithValue(ctx, key{}, "you"), req)
		}), "hello you"},
		{"answers", instead(server.NewResult(json.RawMessage(`{"content":[{"type":"text","text":"kept"}]}`)), nil), "kept"},
		{"edits", inside(func(ctx context.Context, req *server.Request, next server.Call) (*server.Result, error) {
			result, err := next(ctx, req)
			if err != nil || req.Method() != mcp.MethodCallTool {
				return result, err
			}
			return result.With(json.RawMessage(strings.Replace(string(result.JSON()), "hello", "goodbye", 1))), nil
		}), "goodbye "},
		{"runs again", inside(func(ctx context.Context, req *server.Request, next server.Call) (*server.Result, error) {
			if _, err := next(ctx, req); err != nil {
				return nil, err
			}
			return next(ctx, req)
		}), "hello "},
		{"refuses with a code", instead(nil, mcp.InvalidParams("not you")), "error -32602: not you"},
		{"refuses in words", instead(nil, errors.New("come back tomorrow")), "failed: come back tomorrow"},
		{"returns nothing", instead(nil, nil), "error -32603: Internal error"},
		{"returns no object", instead(server.NewResult(json.RawMessage(`{"content":`)), nil), "error -32603: Internal error"},
		{"asks", instead(nil, mcp.NeedInput().ListRoots("a")), "error -32603: Internal error"},
		{"panics", inside(func(context.Context, *server.Request, server.Call) (*server.Result, error) { panic("oh") }), "error -32603: Internal error"},
	}
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			for _, tc := range cases {
				s := newServer(server.Options{Middleware: []server.Middleware{server.Only(tc.around, mcp.MethodCallTool)}})
				rawTool(t, s, "greet", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
					name, _ := ctx.Value(key{}).(string)
					return mcp.TextResult("hello " + name), nil
				})
				if got := outcomeOf(wire.Dial(t, s).CallTool(t.Context(), "greet", nil)); got != tc.want {
					t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
				}
			}
		})
	}
}

// The first middleware is the outermost, and every method goes through, also those that lead nowhere.
func TestMiddlewareOrder(t *testing.T) {
	for _, revision := range bothEras {
		var seen []string
		note := func(name string) server.Middleware {
			return inside(func(ctx context.Context, req *server.Request, next server.Call) (*server.Result, error) {
				result, err := next(ctx, req)
				seen = append(seen, fmt.Sprintf("%s %s %v", name, req.Method(), err == nil && !result.Open()))
				return result, err
			})
		}
		s := newServer(server.Options{Middleware: []server.Middleware{note("outer"), note("inner")}})
		w := dial(t, s, revision)
		seen = nil
		w.want("tools/list", "", `{"tools":[]}`)
		w.want("prompts/get", `"name":"no"`, "error -32602")
		want := "inner tools/list true, outer tools/list true, inner prompts/get false, outer prompts/get false"
		if got := strings.Join(seen, ", "); got != want {
			t.Errorf("%s: %s", revision, got)
		}
	}
}

// A result that is edited gets the members of the client's revision anew: a page of a list has been encoded by then.
func TestMiddlewareEditsList(t *testing.T) {
	edit := inside(func(ctx context.Context, req *server.Request, next server.Call) (*server.Result, error) {
		result, err := next(ctx, req)
		if err != nil || req.Method() != mcp.MethodListTools {
			return result, err
		}
		if bare := string(result.JSON()); bare != `{"tools":[{"name":"b","inputSchema":{"type":"object","properties":{}}}]}` {
			t.Errorf("the middleware of %s sees %s", req.ProtocolVersion(), bare)
		}
		return result.With(json.RawMessage(strings.Replace(string(result.JSON()), `"b"`, `"c"`, 1))), nil
	})
	s := newServer(server.Options{Middleware: []server.Middleware{edit}})
	rawTool(t, s, "b", nothing)
	for _, revision := range bothEras {
		w := dial(t, s, revision)
		for range 2 { // the second time from the kept page
			w.want("tools/list", "", `{"tools":[{"name":"c","inputSchema":{"type":"object","properties":{}}}]}`)
		}
		if m := w.call("tools/list", ""); strings.Count(string(m.Result), "resultType") != map[string]int{modern: 1}[revision] {
			t.Errorf("%s: %s", revision, m.Result)
		}
	}
}

// A refusal that comes through a middleware keeps its row, and with it its HTTP status.
func TestMiddlewareKeepsRefusals(t *testing.T) {
	s := newServer(server.Options{Middleware: []server.Middleware{func(next server.Call) server.Call { return next }}})
	if err := s.AddRawTool(mcp.Tool{Name: "x", InputSchema: json.RawMessage(mirrored)}, nothing); err != nil {
		t.Fatal(err)
	}
	url := serve(t, s.Handler())
	status, body := post(t, url, "tools/call", "x", `"name":"x","arguments":{"region":"eu"},`, map[string]string{"Mcp-Param-Region": "us"})
	if status != 400 || !strings.Contains(body, `"code":-32020`) {
		t.Errorf("got %d %s", status, body)
	}
}

// The middleware runs once for a request, however often the handler asks on the way, and sees its last answer. A modern
// client makes a request of each round.
func TestMiddlewareAndQuestions(t *testing.T) {
	runs, asks, answers := 0, 0, ""
	watch := inside(func(ctx context.Context, req *server.Request, next server.Call) (*server.Result, error) {
		result, err := next(ctx, req)
		if req.Method() == mcp.MethodCallTool && err == nil {
			runs++
			answers = string(result.JSON())
			if result.AsksClient() {
				asks++
			}
		}
		return result, err
	})
	s := asking(t, mcp.NeedInput().ListRoots("a"), server.Options{Middleware: []server.Middleware{watch}})
	roots := client.Options{
		Capabilities: mcp.ClientCapabilities{Roots: &mcp.RootsCapability{}},
		OnRequest: func(context.Context, *client.IncomingRequest) (json.RawMessage, error) {
			return json.RawMessage(`{"roots":[]}`), nil
		},
	}
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			runs, asks, answers = 0, 0, ""
			c := wire.Dial(t, s, roots)
			out, err := c.CallTool(t.Context(), "x", nil, client.CallOptions{ManualInput: true})
			wantRuns, wantAsks := 1, 0
			var demand *mcp.InputRequired
			if errors.As(err, &demand) {
				wantRuns, wantAsks = 2, 1
				out, err = c.CallTool(t.Context(), "x", nil, client.CallOptions{
					RequestState: demand.State, InputResponses: mcp.InputResponses{"a": json.RawMessage(`{"roots":[]}`)},
				})
			}
			if got := outcomeOf(out, err); got != "[a]" || runs != wantRuns || asks != wantAsks || !strings.Contains(answers, "[a]") {
				t.Errorf("%s after %d runs with %d questions, the middleware saw %s", got, runs, asks, answers)
			}
		})
	}
}

// A subscription goes through the middleware and holds no place among the running requests.
func TestMiddlewareAroundListen(t *testing.T) {
	s := newServer(server.Options{Middleware: []server.Middleware{server.Concurrency(1, 0), server.MaxResultBytes(1000)}})
	rawTool(t, s, "one", nothing)
	w := dial(t, s, modern)
	w.start(mcp.MethodListen, `"notifications":{"toolsListChanged":true}`)
	if m := w.Next(); m.Method != mcp.NotifySubscriptionsAcknowledged {
		t.Fatalf("got %s", m.Frame())
	}
	w.want("tools/call", `"name":"one"`, `{"content":[]}`)
	rawTool(t, s, "two", nothing)
	if m := w.Next(); m.Method != mcp.NotifyToolsChanged {
		t.Errorf("got %s", m.Frame())
	}
}

// The request is found in the context of handlers, of middleware, and of those derived from it.
func TestRequestFrom(t *testing.T) {
	if got := server.RequestFrom(context.Background()); got != nil {
		t.Errorf("outside a request: %v", got)
	}
	same := func(ctx context.Context, req *server.Request) bool {
		derived, cancel := context.WithCancel(ctx)
		defer cancel()
		return server.RequestFrom(derived) == req && server.RequestFrom(ctx) == req
	}
	s := newServer(server.Options{Middleware: []server.Middleware{
		inside(func(ctx context.Context, req *server.Request, next server.Call) (*server.Result, error) {
			if !same(ctx, req) {
				t.Errorf("the middleware of %s has another request", req.Method())
			}
			return next(ctx, req)
		}),
	}})
	rawTool(t, s, "x", func(ctx context.Context, req *server.Request) (*mcp.CallToolResult, error) {
		return mcp.TextResult(fmt.Sprint(same(ctx, req), ctx.Err(), ctx.Value("other"))), nil
	})
	for _, wire := range mcptest.Wires() {
		if got := outcomeOf(wire.Dial(t, s).CallTool(t.Context(), "x", nil)); got != "true <nil> <nil>" {
			t.Errorf("%s: %s", wire.Name, got)
		}
	}
}
