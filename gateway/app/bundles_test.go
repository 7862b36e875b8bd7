package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// desk serves the tools add, ask and fail, the prompt hello, and the resources memo://one and memo://two over HTTP, in one era.
func desk(t *testing.T, modern bool) (*server.Server, string) {
	t.Helper()
	versions := mcp.LegacyVersions()
	if modern {
		versions = mcp.ModernVersions()
	}
	s := server.New(mcp.Implementation{Name: "desk", Version: "1"}, server.Options{Versions: versions})
	server.AddTool(s, mcp.Tool{Name: "add"}, func(_ context.Context, _ *server.Request, in struct{ A, B int }) (int, error) {
		return in.A + in.B, nil
	})
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		got, err := server.ElicitAs[struct{ City string }](ctx, req, "Where to?")
		return got.City, err
	})
	s.AddPrompt(mcp.Prompt{Name: "hello"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []mcp.PromptMessage{{Role: mcp.RoleUser, Content: mcp.Text("hello")}}}, nil
	})
	for _, uri := range []string{"memo://one", "memo://two"} {
		s.AddResource(mcp.Resource{URI: uri, Name: uri}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: uri}}}, nil
		})
	}
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		check(t, s.Shutdown(ctx))
		ts.Close()
	})
	return s, ts.URL
}

// eras runs a test for clients of each era, in front of servers of each.
func eras(t *testing.T, run func(t *testing.T, mode client.Mode, modern bool)) {
	for name, mode := range map[string]client.Mode{"legacy client": client.Legacy, "modern client": client.Modern} {
		for back, modern := range map[string]bool{"legacy server": false, "modern server": true} {
			t.Run(name+", "+back, func(t *testing.T) { run(t, mode, modern) })
		}
	}
}

const bundles = `"prefix": "always", "bundles": {
	"calc": {"title": "Sums", "instructions": "Add.", "servers": ["a"], "tools": ["a/add"], "resources": ["memo://one"], "prefix": "never", "rename": {"a/add": "plus"}},
	"ops": {"tools": ["b/*"], "prompts": []}
}`

// TestBundles holds that each bundle is served at its own address with its own lists, names and instructions, in every pairing of
// eras, over the connections of the whole; and that what is not in it does not exist in it.
func TestBundles(t *testing.T) {
	eras(t, func(t *testing.T, mode client.Mode, modern bool) {
		_, a := desk(t, modern)
		_, b := desk(t, modern)
		g := follow(t, file(bundles, "a", a, "b", b))
		g.err.wait(t, "bundle calc: "+g.url+"/calc")
		whole, calc, ops := listen(t, g.url, mode), listen(t, g.url+"/calc", mode), listen(t, g.url+"/ops", mode)
		for _, want := range []struct {
			of    *listener
			tools []string
		}{{whole, []string{"a__add", "a__ask", "b__add", "b__ask"}}, {calc, []string{"plus"}}, {ops, []string{"b__add", "b__ask"}}} {
			if got := want.of.tools(t); !slices.Equal(got, want.tools) {
				t.Errorf("the tools are %q, want %q", got, want.tools)
			}
		}
		if got, err := calc.CallTool(t.Context(), "plus", map[string]int{"A": 2, "B": 3}); err != nil || got.Text() != "5" {
			t.Errorf("got %+v, %v", got, err)
		}
		if got := calc.Instructions(); got != "Add." {
			t.Errorf("the instructions are %q", got)
		}
		if got, err := calc.ReadResource(t.Context(), "memo://one"); err != nil || got.Contents[0].Text != "memo://one" {
			t.Errorf("got %+v, %v", got, err)
		}
		for what, err := range map[string]error{
			"a tool outside":        second(calc.CallTool(t.Context(), "add", nil)),
			"a resource outside":    second(calc.ReadResource(t.Context(), "memo://two")),
			"another server's":      second(calc.ReadResource(t.Context(), "rialto+b:memo://one")),
			"a prompt":              second(ops.GetPrompt(t.Context(), "hello", nil)),
			"a resource of no list": second(ops.ReadResource(t.Context(), "memo://one")),
		} {
			if err == nil {
				t.Errorf("%s is there", what)
			}
		}
		if status, _ := get(t, g.url+"/nosuch"); status != http.StatusNotFound {
			t.Errorf("an unknown bundle answers %d", status)
		}
		if _, text := get(t, strings.TrimSuffix(g.url, "/mcp")+"/"); !strings.Contains(text, "/mcp or /mcp/calc or /mcp/ops;") {
			t.Errorf("the root says %s", text)
		}
		old, err := client.DialSSE(t.Context(), g.url+"/calc/sse", client.Options{})
		check(t, err)
		if got, err := old.CallTool(t.Context(), "plus", map[string]int{"A": 1, "B": 0}); err != nil || got.Text() != "1" {
			t.Errorf("over HTTP+SSE: %+v, %v", got, err)
		}
		check(t, old.Close())
		g.end(t)
	})
}

