package client_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// What a notification says to have changed is asked for anew, and nothing else.
func TestCacheNews(t *testing.T) {
	news := func(method, uri string) string {
		return `{"jsonrpc":"2.0","method":"` + method + `","params":{"uri":"` + uri + `"}}`
	}
	cases := []struct{ name, notice, again string }{
		{"tools", news("notifications/tools/list_changed", ""), "tools/list"},
		{"prompts", news("notifications/prompts/list_changed", ""), "prompts/list"},
		{"resources", news("notifications/resources/list_changed", ""), "resources/list resources/templates/list"},
		{"a resource", news("notifications/resources/updated", "a:b"), "resources/read"},
		{"a part of it", news("notifications/resources/updated", "a:b/c/d?x#y"), "resources/read"},
		{"another", news("notifications/resources/updated", "a:bc"), ""},
		{"the whole of it", news("notifications/resources/updated", "a:"), ""},
		{"nothing of the kind", news("notifications/message", "a:b"), ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			eras(t, hinted(`,"ttlMs":60000,"cacheScope":"public"`), func(t *testing.T, era string, conn transport.Conn, p *peer) {
				c := connect(t, conn, client.Options{Cache: client.CacheOptions{Floor: time.Minute}})
				all := func() {
					for _, k := range keepable {
						must(t, k.call(t.Context(), c, client.CallOptions{}))
					}
				}
				all()
				before := len(strings.Fields(p.methods()))
				p.write(&jsonrpc.Message{}, tc.notice)
				synctest.Wait()
				all()
				want := tc.again
				if era == "legacy" && !strings.Contains(want, "resources/read") { // reads of legacy servers are not kept
					want = strings.TrimSpace(want + " resources/read")
				}
				if got := strings.Join(strings.Fields(p.methods())[before:], " "); got != want {
					t.Errorf("asked again is %q, want %q", got, want)
				}
			})
		})
	}
}

// An answer that was under way when the news came may be of before: it is handed over and not kept.
func TestCacheNewsOvertakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		conn, p := play(modern(script{"tools/list": func(p *peer, m *jsonrpc.Message) {
			n++
			if n == 1 {
				p.write(m, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
			result(fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{}}],"ttlMs":60000,"cacheScope":"public"}`, n))(p, m)
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		for _, want := range []string{"[t1]", "[t2]", "[t2]"} {
			if got := fmt.Sprint(list(t, c)); got != want {
				t.Errorf("listed is %s, want %s", got, want)
			}
		}
	})
}

// After a stream of news was broken, nothing that was kept is used.
func TestCacheGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := hinted(`,"ttlMs":3600000,"cacheScope":"public"`)
		s["subscriptions/listen"] = func(p *peer, m *jsonrpc.Message) {
			p.write(m, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`)
		}
		conn, p := play(modern(s))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		sub, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true}, client.SubscribeOptions{Reconnect: true})
		must(t, err)
		defer sub.Close()
		calls := func(want int) {
			t.Helper()
			for _, k := range keepable {
				must(t, k.call(t.Context(), c, client.CallOptions{}))
				if got := p.asked(k.method); got != want {
					t.Errorf("%s: asked %d times, want %d", k.method, got, want)
				}
			}
		}
		calls(1)
		p.write(p.last(t, "subscriptions/listen"), `{"jsonrpc":"2.0","id":{id},"error":{"code":-32603,"message":"restarting"}}`)
		if e, err := sub.Next(t.Context()); err != nil || e.Kind != client.Gap {
			t.Fatalf("got %v, %v", e, err)
		}
		calls(2)
		calls(2)
	})
}

// TestC078StormOfNews: elsewhere 200 notices made 200 list calls, or lost the last change. Here a function that
// lists again runs once at a time, and once more after the last notice, and kept answers are not those of before.
func TestC078StormOfNews(t *testing.T) {
	var mu sync.Mutex
	version := 1
	rest := script{
		"subscriptions/listen": func(p *peer, m *jsonrpc.Message) {
			p.write(m, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":{id}}}}`)
		},
		"tools/list": func(p *peer, m *jsonrpc.Message) {
			mu.Lock()
			body := fmt.Sprintf(`{"tools":[{"name":"v%d","inputSchema":{}}],"ttlMs":3600000,"cacheScope":"public"}`, version)
			mu.Unlock()
			go func() {
				time.Sleep(2 * time.Second)
				result(body)(p, m)
			}()
		},
	}
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{Cache: client.CacheOptions{Floor: time.Hour}})
		var seen []string
		defer c.OnToolsChange(func() {
			for tool, err := range c.Tools(t.Context()) {
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				seen = append(seen, tool.Name)
				mu.Unlock()
			}
		})()
		synctest.Wait()
		id := ""
		if era == "modern" {
			id = `"_meta":{"io.modelcontextprotocol/subscriptionId":` + p.last(t, "subscriptions/listen").ID.String() + `}`
		}
		for i := range 200 {
			if i == 100 {
				time.Sleep(time.Second) // the first refresh is under way
			}
			mu.Lock()
			version++
			mu.Unlock()
			p.write(&jsonrpc.Message{}, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{`+id+`}}`)
		}
		want := fmt.Sprintf("v%d", version)
		time.Sleep(10 * time.Second)
		mu.Lock()
		seen = slices.Clone(seen)
		mu.Unlock()
		if len(seen) == 0 || seen[len(seen)-1] != want || p.asked("tools/list") > 2 {
			t.Errorf("asked %d times, seen %q, want %s", p.asked("tools/list"), seen, want)
		}
		if got := list(t, c); len(got) != 1 || got[0] != want || p.asked("tools/list") > 2 {
			t.Errorf("kept is %q, asked %d times", got, p.asked("tools/list"))
		}
	})
}
