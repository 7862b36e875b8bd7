package server_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// visibly is a server of which callers see what the filter leaves: everything whose name has no "secret" in it.
func visibly(t testing.TB, opts server.Options) *server.Server {
	t.Helper()
	opts.Visible = func(_ context.Context, _ server.Caller, _ server.ListKind, name string) bool {
		return !strings.Contains(name, "secret")
	}
	s := newServer(opts)
	read := func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: "read"}}, Cache: mcp.CacheFor(time.Hour, mcp.CachePublic)}, nil
	}
	fill := func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, nil
	}
	family := func(ctx context.Context, r *server.Request, _ map[string]string) (*mcp.ReadResourceResult, error) {
		return read(ctx, r)
	}
	complete := func(context.Context, *server.Request, string, map[string]string) ([]string, error) {
		return []string{"v"}, nil
	}
	for _, name := range []string{"secret1", "a", "secret2", "b", "secret3", "c"} {
		rawTool(t, s, name, func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return mcp.TextResult("ran"), nil })
		s.AddPrompt(mcp.Prompt{Name: name}, fill)
		s.CompletePrompt(name, "x", complete)
		s.AddResource(mcp.Resource{URI: "one:" + name, Name: "n"}, read)
		s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: name + ":{x}", Name: "n"}, family)
		s.CompleteTemplate(name+":{x}", "x", complete)
	}
	return s
}

// Lists leave out what a caller may not see, on every wire, in one page and in many.
func TestVisibleLists(t *testing.T) {
	for _, size := range []int{0, 1, 2, 3, 6} {
		s := visibly(t, server.Options{PageSize: size, Cache: mcp.CacheFor(time.Minute, mcp.CachePublic)})
		for _, wire := range mcptest.Wires() {
			c := wire.Dial(t, s)
			var got []string
			for tool, err := range c.Tools(t.Context()) {
				got = append(got, fmt.Sprint(tool.Name, err))
			}
			for prompt, err := range c.Prompts(t.Context()) {
				got = append(got, fmt.Sprint(prompt.Name, err))
			}
			for resource, err := range c.Resources(t.Context()) {
				got = append(got, fmt.Sprint(resource.URI, err))
			}
			for template, err := range c.ResourceTemplates(t.Context()) {
				got = append(got, fmt.Sprint(template.URITemplate, err))
			}
			want := "a<nil> b<nil> c<nil> a<nil> b<nil> c<nil> one:a<nil> one:b<nil> one:c<nil> a:{x}<nil> b:{x}<nil> c:{x}<nil>"
			if all := strings.Join(got, " "); all != want {
				t.Errorf("%s, pages of %d: %s", wire.Name, size, all)
			}
		}
	}
}

