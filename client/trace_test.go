package client_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	rialto "github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

type traceKey struct{}

// traceOf reads what a test has put into the context of a call.
func traceOf(ctx context.Context) client.Trace {
	trace, _ := ctx.Value(traceKey{}).(client.Trace)
	return trace
}

// The trace context of a call rides in its _meta, in both eras, and what the caller has put there stays.
func TestTrace(t *testing.T) {
	meta := func(key, value string) mcp.Meta {
		m, err := mcp.NewMeta(key, value)
		must(t, err)
		return m
	}
	const other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	cases := []struct {
		name           string
		trace          client.Trace
		meta           mcp.Meta
		parent, state  string
		baggage, fault string
	}{
		{"none", client.Trace{}, nil, "", "", "", ""},
		{"all", client.Trace{Parent: parent, State: "a=1", Baggage: "k=v"}, nil, parent, "a=1", "k=v", ""},
		{"beside other members", client.Trace{Parent: parent}, meta("own", "x"), parent, "", "", ""},
		{"a state alone means nothing", client.Trace{State: "a=1", Baggage: "k=v"}, nil, "", "", "k=v", ""},
		{"the caller's own", client.Trace{Parent: parent, State: "a=1", Baggage: "k=v"}, meta("traceparent", other), other, "", "k=v", ""},
		{"not a parent", client.Trace{Parent: "00-1", State: "a=1"}, nil, "", "", "", "00-1"},
		{"all zeros", client.Trace{Parent: "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01"}, nil, "", "", "", "00-000"},
		{"capitals", client.Trace{Parent: strings.ToUpper(parent)}, nil, "", "", "", "00-4BF"},
		{"version ff", client.Trace{Parent: "ff" + parent[2:]}, nil, "", "", "", "ff-4bf"},
		{"a version to come", client.Trace{Parent: "01" + parent[2:] + "-more"}, nil, "01" + parent[2:] + "-more", "", "", ""},
		{"quotes", client.Trace{Baggage: `k="v"\`}, nil, "", "", `k="v"\`, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			eras(t, script{"tools/call": result(`{"content":[]}`)}, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				faults := make(chan error, 10)
				c := connect(t, conn, client.Options{Trace: traceOf, OnError: func(err error) { faults <- err }})
				ctx := context.WithValue(t.Context(), traceKey{}, tc.trace)
				check := func(how string) {
					t.Helper()
					raw, _ := jsonrpc.Member(p.last(t, "tools/call").Params, "_meta")
					for key, want := range map[string]string{"traceparent": tc.parent, "tracestate": tc.state, "baggage": tc.baggage} {
						if got, ok := mcp.Meta(raw).Text(key); got != want || ok != (want != "") {
							t.Errorf("%s: %s is %q, want %q", how, key, got, want)
						}
					}
				}
				_, err := c.CallTool(ctx, "x", nil, client.CallOptions{Meta: tc.meta})
				must(t, err)
				check("typed")
				params := json.RawMessage(`{"name":"x"}`)
				if tc.meta != nil {
					params = jsonrpc.With(nil, params, "_meta", json.RawMessage(tc.meta))
				}
				_, err = c.Raw(ctx, "tools/call", params, client.RawOptions{})
				must(t, err)
				check("raw")
				for range 2 {
					if tc.fault != "" {
						if err := <-faults; !strings.Contains(err.Error(), tc.fault) {
							t.Errorf("reported is %v", err)
						}
					}
				}
			})
		})
	}
}

// A handler of this module sees the trace context of its caller, in every run of a call that asks back.
func TestTraceOnEveryWire(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			var mu sync.Mutex
			var seen []string
			s := rialto.New(mcp.Implementation{Name: "s", Version: "1"}, rialto.Options{})
			rialto.AddTool(s, mcp.Tool{Name: "who"}, func(ctx context.Context, req *rialto.Request, _ struct{}) (string, error) {
				traceparent, tracestate, baggage := req.Trace()
				mu.Lock()
				seen = append(seen, traceparent+" "+tracestate+" "+baggage)
				mu.Unlock()
				_, err := req.ListRoots(ctx)
				return "", err
			})
			c := wire.Dial(t, s, client.Options{Roots: []mcp.Root{}, Trace: func(context.Context) client.Trace {
				return client.Trace{Parent: parent, State: "a=1", Baggage: "k=v"}
			}})
			_, err := c.CallTool(t.Context(), "who", nil)
			must(t, err)
			if len(seen) == 0 {
				t.Fatal("nothing was called")
			}
			for _, got := range seen {
				if got != parent+" a=1 k=v" {
					t.Errorf("seen is %q", got)
				}
			}
		})
	}
}
