package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// reload takes a naming and the servers of these names into use.
func (w *world) reload(t *testing.T, naming route.Naming, names ...string) {
	t.Helper()
	var entries []manager.Server
	for _, name := range names {
		entries = append(entries, manager.Server{Name: name})
	}
	err := w.bridge.Reload(bridge.Rules{Naming: naming}, names, func() error {
		_, err := w.set.Reload(entries)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func toolNames(t *testing.T, c *client.Client) (out []string) {
	t.Helper()
	for tool, err := range c.Tools(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tool.Name)
	}
	return out
}

// TestReload holds that a client sees another naming and other servers at once, and hears of what looks different only.
func TestReload(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: twin("a")}, backend{name: "b", modern: upModern, fill: twin("b")})
		c := w.dial(t, modern, client.Options{})
		s, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true, ResourcesListChanged: true, PromptsListChanged: true})
		if err != nil {
			t.Fatal(err)
		}
		heard := func(n int) string {
			t.Helper()
			var kinds []string
			for range n {
				e, err := s.Next(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				kinds = append(kinds, fmt.Sprint(e.Kind))
			}
			slices.Sort(kinds)
			return strings.Join(kinds, ", ")
		}
		check := func(news string, want ...string) {
			t.Helper()
			if news != "" {
				if got := heard(strings.Count(news, ",") + 1); got != news {
					t.Errorf("heard of %s, want %s", got, news)
				}
			}
			if got := toolNames(t, c); !slices.Equal(got, want) {
				t.Errorf("the tools are %q, want %q", got, want)
			}
		}
		w.reload(t, route.Naming{}, "a", "b")
		check("", "a__search", "b__search")
		w.reload(t, route.Naming{Separator: "-"}, "a", "b")
		check("prompts changed, tools changed", "a-search", "b-search")
		w.reload(t, route.Naming{Mode: route.Always, Aliases: map[string]string{"b": "z"}}, "b")
		check("prompts changed, resources changed, tools changed", "z__search")
	})
}

// TestNewsOfListsThatCannotBeGiven holds that a client hears nothing of lists while they cannot be given, since it would ask for them
// and be refused; and once of all that has changed when they can be.
//
// Seen to fail: lists that changed meanwhile were announced at once.
func TestNewsOfListsThatCannotBeGiven(t *testing.T) {
	for _, modern := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var lack error
			rules := bridge.Rules{Whole: func([]upstream.Snapshot) error { return lack }}
			w := newWorldWith(t, bridge.Options{Rules: rules}, backend{name: "a", modern: true, fill: twin("a")})
			c := w.dial(t, modern, client.Options{})
			news, err := c.Subscribe(t.Context(), client.Filter{ToolsListChanged: true})
			if err != nil {
				t.Fatal(err)
			}
			defer news.Close()
			silent := func(while string) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if e, err := news.Next(ctx); err == nil {
					t.Errorf("%s there is news: %+v", while, e)
				}
			}
			lack = errors.New("another server is down")
			w.bridge.Changed()
			server.AddTool(w.servers["a"], mcp.Tool{Name: "fresh"}, func(context.Context, *server.Request, noInput) (string, error) { return "", nil })
			silent("while there are other tools which cannot be listed,")
			if err := w.bridge.Reload(bridge.Rules{Whole: rules.Whole, Seen: "others"}, []string{"a"}, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			silent("after a reload that changes nothing of that,")
			fault(t, c, mcp.MethodListTools, "{}")
			lack = nil
			w.bridge.Changed()
			if _, err := news.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := toolNames(t, c); !slices.Equal(got, []string{"search", "fresh"}) {
				t.Errorf("the tools are %q", got)
			}
		})
	}
}

// TestReloadThatFails changes nothing.
func TestReloadThatFails(t *testing.T) {
	w := newWorld(t, route.Naming{}, backend{name: "a", fill: twin("a")})
	c := w.dial(t, true, client.Options{})
	swapped := false
	err := w.bridge.Reload(bridge.Rules{Naming: route.Naming{Aliases: map[string]string{"b": "z"}}}, []string{"a"}, func() error { swapped = true; return nil })
	if err == nil || swapped {
		t.Errorf("a naming that does not fit: %v", err)
	}
	sorry := errors.New("sorry")
	if err := w.bridge.Reload(bridge.Rules{Naming: route.Naming{Mode: route.Always}}, []string{"a"}, func() error { return sorry }); !errors.Is(err, sorry) {
		t.Errorf("servers that do not fit: %v", err)
	}
	w.bridge.Changed()
	if got := toolNames(t, c); !slices.Equal(got, []string{"search"}) {
		t.Errorf("the tools are %q", got)
	}
}

// TestReloadMovesUpdates holds that what clients listen to is asked of the server that has it now, though its lists look as
// those of the one before.
func TestReloadMovesUpdates(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: twin("a")}, backend{name: "b", modern: upModern, fill: twin("b")})
		_, next := updates(t, w.dial(t, modern, client.Options{}), "memo://x")
		asked := func(name string) bool { return slices.Equal(w.servers[name].Subscriptions(), []string{"memo://x"}) }
		until(t, "a is asked", func() bool { return asked("a") })
		w.reload(t, route.Naming{}, "b", "a")
		until(t, "b is asked, and a no longer", func() bool { return asked("b") && len(w.servers["a"].Subscriptions()) == 0 })
		w.reload(t, route.Naming{}, "b")
		w.servers["b"].ResourceUpdated("memo://x")
		if got := next(); got != "memo://x" {
			t.Errorf("heard of %s", got)
		}
	})
}

// TestReloadWithAParkedCall holds that a call whose client is being asked goes on after a reload, whatever has become of the
// name of its tool and of its server.
func TestReloadWithAParkedCall(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *world){
		"nothing":              func(t *testing.T, w *world) { w.reload(t, route.Naming{}, "a") },
		"another name":         func(t *testing.T, w *world) { w.reload(t, route.Naming{Mode: route.Always}, "a") },
		"the server is gone":   func(t *testing.T, w *world) { w.reload(t, route.Naming{}) },
		"another has the name": func(t *testing.T, w *world) { w.reload(t, route.Naming{}, "b"); w.set.Settled(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, route.Naming{}, backend{name: "a", fill: asking(nil)}, backend{name: "b", fill: asking(nil)})
			w.reload(t, route.Naming{}, "a")
			c := w.dial(t, true, client.Options{Capabilities: mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}})
			o := client.RawOptions{Timeout: 10 * time.Second}
			for _, answer := range []string{`{"q1":{"action":"accept","content":{"city":"Bergen","days":2}}}`, `{"q2":{"action":"accept","content":{"yes":true}}}`} {
				r, err := c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"book","arguments":{}}`), o)
				if err != nil || r.Input == nil {
					t.Fatalf("got %+v, %v", r, err)
				}
				change(t, w)
				o.RequestState, o.InputResponses = r.Input.State, json.RawMessage(answer)
			}
			r, err := c.Raw(t.Context(), "tools/call", json.RawMessage(`{"name":"book","arguments":{}}`), o)
			if err != nil || !strings.Contains(string(r.Result), "Bergen for 2 days: true") {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}
