package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// keepable are calls whose answers may be kept, and what they are answered with before the members that say how long.
var keepable = []struct {
	method, body string
	call         func(ctx context.Context, c *client.Client, o client.CallOptions) error
}{
	{"tools/list", `"tools":[]`, func(ctx context.Context, c *client.Client, o client.CallOptions) error {
		_, err := c.ListTools(ctx, nil, o)
		return err
	}},
	{"prompts/list", `"prompts":[]`, func(ctx context.Context, c *client.Client, o client.CallOptions) error {
		_, err := c.ListPrompts(ctx, nil, o)
		return err
	}},
	{"resources/list", `"resources":[]`, func(ctx context.Context, c *client.Client, o client.CallOptions) error {
		_, err := c.ListResources(ctx, nil, o)
		return err
	}},
	{"resources/templates/list", `"resourceTemplates":[]`, func(ctx context.Context, c *client.Client, o client.CallOptions) error {
		_, err := c.ListResourceTemplates(ctx, nil, o)
		return err
	}},
	{"resources/read", `"contents":[]`, func(ctx context.Context, c *client.Client, o client.CallOptions) error {
		_, err := c.ReadResource(ctx, "a:b", o)
		return err
	}},
}

// hinted is a script that answers all that may be kept with one hint, such as `,"ttlMs":1000`.
func hinted(hint string) script {
	s := script{}
	for _, k := range keepable {
		s[k.method] = result(`{"resultType":"complete",` + k.body + hint + `}`)
	}
	return s
}

// asked counts how often a method has come.
func (p *peer) asked(method string) (n int) {
	for name := range strings.FieldsSeq(p.methods()) {
		if name == method {
			n++
		}
	}
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// How long an answer is kept: what each server says, and what each client allows. The wanted times are the last at which
// the answer is used and the first at which the server is asked again; 0 is an answer that is not kept.
func TestCacheTimes(t *testing.T) {
	const day = 24 * time.Hour
	cases := []struct {
		name, era, hint string
		opts            client.CacheOptions
		lists, reads    time.Duration
	}{
		{"seconds", "modern", `,"ttlMs":5000,"cacheScope":"private"`, client.CacheOptions{}, 5 * time.Second, 5 * time.Second},
		{"public", "modern", `,"ttlMs":5000,"cacheScope":"public"`, client.CacheOptions{}, 5 * time.Second, 5 * time.Second},
		{"no scope", "modern", `,"ttlMs":5000`, client.CacheOptions{}, 5 * time.Second, 5 * time.Second},
		{"odd scope", "modern", `,"ttlMs":5000,"cacheScope":"everybody"`, client.CacheOptions{}, 5 * time.Second, 5 * time.Second},
		{"zero", "modern", `,"ttlMs":0,"cacheScope":"private"`, client.CacheOptions{}, 0, 0},
		{"zero, with a floor", "modern", `,"ttlMs":0,"cacheScope":"private"`, client.CacheOptions{Floor: time.Minute}, 0, 0},
		{"negative", "modern", `,"ttlMs":-5,"cacheScope":"private"`, client.CacheOptions{}, 0, 0},
		{"nothing said", "modern", ``, client.CacheOptions{}, 0, 0},
		{"nothing said, with a floor", "modern", ``, client.CacheOptions{Floor: time.Minute}, 0, 0},
		{"years", "modern", `,"ttlMs":9007199254740991,"cacheScope":"public"`, client.CacheOptions{}, day, day},
		{"bounded", "modern", `,"ttlMs":5000,"cacheScope":"public"`, client.CacheOptions{MaxTTL: time.Second}, time.Second, time.Second},
		{"not bounded", "modern", `,"ttlMs":172800000,"cacheScope":"public"`, client.CacheOptions{MaxTTL: -1}, 2 * day, 2 * day},
		{"off", "modern", `,"ttlMs":5000,"cacheScope":"public"`, client.CacheOptions{Off: true, Floor: time.Minute}, 0, 0},
		{"legacy", "legacy", ``, client.CacheOptions{}, 0, 0},
		{"legacy, with a floor", "legacy", ``, client.CacheOptions{Floor: time.Minute}, time.Minute, 0},
		{"legacy, which has no such member", "legacy", `,"ttlMs":5000,"cacheScope":"public"`, client.CacheOptions{}, 0, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				open := map[string]func(script) script{"modern": modern, "legacy": legacy}[tc.era]
				conn, p := play(open(hinted(tc.hint)))
				defer p.conn.Close()
				c := connect(t, conn, client.Options{Cache: tc.opts})
				for _, k := range keepable {
					want := tc.lists
					if k.method == "resources/read" {
						want = tc.reads
					}
					call := func() int { must(t, k.call(t.Context(), c, client.CallOptions{})); return p.asked(k.method) }
					call()
					if want == 0 {
						if got := call(); got != 2 {
							t.Errorf("%s: asked %d times", k.method, got)
						}
						continue
					}
					time.Sleep(want - time.Nanosecond)
					if got := call(); got != 1 {
						t.Errorf("%s: asked %d times before the end", k.method, got)
					}
					time.Sleep(time.Nanosecond)
					if got := call(); got != 2 {
						t.Errorf("%s: asked %d times after the end", k.method, got)
					}
				}
			})
		})
	}
}

