package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	rialto "github.com/rialto-mcp/rialto/server"
)

// repeat is a server with a tool that says what it was given, and how often it was called.
func repeat() *rialto.Server {
	s := rialto.New(mcp.Implementation{Name: "repeat", Version: "1"}, rialto.Options{})
	err := s.AddRawTool(mcp.Tool{Name: "say"}, func(_ context.Context, req *rialto.Request) (*mcp.CallToolResult, error) {
		trace, _ := req.Meta().Text("traceparent")
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.Text(string(req.Arguments()) + trace)}}, nil
	})
	if err != nil {
		panic(err)
	}
	return s
}

// A middleware sees every door's requests, in order, and may change, answer, refuse and repeat them.
func TestMiddleware(t *testing.T) {
	canned := &client.RawResult{Result: json.RawMessage(`{"content":[{"type":"text","text":"from the middleware"}]}`)}
	cases := []struct {
		name   string
		around client.Middleware
		want   string // text of the result, or of the error
	}{
		{"passes on", func(next client.Call) client.Call { return next }, `{"n":1}`},
		{"params", func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				req.Params = json.RawMessage(`{"name":"say","arguments":{"n":2}}`)
				return next(ctx, req)
			}
		}, `{"n":2}`},
		{"meta", func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				req.Meta = mcp.Meta(`{"traceparent":"00-7"}`)
				return next(ctx, req)
			}
		}, `{"n":1}00-7`},
		{"answers", func(client.Call) client.Call {
			return func(context.Context, *client.OutgoingRequest) (*client.RawResult, error) { return canned, nil }
		}, "from the middleware"},
		{"refuses", func(client.Call) client.Call {
			return func(context.Context, *client.OutgoingRequest) (*client.RawResult, error) {
				return nil, errors.New("not today")
			}
		}, `call tool "say": not today`},
		{"repeats", func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				if _, err := next(ctx, req); err != nil {
					return nil, err
				}
				return next(ctx, req)
			}
		}, `{"n":1}`},
		{"a request of its own", func(next client.Call) client.Call {
			return func(ctx context.Context, _ *client.OutgoingRequest) (*client.RawResult, error) {
				return next(ctx, &client.OutgoingRequest{Method: "tools/call", Params: json.RawMessage(`{"name":"say"}`)})
			}
		}, `{}`},
		{"sees errors of the server", func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				req.Params = json.RawMessage(`{"name":"unsaid"}`)
				_, err := next(ctx, req)
				var remote *mcp.Error
				if !errors.As(err, &remote) || !remote.Remote {
					return nil, errors.New("no error of the server")
				}
				return canned, nil
			}
		}, "from the middleware"},
		{"params that are none", func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				req.Params = json.RawMessage(`{"name":`)
				return next(ctx, req)
			}
		}, `call tool "say": send tools/call: a middleware has set params to something that is no JSON object`},
		{"reserved headers", func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				req.Header = http.Header{"Mcp-Name": {"other"}}
				return next(ctx, req)
			}
		}, `call tool "say": send tools/call: header Mcp-Name cannot be set for one call; credentials belong into Options.Headers`},
		{"nothing", func(client.Call) client.Call {
			return func(context.Context, *client.OutgoingRequest) (*client.RawResult, error) { return nil, nil }
		}, `call tool "say": a middleware of the client answered tools/call with neither a result nor an error`},
	}
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			s := repeat()
			for _, tc := range cases {
				c := wire.Dial(t, s, client.Options{Middleware: []client.Middleware{tc.around}})
				out, err := c.CallTool(t.Context(), "say", json.RawMessage(`{"n":1}`))
				got := text(out)
				if err != nil {
					got = err.Error()
				}
				if got != tc.want {
					t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
				}
			}
		})
	}
}

// The first middleware is the outermost, all doors go through it, and the opening does not.
func TestMiddlewareOrder(t *testing.T) {
	var seen []string
	note := func(name string) client.Middleware {
		return func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				seen = append(seen, name+" "+req.Method)
				return next(ctx, req)
			}
		}
	}
	c := mcptest.Pair(t, repeat(), client.Options{Middleware: []client.Middleware{note("outer"), note("inner")}})
	if _, err := c.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Raw(t.Context(), "server/discover", nil, client.RawOptions{}); err != nil {
		t.Fatal(err)
	}
	stream, err := c.Start(t.Context(), "tools/call", json.RawMessage(`{"name":"say"}`), client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Result(); err != nil {
		t.Error(err)
	}
	want := "outer tools/list, inner tools/list, outer server/discover, inner server/discover, outer tools/call, inner tools/call"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("seen: %s", got)
	}
}

// Headers of a middleware go with the one request.
func TestMiddlewareHeaders(t *testing.T) {
	s := repeat().Handler()
	var tenants []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tenants = append(tenants, r.Header.Get("X-Tenant"))
		s.ServeHTTP(w, r)
	}))
	defer web.Close()
	c, err := client.DialHTTP(t.Context(), web.URL, client.Options{Middleware: []client.Middleware{func(next client.Call) client.Call {
		return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
			req.Header = http.Header{"X-Tenant": {"blue"}}
			return next(ctx, req)
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.CallTool(t.Context(), "say", nil)
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(tenants, ","); got != ",blue" {
		t.Errorf("X-Tenant of the opening and the call: %q", got)
	}
}

// A demand for input reaches the middleware, and the caller behind it.
func TestMiddlewareInput(t *testing.T) {
	conn, _ := play(modern(script{
		"tools/call": result(`{"resultType":"input_required","inputRequests":{"who":{"method":"roots/list"}},"requestState":"s1"}`),
	}))
	asked := false
	c := connect(t, conn, client.Options{Middleware: []client.Middleware{func(next client.Call) client.Call {
		return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
			result, err := next(ctx, req)
			asked = err == nil && result.Input != nil
			return result, err
		}
	}}})
	_, err := c.CallTool(t.Context(), "x", nil, client.CallOptions{ManualInput: true})
	var demand *mcp.InputRequired
	if !asked || !errors.As(err, &demand) || *demand.State != "s1" {
		t.Errorf("asked %v, got %v", asked, err)
	}
}
