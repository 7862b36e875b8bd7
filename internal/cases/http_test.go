package cases

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// A server without the modern era answered a probe as a success and every other modern call with a line of plain text.
func TestC002ModernIsTurnedOff(t *testing.T) {
	w := start(t, server.Options{Versions: []string{"2025-11-25", "2025-06-18"}})
	for _, a := range []ask{modern("server/discover", "", ""), modern("tools/list", "", ""), modern("tools/call", "echo", ""), modern("no/such", "", "")} {
		got := w.do(t, a)
		got.is(t, 400, -32022, "")
		var m struct {
			Error struct {
				Data struct {
					Supported []string
					Requested string
				}
			}
		}
		if err := json.Unmarshal([]byte(got.body), &m); err != nil {
			t.Fatal(err)
		}
		if data := m.Error.Data; data.Requested != "2026-07-28" || !slices.Equal(data.Supported, []string{"2025-11-25", "2025-06-18"}) {
			t.Errorf("the error says %+v", data)
		}
	}
	if n := w.handler.Sessions(); n != 0 {
		t.Errorf("%d sessions", n)
	}
}

// A handshake that asks for the modern revision was agreed to, though that revision has no handshake.
func TestC006HandshakeNamesModern(t *testing.T) {
	both := start(t, server.Options{})
	for _, version := range []string{"2026-07-28", "2099-01-01", "1999-01-01"} {
		a := both.do(t, initialize(version))
		a.is(t, 200, 0, `"protocolVersion":"2025-11-25"`)
		if strings.Contains(a.body, "2026-07-28") {
			t.Errorf("the answer offers a revision without a handshake: %s", a)
		}
	}
	only := start(t, server.Options{Versions: []string{"2026-07-28"}})
	a := only.do(t, initialize("2026-07-28"))
	if a.status != 400 || a.code() == 0 {
		t.Errorf("want an error with status 400, got %s", a)
	}
	var m struct {
		Error struct {
			Message string
			Data    struct{ Supported []string }
		}
	}
	if err := json.Unmarshal([]byte(a.body), &m); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.Error.Message, "2026-07-28") || !slices.Contains(m.Error.Data.Supported, "2026-07-28") {
		t.Errorf("message and data must both name what is served: %s", a)
	}
}

// A modern client of a server with sessions was told that it has no session.
func TestC008ModernNeedsNoHandshake(t *testing.T) {
	w := start(t, server.Options{})
	for _, a := range []ask{modern("tools/list", "", ""), modern("tools/call", "echo", "")} {
		got := w.do(t, a)
		got.is(t, 200, 0, `"result"`)
		if id, given := got.header[sessionHeader]; given {
			t.Errorf("a modern answer names the session %q", id)
		}
	}
}

