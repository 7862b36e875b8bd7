package auth_test

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/server"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	whoami     = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"whoami","arguments":{}}}`
)

// A session belongs to issuer, subject and client, and not to the bytes of a token.
func TestC089SessionBelongsToPrincipal(t *testing.T) {
	i, other := newIssuer(t), newIssuer(t)
	opts := i.options(t)
	opts.Scopes, opts.Optional = nil, true
	opts.Verifier = auth.AnyOf(i.verifier(t), other.verifier(t))
	url := serve(t, opts, server.HTTPOptions{}) + "/mcp"
	with := func(token, session string, more ...string) []string {
		out := append([]string{"Mcp-Session-Id", session}, more...)
		if token != "" {
			out = append(out, "Authorization", "Bearer "+token)
		}
		return out
	}
	open := func(token string) string {
		got := ask(t, "POST", url, initialize, with(token, "")...)
		if got.status != 200 || got.header.Get("Mcp-Session-Id") == "" {
			t.Fatalf("initialize: %v", got)
		}
		return got.header.Get("Mcp-Session-Id")
	}
	ann := i.token(t, nil)
	session := open(ann)
	unknown := ask(t, "POST", url, whoami, with(ann, "no-such-session")...)
	for name, token := range map[string]string{
		"another subject": i.token(t, map[string]any{"sub": "bob"}),
		"another client":  i.token(t, map[string]any{"client_id": "phone"}),
		"another issuer":  other.token(t, nil),
		"nobody":          "",
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			got := ask(t, method, url, whoami, with(token, session, "Last-Event-ID", session+"-1")...)
			if got.status != 404 || got.body != unknown.body {
				t.Errorf("%s, %s: want the answer to an unknown session, got %v", name, method, got)
			}
		}
	}
	// A fresh token of hers goes on, and its scopes count.
	for _, c := range []struct{ scope, want string }{{"read write", "ann [read write]"}, {"write", "ann [write]"}} {
		got := ask(t, "POST", url, whoami, with(i.token(t, map[string]any{"scope": c.scope, "jti": c.scope}), session)...)
		if got.status != 200 || !strings.Contains(got.body, c.want) {
			t.Errorf("with %s: %v", c.scope, got)
		}
	}
	// A session of nobody's does not become hers.
	if got := ask(t, "POST", url, whoami, with(ann, open(""))...); got.status != 404 {
		t.Errorf("an anonymous session with a token: %v", got)
	}
	if got := ask(t, "DELETE", url, "", with(ann, session)...); got.status != 200 {
		t.Errorf("her own: %v", got)
	}
}

// The scopes of a session's token are read again for each request.
func TestC089LostScope(t *testing.T) {
	i := newIssuer(t)
	url := serve(t, i.options(t), server.HTTPOptions{}) + "/mcp"
	got := ask(t, "POST", url, initialize, "Authorization", "Bearer "+i.token(t, nil))
	session := got.header.Get("Mcp-Session-Id")
	less := i.token(t, map[string]any{"scope": "other"})
	if got := ask(t, "POST", url, whoami, "Authorization", "Bearer "+less, "Mcp-Session-Id", session); got.status != 403 {
		t.Errorf("got %v", got)
	}
	if got := ask(t, "POST", url, whoami, "Authorization", "Bearer "+i.token(t, nil), "Mcp-Session-Id", session); got.status != 200 {
		t.Errorf("the session has ended with it: %v", got)
	}
}
