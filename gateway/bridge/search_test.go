package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

func searching(s bridge.Search) bridge.Options {
	return bridge.Options{Rules: bridge.Rules{Search: &s}}
}

// found searches, and gives the names of the tools that are found.
func found(t *testing.T, c *client.Client, args string) (names []string, text string) {
	t.Helper()
	result := calledRaw(t, c, bridge.SearchTool, args)
	var answer struct{ Tools []mcp.Tool }
	if json.Unmarshal([]byte(result.Text()), &answer) != nil {
		return nil, result.Text()
	}
	for _, tool := range answer.Tools {
		names = append(names, tool.Name)
	}
	return names, result.Text()
}

func calledRaw(t *testing.T, c *client.Client, name, args string) *mcp.CallToolResult {
	t.Helper()
	result, err := c.CallTool(t.Context(), name, json.RawMessage(args))
	if err != nil {
		t.Fatalf("%s %s: %v", name, args, err)
	}
	return result
}

// TestSearch holds that clients of every era get a search in place of a long list, find tools with their definitions, and call
// what they have found by its name or directly, under names that the gateway has made.
func TestSearch(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, searching(bridge.Search{Above: 5, Always: []string{"a/list", "refuse"}}),
			backend{name: "a", modern: upModern, fill: everything(nil)}, backend{name: "b", modern: upModern, fill: func(s *server.Server) {
				server.AddTool(s, mcp.Tool{Name: "echo", Description: "the tide says it again"}, func(_ context.Context, _ *server.Request, in textIn) (string, error) { return "b " + in.Text, nil })
			}})
		c := w.dial(t, modern, client.Options{})
		if got := toolNames(t, c); !slices.Equal(got, []string{"list", "refuse", bridge.SearchTool, bridge.CallTool}) {
			t.Errorf("the tools are %q", got)
		}
		names, text := found(t, c, `{"query":"tide"}`)
		if !slices.Equal(names, []string{"b__echo"}) || !strings.Contains(text, `"inputSchema":{`) || !strings.Contains(text, `"text"`) {
			t.Errorf("found %q: %s", names, text)
		}
		if names, _ := found(t, c, `{"query":"echo","limit":1}`); len(names) != 1 {
			t.Errorf("found %q", names)
		}
		for call, want := range map[string]string{
			`{"name":"b__echo","arguments":{"text":"hi"}}`: "b hi", `{"name":"a__echo","arguments":{"text":"hi"}}`: "hi", `{"name":"list"}`: "[1,2]",
		} {
			if got := calledRaw(t, c, bridge.CallTool, call); got.Text() != want || got.IsError {
				t.Errorf("%s: %+v", call, got)
			}
		}
		if got := calledRaw(t, c, "b__echo", `{"text":"direct"}`); got.Text() != "b direct" {
			t.Errorf("directly: %+v", got)
		}
		for _, wrong := range []struct{ tool, args, want string }{
			{bridge.CallTool, `{"name":"b__echo","arguments":{"txt":"hi"}}`, `"required":["text"]`},
			{bridge.CallTool, `{"name":"b__echo","arguments":{"text":7}}`, `"required":["text"]`},
			{bridge.CallTool, `{"name":"b__echo","arguments":[]}`, `"required":["text"]`},
			{bridge.CallTool, `{"name":"b__ehco"}`, "Find the name of one with search_tools."},
			{bridge.CallTool, `{"name":"call_tool","arguments":{"name":"list"}}`, `There is no tool "call_tool"`},
			{bridge.CallTool, `{"nme":"b__echo"}`, "must hold the name of a tool"},
			{bridge.SearchTool, `{"query":7}`, "The query must be a text"},
			{bridge.SearchTool, `{"query":"x","limit":0}`, "a whole number from 1 to 20"},
		} {
			if got := calledRaw(t, c, wrong.tool, wrong.args); !got.IsError || !strings.Contains(got.Text(), wrong.want) {
				t.Errorf("%s: %+v: %s", wrong.args, got, got.Text())
			}
		}
		if _, text := found(t, c, `{"query":"zebra"}`); !strings.Contains(text, "No tool fits") {
			t.Errorf("found %s", text)
		}
		if got := calledRaw(t, c, bridge.CallTool, `{"name":"fail"}`); !got.IsError || strings.Contains(got.Text(), "schema") {
			t.Errorf("a tool that fails by itself: %s", got.Text())
		}
		if f := fault(t, c, mcp.MethodCallTool, `{"name":"call_tool","arguments":{"name":"refuse"}}`); f.Code != 1234 {
			t.Errorf("an error of the server: %v", f)
		}
	})
}

// TestSearchedToolsAsk holds that a call by way of the search is like any other: the server asks, progress comes, and steps see
// the tool itself.
func TestSearchedToolsAsk(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		var steps []string
		o := searching(bridge.Search{})
		o.Rules.Steps = []bridge.Step{func(ctx context.Context, p *bridge.Passage, next func(context.Context) (*server.RawResult, error)) (*server.RawResult, error) {
			steps = append(steps, p.Server+"/"+p.Name)
			return next(ctx)
		}}
		w := newWorldWith(t, o, backend{name: "a", modern: upModern, fill: asking(nil)})
		c := w.dial(t, modern, user("Bergen"))
		var seen []string
		result, err := c.CallTool(t.Context(), bridge.CallTool, map[string]any{"name": "book"}, client.CallOptions{OnProgress: func(p mcp.ProgressParams) { seen = append(seen, p.Message) }})
		if err != nil || result.Text() != "Bergen for 3 days: true" || fmt.Sprint(seen) != "[asking booking]" {
			t.Errorf("got %+v, %v; progress %q", result, err, seen)
		}
		for _, step := range steps {
			if step != "a/book" {
				t.Errorf("a step sees %s", step)
			}
		}
		if steps == nil {
			t.Error("no step was taken")
		}
	})
}