// Each page has its own time, and what a caller does with an answer is not seen by the next.
func TestCachePages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(script{"tools/list": func(p *peer, m *jsonrpc.Message) {
			cursor, _ := jsonrpc.Member(m.Params, "cursor")
			switch string(cursor) {
			case "":
				result(`{"tools":[{"name":"a","inputSchema":{"type":"object"},"_meta":{"k":"v"},"x":[1]}],"nextCursor":"","ttlMs":10000,"cacheScope":"public"}`)(p, m)
			case `""`:
				result(`{"tools":[],"nextCursor":"last","ttlMs":5000,"cacheScope":"public"}`)(p, m)
			default:
				result(`{"tools":[{"name":"b","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"public"}`)(p, m)
			}
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		for i, want := range []int{3, 4, 6, 8} { // at 0, 4, 8 and 12 s
			if got := list(t, c); fmt.Sprint(got) != "[a b]" {
				t.Fatalf("listed are %q", got)
			}
			if got := p.asked("tools/list"); got != want {
				t.Errorf("round %d: asked %d times, want %d", i, got, want)
			}
			time.Sleep(4 * time.Second)
		}
		spoilt, err := c.ListTools(t.Context(), nil)
		must(t, err)
		for _, raw := range [][]byte{spoilt.Tools[0].InputSchema, spoilt.Tools[0].Meta, spoilt.Tools[0].Extra} {
			clear(raw)
		}
		again, err := c.ListTools(t.Context(), nil)
		must(t, err)
		if got, err := json.Marshal(again.Tools); err != nil || !strings.Contains(string(got), `"k":"v"`) || !strings.Contains(string(got), `"x":[1]`) {
			t.Errorf("the next caller gets %s, %v", got, err)
		}
		if left := again.Cache.TTL(); left != 6*time.Second {
			t.Errorf("the answer is said to be good for %s more", left)
		}
	})
}

