package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/server"
)

// until waits for something to come true.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !true(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not so after 10 s: %s", what)
		}
	}
}

// updates subscribes to resources. next gives the address of the next one that has changed.
func updates(t *testing.T, c *client.Client, uris ...string) (s *client.Subscription, next func() string) {
	t.Helper()
	s, err := c.Subscribe(t.Context(), client.Filter{ResourceSubscriptions: uris})
	if err != nil {
		t.Fatal(err)
	}
	return s, func() string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		e, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return e.URI
	}
}

// TestUpdates holds that a client of either era hears of the resources that it has named, whatever the era of their server, and
// that a server is asked for what somebody wants, once, and no longer.
func TestUpdates(t *testing.T) {
	for name, http := range map[string]bool{"pipe": false, "http": true} {
		t.Run(name, func(t *testing.T) {
			pairings(t, func(t *testing.T, modern, upModern bool) {
				w := newWorld(t, route.Naming{},
					backend{name: "a", modern: upModern, http: http, fill: twin("a")},
					backend{name: "b", modern: upModern, http: http, fill: twin("b")})
				dial := w.dial
				if http {
					dial = w.dialHTTP
				}
				wanted := func(name, want string) {
					t.Helper()
					until(t, fmt.Sprintf("server %s is asked for %s", name, want), func() bool { return fmt.Sprint(w.servers[name].Subscriptions()) == want })
				}
				first, next := updates(t, dial(t, modern, client.Options{}), "memo://x", "rialto+b:memo://x")
				second, also := updates(t, dial(t, modern, client.Options{}), "rialto+b:memo://x", "memo://nobody")
				wanted("a", "[memo://x]")
				wanted("b", "[memo://x]")
				w.servers["b"].ResourceUpdated("memo://x")
				if got := next() + " " + also(); got != "rialto+b:memo://x rialto+b:memo://x" {
					t.Errorf("heard of %s", got)
				}
				w.servers["a"].ResourceUpdated("memo://x")
				if got := next(); got != "memo://x" {
					t.Errorf("heard of %s", got)
				}
				if err := first.Close(); err != nil {
					t.Error(err)
				}
				wanted("a", "[]")
				wanted("b", "[memo://x]")
				if err := second.Close(); err != nil {
					t.Error(err)
				}
				wanted("b", "[]")
			})
		})
	}
}

// TestUpdatesOutliveTheServer holds that a server that comes back is asked again for what clients want.
func TestUpdatesOutliveTheServer(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: twin("a")})
		_, next := updates(t, w.dial(t, modern, client.Options{}), "memo://x")
		asked := func() bool { return slices.Equal(w.servers["a"].Subscriptions(), []string{"memo://x"}) }
		until(t, "the server is asked", asked)
		w.mu.Lock()
		wire := w.wires["a"]
		w.mu.Unlock()
		if err := wire.Close(); err != nil {
			t.Fatal(err)
		}
		until(t, "the connection is gone", func() bool { return len(w.servers["a"].Subscriptions()) == 0 })
		until(t, "the server is asked again", asked)
		w.servers["a"].ResourceUpdated("memo://x")
		if got := next(); got != "memo://x" {
			t.Errorf("heard of %s", got)
		}
	})
}

// TestUpdatesOfAClientThatLeaves holds that nothing is left of a client that goes without a word.
func TestUpdatesOfAClientThatLeaves(t *testing.T) {
	pairings(t, func(t *testing.T, modern, upModern bool) {
		w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, fill: func(s *server.Server) { twin("a")(s) }})
		wire := serve(t, w.bridge.Server())
		o := client.Options{Mode: client.Legacy}
		if modern {
			o.Mode = client.Modern
		}
		c, err := client.Connect(t.Context(), wire, o)
		if err != nil {
			t.Fatal(err)
		}
		s, _ := updates(t, c, "memo://x")
		until(t, "the server is asked", func() bool { return len(w.servers["a"].Subscriptions()) == 1 })
		if err := wire.Close(); err != nil {
			t.Error(err)
		}
		until(t, "nothing is wanted any more", func() bool { return len(w.servers["a"].Subscriptions()) == 0 })
		if _, err := s.Next(t.Context()); err == nil || errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}
