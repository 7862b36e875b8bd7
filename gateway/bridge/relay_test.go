package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// odd is a tool as no marshaller would write it.
const odd = `{"x-vendor":{"b":1.0e+00,"a":12345678901234567890},"name":"odd","description":"\u00fc\/","inputSchema":{"type":"object"},"_meta":{"k":null}}`

const oddResult = `{"content":[{"type":"text","text":"\u00e9\/","annotations":{"priority":0.50}},{"type":"vendor","n":1E400}],"structuredContent":{"z":1.0e0,"a":12345678901234567890},"vendor":[]}`

// catalogue lists one tool in raw JSON.
type catalogue struct{ tool string }

func (c catalogue) List(_ context.Context, _ *server.Request, kind server.ListKind) (*server.List, error) {
	if kind != server.Tools {
		return nil, nil
	}
	return server.NewList(kind, []json.RawMessage{json.RawMessage(c.tool)}, mcp.CacheHint{}), nil
}

// rawBackend lists one tool and answers all calls by a fallback.
func rawBackend(name string, modern bool, answer server.RawHandler) backend {
	return backend{name: name, modern: modern, opts: server.Options{
		Catalogue:    catalogue{odd},
		Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{ListChanged: true}},
		Fallback:     answer,
	}}
}

func TestTokenForToken(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		var params string
		w := newWorld(t, route.Naming{Mode: route.Always}, rawBackend("a", upModern, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
			params = string(req.Params())
			return &server.RawResult{Result: json.RawMessage(oddResult)}, nil
		}))
		c := w.dial(t, modern, client.Options{})
		list := raw(t, c, "tools/list", `{}`)
		if want := strings.Replace(odd, `"odd"`, `"a__odd"`, 1); !strings.Contains(list, want) {
			t.Errorf("the list is %s, want %s in it", list, want)
		}
		result := raw(t, c, "tools/call", `{"arguments":{"n":1.00,"s":"\/"},"vendor":1e2,"name":"a__odd","_meta":{"traceparent":"00-1"}}`)
		if want := strings.TrimSuffix(oddResult, "}"); !strings.HasPrefix(result, want) {
			t.Errorf("the result is %s, want it to begin with %s", result, want)
		}
		if want := `{"arguments":{"n":1.00,"s":"\/"},"vendor":1e2,"name":"odd","_meta":{"traceparent":"00-1"}}`; params != want {
			t.Errorf("the upstream got %s, want %s", params, want)
		}
	})
}

// TestInputRequired holds that a question of a modern upstream reaches a modern client byte for byte, and so does the answer;
// a legacy client is asked while its call waits.
func TestInputRequired(t *testing.T) {
	const requests = `{"q\u0031":{"method":"elicitation/create","params":{"mode":"form","message":"\u00fc","requestedSchema":{"type":"object","properties":{}}}}}`
	const state = `"+\/=\u00e4 opaque"`
	const responses = `{"q1":{"action":"accept","content":{"n":1.0}}}`
	for _, modern := range []bool{false, true} {
		w := newWorld(t, route.Naming{}, rawBackend("a", true, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
			if got, st := req.Retry(); got != nil {
				if strings.Replace(string(got), `q\u0031`, "q1", 1) != responses || string(st) != state {
					t.Errorf("the retry brings %s and %s", got, st)
				}
				return &server.RawResult{Result: json.RawMessage(`{"content":[]}`)}, nil
			}
			caps := req.ClientCapabilities()
			if caps.Elicitation == nil {
				return nil, mcp.MissingCapability(mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}})
			}
			if caps.Extensions != nil {
				t.Errorf("extensions of the client reach the upstream: %v", caps.Extensions)
			}
			return &server.RawResult{InputRequests: json.RawMessage(requests), RequestState: json.RawMessage(state)}, nil
		}))
		c := w.dial(t, modern, client.Options{
			Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &mcp.Capability{}}},
			Extensions:   []mcp.Extension{{Identifier: "org.example/x"}},
			OnRequest: func(_ context.Context, question *client.IncomingRequest) (json.RawMessage, error) {
				if !strings.Contains(requests, string(question.Params)) {
					t.Errorf("the client is asked %s", question.Params)
				}
				return json.RawMessage(`{"action":"accept","content":{"n":1.0}}`), nil
			},
		})
		call := json.RawMessage(`{"name":"odd","arguments":{}}`)
		r, err := c.Raw(t.Context(), "tools/call", call, client.RawOptions{})
		if !modern {
			if err != nil || string(r.Result) != `{"content":[]}` {
				t.Errorf("got %+v, %v", r, err)
			}
			continue
		}
		if err != nil || r.Input == nil {
			t.Fatalf("got %+v, %v", r, err)
		}
		if string(r.Input.Requests) != requests || string(r.Input.State) != state {
			t.Errorf("the client got %s and %s", r.Input.Requests, r.Input.State)
		}
		r, err = c.Raw(t.Context(), "tools/call", call, client.RawOptions{InputResponses: json.RawMessage(responses), RequestState: r.Input.State})
		if err != nil || r.Result == nil {
			t.Errorf("the retry gives %+v, %v", r, err)
		}
	}
}