func second[T any](_ T, err error) error { return err }

// TestQuestionsInBundles holds that a server may ask through a bundle.
func TestQuestionsInBundles(t *testing.T) {
	eras(t, func(t *testing.T, mode client.Mode, modern bool) {
		_, a := desk(t, modern)
		g := follow(t, file(`"bundles": {"some": {"tools": ["ask"]}}`, "a", a))
		c, err := client.DialHTTP(t.Context(), g.url+"/some", client.Options{Mode: mode, Elicit: func(context.Context, *client.ElicitRequest) (*mcp.ElicitResult, error) {
			return client.Accept(map[string]string{"City": "Bergen"})
		}})
		check(t, err)
		if got, err := c.CallTool(t.Context(), "ask", nil); err != nil || got.Text() != "Bergen" {
			t.Errorf("got %+v, %v", got, err)
		}
		check(t, c.Close())
		g.end(t)
	})
}

// TestUpdatesInBundles holds that a server is asked once for what clients of several bundles want, and that each hears of what
// it has named, and of nothing that is not in its bundle.
func TestUpdatesInBundles(t *testing.T) {
	eras(t, func(t *testing.T, mode client.Mode, modern bool) {
		s, a := desk(t, modern)
		g := follow(t, file(`"bundles": {"one": {"resources": ["memo://one"]}}`, "a", a))
		hear := func(url string) (*client.Client, chan string) {
			c, err := client.DialHTTP(t.Context(), url, client.Options{Mode: mode})
			check(t, err)
			t.Cleanup(func() { _ = c.Close() }) // the gateway may be gone by then
			sub, err := c.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{"memo://one", "memo://two"}})
			check(t, err)
			heard := make(chan string, 10)
			go func() { // ends with the client
				for e, err := range sub.Events(context.Background()) {
					if err != nil {
						return
					}
					heard <- e.URI
				}
			}()
			return c, heard
		}
		wanted := func(want ...string) {
			t.Helper()
			for end := time.Now().Add(10 * time.Second); !slices.Equal(s.Subscriptions(), want); time.Sleep(5 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("the server is asked for %q, want %q", s.Subscriptions(), want)
				}
			}
		}
		_, part := hear(g.url + "/one")
		wanted("memo://one")
		all, whole := hear(g.url)
		wanted("memo://one", "memo://two")
		s.ResourceUpdated("memo://two")
		if got := <-whole; got != "memo://two" {
			t.Errorf("heard of %s", got)
		}
		s.ResourceUpdated("memo://one")
		for _, heard := range []chan string{whole, part} { // of the bundle it is the first
			if got := <-heard; got != "memo://one" {
				t.Errorf("heard of %s", got)
			}
		}
		check(t, all.Close())
		wanted("memo://one")
		g.end(t)
	})
}

// TestReloadOfBundles takes a bundle out while a call runs in it, another in, and changes what a third shows: the call is
// finished, clients of the third hear at once, and the whole may be served no longer.
func TestReloadOfBundles(t *testing.T) {
	for name, mode := range map[string]client.Mode{"legacy": client.Legacy, "modern": client.Modern} {
		t.Run(name, func(t *testing.T) {
			a, entered, release := gated(t, "a")
			g := follow(t, file(`"bundles": {"gone": {"servers": ["a"]}, "kept": {"tools": ["a"], "instructions": "old"}}`, "a", a))
			g.err.wait(t, "a: ready")
			kept := listen(t, g.url+"/kept", mode)
			going, err := client.DialHTTP(t.Context(), g.url+"/gone", client.Options{Mode: mode})
			check(t, err)
			result := make(chan error, 1)
			go func() { // ends with its release
				got, err := going.CallTool(context.Background(), "a_wait", nil)
				if err == nil && got.Text() != "done" {
					t.Errorf("got %+v", got)
				}
				result <- err
			}()
			<-entered
			save(t, g.file, file(`"serveAll": false, "bundles": {"fresh": {"servers": ["a"]}, "kept": {"tools": ["a", "a_wait"], "instructions": "new"}}`, "a", a))
			kept.until(t, "a", "a_wait")
			g.err.wait(t, "settings serveAll, bundles")
			if fresh := listen(t, g.url+"/fresh", mode); !slices.Equal(fresh.tools(t), []string{"a", "a_wait"}) {
				t.Errorf("the new one has %q", fresh.tools(t))
			}
			for path, want := range map[string]int{"": http.StatusNotFound, "/": http.StatusNotFound, "/gone": http.StatusNotFound} {
				if status, _ := get(t, g.url+path); status != want {
					t.Errorf("%q answers %d, want %d", path, status, want)
				}
			}
			again := listen(t, g.url+"/kept", mode)
			if got := again.Instructions(); got != "new" {
				t.Errorf("the instructions are %q", got)
			}
			close(release)
			if err := <-result; err != nil {
				t.Errorf("the call that was under way: %v", err)
			}
			_ = going.Close() // its session may have ended
			save(t, g.file, file(`"serveAll": false`, "a", a))
			g.err.wait(t, "there are no bundles, so that nothing would be served")
			g.end(t)
		})
	}
}

