package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/policy"
	"github.com/rialto-mcp/rialto/gateway/shape"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// News of what clients have begun to listen to, under rules that have come since, and what they hold.

// TestNewsAfterOtherRules holds that a client hears no more of a resource which rules that came later keep from it, and of all else
// it goes on to hear; what depends on how it subscribed, on its program or its address has let it subscribe, and does so still.
func TestNewsAfterOtherRules(t *testing.T) {
	rule := func(when string, do policy.Action) []policy.Rule {
		return []policy.Rule{{Name: "r", When: when, Do: do}}
	}
	for name, tc := range map[string]struct {
		rules    []policy.Rule
		fallback policy.Action
		hears    bool
		deaf     bool // to everything else as well
	}{
		"the same for all":       {nil, policy.Allow, true, false},
		"hidden":                 {rule(`uri == "memo://one"`, policy.Hide), policy.Allow, false, false},
		"denied":                 {rule(`uri == "memo://one"`, policy.Deny), policy.Allow, false, false},
		"hidden from bob":        {rule(`principal.subject == "bob" && uri == "memo://one"`, policy.Hide), policy.Allow, false, false},
		"hidden from ann":        {rule(`principal.subject == "ann" && uri == "memo://one"`, policy.Hide), policy.Allow, true, false},
		"nothing but the other":  {rule(`uri.startsWith("memo://n/")`, policy.Allow), policy.Hide, false, false},
		"denied to a program":    {rule(`client.name == "x" && uri == "memo://one"`, policy.Deny), policy.Allow, true, false},
		"for subscriptions":      {rule(`method in ["resources/subscribe", "subscriptions/listen"]`, policy.Allow), policy.Deny, true, false},
		"for one address":        {rule(`client.address == "127.0.0.1"`, policy.Allow), policy.Deny, true, false},
		"of what cannot be said": {rule(`principal.claims.none == 1`, policy.Allow), policy.Allow, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			pairings(t, func(t *testing.T, modern, upModern bool) {
				w, p, _ := policed(t, policy.Settings{}, backend{name: "a", modern: upModern, fill: everything(nil)})
				_, next := updates(t, w.dialAs(t, modern, "bob", client.Options{}), "memo://one", "memo://n/1")
				listening := func() int { return len(w.servers["a"].Subscriptions()) }
				until(t, "the server is asked for both", func() bool { return listening() == 2 })
				rules, err := p.Over(policy.Settings{Rules: tc.rules, Default: tc.fallback}, bridge.Rules{})
				if err != nil {
					t.Fatal(err)
				}
				if err := w.bridge.Reload(rules, []string{"a"}, func() error { return nil }); err != nil {
					t.Fatal(err)
				}
				want := map[bool]string{true: "memo://one", false: "memo://n/1"}[tc.hears]
				w.servers["a"].ResourceUpdated("memo://one") // it may be asked for that still
				if !tc.deaf {
					w.servers["a"].ResourceUpdated("memo://n/1")
					if got := next(); got != want {
						t.Errorf("heard of %s, want %s", got, want)
					}
				}
				if !tc.hears {
					until(t, "the server is asked for less", func() bool { return listening() < 2 })
				}
			})
		})
	}
}

// leaky is a server of tasks with a secret in what they end with, when they are let.
func leaky(modern bool, let <-chan struct{}) backend {
	b := jobs("jobs", modern, false)
	b.fill = func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "tell", Execution: tasks.May()}, tasks.Whole(func(context.Context, *server.Request, noInput) (string, error) {
			<-let
			return "it is key-1", nil
		}))
		server.AddTool(s, mcp.Tool{Name: "break", Execution: tasks.May()}, tasks.Whole(func(context.Context, *server.Request, noInput) (string, error) {
			<-let
			return "", mcp.Errorf(4711, "broken by key-2").WithData(map[string]string{"by": "key-3"})
		}))
	}
	return b
}

// TestSecretsOfTasks holds that what is masked in a result is masked in that of a task, whichever way it comes: asked for, waited
// for, or as news; and in the error of one that has failed.
func TestSecretsOfTasks(t *testing.T) {
	s := policy.Settings{Redact: []policy.Redaction{{Name: "keys", Pattern: "key-[0-9]+"}}}
	pairings(t, func(t *testing.T, modern, upModern bool) {
		let := make(chan struct{})
		w, _, _ := policed(t, s, leaky(upModern, let))
		c := w.dial(t, modern, able(t))
		told, failed := begin(t, c, "tell"), begin(t, c, "break")
		let <- struct{}{}
		let <- struct{}{}
		if r, err := c.AwaitTask(t.Context(), told.ID); err != nil || r.Text() != "it is [redacted keys]" {
			t.Errorf("the result is %+v, %v", r, err)
		}
		_, err := c.AwaitTask(t.Context(), failed.ID)
		var f *mcp.Error
		if !errors.As(err, &f) || f.Code != 4711 || f.Message != "broken by [redacted keys]" || string(f.Data) != `{"by":"[redacted keys]"}` {
			t.Errorf("the failure is %v", err)
		}
		if !modern {
			return // whose news hold no results
		}
		for _, tool := range []string{"tell", "break"} {
			news, err := c.FollowTasks(t.Context(), begin(t, c, tool).ID)
			if err != nil {
				t.Fatal(err)
			}
			defer news.Close()
			let <- struct{}{}
			for {
				task, err := news.Next(t.Context())
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if said := fmt.Sprint(string(task.Result), string(task.Error)); strings.Contains(said, "key-") {
					t.Errorf("news of %s: %s", tool, said)
				}
			}
		}
	})
}

