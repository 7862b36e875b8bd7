package bridge_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// rooted registers a tool that says which roots it has been told of.
func rooted(s *server.Server) {
	server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, req *server.Request, _ noInput) (string, error) {
		list, err := req.ListRoots(ctx)
		if err != nil {
			return "", err
		}
		var uris []string
		for _, r := range list.Roots {
			uris = append(uris, r.URI)
		}
		return strings.Join(uris, " "), nil
	})
}

func rootOf(uri string) []mcp.Root { return []mcp.Root{{URI: uri}} }

// everyWayWithRoots is onEveryWay for a server that the gateway tells of file:///gateway.
func everyWayWithRoots(t *testing.T, run func(t *testing.T, upModern bool, dial func(client.Options) *client.Client)) {
	for _, http := range []bool{false, true} {
		t.Run(map[bool]string{false: "pipe", true: "http"}[http], func(t *testing.T) {
			pairings(t, func(t *testing.T, modern, upModern bool) {
				w := newWorld(t, route.Naming{}, backend{name: "a", modern: upModern, http: http, roots: rootOf("file:///gateway"), fill: rooted})
				dial := w.dial
				if http {
					dial = w.dialHTTP
				}
				run(t, upModern, func(o client.Options) *client.Client { return dial(t, modern, o) })
			})
		})
	}
}

// TestRootsInEveryPairing holds that a server which asks for roots within a call gets those of the client behind it, where that
// has declared that it has any, those of now included.
func TestRootsInEveryPairing(t *testing.T) {
	everyWayWithRoots(t, func(t *testing.T, _ bool, dial func(client.Options) *client.Client) {
		c := dial(client.Options{Roots: rootOf("file:///client")})
		result, err := c.CallTool(t.Context(), "roots", nil)
		if err != nil || result.Text() != "file:///client" {
			t.Errorf("got %v, %v", result, err)
		}
		if err := c.SetRoots(t.Context(), mcp.Root{URI: "file:///moved"}); err != nil {
			t.Error(err)
		}
		if result, err = c.CallTool(t.Context(), "roots", nil); err != nil || result.Text() != "file:///moved" {
			t.Errorf("after they have changed: got %v, %v", result, err)
		}
	})
}

// TestRootsOfTheConfiguration holds that a legacy server gets the roots that the operator has set for it where the client behind
// a call has none; a modern one is told with each call that this client has none.
func TestRootsOfTheConfiguration(t *testing.T) {
	everyWayWithRoots(t, func(t *testing.T, upModern bool, dial func(client.Options) *client.Client) {
		result, err := dial(client.Options{}).CallTool(t.Context(), "roots", nil)
		switch {
		case upModern:
			text := fmt.Sprint(err)
			if err == nil {
				text = result.Text()
			}
			if !strings.Contains(text, `"roots":{}`) {
				t.Errorf("got %s", text)
			}
		case err != nil || result.Text() != "file:///gateway":
			t.Errorf("got %v, %v", result, err)
		}
	})
}

// TestServerThatIsNotToldOfRoots holds that a legacy server is told of roots only where the configuration has an answer for it
// whenever it asks.
func TestServerThatIsNotToldOfRoots(t *testing.T) {
	onEveryWay(t, rooted, func(t *testing.T, w *world, dial func(client.Options) *client.Client) {
		result, err := dial(client.Options{Roots: rootOf("file:///client")}).CallTool(t.Context(), "roots", nil)
		if w.modern("a") {
			if err != nil || result.Text() != "file:///client" {
				t.Errorf("got %v, %v", result, err)
			}
			return
		}
		if err != nil || !result.IsError || !strings.Contains(result.Text(), `not declared the capabilities {"roots":{}} in its handshake`) {
			t.Errorf("got %v, %v", result, err)
		}
	})
}

// modern tells whether a backend speaks the modern era.
func (w *world) modern(name string) bool {
	for _, s := range w.set.Snapshots() {
		if s.Name == name {
			return mcp.IsModern(s.Version)
		}
	}
	return false
}

// TestRootsOfManyClients holds that each call gets the roots of its own client, whatever else is under way.
func TestRootsOfManyClients(t *testing.T) {
	everyWayWithRoots(t, func(t *testing.T, upModern bool, dial func(client.Options) *client.Client) {
		var callers sync.WaitGroup
		for i := range 8 {
			uri := fmt.Sprintf("file:///client/%d", i)
			c := dial(client.Options{Roots: rootOf(uri)})
			callers.Go(func() {
				result, err := c.CallTool(t.Context(), "roots", nil)
				if err != nil || result.Text() != uri && result.Text() != "file:///gateway" { // on a pipe nobody can tell whose they are
					t.Errorf("%s: got %v, %v", uri, result, err)
				}
			})
		}
		callers.Wait()
	})
}
