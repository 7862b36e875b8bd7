package app

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestRootsOfTheFile holds that a legacy server over HTTP gets the roots of the file where its client has none, and the others
// once the file names others, without a new connection; and that those of a client come before them.
func TestRootsOfTheFile(t *testing.T) {
	var sessions atomic.Int64
	s := server.New(mcp.Implementation{Name: "rooted", Version: "1"}, server.Options{
		Versions: mcp.LegacyVersions(),
		Hooks:    server.Hooks{SessionOpened: func(server.Session) { sessions.Add(1) }},
	})
	server.AddTool(s, mcp.Tool{Name: "roots"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		list, err := req.ListRoots(ctx)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(list.Roots[0].URI, " ", list.Roots[0].Name), nil
	})
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		check(t, s.Shutdown(ctx))
		ts.Close()
	})
	g := follow(t, file(`"roots": ["file:///one"]`, "a", ts.URL))
	want := func(text string, o client.Options) {
		t.Helper()
		for _, o.Mode = range []client.Mode{client.Legacy, client.Modern} {
			c, err := client.DialHTTP(t.Context(), g.url, o)
			check(t, err)
			result, err := c.CallTool(t.Context(), "roots", nil)
			check(t, err)
			if result.Text() != text {
				t.Errorf("the server gets %q, want %q", result.Text(), text)
			}
			check(t, c.Close())
		}
	}
	want("file:///one ", client.Options{})
	want("file:///client Mine", client.Options{Roots: []mcp.Root{{URI: "file:///client", Name: "Mine"}}})
	save(t, g.file, file(`"servers": {"a": {"roots": [{"uri": "file:///two", "name": "Two"}]}}`, "a", ts.URL))
	g.err.wait(t, "was read anew: settings roots")
	want("file:///two Two", client.Options{})
	if n := sessions.Load(); n != 1 {
		t.Errorf("the gateway has connected %d times", n)
	}
}