// TestSearchBySight holds that each caller gets a list or a search by what it may see, and finds and calls that alone.
func TestSearchBySight(t *testing.T) {
	o := searching(bridge.Search{Above: 6})
	o.Rules.Sight, o.Server = hidden, server.Options{HTTP: byName}
	w := newWorldWith(t, o, backend{name: "a", modern: true, fill: everything(nil)})
	ann, bob := w.dialAs(t, true, "ann", client.Options{}), w.dialAs(t, true, "bob", client.Options{})
	if got := toolNames(t, ann); !slices.Equal(got, []string{bridge.SearchTool, bridge.CallTool}) {
		t.Errorf("ann has %q", got)
	}
	if got := toolNames(t, bob); len(got) != 6 || slices.Contains(got, bridge.SearchTool) {
		t.Errorf("bob has %q", got)
	}
	for _, c := range []*client.Client{ann, bob} {
		names, _ := found(t, c, `{"query":"echo"}`)
		if sees := slices.Contains(names, "echo"); sees != (c == ann) {
			t.Errorf("found %q", names)
		}
	}
	if got := calledRaw(t, bob, bridge.CallTool, `{"name":"echo","arguments":{"text":"x"}}`); !got.IsError || !strings.Contains(got.Text(), `There is no tool "echo"`) {
		t.Errorf("bob gets %+v", got)
	}
	if got := calledRaw(t, ann, bridge.CallTool, `{"name":"echo","arguments":{"text":"x"}}`); got.Text() != "x" {
		t.Errorf("ann gets %+v", got)
	}
}

// TestSearchThreshold holds that the list is that of the tools again when it is short enough, and that clients hear of that; that
// tools which are not listed come and go unheard; and that no tool of a server takes a name of the search.
func TestSearchThreshold(t *testing.T) {
	add := func(s *server.Server, names ...string) {
		for _, name := range names {
			server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Request, struct{}) (string, error) { return name, nil })
		}
	}
	for _, modern := range []bool{false, true} {
		w := newWorldWith(t, searching(bridge.Search{Above: 2}), backend{name: "a", modern: true, fill: func(s *server.Server) { add(s, "one", bridge.CallTool) }})
		c := w.dial(t, modern, client.Options{})
		news, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true}) // which has begun when it comes back
		if err != nil {
			t.Fatal(err)
		}
		defer news.Close()
		hears := func() {
			t.Helper()
			if _, err := news.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := toolNames(t, c); !slices.Equal(got, []string{"one", "a__call_tool"}) {
			t.Errorf("the tools are %q", got)
		}
		add(w.servers["a"], "two")
		hears()
		until(t, "the list is short", func() bool { return slices.Equal(toolNames(t, c), []string{bridge.SearchTool, bridge.CallTool}) })
		add(w.servers["a"], "three")
		until(t, "it is found", func() bool { names, _ := found(t, c, `{"query":"three"}`); return len(names) == 1 })
		if got := calledRaw(t, c, bridge.CallTool, `{"name":"a__call_tool"}`); got.Text() != bridge.CallTool {
			t.Errorf("got %+v", got)
		}
		w.servers["a"].RemoveTool("two")
		w.servers["a"].RemoveTool("three")
		until(t, "the list is whole", func() bool { return slices.Equal(toolNames(t, c), []string{"one", "a__call_tool"}) })
		hears()
	}
	tokens := newWorldWith(t, searching(bridge.Search{Tokens: 20}), backend{name: "a", modern: true, fill: func(s *server.Server) { add(s, "one", "two") }})
	if got := toolNames(t, tokens.dial(t, true, client.Options{})); !slices.Contains(got, bridge.SearchTool) {
		t.Errorf("by tokens: %q", got)
	}
	rules := bridge.Rules{Naming: route.Naming{}}
	if err := tokens.bridge.Reload(rules, []string{"a"}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := toolNames(t, tokens.dial(t, true, client.Options{})); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("after a reload without a search: %q", got)
	}
}

// TestSearchedToolsAsTasks holds that a call by way of the search becomes a task where the tool itself would, and asks as one.
func TestSearchedToolsAsTasks(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorldWith(t, searching(bridge.Search{}), jobs("a", upModern, false))
		c := w.dial(t, modern, able(t))
		for name, want := range map[string]string{"work": "done by a", "must": "hello Ada"} {
			call, err := c.StartTool(t.Context(), bridge.CallTool, map[string]string{"name": name})
			if err != nil || call.Task == nil {
				t.Errorf("%s: got %+v, %v, want a task", name, call, err)
				continue
			}
			if got, err := c.AwaitTask(t.Context(), call.Task.ID); err != nil || got.Text() != want {
				t.Errorf("%s: got %+v, %v", name, got, err)
			}
		}
		if got, err := c.CallTool(t.Context(), bridge.CallTool, map[string]string{"name": "plain"}); err != nil || got.Text() != "no task" {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
