package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// withoutTool shapes every server to lack a tool.
func withoutTool(name string) func([]upstream.Snapshot) []upstream.Snapshot {
	return func(snaps []upstream.Snapshot) []upstream.Snapshot {
		out := slices.Clone(snaps)
		for i, s := range snaps {
			lists := *s.Lists
			lists.Tools = slices.DeleteFunc(slices.Clone(lists.Tools), func(tool upstream.Item) bool { return tool.Key == name })
			out[i].Lists = &lists
		}
		return out
	}
}

// TestShape holds that what rules leave out of the lists of a server is not there for anybody.
func TestShape(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, bridge.Options{Rules: bridge.Rules{Shape: withoutTool("echo")}}, backend{name: "a", modern: upModern, fill: everything(nil)})
		c := w.dial(t, modern, client.Options{})
		if names := toolNames(t, c); slices.Contains(names, "echo") || !slices.Contains(names, "sum") {
			t.Errorf("the tools are %v", names)
		}
		if f := fault(t, c, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"x"}}`); f.Code != mcp.CodeInvalidParams {
			t.Errorf("calling it: %v", f)
		}
	})
}

// hidden shows bob less than others, by X-Who.
func hidden(req *server.Request) bridge.Sight {
	if req.Principal() == nil || req.Principal().Subject != "bob" {
		return bridge.Sight{}
	}
	secret := []string{"echo", "greet", "memo://one", "memo://n/7", "memo://n/{id}"}
	return bridge.Sight{Key: "bob", Shows: func(_ route.Kind, to route.Target) bool { return !slices.Contains(secret, to.Name) }}
}

var byName = server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal { return &mcp.Principal{Subject: r.Header.Get("X-Who")} }}

// dialAs is dialHTTP for a principal of byName.
func (w *world) dialAs(t *testing.T, modern bool, who string, o client.Options) *client.Client {
	o.Headers = map[string][]string{"X-Who": {who}}
	return w.dialHTTP(t, modern, o)
}

// TestSight holds that what a caller may not see is neither listed to it nor there when it asks for it, as if it did not exist.
func TestSight(t *testing.T) {
	asks := []struct{ name, method, params, unknown string }{
		{"tool", mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"x"}}`, `{"name":"nosuch"}`},
		{"prompt", mcp.MethodGetPrompt, `{"name":"greet","arguments":{"name":"x"}}`, `{"name":"nosuch"}`},
		{"completion of a prompt", mcp.MethodComplete, `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"name","value":"x"}}`,
			`{"ref":{"type":"ref/prompt","name":"nosuch"},"argument":{"name":"name","value":"x"}}`},
		{"completion of a template", mcp.MethodComplete, `{"ref":{"type":"ref/resource","uri":"memo://n/{id}"},"argument":{"name":"id","value":"x"}}`,
			`{"ref":{"type":"ref/prompt","name":"nosuch"},"argument":{"name":"name","value":"x"}}`},
	}
	lists := []string{mcp.MethodListTools, mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListResourceTemplates}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, bridge.Options{Rules: bridge.Rules{Sight: hidden}, Server: server.Options{HTTP: byName}},
			backend{name: "a", modern: upModern, fill: everything(nil)})
		ann, bob := w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "bob", client.Options{})
		for _, method := range lists {
			full, less := raw(t, ann, method, `{}`), raw(t, bob, method, `{}`)
			for _, name := range []string{`"echo"`, `"greet"`, `"memo://one"`, `"memo://n/{id}"`} {
				if strings.Contains(less, name) {
					t.Errorf("%s shows bob %s", method, name)
				}
			}
			if len(full) <= len(less) {
				t.Errorf("%s shows ann %s", method, full)
			}
		}
		for _, ask := range asks {
			raw(t, ann, ask.method, ask.params)
			got, want := fault(t, bob, ask.method, ask.params), fault(t, ann, ask.method, ask.unknown)
			if got.Code != want.Code {
				t.Errorf("%s: bob gets %v, and for one that does not exist %v", ask.name, got, want)
			}
		}
		for _, uri := range []string{"memo://one", "memo://n/7"} {
			if _, err := ann.ReadResource(t.Context(), uri); err != nil {
				t.Errorf("ann reads %s: %v", uri, err)
			}
			if _, err := bob.ReadResource(t.Context(), uri); err == nil {
				t.Errorf("bob reads %s", uri)
			}
		}
	})
}