// TestNewsOfTasksAfterOtherRules holds that nobody hears of a task any more whose tool it may not use.
func TestNewsOfTasksAfterOtherRules(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		next := make(chan string)
		defer close(next)
		w, p, _ := policed(t, policy.Settings{}, steps("far", upModern, false, next))
		c := w.dial(t, modern, able(t))
		task := begin(t, c, "steps")
		if modern {
			news, err := c.FollowTasks(t.Context(), task.ID)
			if err != nil {
				t.Fatal(err)
			}
			defer news.Close()
		}
		until(t, "it is followed", func() bool { return w.bridge.FollowedTasks() == 1 })
		rules, err := p.Over(policy.Settings{Default: policy.Hide}, bridge.Rules{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.bridge.Reload(rules, []string{"far"}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		next <- "half way"
		until(t, "it is not followed any more", func() bool { return w.bridge.FollowedTasks() == 0 })
		if f := fault(t, c, mcp.MethodGetTask, fmt.Sprintf(`{"taskId":%q}`, task.ID)); f.Code != mcp.CodeInvalidParams {
			t.Errorf("the task itself: %v", f)
		}
	})
}

// TestListsAfterOtherRules holds that what a search finds goes by the rules of now, and by the names of now.
func TestListsAfterOtherRules(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		p := policy.New(policy.Options{})
		over := func(settings policy.Settings) bridge.Rules {
			rules, err := p.Over(settings, bridge.Rules{Search: &bridge.Search{}, Names: planned(editing).Rules.Names, Shape: planned(editing).Rules.Shape, Serves: planned(editing).Rules.Serves})
			if err != nil {
				t.Fatal(err)
			}
			return rules
		}
		w := newWorldWith(t, bridge.Options{Rules: over(policy.Settings{}), Server: server.Options{HTTP: byName}}, backend{name: "a", modern: upModern, fill: func(s *server.Server) {
			orders(s)
			everything(nil)(s)
		}})
		ann, bob := w.dialAs(t, modern, "ann", client.Options{}), w.dialAs(t, modern, "bob", client.Options{})
		finds := func(c *client.Client) bool {
			names, _ := found(t, c, `{"query":"buy"}`)
			return slices.Contains(names, "buy")
		}
		if !finds(ann) || !finds(bob) {
			t.Error("it is not found under its other name")
		}
		bobs := policy.Rule{Name: "bob", When: `principal.subject == "bob" && tool == "order"`, Do: policy.Hide}
		if err := w.bridge.Reload(over(policy.Settings{Rules: []policy.Rule{bobs}}), []string{"a"}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		if !finds(ann) || finds(bob) {
			t.Error("bob finds what is hidden from him, or ann does not find it")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r, err := bob.CallTool(ctx, bridge.CallTool, map[string]any{"name": "buy", "arguments": map[string]string{"thing": "tea"}})
		if err != nil || !r.IsError || !strings.Contains(r.Text(), `There is no tool "buy"`) {
			t.Errorf("bob gets %+v, %v", r, err)
		}
	})
}

// TestPinsOfAnEditedTool holds that a definition which has changed is not there under its other name either, whoever looks: by its
// list, by a search, and by a call; and that what clients see of it edited is no change.
func TestPinsOfAnEditedTool(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		p := policy.New(policy.Options{Folder: t.TempDir()})
		rules := func(servers map[string]shape.Server) bridge.Rules {
			plan := planned(servers).Rules
			plan.Search = &bridge.Search{}
			rules, err := p.Over(policy.Settings{Pin: policy.Pin{File: "lock.json"}}, plan)
			if err != nil {
				t.Fatal(err)
			}
			return rules
		}
		w := newWorldWith(t, bridge.Options{Rules: rules(nil)}, backend{name: "a", modern: upModern, fill: orders})
		c := w.dial(t, modern, user(""))
		if err := w.bridge.Reload(rules(editing), []string{"a"}, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		finds := func() bool {
			names, _ := found(t, c, `{"query":"buy"}`)
			return slices.Contains(names, "buy")
		}
		if r, err := c.CallTool(t.Context(), "buy", map[string]string{"thing": "tea"}); err != nil || r.Text() != "tea, " || !finds() {
			t.Errorf("as it was accepted: %+v, %v", r, err)
		}
		w.servers["a"].RemoveTool("order")
		server.AddTool(w.servers["a"], mcp.Tool{Name: "order", Description: "Something else"}, func(context.Context, *server.Request, noInput) (string, error) { return "", nil })
		until(t, "it is not found any more", func() bool { return !finds() })
		if r, err := c.CallTool(t.Context(), "buy", map[string]string{"thing": "tea"}); err == nil {
			t.Errorf("what has changed is called: %+v", r)
		}
	})
}