func TestCallerIsTold(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		var name string
		w := newWorld(t, route.Naming{}, rawBackend("a", upModern, func(_ context.Context, req *server.Request) (*server.RawResult, error) {
			name = req.ClientInfo().Name
			return &server.RawResult{Result: json.RawMessage(`{"content":[]}`)}, nil
		}))
		c := w.dial(t, modern, client.Options{Info: mcp.Implementation{Name: "somebody", Version: "1"}})
		raw(t, c, "tools/call", `{"name":"odd"}`)
		want := "rialto-client" // the handshake of a shared connection is the gateway's own
		if upModern {
			want = "somebody"
		}
		if name != want {
			t.Errorf("the upstream is told of %q, want %q", name, want)
		}
	})
}

// twin is a server whose names another one has too. Its tool links to its own resource.
func twin(mark string) func(*server.Server) {
	return func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "search"}, func(context.Context, *server.Request, struct{}) ([]mcp.Content, error) {
			return []mcp.Content{
				mcp.Text(mark),
				&mcp.ResourceLink{URI: "memo://x", Name: "x"},
				&mcp.EmbeddedResource{Resource: mcp.TextResource("memo://x", "", mark)},
			}, nil
		})
		s.AddPrompt(mcp.Prompt{Name: "ask"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: &mcp.ResourceLink{URI: "memo://x", Name: mark}}}}, nil
		})
		s.AddResource(mcp.Resource{URI: "memo://x", Name: "x"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource("memo://x", "", mark)}}, nil
		})
	}
}

func TestCollisions(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{},
			backend{name: "a", modern: upModern, fill: twin("from a")},
			backend{name: "b", modern: upModern, fill: twin("from b")})
		c := w.dial(t, modern, client.Options{})
		for _, tc := range []struct{ method, params, want string }{
			{"tools/call", `{"name":"a__search"}`, `{"type":"text","text":"from a"},{"type":"resource_link","uri":"memo://x"`},
			{"tools/call", `{"name":"b__search"}`, `{"type":"text","text":"from b"},{"type":"resource_link","uri":"rialto+b:memo://x"`},
			{"tools/call", `{"name":"b__search"}`, `"resource":{"uri":"rialto+b:memo://x"`},
			{"prompts/get", `{"name":"a__ask"}`, `"uri":"memo://x"`},
			{"prompts/get", `{"name":"b__ask"}`, `"uri":"rialto+b:memo://x"`},
			{"resources/read", `{"uri":"memo://x"}`, `{"uri":"memo://x","text":"from a"}`},
			{"resources/read", `{"uri":"rialto+b:memo://x"}`, `{"uri":"rialto+b:memo://x","text":"from b"}`},
		} {
			if got := raw(t, c, tc.method, tc.params); !strings.Contains(got, tc.want) {
				t.Errorf("%s %s: got %s, want %s in it", tc.method, tc.params, got, tc.want)
			}
		}
		f := fault(t, c, "resources/read", `{"uri":"rialto+b:memo://gone"}`)
		if uri, _ := f.ResourceData(); uri != "rialto+b:memo://gone" {
			t.Errorf("a missing resource is called %q: %v", uri, f)
		}
		if f := fault(t, c, "tools/call", `{"name":"search"}`); f.Code != mcp.CodeInvalidParams {
			t.Errorf("a name that two have: %v", f)
		}
	})
}

