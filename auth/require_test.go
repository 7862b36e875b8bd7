package auth_test

import (
	"context"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// A handler that sees only in the arguments what is needed asks for it, in both eras.
func TestRequire(t *testing.T) {
	type move struct {
		To string `json:"to,omitempty"`
	}
	s := newServer(server.HTTPOptions{})
	server.AddTool(s, mcp.Tool{Name: "move"}, func(ctx context.Context, req *server.Request, in move) (string, error) {
		if in.To == "" {
			req.Progress(ctx, 1, 2, "looking")
		}
		if err := auth.Require(ctx, "write", in.To); in.To != "" && err != nil {
			return "", err
		}
		return "moved to " + in.To, nil
	})
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	opts := scoped()
	opts.Optional = true
	url := listen(t, mount(opts, s))
	session := ask(t, "POST", url+"/mcp", initialize, "Authorization", "Bearer writer").header.Get("Mcp-Session-Id")
	for _, c := range []struct {
		name, token, to string
		status          int
		challenge       string
	}{
		{"enough", "writer", "audit", 200, ""},
		{"implied", "admin", "other", 200, ""},
		{"too little", "reader", "audit", 403, lacks("read write audit")},
		{"one is missing", "writer", "archive", 403, lacks("read write archive")},
		{"no token", "", "audit", 401, `Bearer resource_metadata="` + metadataURL + `", scope="write audit"`},
		{"asked and not needed", "reader", "", 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "move"}
			if c.token != "" {
				headers = append(headers, "Authorization", "Bearer "+c.token)
			}
			got := ask(t, "POST", url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"move","arguments":{"to":"`+c.to+`"},`+meta+`}}`, headers...)
			if got.status != c.status || got.header.Get("WWW-Authenticate") != c.challenge {
				t.Errorf("want %d %s, got %v", c.status, c.challenge, got)
			}
			if c.status != 200 && !strings.Contains(got.body, `"id":1,"error":{"code":-32600`) {
				t.Errorf("the body: %v", got)
			}
		})
	}
	old := ask(t, "POST", url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"move","arguments":{"to":"archive"}}}`,
		"Mcp-Session-Id", session, "Authorization", "Bearer writer")
	if old.status != 403 || old.header.Get("WWW-Authenticate") != lacks("read write archive") {
		t.Errorf("in a session: %v", old)
	}
}

// Without a middleware around nobody has a scope.
func TestRequireAlone(t *testing.T) {
	if err := auth.Require(t.Context(), "write"); err == nil {
		t.Error("nobody has the scope")
	}
	if err := auth.Require(transport.WithGrant(t.Context(), &transport.Grant{}), "write"); err == nil {
		t.Error("a grant that says nothing of scopes gives one")
	}
}