// TestBundleOnStdio holds that one bundle is served on standard input and output, and that a file which has it no longer is
// refused then.
func TestBundleOnStdio(t *testing.T) {
	_, a := desk(t, true)
	conf := read(t, file(bundles, "a", a, "b", a))
	near, far := transport.Pair(0)
	var out lines
	done := make(chan error, 1)
	go func() {
		done <- Run(context.Background(), Options{Config: conf, Stdio: far, Stderr: &out, Version: "test", Bundle: "calc"})
	}() // ends with near
	c, err := client.Connect(t.Context(), near, client.Options{})
	check(t, err)
	if got, err := c.CallTool(t.Context(), "plus", map[string]int{"A": 2, "B": 2}); err != nil || got.Text() != "4" {
		t.Errorf("got %+v, %v", got, err)
	}
	check(t, c.Close())
	check(t, <-done)
	out.wait(t, "serving the bundle calc on standard input and output")
	for name, want := range map[string]string{"clac": `there is no bundle "clac"; the configuration has calc and ops`, "": "name one with --bundle"} {
		near, far := transport.Pair(0)
		conf := read(t, file(`"serveAll": false, `+bundles, "a", a, "b", a))
		if err := Run(t.Context(), Options{Config: conf, Stdio: far, Stderr: &out, Bundle: name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
		check(t, near.Close())
	}
}

// TestMisfitsOfBundles warns of patterns that fit nothing.
func TestMisfitsOfBundles(t *testing.T) {
	_, a := desk(t, true)
	g := start(t, read(t, file(`"bundles": {"b": {"tools": ["add", "nothing"]}}`, "a", a)))
	g.err.wait(t, `warning: bundle "b": the pattern "nothing" fits no tool of its servers`)
	g.end(t)
}

// TestSearchInBundles holds that a search takes the place of a list that is too long, in each bundle by its own length; that what
// is found and called there is in the bundle; and that a change of the file counts at once.
func TestSearchInBundles(t *testing.T) {
	eras(t, func(t *testing.T, mode client.Mode, modern bool) {
		_, a := desk(t, modern)
		_, b := desk(t, modern)
		const some = `"bundles": {"many": {"servers": ["a", "b"], "resources": [], "rename": {"a/add": "plus"}}, "few": {"tools": ["b/add"]}}`
		g := follow(t, file(`"search": {"above": 2, "always": ["plus"]}, `+some, "a", a, "b", b))
		g.err.wait(t, "b: ready")
		many, few := listen(t, g.url+"/many", mode), listen(t, g.url+"/few", mode)
		if got := many.tools(t); !slices.Equal(got, []string{"plus", "search_tools", "call_tool"}) {
			t.Errorf("the tools are %q", got)
		}
		if got := few.tools(t); !slices.Equal(got, []string{"add"}) {
			t.Errorf("the tools are %q", got)
		}
		got, err := many.CallTool(t.Context(), "search_tools", map[string]string{"query": "plus"})
		if err != nil || !strings.Contains(got.Text(), `"name":"plus"`) {
			t.Errorf("found %+v, %v", got, err)
		}
		for name, want := range map[string]string{"plus": "5", "add": "5", "nosuch": "There is no tool"} {
			got, err := many.CallTool(t.Context(), "call_tool", map[string]any{"name": name, "arguments": map[string]int{"A": 2, "B": 3}})
			if err != nil || !strings.Contains(got.Text(), want) {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		}
		save(t, g.file, file(some, "a", a, "b", b))
		many.until(t, "plus", "a__ask", "add", "b__ask")
		g.end(t)
	})
}
