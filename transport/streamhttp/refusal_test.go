package streamhttp

import (
	"strings"
	"testing"
)

// TestRefusals walks through the table of refusals row by row, in both eras.
func TestRefusals(t *testing.T) {
	w := newWorld(t, Options{MaxBodyBytes: 4096})
	session := w.open(t)
	list, listHeaders := modern("tools/list", "", "")
	call, _ := modern("tools/call", "echo", "")
	head := func(pairs ...[2]string) [][2]string { return pairs }
	version := func(v string) [2]string { return [2]string{"MCP-Protocol-Version", v} }
	method := func(v string) [2]string { return [2]string{"Mcp-Method", v} }
	now := version("2026-07-28")
	notice := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	cases := []struct {
		name, method, body string
		headers            [][2]string
		status             int
		code               int64 // 0 for no JSON-RPC error
		text               string
	}{
		{"PUT", "PUT", list, listHeaders, 405, 0, "POST, GET, DELETE"},
		{"HEAD", "HEAD", "", nil, 405, 0, ""},
		{"OPTIONS without a list", "OPTIONS", "", head([2]string{"Origin", "http://localhost:1"}), 405, 0, ""},
		{"bad host", "POST", list, head([2]string{"Host", "evil.example"}), 403, 0, "AllowedHosts"},
		{"bad origin", "POST", list, head([2]string{"Origin", "http://evil.example"}), 403, 0, "AllowedOrigins"},
		{"method before host", "PUT", list, head([2]string{"Host", "evil.example"}), 405, 0, ""},
		{"no content type", "POST", list, head([2]string{"Content-Type", ""}), 415, -32600, ""},
		{"text", "POST", list, head([2]string{"Content-Type", "text/plain"}), 415, -32600, ""},
		{"two content types", "POST", list, head([2]string{"Content-Type", "application/json"}, [2]string{"Content-Type", "application/json"}), 415, -32600, ""},
		{"prefix only", "POST", list, head([2]string{"Content-Type", "application/jsonx"}), 415, -32600, ""},
		{"gzip", "POST", list, head([2]string{"Content-Encoding", "gzip"}), 415, -32600, "Content-Encoding"},
		{"image", "POST", list, head([2]string{"Accept", "image/png"}), 406, 0, "Accept"},
		{"media type before accept", "POST", list, head([2]string{"Accept", "image/png"}, [2]string{"Content-Type", "a/b"}), 415, -32600, ""},
		{"large", "POST", `{"a":"` + strings.Repeat("x", 5000) + `"}`, nil, 413, -32600, "4096"},
		{"empty", "POST", "", nil, 400, -32700, ""},
		{"no JSON", "POST", "{", nil, 400, -32700, ""},
		{"two values", "POST", list + list, listHeaders, 400, -32700, ""},
		{"not UTF-8", "POST", `{"a":"` + "\xff" + `"}`, nil, 400, -32700, ""},
		{"twice the same name", "POST", `{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}`, nil, 400, -32700, ""},
		{"too deep", "POST", strings.Repeat("[", 1000), nil, 400, -32700, "deep"},
		{"string", "POST", `"hello"`, nil, 400, -32600, ""},
		{"no version", "POST", `{"id":1,"method":"ping"}`, nil, 400, -32600, ""},
		{"empty array", "POST", `[]`, nil, 400, -32600, ""},
		{"array with claim", "POST", `[` + list + `]`, listHeaders, 400, -32600, ""},
		{"array beside modern header", "POST", `[` + legacyList + `]`, head(now), 400, -32600, ""},
		{"array of a revision without", "POST", `[` + legacyList + `]`, head(session), 400, -32600, ""},
		{"array with initialize", "POST", `[` + initialize + `]`, nil, 400, -32600, ""},
		{"array with a number", "POST", `[1]`, nil, 400, -32600, ""},
		{"response outside a session", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 400, -32600, ""},
		{"initialize under a modern header", "POST", initialize, head(now), 400, -32020, ""},
		{"initialize with claim", "POST", strings.Replace(initialize, `"params":{`, `"params":{`+meta+`,`, 1), head(now, method("initialize")), 404, -32601, ""},
		{"initialize without version", "POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, nil, 200, -32602, "protocolVersion"},
		{"initialize in a session", "POST", initialize, head(session), 400, -32600, ""},
		{"claim without header", "POST", list, nil, 400, -32020, ""},
		{"claim and other header", "POST", list, head(version("2025-11-25"), method("tools/list")), 400, -32020, ""},
		{"header alone", "POST", legacyList, head(now, method("tools/list")), 400, -32602, ""},
		{"unknown version", "POST", strings.Replace(list, "2026-07-28", "2027-01-01", 1), head(version("2027-01-01"), method("tools/list")), 400, -32022, "supported"},
		{"legacy version in a claim", "POST", strings.Replace(list, "2026-07-28", "2025-11-25", 1), head(version("2025-11-25")), 400, -32022, ""},
		{"no Mcp-Method", "POST", list, head(now), 400, -32020, "Mcp-Method"},
		{"other Mcp-Method", "POST", list, head(now, method("tools/call")), 400, -32020, ""},
		{"unknown method", "POST", strings.ReplaceAll(list, "tools/list", "tools/none"), head(now, method("tools/none")), 404, -32601, ""},
		{"no Mcp-Name", "POST", call, head(now, method("tools/call")), 400, -32020, "Mcp-Name"},
		{"other Mcp-Name", "POST", call, head(now, method("tools/call"), [2]string{"Mcp-Name", "other"}), 400, -32020, "Mcp-Name"},
		{"legacy without session", "POST", legacyList, nil, 400, -32600, "Mcp-Session-Id"},
		{"array without session", "POST", "[" + legacyList + "]", nil, 400, -32600, `{"jsonrpc":"2.0","error"`},
		{"notification without session", "POST", notice, nil, 400, -32600, "Mcp-Session-Id"},
		{"old header, no session", "POST", legacyList, head(version("1999-01-01")), 400, -32600, ""},
		{"unknown session", "POST", legacyList, head([2]string{"Mcp-Session-Id", "nope"}), 404, -32600, "initialize"},
		{"unknown session before version", "POST", legacyList, head([2]string{"Mcp-Session-Id", "nope"}, version("1999-01-01")), 404, -32600, ""},
		{"response in an unknown session", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, head([2]string{"Mcp-Session-Id", "nope"}), 404, -32600, ""},
		{"other version in a session", "POST", legacyList, head(session, version("2025-06-18")), 400, -32600, ""},
		{"unserved version in a session", "POST", legacyList, head(session, version("1999-01-01")), 400, -32600, ""},
		{"unknown method in a session", "POST", strings.Replace(legacyList, "tools/list", "nope/nope", 1), head(session), 200, -32601, ""},
		{"GET without session", "GET", "", nil, 400, 0, "Mcp-Session-Id"},
		{"GET of an unknown session", "GET", "", head([2]string{"Mcp-Session-Id", "nope"}), 404, -32600, ""},
		{"GET for JSON", "GET", "", head(session, [2]string{"Accept", "application/json"}), 406, 0, "text/event-stream"},
		{"GET under another version", "GET", "", head(session, version("2025-06-18")), 400, -32600, ""},
		{"DELETE without session", "DELETE", "", nil, 400, 0, ""},
		{"DELETE of an unknown session", "DELETE", "", head([2]string{"Mcp-Session-Id", "nope"}), 404, -32600, ""},
		{"modern notification, other header", "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + meta + `}}`, head(version("2027-01-01")), 400, -32020, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := w.ask(t, c.method, c.body, c.headers...)
			if a.status != c.status || a.code() != c.code || !strings.Contains(a.body, c.text) && !strings.Contains(a.header.Get("Allow"), c.text) {
				t.Errorf("got %d, code %d, %s; want %d, code %d, %q", a.status, a.code(), a.body, c.status, c.code, c.text)
			}
			if strings.Contains(a.body, `"id":null`) {
				t.Error("an error without request has no id, never null")
			}
			if a.status == 405 && a.header.Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
	if n := w.handler.Sessions(); n != 1 {
		t.Errorf("%d sessions, want the one that was opened", n)
	}
}

func TestAccepted(t *testing.T) {
	modernCall, callHeaders := modern("tools/call", "echo", "")
	call := append(callHeaders, [2]string{"Mcp-Session-Id", "ignored"}, [2]string{"Last-Event-ID", "ignored"})
	refuse, refuseHeaders := modern("tools/call", "refuse", "")
	unknown, unknownHeaders := modern("tools/call", "unknown", "")
	w := newWorld(t, Options{})
	session := w.open(t)
	cases := []struct {
		name, body string
		headers    [][2]string
		status     int
		has        string
	}{
		{"modern call", modernCall, call, 200, `"id":7`},
		{"capability of a handler", refuse, refuseHeaders, 400, `-32021`},
		{"unknown tool", unknown, unknownHeaders, 200, `-32602`},
		{"modern notification", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,` + meta + `}}`, callHeaders[:1], 202, ""},
		{"legacy call", legacyCall("echo"), [][2]string{session}, 200, `"id":3`},
		{"legacy call, version", legacyCall("echo"), [][2]string{session, {"MCP-Protocol-Version", " 2025-11-25 "}}, 200, `"id":3`},
		{"legacy error", legacyCall("unknown"), [][2]string{session}, 200, `-32602`},
		{"response", `{"jsonrpc":"2.0","id":1,"result":{}}`, [][2]string{session}, 202, ""},
		{"charset", legacyList, [][2]string{session, {"Content-Type", "Application/JSON; charset=utf-8"}}, 200, `"tools"`},
		{"identity", legacyList, [][2]string{session, {"Content-Encoding", "identity"}}, 200, `"tools"`},
		{"large answer", legacyCall("large"), [][2]string{session}, 200, `xxx`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := w.ask(t, "POST", c.body, c.headers...)
			if a.status != c.status || !strings.Contains(a.body, c.has) || c.has == "" && a.body != "" {
				t.Errorf("got %d %.300s; want %d with %q", a.status, a.body, c.status, c.has)
			}
			if id := a.header.Get("Mcp-Session-Id"); id != "" && id != session[1] {
				t.Errorf("session id %q", id)
			}
			if _, named := a.header["Mcp-Session-Id"]; named && strings.HasPrefix(c.name, "modern") {
				t.Error("a modern answer names a session")
			}
			if strings.Contains(c.name, "large") && a.header.Get("Content-Length") == "" {
				t.Error("a large answer has its length")
			}
		})
	}
}

func TestModernOnly(t *testing.T) {
	w := newWorld(t, Options{}, "2026-07-28")
	cases := []struct {
		name, method, body string
		status             int
		code               int64
	}{
		{"GET", "GET", "", 405, 0},
		{"DELETE", "DELETE", "", 405, 0},
		{"initialize", "POST", initialize, 400, -32022},
		{"request", "POST", legacyList, 400, -32022},
		{"array", "POST", "[" + legacyList + "]", 400, -32600},
		{"response", "POST", `{"jsonrpc":"2.0","id":1,"result":{}}`, 400, -32600},
		{"notification", "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, 202, 0},
	}
	for _, c := range cases {
		a := w.ask(t, c.method, c.body)
		if a.status != c.status || a.code() != c.code {
			t.Errorf("%s: got %d, code %d, %s", c.name, a.status, a.code(), a.body)
		}
		if c.status == 405 && a.header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow is %q", c.name, a.header.Get("Allow"))
		}
	}
	if len(w.desk.noticed()) != 0 {
		t.Errorf("a legacy notification came through: %q", w.desk.noticed())
	}
}

func TestSessionless(t *testing.T) {
	w := newWorld(t, Options{Sessionless: true})
	if a := w.ask(t, "POST", initialize); a.status != 200 || a.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("initialize: %d %q", a.status, a.header)
	}
	if a := w.ask(t, "POST", legacyCall("echo"), [2]string{"Mcp-Session-Id", "old"}); a.status != 200 || !strings.Contains(a.body, "hello") {
		t.Errorf("call: %d %s", a.status, a.body)
	}
	if a := w.ask(t, "GET", ""); a.status != 405 || a.header.Get("Allow") != "POST" {
		t.Errorf("GET: %d %q", a.status, a.header)
	}
	if w.handler.Sessions() != 0 {
		t.Error("a session was made")
	}
}
