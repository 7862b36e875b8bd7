package cases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestRowsOfSessions holds what is judged of legacy traffic over HTTP: the session, its revision, then the request, which
// is answered with 200 whatever it says.
func TestRowsOfSessions(t *testing.T) {
	w := library(t, server.Options{})
	session := sessionHeader + ": " + w.sessionOf(t, "2025-11-25")
	older := sessionHeader + ": " + w.sessionOf(t, "2025-06-18")
	dead := sessionHeader + ": " + w.sessionOf(t, "2025-11-25")
	if a := w.do(t, ask{method: "DELETE", head: []string{dead}}); a.status != 200 || a.body != "" {
		t.Fatalf("DELETE: %s", a)
	}
	const nobody, other, never = sessionHeader + ": nope", "MCP-Protocol-Version: 2025-06-18", "MCP-Protocol-Version: 1999-01-01"
	request := func(method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s}}`, method, params)
	}
	list := posted(unclaimed, session)
	refused := func(status int, code int64) wanted { return wanted{status: status, code: code, id: "7", data: "*"} }
	gone := wanted{status: 404, code: -32600, text: "initialize"}
	bad := wanted{status: 400, code: -32600}
	w.answers(t, []refusalRow{
		{"served", list, wanted{status: 200, text: `"tools":[`}},
		{"its own revision in the header", list.also("MCP-Protocol-Version: 2025-11-25"), wanted{status: 200}},
		{"JSON alone", list.set("Accept: application/json"), wanted{status: 200, text: `"tools":[`}},
		{"a type that no answer has", list.set("Accept: image/png"), wanted{status: 406, text: "Accept"}},
		{"no JSON", posted(`{`, session), wanted{status: 400, code: -32700}},
		{"no JSON, in no session", posted(`{`, nobody), wanted{status: 400, code: -32700}},
		{"no message, in no session", posted(`7`, nobody), bad},

		{"initialize in a session", initialize("2025-11-25", session).withSeven(), refused(400, -32600)},
		{"initialize in a session that has ended", initialize("2025-11-25", dead).withSeven(), gone},
		{"initialize without version", posted(request("initialize", "")), refused(200, -32602)},
		{"initialize with a version that is a number", posted(request("initialize", `"protocolVersion":20251125`)), refused(200, -32602)},
		{"initialize with capabilities that are a list", posted(request("initialize", `"protocolVersion":"2025-11-25","capabilities":[]`)), refused(200, -32602)},
		{"request without session", posted(unclaimed), refused(400, -32600)},
		{"ping without session", posted(request("ping", "")), refused(400, -32600)},
		{"notification without session", posted(notice), bad},
		{"an empty session", posted(unclaimed, sessionHeader+":"), refused(400, -32600)},

		{"unknown session", posted(unclaimed, nobody), gone},
		{"session that has ended", posted(unclaimed, dead), gone},
		{"two sessions", list.also(older), gone},
		{"notification in an unknown session", posted(notice, nobody), gone},
		{"answer in an unknown session", posted(postedAnswer, nobody), gone},
		{"unknown session before its revision", posted(unclaimed, nobody, never), gone},

		{"another revision than the session's", list.also(other), refused(400, -32600)},
		{"a revision that is not served", list.also(never), refused(400, -32600)},
		{"a notification under another revision", posted(notice, session, other), bad},
		{"the other session's own revision", posted(unclaimed, older, other), wanted{status: 200}},

		{"notification", posted(notice, session), wanted{status: 202}},
		{"notification of nobody", posted(strings.Replace(notice, "cancelled", "nobody", 1), session), wanted{status: 202}},
		{"answer to nothing", posted(postedAnswer, session), wanted{status: 202}},

		{"unknown method", posted(request("tools/none", ""), session), refused(200, -32601)},
		{"a method of the other era", posted(request("subscriptions/listen", ""), session), refused(200, -32601)},
		{"a request only servers send", posted(request("roots/list", ""), session), refused(200, -32601)},
		{"a method of a vendor", posted(request("vendor.example/sort", ""), session), wanted{status: 200, text: `"sorted":true`}},
		{"unknown tool", posted(request("tools/call", `"name":"none"`), session), refused(200, -32602)},
		{"unknown prompt", posted(request("prompts/get", `"name":"none"`), session), refused(200, -32602)},
		{"unknown resource", posted(request("resources/read", `"uri":"book:0"`), session), refused(200, -32002)},
		{"repeated arguments are not looked at", posted(request("tools/call", `"name":"fail","arguments":{}`), session, "Mcp-Name: other", "Mcp-Method: other"), wanted{status: 200, text: `"isError":true`}},
		{"an argument that breaks the schema", posted(request("tools/call", `"name":"forecast","arguments":{}`), session), wanted{status: 200, text: `"isError":true`}},
		{"the same before results said so", posted(request("tools/call", `"name":"forecast","arguments":{}`), older), refused(200, -32602)},
		{"a capability that was not declared", posted(request("tools/call", `"name":"forecast","arguments":{"city":"Oslo"}`), session), wanted{status: 200, text: "roots"}},
		{"arguments that are no object", posted(request("tools/call", `"name":"fail","arguments":[]`), session), refused(200, -32602)},
		{"a level of nobody", posted(request("logging/setLevel", `"level":"loud"`), session), refused(200, -32602)},
	})
	if n := w.handler.Sessions(); n != 2 {
		t.Errorf("%d sessions, want the two that are open", n)
	}
}

// TestRowsOfStreams holds what GET and DELETE are answered.
func TestRowsOfStreams(t *testing.T) {
	w := library(t, server.Options{})
	session := sessionHeader + ": " + w.sessionOf(t, "2025-11-25")
	const nobody, other = sessionHeader + ": nope", "MCP-Protocol-Version: 2025-06-18"
	get := func(head ...string) ask { return ask{method: "GET", head: head} }
	end := func(head ...string) ask { return ask{method: "DELETE", head: head} }
	gone := wanted{status: 404, code: -32600}
	w.answers(t, []refusalRow{
		{"GET without session", get(), wanted{status: 400, text: sessionHeader}},
		{"GET of an unknown session", get(nobody), gone},
		{"GET for JSON", get(session, "Accept: application/json"), wanted{status: 406, text: "text/event-stream"}},
		{"GET for JSON, without session", get("Accept: application/json"), wanted{status: 406, text: "text/event-stream"}},
		{"GET under another revision", get(session, other), wanted{status: 400, code: -32600}},
		{"GET under a modern revision", get(session, modernHeader), wanted{status: 400, code: -32600}},
		{"GET after an event of nobody", get(session, "Last-Event-ID: nobody-1"), wanted{status: 400, code: -32600}},
		{"GET after an event, in an unknown session", get(nobody, "Last-Event-ID: nobody-1"), gone},
		{"DELETE without session", end(), wanted{status: 400, text: sessionHeader}},
		{"DELETE of an unknown session", end(nobody), gone},
		{"DELETE under another revision", end(session, other), wanted{status: 400, code: -32600}},
	})
	first, second := w.stream(t, get(session)), w.stream(t, get(session))
	for _, s := range []*events{first, second} {
		head := s.resp.Header
		if s.resp.StatusCode != 200 || head.Get("Content-Type") != "text/event-stream" || head.Get("Cache-Control") != "no-cache, no-transform" ||
			head.Get("X-Accel-Buffering") != "no" || sessionHeader+": "+head.Get(sessionHeader) != session {
			t.Errorf("head of a stream: %d %v", s.resp.StatusCode, head)
		}
	}
	w.answers(t, []refusalRow{
		{"DELETE", end(session), wanted{status: 200}},
		{"DELETE again", end(session), gone},
		{"GET of a session that has ended", get(session), gone},
	})
}

// TestRowsSessionless holds that without sessions nothing is asked for one, and the header alone says the revision.
func TestRowsSessionless(t *testing.T) {
	w := library(t, server.Options{HTTP: server.HTTPOptions{Sessionless: true}})
	list := posted(unclaimed)
	w.answers(t, []refusalRow{
		{"GET", ask{method: "GET"}, wanted{status: 405, allow: "POST"}},
		{"DELETE", ask{method: "DELETE"}, wanted{status: 405, allow: "POST"}},
		{"no header", list, wanted{status: 200, text: `"tools":[`}},
		{"a session of nobody", list.also(sessionHeader + ": nope"), wanted{status: 200}},
		{"2024-11-05", list.also("MCP-Protocol-Version: 2024-11-05"), wanted{status: 200}},
		{"a revision that is not served", list.also("MCP-Protocol-Version: 1999-01-01"), wanted{status: 400, code: -32600, id: "7"}},
		{"a header that is no revision", list.also("MCP-Protocol-Version: two"), wanted{status: 400, code: -32600, id: "7"}},
		{"unknown method", posted(`{"jsonrpc":"2.0","id":7,"method":"tools/none"}`), wanted{status: 200, code: -32601, id: "7"}},
		{"answer", posted(postedAnswer), wanted{status: 400, code: -32600}},
		{"notification", posted(notice), wanted{status: 202}},
	})
	a := w.do(t, initialize("2025-11-25"))
	if a.status != 200 || a.header.Get(sessionHeader) != "" {
		t.Errorf("initialize: %s, session %q", a, a.header.Get(sessionHeader))
	}
	strict := library(t, server.Options{Versions: []string{mcp.Version20251125}, HTTP: server.HTTPOptions{Sessionless: true}})
	strict.answers(t, []refusalRow{
		{"no header, and what it means is not served", list, wanted{status: 400, code: -32600, id: "7"}},
		{"the one that is served", list.also("MCP-Protocol-Version: 2025-11-25"), wanted{status: 200}},
	})
}
