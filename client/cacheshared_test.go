package client_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	rialto "github.com/rialto-mcp/rialto/server"
)

// scoped serves a public list of tools and a private one of prompts.
func scoped(t *testing.T) *web {
	t.Helper()
	discover := strings.Replace(discoverOK, `{"tools":{}}`, `{"tools":{},"prompts":{}}`, 1)
	return serve(t, reactions{
		"server/discover": answer(200, jsonType, discover),
		"tools/list":      answer(200, jsonType, `{"jsonrpc":"2.0","id":{id},"result":{"tools":[],"ttlMs":60000,"cacheScope":"public"}}`),
		"prompts/list":    answer(200, jsonType, `{"jsonrpc":"2.0","id":{id},"result":{"prompts":[],"ttlMs":60000,"cacheScope":"private"}}`),
	})
}

// Who may use what another client has put into the store they share.
func TestCacheShared(t *testing.T) {
	named := func(name string) func(context.Context) string { return func(context.Context) string { return name } }
	token := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	one := client.Options{Headers: token("one")}
	cases := []struct {
		name            string
		first, second   client.Options
		public, private bool // the second uses what the first has stored
	}{
		{"the same program twice", one, one, true, false},
		{"other credentials", one, client.Options{Headers: token("two")}, true, false},
		{"other headers", one, client.Options{Headers: http.Header{"X-Tenant": {"two"}}}, false, false},
		{"other capabilities", one, client.Options{Roots: []mcp.Root{}}, false, false},
		{"the same user", client.Options{Cache: client.CacheOptions{Partition: named("ann")}}, client.Options{Cache: client.CacheOptions{Partition: named("ann")}}, true, true},
		{"another user", client.Options{Cache: client.CacheOptions{Partition: named("ann")}}, client.Options{Cache: client.CacheOptions{Partition: named("bob")}}, true, false},
		{"nobody knows the user", client.Options{Cache: client.CacheOptions{Partition: named("")}}, client.Options{Cache: client.CacheOptions{Partition: named("")}}, true, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := scoped(t)
			store := client.NewMemoryCache(0, 0)
			dial := func(o client.Options) *client.Client {
				o.Mode, o.Cache.Store = client.Modern, store
				c, err := client.DialHTTP(t.Context(), s.URL, o)
				must(t, err)
				t.Cleanup(func() { c.Close() })
				return c
			}
			lists := func(c *client.Client) (sent string) {
				before := len(s.sent())
				_, err := c.ListTools(t.Context(), nil)
				must(t, err)
				_, err = c.ListPrompts(t.Context(), nil)
				must(t, err)
				return strings.TrimSpace(s.sent()[before:])
			}
			if got := lists(dial(tc.first)); got != "tools/list prompts/list" {
				t.Errorf("the first has sent %q", got)
			}
			var want []string
			if !tc.public {
				want = append(want, "tools/list")
			}
			if !tc.private {
				want = append(want, "prompts/list")
			}
			if got := lists(dial(tc.second)); got != strings.Join(want, " ") {
				t.Errorf("the second has sent %q, want %q", got, want)
			}
		})
	}
}

// Calls for several users through one client, two of them at once, never get each other's answers.
func TestCacheUsersApart(t *testing.T) {
	type user struct{}
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(script{"resources/read": func(p *peer, m *jsonrpc.Message) {
			go func() {
				time.Sleep(time.Second)
				result(fmt.Sprintf(`{"contents":[{"uri":"me","text":"%d"}],"ttlMs":60000,"cacheScope":"private"}`, p.asked("resources/read")))(p, m)
			}()
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{Cache: client.CacheOptions{Partition: func(ctx context.Context) string {
			name, _ := ctx.Value(user{}).(string)
			return name
		}}})
		read := func(name string) {
			if _, err := c.ReadResource(context.WithValue(t.Context(), user{}, name), "me"); err != nil {
				t.Error(err)
			}
		}
		for i, tc := range []struct {
			users string
			asked int
		}{{"ab", 2}, {"aabb", 2}, {"??", 4}, {"?a", 5}} {
			done := make(chan struct{})
			for _, u := range tc.users {
				go func() {
					read(strings.Trim(string(u), "?"))
					done <- struct{}{}
				}()
			}
			for range tc.users {
				<-done
			}
			if got := p.asked("resources/read"); got != tc.asked {
				t.Errorf("round %d: asked %d times, want %d", i, got, tc.asked)
			}
		}
	})
}

// A client that takes a list from the store knows which arguments its headers repeat. When the server shows that the list is
// an old one, it is forgotten.
func TestCacheSharedMirrors(t *testing.T) {
	s := serveStrict(t, rialto.Options{Cache: mcp.CacheFor(time.Hour, mcp.CachePublic)}, map[string]string{"marked": markedSchema})
	store := client.NewMemoryCache(0, 0)
	dial := func() *client.Client {
		c := s.dial(t, client.Options{Cache: client.CacheOptions{Store: store}})
		s.last()
		return c
	}
	list(t, dial())
	c := dial()
	list(t, c)
	call := func(want string) {
		t.Helper()
		if _, err := c.CallTool(t.Context(), "marked", map[string]any{"text": "x"}); err != nil {
			t.Error(err)
		}
		if _, posts := s.last(); posts != want {
			t.Errorf("posted were %s, want %s", posts, want)
		}
	}
	call("tools/call")
	s.add(t, "marked", strings.Replace(markedSchema, `"Text"`, `"Words"`, 1))
	call("tools/call tools/list tools/call")
	list(t, dial())
	if _, posts := s.last(); posts != "tools/list" {
		t.Errorf("a new client has posted %q", posts)
	}
}

// Only the word "public" makes an answer public: what has no scope, or any other, stays with the user it was given to.
func TestCacheSharedOddScopes(t *testing.T) {
	for scope, asked := range map[string]int{
		`,"cacheScope":"public"`: 1, "": 2, `,"cacheScope":"Public"`: 2, `,"cacheScope":"public "`: 2, `,"cacheScope":"shared"`: 2,
		`,"cacheScope":null`: 2, `,"cacheScope":true`: 2, `,"cacheScope":["public"]`: 2, `,"CacheScope":"public"`: 2,
	} {
		s := serve(t, reactions{
			"server/discover": answer(200, jsonType, discoverOK),
			"tools/list":      answer(200, jsonType, `{"jsonrpc":"2.0","id":{id},"result":{"tools":[],"ttlMs":60000`+scope+`}}`),
		})
		store := client.NewMemoryCache(0, 0)
		for _, user := range []string{"ann", "bob"} {
			c, err := client.DialHTTP(t.Context(), s.URL, client.Options{Mode: client.Modern, Cache: client.CacheOptions{
				Store: store, Partition: func(context.Context) string { return user },
			}})
			must(t, err)
			_, err = c.ListTools(t.Context(), nil)
			must(t, err)
			c.Close()
		}
		if got := strings.Count(s.sent(), "tools/list"); got != asked {
			t.Errorf("%s: asked %d times, want %d", scope, got, asked)
		}
	}
}