// TestManySights holds that callers with a key each see what is theirs, however many there are.
func TestManySights(t *testing.T) {
	sight := func(req *server.Request) bridge.Sight {
		who := req.Principal().Subject
		return bridge.Sight{Key: who, Shows: func(kind route.Kind, to route.Target) bool {
			return kind != route.Tool || to.Name == who || to.Name == "all"
		}}
	}
	const callers = 300
	w := newWorldWith(t, bridge.Options{Rules: bridge.Rules{Sight: sight}, Server: server.Options{HTTP: byName}}, backend{name: "a", modern: true, fill: func(s *server.Server) {
		for i := range callers {
			server.AddTool(s, mcp.Tool{Name: fmt.Sprintf("t%d", i)}, func(context.Context, *server.Request, struct{}) (string, error) { return "", nil })
		}
		server.AddTool(s, mcp.Tool{Name: "all"}, func(context.Context, *server.Request, struct{}) (string, error) { return "", nil })
	}})
	url := listen(t, w.bridge.Server())
	for round := range 2 { // the first ones are forgotten by the second
		for i := range callers {
			who := fmt.Sprintf("t%d", i)
			c, err := client.DialHTTP(t.Context(), url, ofEra(true, client.Options{Headers: map[string][]string{"X-Who": {who}}}))
			if got := toolNames(t, whole(t, c, err)); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"all", who}) {
				t.Fatalf("round %d: %s sees %v", round, who, got)
			}
		}
	}
}

// TestSteps holds that steps are taken in order around what goes to a server, and may refuse it, or exchange what is sent and
// what comes back.
func TestSteps(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		var mu sync.Mutex
		var took []string
		note := func(name string) bridge.Step {
			return func(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
				r, err := next(ctx)
				mu.Lock()
				defer mu.Unlock()
				took = append(took, fmt.Sprintf("%s %s %s/%s", name, p.Kind, p.Server, p.Name))
				return r, err
			}
		}
		edit := func(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
			if p.Name == "sum" {
				return nil, mcp.Errorf(mcp.Code(4711), "not today")
			}
			p.Params = json.RawMessage(strings.Replace(string(p.Params), "secret", "public", 1))
			r, err := next(ctx)
			if err == nil && r.Result != nil {
				r.Result = json.RawMessage(strings.Replace(string(r.Result), "public", "PUBLIC", 1))
			}
			return r, err
		}
		rules := bridge.Rules{Naming: route.Naming{Mode: route.Always}, Steps: []bridge.Step{note("outer"), edit, note("inner")}}
		w := newWorldWith(t, bridge.Options{Rules: rules}, backend{name: "a", modern: upModern, fill: everything(nil)})
		c := w.dial(t, modern, client.Options{})
		if got := raw(t, c, mcp.MethodCallTool, `{"name":"a__echo","arguments":{"text":"secret"}}`); !strings.Contains(got, "PUBLIC") {
			t.Errorf("echo answers %s", got)
		}
		if f := fault(t, c, mcp.MethodCallTool, `{"name":"a__sum"}`); f.Code != 4711 {
			t.Errorf("sum is refused with %v", f)
		}
		raw(t, c, mcp.MethodReadResource, `{"uri":"memo://one"}`)
		want := []string{"inner tool a/echo", "outer tool a/echo", "outer tool a/sum", "inner resource a/memo://one", "outer resource a/memo://one"}
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(took, want) {
			t.Errorf("the steps were %q", took)
		}
	})
}

// TestReloadOfRules holds that other rules hold from a reload on, for connections that stand already.
func TestReloadOfRules(t *testing.T) {
	w := newWorld(t, route.Naming{}, backend{name: "a", modern: true, fill: everything(nil)})
	c := w.dial(t, true, client.Options{})
	raw(t, c, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"x"}}`)
	if err := w.bridge.Reload(bridge.Rules{Shape: withoutTool("echo")}, []string{"a"}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	fault(t, c, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"x"}}`)
	if err := w.bridge.Reload(bridge.Rules{}, []string{"a"}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	raw(t, c, mcp.MethodCallTool, `{"name":"echo","arguments":{"text":"x"}}`)
}

// TestHiddenResourcesAreNotFollowed holds that a client of either era cannot subscribe to what it does not see, and learns
// nothing by trying; and that a rule may keep what is seen from being followed.
func TestHiddenResourcesAreNotFollowed(t *testing.T) {
	rules := bridge.Rules{Sight: hidden, Follows: func(_ *server.Request, e bridge.Entry) bool { return e.Name != "memo://n/9" }}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, bridge.Options{Rules: rules, Server: server.Options{HTTP: byName}}, backend{name: "a", modern: upModern, fill: everything(nil)})
		ann, bob := w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "bob", client.Options{})
		for _, tc := range []struct {
			c    *client.Client
			uri  string
			want string
		}{
			{bob, "memo://one", "[]"}, {bob, "memo://n/7", "[]"}, {ann, "memo://n/9", "[]"}, {bob, "memo://n/8", "[memo://n/8]"}, {ann, "memo://one", "[memo://n/8 memo://one]"},
		} {
			s, err := tc.c.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{tc.uri}})
			if err == nil {
				defer s.Close()
			}
			if got := fmt.Sprint(w.bridge.Server().Subscriptions()); got != tc.want {
				t.Errorf("after %s: %s are followed, want %s (%v)", tc.uri, got, tc.want, err)
			}
		}
	})
}
