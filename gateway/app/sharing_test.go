package app

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// keeping is the address of a server of the legacy era that tells each caller which session its call came in.
func keeping(t *testing.T) string {
	t.Helper()
	s := server.New(mcp.Implementation{Name: "keeping", Version: "1"}, server.Options{Versions: mcp.LegacyVersions()})
	server.AddTool(s, mcp.Tool{Name: "session"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return req.SessionID(), nil
	})
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return web.URL
}

// TestConnectionsOfWhoIsGone holds that the connections of a caller end when the file does not name it any more, at once, and those
// of nobody else.
func TestConnectionsOfWhoIsGone(t *testing.T) {
	ended := make(chan string, 10)
	s := server.New(mcp.Implementation{Name: "keeping", Version: "1"}, server.Options{Versions: mcp.LegacyVersions(), Hooks: server.Hooks{
		SessionClosed: func(s server.Session) { ended <- s.ID },
	}})
	server.AddTool(s, mcp.Tool{Name: "session"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return req.SessionID(), nil
	})
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	text := func(tokens string) string {
		return fmt.Sprintf(`{"gateway": {"auth": {"tokens": [%s]}}, "mcpServers": {"s": {"url": %q}}}`, tokens, web.URL)
	}
	ann, bob := fmt.Sprintf(`{"name": "ann", "token": %q}`, annsToken), fmt.Sprintf(`{"name": "bob", "token": %q}`, bobsToken)
	f := follow(t, text(ann+", "+bob))
	f.err.wait(t, "s: ready")
	anns, bobs := sessionOf(t, f.url, annsToken), sessionOf(t, f.url, bobsToken)
	save(t, f.file, text(bob))
	if got := <-ended; got != anns {
		t.Errorf("the session %q ends; ann had %q, and bob %q", got, anns, bobs)
	}
	if again := sessionOf(t, f.url, bobsToken); again != bobs {
		t.Errorf("bob was in the session %q and is in %q", bobs, again)
	}
	f.end(t)
}

// sessionOf calls the tool session with a token and gives its answer.
func sessionOf(t *testing.T, url, token string) string {
	t.Helper()
	c, err := client.DialHTTP(t.Context(), url, client.Options{Headers: http.Header{"Authorization": {"Bearer " + token}}})
	check(t, err)
	result, err := c.CallTool(t.Context(), "session", nil)
	check(t, err)
	check(t, c.Close())
	return result.Text()
}

// TestSharing holds that callers with names are never on one session of a server that keeps them, unless the file says so, and
// that a reload changes who shares what.
func TestSharing(t *testing.T) {
	url := keeping(t)
	text := func(more string) string {
		return fmt.Sprintf(`{"gateway": {"auth": {"tokens": [{"name": "ann", "token": %q}, {"name": "bob", "token": %q}]}, %s},
			"mcpServers": {"s": {"url": %q}}}`, annsToken, bobsToken, more, url)
	}
	f := follow(t, text(`"servers": {}`))
	f.err.wait(t, "s: ready")
	ann, bob := sessionOf(t, f.url, annsToken), sessionOf(t, f.url, bobsToken)
	if ann == bob || ann == "" {
		t.Errorf("ann is in the session %q and bob in %q", ann, bob)
	}
	if again := sessionOf(t, f.url, annsToken); again != ann {
		t.Errorf("ann was in the session %q and is in %q", ann, again)
	}
	save(t, f.file, text(`"servers": {"s": {"share": "all"}}`))
	f.err.wait(t, "settings share")
	all := sessionOf(t, f.url, annsToken)
	if other := sessionOf(t, f.url, bobsToken); other != all || all == ann {
		t.Errorf("ann is in the session %q after %q, and bob in %q", all, ann, other)
	}
	save(t, f.file, text(`"servers": {"s": {"share": "principal"}}, "pool": {"mostPerServer": 1}`))
	f.err.wait(t, "settings share, pool.mostPerServer")
	if again := sessionOf(t, f.url, annsToken); again == all {
		t.Errorf("ann is still in the session of all")
	}
	f.end(t)
}