// A cursor tells nothing of what its caller may not see, and pages that differ by caller are nothing for shared caches.
func TestVisiblePages(t *testing.T) {
	s := visibly(t, server.Options{PageSize: 1, Cache: mcp.CacheFor(time.Minute, mcp.CachePublic)})
	w := dial(t, s, modern)
	for cursor, next := range map[string]string{"": "1:a", "1:a": "2:b", "2:b": ""} {
		m := w.call("tools/list", fmt.Sprintf(`"cursor":%q`, base64.RawURLEncoding.EncodeToString([]byte(cursor))))
		got, err := base64.RawURLEncoding.DecodeString(strings.Trim(member(t, m.Result, "nextCursor"), `"`))
		if err != nil || string(got) != next {
			t.Errorf("after %q comes %q, %v", cursor, got, err)
		}
		if scope := member(t, m.Result, "cacheScope"); scope != `"private"` {
			t.Errorf("the scope is %s", scope)
		}
	}
	w.want("tools/list", fmt.Sprintf(`"cursor":%q`, base64.RawURLEncoding.EncodeToString([]byte("9000000000000000000:a"))), // made up
		`{"tools":[{"name":"b","inputSchema":{"type":"object","properties":{}}}],"nextCursor":"`+base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d:b", 1<<40+1))+`"}`)
	if scope := member(t, w.call("resources/read", `"uri":"one:a"`).Result, "cacheScope"); scope != `"private"` {
		t.Errorf("the scope of a read is %s", scope)
	}
}

// What is hidden and what does not exist are answered alike, but for the name that was asked for.
func TestVisibleCalls(t *testing.T) {
	for _, opts := range []server.Options{
		{},
		{Fallback: func(context.Context, *server.Request) (*server.RawResult, error) { return nil, server.ErrUnhandled }},
	} {
		s := visibly(t, opts)
		for _, revision := range bothEras {
			w := dial(t, s, revision)
			for _, tc := range []struct{ method, members string }{
				{"tools/call", `"name":"NAME"`},
				{"tools/call", `"name":"NAME","arguments":[]`},
				{"prompts/get", `"name":"NAME"`},
				{"resources/read", `"uri":"one:NAME"`},
				{"resources/read", `"uri":"NAME:1"`},
				{"completion/complete", `"ref":{"type":"ref/prompt","name":"NAME"},"argument":{"name":"x","value":""}`},
				{"completion/complete", `"ref":{"type":"ref/resource","uri":"one:NAME"},"argument":{"name":"x","value":""}`},
				{"completion/complete", `"ref":{"type":"ref/resource","uri":"NAME:{x}"},"argument":{"name":"x","value":""}`},
			} {
				ask := func(name string) string {
					m := w.call(tc.method, strings.ReplaceAll(tc.members, "NAME", name))
					if m.Error == nil {
						return "ok"
					}
					return strings.ReplaceAll(fmt.Sprintf("%d %s %s", m.Error.Code, m.Error.Message, m.Error.Data), name, "NAME")
				}
				seen, hidden, missing := ask("b"), ask("secret1"), ask("nosuch9")
				if hidden != missing || hidden == "ok" || seen != "ok" && !strings.Contains(tc.members, "[]") {
					t.Errorf("%s %s %s\nseen    %s\nhidden  %s\nmissing %s", revision, tc.method, tc.members, seen, hidden, missing)
				}
			}
		}
	}
}

// A fallback is not asked for what is hidden: it would answer for it.
func TestVisibleBeforeFallback(t *testing.T) {
	s := visibly(t, server.Options{Fallback: func(_ context.Context, r *server.Request) (*server.RawResult, error) {
		if strings.Contains(r.Name(), "secret") {
			t.Errorf("the fallback was asked for %s %s", r.Method(), r.Name())
		}
		return &server.RawResult{Result: []byte(`{"by":"fallback"}`)}, nil
	}})
	w := dial(t, s, legacy)
	w.want("tools/call", `"name":"other"`, `{"by":"fallback"}`)
	w.want("tools/call", `"name":"secret9"`, `error -32602`)
	w.want("prompts/get", `"name":"secret9"`, `error -32602`)
	w.want("resources/read", `"uri":"secret:9"`, `error -32002 {"uri":"secret:9"}`)
	w.want("resources/read", `"uri":"other:9"`, `{"by":"fallback"}`)
}

// Who may not read a resource hears nothing of its changes, and cannot tell that there is something to hear of.
func TestVisibleSubscriptions(t *testing.T) {
	s := visibly(t, server.Options{})
	w := dial(t, s, legacy)
	w.want("resources/subscribe", `"uri":"one:a"`, `{}`)
	w.want("resources/subscribe", `"uri":"one:secret1"`, `error -32002 {"uri":"one:secret1"}`)
	w.want("resources/subscribe", `"uri":"one:nosuch"`, `error -32002 {"uri":"one:nosuch"}`)
	w = dial(t, s, modern)
	w.start(mcp.MethodListen, `"notifications":{"resourceSubscriptions":["one:a","one:secret1","one:nosuch","b:1","secret1:1"]}`)
	if m := w.Next(); member(t, m.Params, "notifications", "resourceSubscriptions") != `["one:a","b:1"]` {
		t.Errorf("honoured: %s", m.Params)
	}
}

// Who may not follow a resource is told that there is none, and hears nothing of it; that goes by the whole request.
func TestMayFollow(t *testing.T) {
	s := newServer(server.Options{
		Capabilities: mcp.ServerCapabilities{Resources: &mcp.ResourcesCapability{Subscribe: true}},
		MayFollow: func(_ context.Context, r *server.Request, uri string) bool {
			return r.Method() != mcp.MethodCallTool && uri != "one:secret"
		},
	})
	w := dial(t, s, legacy)
	w.want("resources/subscribe", `"uri":"one:a"`, `{}`)
	w.want("resources/subscribe", `"uri":"one:secret"`, `error -32002 {"uri":"one:secret"}`)
	w = dial(t, s, modern)
	w.start(mcp.MethodListen, `"notifications":{"resourceSubscriptions":["one:a","one:secret","b:1"]}`)
	if m := w.Next(); member(t, m.Params, "notifications", "resourceSubscriptions") != `["one:a","b:1"]` {
		t.Errorf("honoured: %s", m.Params)
	}
}

// A filter goes by who asks: by the principal in both eras, by the session on the legacy one alone, and nothing else of the
// connection is shown to it.
func TestVisibleByCaller(t *testing.T) {
	var mu sync.Mutex
	sessions := map[string]bool{}
	s := newServer(server.Options{
		HTTP: server.HTTPOptions{Principal: func(r *http.Request) *mcp.Principal {
			return &mcp.Principal{Subject: r.Header.Get("X-User")}
		}},
		Visible: func(_ context.Context, who server.Caller, kind server.ListKind, name string) bool {
			mu.Lock()
			defer mu.Unlock()
			sessions[who.SessionID] = true
			return kind == server.Tools && (name == "all" || name == who.Principal.Subject)
		},
	})
	for _, name := range []string{"ada", "all", "bob"} {
		rawTool(t, s, name, nothing)
	}
	url := mcptest.Serve(t, s)
	for mode, wanted := range map[client.Mode]int{client.Modern: 1, client.Legacy: 2} {
		clear(sessions)
		for user, want := range map[string]string{"ada": "[ada all]", "bob": "[all bob]"} {
			c, err := client.DialHTTP(t.Context(), url, client.Options{Mode: mode, Headers: http.Header{"X-User": {user}}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					t.Error(err)
				}
				got = append(got, tool.Name)
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%s sees %s, want %s", user, got, want)
			}
			for _, name := range []string{"ada", "bob"} {
				if _, err := c.CallTool(t.Context(), name, nil); (err == nil) != (name == user) {
					t.Errorf("%s calls %s: %v", user, name, err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if len(sessions) != wanted || sessions[""] != (mode == client.Modern) {
			t.Errorf("mode %d: %d sessions, one without a name: %v", mode, len(sessions), sessions[""])
		}
	}
}

// A filter holds at the time of a call, also for a tool that came under a new name after the last list, and for one that
// was never listed. Seen to fail with the check in callTool taken out.
func TestC079VisibleAfterRename(t *testing.T) {
	allowed := []string{"look"}
	s := newServer(server.Options{Visible: func(_ context.Context, _ server.Caller, _ server.ListKind, name string) bool {
		return slices.Contains(allowed, name)
	}})
	rawTool(t, s, "look", nothing)
	rawTool(t, s, "delete_all", nothing)
	for _, revision := range bothEras {
		w := dial(t, s, revision)
		w.want("tools/list", ``, `{"tools":[{"name":"look","inputSchema":{"type":"object","properties":{}}}]}`)
		s.RemoveTool("delete_all")
		rawTool(t, s, "purge", nothing)
		w.want("tools/call", `"name":"purge"`, "error -32602")
		w.want("tools/call", `"name":"delete_all"`, "error -32602")
		w.want("tools/call", `"name":"look"`, `{"content":[]}`)
	}
}

// A list that is asked for announces nothing, whatever its caller sees of it.
func TestC077ListsAnnounceNothing(t *testing.T) {
	s := visibly(t, server.Options{})
	for _, revision := range bothEras {
		w := dial(t, s, revision)
		for range 50 {
			w.call("tools/list", ``)
			if len(w.notices) > 0 {
				t.Fatalf("%s: %s", revision, w.notices)
			}
		}
	}
}
