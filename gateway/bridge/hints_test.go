package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// hinting is a modern backend whose lists and reads may be kept, and counts its reads.
func hinting(name string, hint mcp.CacheHint, reads *atomic.Int32) backend {
	return backend{name: name, modern: true, opts: server.Options{Cache: hint}, fill: func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: name}, func(context.Context, *server.Request, struct{}) (string, error) { return "", nil })
		uri := name + "://one"
		s.AddResource(mcp.Resource{URI: uri, Name: "one"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			n := reads.Add(1)
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{mcp.TextResource(uri, "", fmt.Sprint(n))}}, nil
		})
	}}
}

// hintOf is what a client is told of a result.
func hintOf(t *testing.T, c *client.Client, method, params string) string {
	t.Helper()
	r, err := c.Raw(t.Context(), method, json.RawMessage(params), client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Cache.TTLMs == nil {
		return "nothing"
	}
	return fmt.Sprintf("%d s, %s", (*r.Cache.TTLMs+999)/1000, r.Cache.Scope)
}

// without leaves all lists of a server out.
func without(name string) func([]upstream.Snapshot) []upstream.Snapshot {
	return func(snaps []upstream.Snapshot) []upstream.Snapshot {
		out := slices.Clone(snaps)
		for i := range out {
			if out[i].Name == name {
				out[i].Lists = &upstream.Lists{}
			}
		}
		return out
	}
}

// TestHintsOfMergedLists holds what a client is told of lists that come from several servers: the least of what they say, private
// where one of them is or where callers see different things, and as good as nothing where one does not say. A server of which nothing
// is shown has no say.
func TestHintsOfMergedLists(t *testing.T) {
	var reads atomic.Int32
	public := func(ttl time.Duration) mcp.CacheHint { return mcp.CacheFor(ttl, mcp.CachePublic) }
	private := mcp.CacheFor(time.Hour, mcp.CachePrivate)
	sight := func(*server.Request) bridge.Sight { return bridge.Sight{} }
	a, b := hinting("a", public(time.Minute), &reads), hinting("b", public(time.Hour), &reads)
	legacy := backend{name: "old", fill: everything(nil)}
	for _, tc := range []struct {
		name     string
		rules    bridge.Rules
		backends []backend
		tools    string
		prompts  string
	}{
		{"one", bridge.Rules{}, []backend{b}, "3600 s, public", "0 s, private"},
		{"the least", bridge.Rules{}, []backend{a, b}, "60 s, public", "0 s, private"},
		{"private where one is", bridge.Rules{}, []backend{a, hinting("c", private, &reads)}, "60 s, private", "0 s, private"},
		{"private where callers see different things", bridge.Rules{Sight: sight}, []backend{a, b}, "60 s, private", "0 s, private"},
		{"a legacy server does not say", bridge.Rules{}, []backend{a, legacy}, "0 s, private", "0 s, private"},
		{"one that is away shows nothing", bridge.Rules{}, []backend{a, {name: "gone", down: errors.New("nobody at home")}}, "60 s, public", "0 s, private"},
		{"one that is in no bundle", bridge.Rules{Shape: without("old")}, []backend{a, legacy}, "60 s, public", "0 s, private"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.rules.Naming = route.Naming{Mode: route.Always}
			w := newWorldWith(t, bridge.Options{Rules: tc.rules}, tc.backends...)
			c := w.dial(t, true, client.Options{})
			for range 2 {
				if got := hintOf(t, c, mcp.MethodListTools, `{}`); got != tc.tools {
					t.Errorf("tools: %s, want %s", got, tc.tools)
				}
				if got := hintOf(t, c, mcp.MethodListPrompts, `{}`); got != tc.prompts {
					t.Errorf("prompts: %s, want %s", got, tc.prompts)
				}
			}
		})
	}
}

// TestReadsAreKept holds that clients of both eras are answered from what is kept, with what is left of its time, and that news
// of a change reach what is kept before they reach clients.
func TestReadsAreKept(t *testing.T) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern client %v", modern), func(t *testing.T) {
			var reads atomic.Int32
			w := newWorld(t, route.Naming{}, hinting("a", mcp.CacheFor(time.Hour, mcp.CachePublic), &reads))
			one, two := w.dialHTTP(t, modern, client.Options{}), w.dialHTTP(t, true, client.Options{})
			read := func(c *client.Client) string {
				t.Helper()
				r, err := c.ReadResource(t.Context(), "a://one", client.CallOptions{Cache: client.CacheBypass})
				if err != nil {
					t.Fatal(err)
				}
				return r.Contents[0].Text
			}
			if got := read(one) + read(two) + read(one); got != "111" {
				t.Errorf("the answers are %s", got)
			}
			if got := hintOf(t, two, mcp.MethodReadResource, `{"uri":"a://one"}`); got != "3600 s, public" {
				t.Errorf("a kept answer may be kept for %s", got)
			}
			heard := make(chan struct{}, 10)
			s, err := one.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: []string{"a://one"}})
			if err != nil {
				t.Fatal(err)
			}
			go func() { // ends with the client
				for {
					if _, err := s.Next(context.Background()); err != nil {
						return
					}
					heard <- struct{}{}
				}
			}()
			until(t, "the subscription", func() bool { return len(w.servers["a"].Subscriptions()) > 0 })
			w.servers["a"].ResourceUpdated("a://one")
			<-heard
			if got := read(two) + read(one); got != "22" {
				t.Errorf("after the news the answers are %s", got)
			}
		})
	}
}