func TestChanges(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{},
			backend{name: "a", modern: upModern, fill: everything(nil)},
			backend{name: "b", modern: upModern, fill: twin("b")})
		c := w.dial(t, modern, client.Options{})
		news, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true}) // which has begun when it comes back
		if err != nil {
			t.Fatal(err)
		}
		defer news.Close()
		hears := func(what string) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if _, err := news.Next(ctx); err != nil {
				t.Fatalf("%s was not announced: %v", what, err)
			}
		}
		before := toolNames(t, c)
		server.AddTool(w.servers["b"], mcp.Tool{Name: "fresh"}, func(context.Context, *server.Request, struct{}) (string, error) { return "new", nil })
		hears("the change")
		if after := toolNames(t, c); !slices.Equal(after, append(before, "fresh")) {
			t.Errorf("the tools are %q, were %q", after, before)
		}
		w.servers["b"].RemoveTool("fresh")
		hears("the removal")
		if f := fault(t, c, "tools/call", `{"name":"fresh"}`); f.Code != mcp.CodeInvalidParams {
			t.Errorf("a tool that has gone: %v", f)
		}
	})
}

func TestDown(t *testing.T) {
	w := newWorld(t, route.Naming{},
		backend{name: "good", modern: true, fill: everything(nil)},
		backend{name: "bad", down: errors.New("its plug is out")})
	for _, modern := range []bool{false, true} {
		c := w.dial(t, modern, client.Options{})
		if got := raw(t, c, "tools/call", `{"name":"echo","arguments":{"text":"hi"}}`); !strings.Contains(got, `"hi"`) {
			t.Errorf("the good server answers %s", got)
		}
	}
	_, err := w.set.Call(t.Context(), "bad", upstream.Call{Method: "tools/call", Params: json.RawMessage(`{"name":"x"}`)})
	if err == nil || !strings.Contains(err.Error(), `server "bad" cannot be reached at the moment: its plug is out`) {
		t.Errorf("got %v", err)
	}
}

// TestLost holds that a call whose server goes away under it is told so with the server's name and is not repeated, that the
// next one waits for the server to come back, and that no change is announced for it.
func TestLost(t *testing.T) {
	slow := make(chan error, 2)
	w := newWorld(t, route.Naming{}, backend{name: "a", modern: true, fill: everything(slow)})
	c := w.dial(t, false, client.Options{})
	raw(t, c, "tools/list", `{}`)
	w.mu.Lock()
	before, wire := w.changes, w.wires["a"]
	w.mu.Unlock()
	go func() {
		<-slow // the call has reached the server
		if err := wire.Close(); err != nil {
			t.Error(err)
		}
	}()
	f := fault(t, c, "tools/call", `{"name":"wait"}`)
	if f.Code != mcp.CodeInternal || f.Message != `server "a": tools/call got no answer; whether it was done is not known, so it was not repeated` {
		t.Errorf("got %v", f)
	}
	if got := raw(t, c, "tools/call", `{"name":"echo","arguments":{"text":"back"}}`); !strings.Contains(got, `"back"`) {
		t.Errorf("after the loss: %s", got)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changes != before {
		t.Error("a lost server that came back with the same lists was announced as a change")
	}
}