// Parts of the ladder of refusals were wrong.
func TestC010Ladder(t *testing.T) {
	w := start(t, server.Options{})
	id := w.dial(t).session(t)
	unknown := modern("tools/list", "", "", "MCP-Protocol-Version: 2031-01-01")
	unknown.body = strings.ReplaceAll(unknown.body, "2026-07-28", "2031-01-01")
	for _, c := range []struct {
		name   string
		ask    ask
		status int
		code   int64
		part   string
	}{
		{"unknown method", modern("no/such", "", ""), 404, -32601, `"id":1`},
		{"method differs", modern("tools/list", "", "", "Mcp-Method: tools/call"), 400, -32020, `"id":1`},
		{"method is missing", modern("tools/list", "", "", "Mcp-Method"), 400, -32020, ""},
		{"name differs", modern("tools/call", "echo", "", "Mcp-Name: wait"), 400, -32020, ""},
		{"name is missing", modern("tools/call", "echo", "", "Mcp-Name"), 400, -32020, ""},
		{"unknown version", unknown, 400, -32022, "2026-07-28"},
		{"version differs", modern("tools/list", "", "", "MCP-Protocol-Version: 2025-11-25"), 400, -32020, ""},
		{"capability", modern("tools/call", "asks", ""), 400, -32021, "roots"},
		{"unknown tool", modern("tools/call", "no-such", ""), 200, -32602, "no-such"},
		{"notification", ask{head: modern("notifications/cancelled", "", "").head, body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9,` + meta + `}}`}, 202, 0, ""},
		{"response", ask{head: []string{"MCP-Protocol-Version: 2026-07-28"}, body: `{"jsonrpc":"2.0","id":1,"result":{}}`}, 400, -32600, ""},
		{"array", ask{head: []string{"MCP-Protocol-Version: 2026-07-28"}, body: `[` + modern("tools/list", "", "").body + `]`}, 400, -32600, ""},
		{"session and event are ignored", modern("tools/call", "echo", "", sessionHeader+": nope", "Last-Event-ID: 7"), 200, 0, "hello"},
		{"a live session is ignored", modern("tools/call", "echo", "", sessionHeader+": "+id), 200, 0, "hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := w.do(t, c.ask)
			got.is(t, c.status, c.code, c.part)
			if c.status == 202 && got.body != "" {
				t.Errorf("an accepted notification has the body %q", got.body)
			}
			for _, name := range []string{sessionHeader, "Last-Event-Id"} {
				if got.header[name] != nil {
					t.Errorf("the answer has %s: %q", name, got.header[name])
				}
			}
		})
	}
	only := start(t, server.Options{Versions: []string{"2026-07-28"}})
	for _, method := range []string{"GET", "DELETE", "PUT", "PATCH"} {
		got := only.do(t, ask{method: method})
		if got.status != 405 || got.header.Get("Allow") != "POST" {
			t.Errorf("%s: %s, Allow %q", method, got, got.header["Allow"])
		}
	}
}

// One setting made all clients have sessions or none. Both kinds go side by side here, whatever the setting.
func TestC016WithAndWithoutSessions(t *testing.T) {
	for _, sessionless := range []bool{false, true} {
		w := start(t, server.Options{HTTP: server.HTTPOptions{Sessionless: sessionless}})
		c := w.dial(t)
		id := ""
		if a := c.do(t, initialize("2025-11-25")); (a.header.Get(sessionHeader) == "") != sessionless {
			t.Fatalf("sessionless %v: session %q", sessionless, a.header.Get(sessionHeader))
		} else if id = a.header.Get(sessionHeader); id == "" {
			c.do(t, legacy("made up", "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello") // there is nothing to look it up in
		}
		for range 3 {
			c.do(t, legacy(id, "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello")
			c.do(t, modern("tools/call", "echo", "")).is(t, 200, 0, "hello")
		}
	}
}

// Answers were 406 for Accept headers that take what could have been sent.
func TestC047Accept(t *testing.T) {
	w := start(t, server.Options{})
	for _, c := range []struct {
		name   string
		accept []string
		status int
		kind   string
	}{
		{"anything", []string{"Accept: */*"}, 200, "application/json"},
		{"absent", []string{"Accept"}, 200, "application/json"},
		{"empty", []string{"Accept: "}, 200, "application/json"},
		{"JSON", []string{"Accept: application/json"}, 200, "application/json"},
		{"events", []string{"Accept: text/event-stream"}, 200, "text/event-stream"},
		{"wildcard and q", []string{"Accept: application/*, text/event-stream;q=0.5"}, 200, "application/json"},
		{"case and order", []string{"Accept: TEXT/EVENT-STREAM, application/json"}, 200, "application/json"},
		{"two fields", []string{"Accept: text/event-stream", "Accept: application/json"}, 200, "application/json"},
		{"browser", []string{"Accept: text/html;q=0.9,*/*;q=0.8"}, 200, "application/json"},
		{"JSON ruled out", []string{"Accept: application/json;q=0, */*"}, 200, "text/event-stream"},
		{"parameters", []string{"Accept: application/json; charset=utf-8"}, 200, "application/json"},
		{"picture", []string{"Accept: image/png"}, 406, "text/plain; charset=utf-8"},
		{"all ruled out", []string{"Accept: */*;q=0"}, 406, "text/plain; charset=utf-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for what, a := range map[string]ask{"modern": modern("tools/call", "echo", "", c.accept...), "legacy": initialize("2025-11-25", c.accept...)} {
				got := w.do(t, a)
				if got.status != c.status || got.header.Get("Content-Type") != c.kind {
					t.Errorf("%s: want %d %s, got %s %s", what, c.status, c.kind, got.header.Get("Content-Type"), got)
				}
				if got.status == 200 && !strings.Contains(got.body, `"result"`) {
					t.Errorf("%s: %s", what, got)
				}
			}
		})
	}
}

// The address without a final slash was redirected, often to http://, and clients lost their credentials on the way.
func TestC052BothSpellings(t *testing.T) {
	opts := server.Options{HTTP: server.HTTPOptions{Principal: principal}}
	w := start(t, opts)
	mounted := w.listen(t, guarded(w.Middleware("/mcp")(http.NotFoundHandler())))
	direct := w.addr
	for _, addr := range []string{mounted, direct} {
		w.addr = addr
		for _, path := range []string{"/mcp", "/mcp/"} {
			a := modern("tools/call", "echo", "", "Authorization: Bearer a", "X-Forwarded-Proto: https")
			a.path = path
			w.do(t, a).is(t, 200, 0, "hello")
			if addr == direct {
				continue
			}
			a.head = slices.DeleteFunc(a.head, func(line string) bool { return fieldName(line) == "Authorization" })
			if got := w.do(t, a); got.status != 401 || got.header.Get("WWW-Authenticate") == "" || got.header.Get("Location") != "" {
				t.Errorf("%s without credentials: %s %v", path, got, got.header)
			}
		}
	}
	w.addr = mounted
	if got := w.do(t, ask{path: "/mcp/more", head: []string{"Authorization: Bearer a"}}); got.status != 404 {
		t.Errorf("an address below: %s", got)
	}
}

// principal reads who asks off the bearer token, as a stand-in for authorization: its first letter is the subject, and each
// letter after that a scope.
func principal(r *http.Request) *mcp.Principal {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return nil
	}
	return &mcp.Principal{Issuer: "https://issuer.example", Subject: token[:1], Scopes: strings.Split(token[1:], "")}
}

// guarded wants a token for every request.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if principal(r) == nil {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a token is needed", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
