package auth_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// scoped protects the tool write and the method ping by scopes of their own.
func scoped() auth.Options {
	return auth.Options{
		Resource: resource, AuthorizationServers: []string{"https://login.example"}, Scopes: []string{"read"},
		ScopesFor: func(method, name string) []string {
			switch method + " " + name {
			case "tools/call write":
				return []string{"write", "audit"}
			case "resources/subscribe note:1":
				return []string{"watch"}
			case "ping ":
				return []string{"ping"}
			}
			return nil
		},
		Implies: func(granted, needed string) bool { return granted == "admin" && needed != "audit" },
		Verifier: auth.StaticTokens(map[string]mcp.Principal{
			"reader": {Subject: "ann", Scopes: []string{"read"}},
			"writer": {Subject: "ann", Scopes: []string{"write", "audit", "read"}},
			"admin":  {Subject: "ann", Scopes: []string{"admin", "audit"}},
		}),
	}
}

func lacks(scopes string) string {
	return `Bearer resource_metadata="` + metadataURL + `", scope="` + scopes + `", error="insufficient_scope", ` +
		`error_description="the access token does not grant what this request needs: ` + scopes + `"`
}

// A challenge names at once every scope that a request needs, those there are already too.
func TestScopeChallenge(t *testing.T) {
	url := serve(t, scoped(), server.HTTPOptions{})
	for _, c := range []struct {
		tool, token string
		challenge   string
	}{
		{"whoami", "reader", ""},
		{"write", "writer", ""},
		{"write", "admin", ""},
		{"write", "reader", lacks("read write audit")},
	} {
		got := call(t, url, c.tool, c.token)
		status := http.StatusOK
		if c.challenge != "" {
			status = http.StatusForbidden
		}
		if got.status != status || got.header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s by %s: want %s, got %v", c.tool, c.token, c.challenge, got)
		}
	}
}

// In a session the same holds for every message, arrays and other methods too, and before it is told whether a tool exists.
func TestScopeChallengeInSession(t *testing.T) {
	url := serve(t, scoped(), server.HTTPOptions{}) + "/mcp"
	old := strings.Replace(initialize, "2025-06-18", "2025-03-26", 1)
	session := ask(t, "POST", url, old, "Authorization", "Bearer reader").header.Get("Mcp-Session-Id")
	const write = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"write"}}`
	const ping = `{"jsonrpc":"2.0","id":4,"method":"ping"}`
	for _, c := range []struct {
		name, body, challenge string
		status                int
	}{
		{"allowed", whoami, "", 200},
		{"a tool", write, lacks("read write audit"), 403},
		{"its name escaped", strings.Replace(write, "write", `\u0077rite`, 1), lacks("read write audit"), 403},
		{"a method", ping, lacks("read ping"), 403},
		{"an array", "[" + whoami + "," + write + "," + ping + "]", lacks("read write audit ping"), 403},
		{"an allowed array", "[" + whoami + "]", "", 200},
		{"a URI", `{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"note:1"}}`, lacks("read watch"), 403},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", 202},
	} {
		got := ask(t, "POST", url, c.body, "Authorization", "Bearer reader", "Mcp-Session-Id", session)
		if got.status != c.status || got.header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s: want %d %s, got %v", c.name, c.status, c.challenge, got)
		}
	}
}

// No session is opened for a handshake that may not be.
func TestScopeOfHandshake(t *testing.T) {
	opts := scoped()
	opts.ScopesFor = func(method, _ string) []string {
		if method == mcp.MethodInitialize {
			return []string{"write"}
		}
		return nil
	}
	s := newServer(server.HTTPOptions{MaxSessions: 1})
	url := listen(t, auth.Bearer(opts)(s.Handler()))
	t.Cleanup(func() {
		if err := s.Shutdown(t.Context()); err != nil {
			t.Log(err) // the context of a test that is over
		}
	})
	for range 3 {
		if got := ask(t, "POST", url, initialize, "Authorization", "Bearer reader"); got.status != 403 {
			t.Errorf("reader: %v", got)
		}
	}
	if got := ask(t, "POST", url, initialize, "Authorization", "Bearer writer"); got.status != 200 {
		t.Errorf("writer, who has the one place: %v", got)
	}
}