func TestCacheModes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		conn, p := play(modern(script{"resources/read": func(p *peer, m *jsonrpc.Message) {
			n++
			result(fmt.Sprintf(`{"contents":[{"uri":"a","text":"%d"}],"ttlMs":60000,"cacheScope":"private"}`, n))(p, m)
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		read := func(o client.CallOptions) string {
			r, err := c.ReadResource(t.Context(), "a", o)
			must(t, err)
			return r.Contents[0].Text
		}
		meta, err := mcp.NewMeta("tenant", "x")
		must(t, err)
		traced, err := mcp.NewMeta(mcp.MetaTraceParent, "00-1")
		must(t, err)
		for i, step := range []struct {
			o    client.CallOptions
			want string
		}{
			{client.CallOptions{}, "1"}, {client.CallOptions{}, "1"},
			{client.CallOptions{Cache: client.CacheBypass}, "2"}, {client.CallOptions{}, "1"},
			{client.CallOptions{Cache: client.CacheRefresh}, "3"}, {client.CallOptions{}, "3"},
			{client.CallOptions{Meta: meta}, "4"}, {client.CallOptions{Meta: meta}, "4"}, {client.CallOptions{Meta: traced}, "3"},
			{client.CallOptions{InputResponses: mcp.InputResponses{}}, "5"}, {client.CallOptions{}, "3"},
		} {
			if got := read(step.o); got != step.want {
				t.Errorf("step %d: got answer %s, want %s", i, got, step.want)
			}
		}
		must(t, c.ClearCache(t.Context()))
		if got := read(client.CallOptions{}); got != "6" {
			t.Errorf("after ClearCache: %s", got)
		}
		must(t, c.Close())
		if _, err := c.ReadResource(t.Context(), "a"); !errors.Is(err, mcp.CodeNotConnected) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// An answer that is to be kept no more takes the older one with it, and so does one of the other scope.
func TestCacheReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hints := []string{`"ttlMs":60000,"cacheScope":"private"`, `"ttlMs":30000,"cacheScope":"public"`, `"ttlMs":60000,"cacheScope":"public"`, `"ttlMs":0,"cacheScope":"public"`, `"ttlMs":0,"cacheScope":"public"`}
		store := client.NewMemoryCache(0, 0)
		conn, p := play(modern(script{"prompts/list": func(p *peer, m *jsonrpc.Message) {
			result(`{"prompts":[],`+hints[p.asked("prompts/list")-1]+`}`)(p, m)
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{Cache: client.CacheOptions{Store: store}})
		for i, left := range []int{1, 1, 1, 0} {
			_, err := c.ListPrompts(t.Context(), nil, client.CallOptions{Cache: client.CacheRefresh})
			must(t, err)
			if got := store.Len(); got != left {
				t.Errorf("after answer %d: %d are kept", i+1, got)
			}
		}
		_, err := c.ListPrompts(t.Context(), nil)
		must(t, err)
		if p.asked("prompts/list") != len(hints) {
			t.Error("an answer of before was used")
		}
	})
}

// Equal reads at one time are one request, as long as the answer may be kept at all.
func TestCacheOneRequest(t *testing.T) {
	for _, tc := range []struct {
		name, ttl string
		want      int
	}{{"kept", "1000", 1}, {"not kept", "0", 10}} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(modern(script{"resources/read": func(p *peer, m *jsonrpc.Message) {
					go func() {
						time.Sleep(time.Second)
						result(`{"contents":[],"ttlMs":`+tc.ttl+`,"cacheScope":"private"}`)(p, m)
					}()
				}}))
				defer p.conn.Close()
				c := connect(t, conn, client.Options{})
				var wg sync.WaitGroup
				for range 10 {
					wg.Go(func() {
						if _, err := c.ReadResource(t.Context(), "a"); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if got := p.asked("resources/read"); got != tc.want {
					t.Errorf("asked %d times, want %d", got, tc.want)
				}
				if tc.ttl != "0" {
					return
				}
				before := time.Now() // by now it is known that nobody need wait for another
				for range 10 {
					wg.Go(func() {
						if _, err := c.ReadResource(t.Context(), "a"); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				if took := time.Since(before); took != time.Second {
					t.Errorf("took %s", took)
				}
			})
		})
	}
}

// When the server refuses the cursor of a page that was kept too long, the list is fetched from its beginning, once.
func TestCacheOldCursor(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		heals      bool
	}{{"new cursors", "[a b c]", true}, {"refuses all", "[a]", false}} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				age := "old"
				conn, p := play(modern(script{"resources/list": func(p *peer, m *jsonrpc.Message) {
					cursor, _ := jsonrpc.Member(m.Params, "cursor")
					switch {
					case cursor == nil:
						result(`{"resources":[{"uri":"a","name":"a"}],"nextCursor":"`+age+`","ttlMs":60000,"cacheScope":"private"}`)(p, m)
					case string(cursor) == `"`+age+`"` && (tc.heals || age == "old"):
						result(`{"resources":[{"uri":"a","name":"a"},{"uri":"b","name":"b"},{"uri":"c","name":"c"}],"ttlMs":0,"cacheScope":"private"}`)(p, m)
					default:
						fails(-32602, "what cursor?", "")(p, m)
					}
				}}))
				defer p.conn.Close()
				c := connect(t, conn, client.Options{})
				walk := func() (uris []string, err error) {
					for r, err := range c.Resources(t.Context()) {
						if err != nil {
							return uris, err
						}
						uris = append(uris, r.URI)
					}
					return uris, nil
				}
				_, err := walk()
				must(t, err)
				age = "new"
				uris, err := walk()
				if fmt.Sprint(uris) != tc.want || (err == nil) != tc.heals {
					t.Errorf("got %q, %v", uris, err)
				}
				if got := p.asked("resources/list"); got != 5 {
					t.Errorf("asked %d times", got)
				}
			})
		})
	}
}

// What came by way of questions is nobody else's.
func TestCacheNotAfterQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(script{"resources/read": func(p *peer, m *jsonrpc.Message) {
			if answers, _ := jsonrpc.Member(m.Params, "inputResponses"); answers == nil {
				result(`{"resultType":"input_required","inputRequests":{"who":{"method":"roots/list","params":{}}}}`)(p, m)
				return
			}
			result(`{"contents":[],"ttlMs":60000,"cacheScope":"public"}`)(p, m)
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{Roots: []mcp.Root{}, Cache: client.CacheOptions{Floor: time.Hour}})
		for range 2 {
			r, err := c.ReadResource(t.Context(), "a")
			must(t, err)
			if r.Cache.TTL() != 0 {
				t.Errorf("the answer is said to be good for %s", r.Cache.TTL())
			}
		}
		if got := p.asked("resources/read"); got != 4 {
			t.Errorf("asked %d times", got)
		}
	})
}

// A call that is made on the way of a fetch does not wait for it.
func TestCacheWithinItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(hinted(`,"ttlMs":1000`)))
		defer p.conn.Close()
		var c *client.Client
		depth := 0
		c = connect(t, conn, client.Options{Middleware: []client.Middleware{func(next client.Call) client.Call {
			return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
				if depth++; depth == 1 {
					if _, err := c.ReadResource(ctx, "a:b"); err != nil {
						t.Error(err)
					}
				}
				return next(ctx, req)
			}
		}}})
		began := time.Now()
		_, err := c.ReadResource(t.Context(), "a:b")
		must(t, err)
		if time.Since(began) > 0 || p.asked("resources/read") != 2 {
			t.Errorf("took %s, asked %d times", time.Since(began), p.asked("resources/read"))
		}
	})
}
