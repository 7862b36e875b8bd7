package cases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/server"
)

// modernAsk is a modern request with its headers; members come first in its params, each with a comma behind.
func modernAsk(method, name, members string, head ...string) ask {
	a := claims("2026-07-28", method)
	a.body = strings.Replace(a.body, `"params":{`, `"params":{`+members, 1)
	if name != "" {
		a.head = append(a.head, "Mcp-Name: "+name)
	}
	a.head = append(a.head, head...)
	return a
}

// meta changes what _meta says; "" for a member leaves it out.
func (a ask) withMeta(version, capabilities, more string) ask {
	var members []string
	for _, m := range [][2]string{{"protocolVersion", version}, {"clientCapabilities", capabilities}} {
		if m[1] != "" {
			members = append(members, fmt.Sprintf(`"io.modelcontextprotocol/%s":%s`, m[0], m[1]))
		}
	}
	if more != "" {
		members = append(members, more)
	}
	a.body = strings.Replace(a.body, claimOf("2026-07-28"), `"_meta":{`+strings.Join(members, ",")+`}`, 1)
	return a
}

const (
	oslo      = `"name":"forecast","arguments":{"city":"Oslo"},`
	withRoots = `{"roots":{}}`
	version   = `"2026-07-28"`
)

// TestRowsOfModernRequests holds what is judged of a modern request once its version is served: Mcp-Method, the method,
// the members of _meta, Mcp-Name, what the request names, the repeated arguments, capabilities, parameters.
//
// Seen to fail with headers in the clear taken as they are: the two rows of names and cities that are not ASCII were served,
// and so was the one that repeats no argument.
func TestRowsOfModernRequests(t *testing.T) {
	w := library(t, server.Options{})
	list := claims("2026-07-28", "tools/list")
	call := modernAsk("tools/call", "forecast", oslo, "Mcp-Param-City: Oslo").withMeta(version, withRoots, "")
	sort := modernAsk("shelf/sort", "s1", `"shelf":"s1",`).withMeta(version, `{"extensions":{"com.example/shelf":{}}}`, "")
	refused := func(status int, code int64, data string) wanted {
		return wanted{status: status, code: code, id: "7", data: data}
	}
	badMeta := func(key, problem string) wanted { return refused(400, -32602, envelopeData(key, problem)) }
	const noProgram, noLevel = "not an object with the strings name and version", "not a log level"
	w.answers(t, []refusalRow{
		{"Mcp-Method missing", list.set("Mcp-Method"), refused(400, -32020, mismatch("", "tools/list"))},
		{"Mcp-Method of another", list.set("Mcp-Method: tools/call"), refused(400, -32020, mismatch("tools/call", "tools/list"))},
		{"Mcp-Method in another case", list.set("Mcp-Method: Tools/List"), refused(400, -32020, mismatch("Tools/List", "tools/list"))},
		{"Mcp-Method twice", list.also("Mcp-Method: tools/list"), refused(400, -32020, mismatch("tools/list, tools/list", "tools/list"))},
		{"Mcp-Method that is no text", list.set("Mcp-Method: \xff"), refused(400, -32020, mismatch("\ufffd", "tools/list"))},
		{"MCP-Protocol-Version that is no text", list.set("MCP-Protocol-Version: \xff"), refused(400, -32020, mismatch("\ufffd", "2026-07-28"))},

		{"unknown method", claims("2026-07-28", "tools/none"), refused(404, -32601, "")},
		{"ping, which the revision has no more", claims("2026-07-28", "ping"), refused(404, -32601, "")},
		{"a level, which the revision has no more", claims("2026-07-28", "logging/setLevel"), refused(404, -32601, "")},
		{"a request only servers send", claims("2026-07-28", "roots/list"), refused(404, -32601, "")},
		{"a notification as a request", claims("2026-07-28", "notifications/cancelled"), refused(404, -32601, "")},
		{"a method of a vendor", claims("2026-07-28", "vendor.example/sort"), wanted{status: 200, text: `"sorted":true`}},

		{"no protocolVersion", list.withMeta("", `{}`, ""), badMeta("protocolVersion", "missing")},
		{"neither", list.withMeta("", "", ""), badMeta("protocolVersion", "missing")},
		{"no clientCapabilities", list.withMeta(version, "", ""), badMeta("clientCapabilities", "missing")},
		{"clientCapabilities is no object", list.withMeta(version, `[]`, ""), badMeta("clientCapabilities", "not an object")},
		{"clientCapabilities is null", list.withMeta(version, `null`, ""), badMeta("clientCapabilities", "not an object")},
		{"clientInfo is no object", list.withMeta(version, `{}`, `"io.modelcontextprotocol/clientInfo":"me"`), badMeta("clientInfo", noProgram)},
		{"clientInfo without version", list.withMeta(version, `{}`, `"io.modelcontextprotocol/clientInfo":{"name":"me"}`), badMeta("clientInfo", noProgram)},
		{"logLevel of nobody", list.withMeta(version, `{}`, `"io.modelcontextprotocol/logLevel":"loud"`), badMeta("logLevel", noLevel)},
		{"logLevel is a number", list.withMeta(version, `{}`, `"io.modelcontextprotocol/logLevel":1`), badMeta("logLevel", noLevel)},
		{"no clientInfo", list, wanted{status: 200}},
		{"unknown members of _meta", list.withMeta(version, `{}`, `"io.modelcontextprotocol/later":1,"com.example/x":{}`), wanted{status: 200}},

		{"extension not declared", sort.withMetaOf(`{"extensions":{"com.example/shelf":{}}}`, `{}`), refused(400, -32021, `{"requiredCapabilities":{"extensions":{"com.example/shelf":{}}}}`)},
		{"extension not declared, Mcp-Name missing", sort.withMetaOf(`{"extensions":{"com.example/shelf":{}}}`, `{}`).set("Mcp-Name"), refused(400, -32021, `{"requiredCapabilities":{"extensions":{"com.example/shelf":{}}}}`)},
		{"extension declared", sort, wanted{status: 200, text: `"sorted":true`}},
		{"extension declared, Mcp-Name missing", sort.set("Mcp-Name"), refused(400, -32020, mismatch("", "s1"))},

		{"Mcp-Name of a tool missing", call.set("Mcp-Name"), refused(400, -32020, mismatch("", "forecast"))},
		{"Mcp-Name of another tool", call.set("Mcp-Name: fail"), refused(400, -32020, mismatch("fail", "forecast"))},
		{"Mcp-Name in another case", call.set("Mcp-Name: Forecast"), refused(400, -32020, mismatch("Forecast", "forecast"))},
		{"Mcp-Name twice", call.also("Mcp-Name: forecast"), refused(400, -32020, mismatch("forecast, forecast", "forecast"))},
		{"Mcp-Name encoded", call.set("Mcp-Name: =?base64?Zm9yZWNhc3Q=?="), wanted{status: 200}},
		{"Mcp-Name encoded, another", call.set("Mcp-Name: =?base64?ZmFpbA==?="), refused(400, -32020, mismatch("fail", "forecast"))},
		{"Mcp-Name without padding", call.set("Mcp-Name: =?base64?Zm9yZWNhc3Q?="), refused(400, -32020, mismatch("=?base64?Zm9yZWNhc3Q?=", "forecast"))},
		{"Mcp-Name that is no text", call.set("Mcp-Name: \xff"), refused(400, -32020, mismatch("\ufffd", "forecast"))},
		{"Mcp-Name in the clear though it is not ASCII", modernAsk("tools/call", "naïve", `"name":"naïve",`), refused(400, -32020, mismatch("naïve", "=?base64?bmHDr3Zl?="))},
		{"Mcp-Name encoded as it has to be", modernAsk("tools/call", "=?base64?bmHDr3Zl?=", `"name":"naïve",`), refused(200, -32602, "")},
		{"Mcp-Name of a prompt missing", modernAsk("prompts/get", "", `"name":"review",`), refused(400, -32020, mismatch("", "review"))},
		{"Mcp-Name of a resource missing", modernAsk("resources/read", "", `"uri":"book:1",`), refused(400, -32020, mismatch("", "book:1"))},
		{"Mcp-Name where the name is no string", modernAsk("tools/call", "", `"name":1,`), refused(200, -32602, "")},
		{"Mcp-Name where there is no name", modernAsk("tools/call", "", ""), refused(200, -32602, "")},
		{"Mcp-Name of a request that needs none", list.also("Mcp-Name: whatever"), wanted{status: 200}},

		{"unknown tool", modernAsk("tools/call", "none", `"name":"none",`), refused(200, -32602, "")},
		{"unknown prompt", modernAsk("prompts/get", "none", `"name":"none",`), refused(200, -32602, "")},
		{"unknown resource", modernAsk("resources/read", "book:0", `"uri":"book:0",`), refused(200, -32602, `{"uri":"book:0"}`)},

		{"Mcp-Param missing", call.set("Mcp-Param-City"), refused(400, -32020, "")},
		{"Mcp-Param of another value", call.set("Mcp-Param-City: Bergen"), refused(400, -32020, "")},
		{"Mcp-Param in another case", call.set("Mcp-Param-City: oslo"), refused(400, -32020, "")},
		{"Mcp-Param encoded", call.set("Mcp-Param-City: =?base64?T3Nsbw==?="), wanted{status: 200}},
		{"Mcp-Param with a letter that base64 has not", call.set("Mcp-Param-City: =?base64?T3Ns*w==?="), refused(400, -32020, "")},
		{"Mcp-Param in the clear though it is not ASCII", call.city("Zürich").set("Mcp-Param-City: Zürich"), refused(400, -32020, "")},
		{"Mcp-Param encoded as it has to be", call.city("Zürich").set("Mcp-Param-City: =?base64?WsO8cmljaA==?="), wanted{status: 200}},
		{"Mcp-Param without a value, beside a blank", call.days("null").set("Mcp-Param-Days: \t"), wanted{status: 200}},
		{"Mcp-Param without a value, with letters that no header has", call.set("Mcp-Param-Days: Zürich"), refused(400, -32020, "")},
		{"Mcp-Param of a whole number", call.days("3").set("Mcp-Param-Days: 3.0"), wanted{status: 200}},
		{"Mcp-Param of another number", call.days("3").set("Mcp-Param-Days: 4"), refused(400, -32020, "")},
		{"Mcp-Param of a number that is missing", call.days("3"), refused(400, -32020, "")},
		{"Mcp-Param of nobody", call.set("Mcp-Param-Color: red"), wanted{status: 200}},

		{"capability not declared", call.withMetaOf(withRoots, `{}`), refused(400, -32021, `{"requiredCapabilities":{"roots":{}}}`)},
		{"capability of a prompt not declared", modernAsk("prompts/get", "review", `"name":"review",`), refused(400, -32021, `{"requiredCapabilities":{"roots":{}}}`)},
		{"capability declared", call, wanted{status: 200, text: `"resultType":"input_required"`}},

		{"a state of nobody", call.more(`"requestState":"forged",`), refused(200, -32602, `{"reason":"invalid_request_state"}`)},
		{"a state that is no string", call.more(`"requestState":1,`), refused(200, -32602, `{"reason":"invalid_request_state"}`)},
		{"arguments that are no object", modernAsk("tools/call", "fail", `"name":"fail","arguments":[],`), refused(200, -32602, "*")},
		{"an argument that breaks the schema", call.set("Mcp-Param-City").arguments(`{}`), wanted{status: 200, text: `"isError":true`}},
		{"a cursor of nobody", modernAsk("tools/list", "", `"cursor":"nobody",`), refused(200, -32602, "*")},
		{"a cursor that is no string", modernAsk("tools/list", "", `"cursor":1,`), refused(200, -32602, "*")},
		{"a filter that is no object", modernAsk("subscriptions/listen", "", `"notifications":1,`), refused(200, -32602, "*")},
		{"a listen without a stream", modernAsk("subscriptions/listen", "", `"notifications":{"toolsListChanged":true},`).set("Accept: application/json"), wanted{status: 406, code: -32600, id: "7", data: "*"}},
	})
}

// withMetaOf puts other capabilities in place of those that stand there.
func (a ask) withMetaOf(old, capabilities string) ask {
	a.body = strings.Replace(a.body, `"io.modelcontextprotocol/clientCapabilities":`+old, `"io.modelcontextprotocol/clientCapabilities":`+capabilities, 1)
	return a
}

// arguments puts others in place of those that stand there.
func (a ask) arguments(raw string) ask {
	a.body = strings.Replace(a.body, `"arguments":{"city":"Oslo"}`, `"arguments":`+raw, 1)
	return a
}

func (a ask) city(name string) ask { return a.arguments(fmt.Sprintf(`{"city":%q}`, name)) }

func (a ask) days(n string) ask { return a.arguments(`{"city":"Oslo","days":` + n + `}`) }

// more puts members in front of the params.
func (a ask) more(members string) ask {
	a.body = strings.Replace(a.body, `"params":{`, `"params":{`+members, 1)
	return a
}

// TestRowsOfHandlerErrors holds the status of what a handler returns, before anything else has been said: by its code on the
// modern era, always 200 in a legacy session.
func TestRowsOfHandlerErrors(t *testing.T) {
	w := library(t, server.Options{})
	session := sessionHeader + ": " + w.dial(t).session(t)
	for code, status := range map[int64]int{
		-32021: 400, -32601: 404,
		-32602: 200, -32603: 200, -32600: 200, -32700: 200, -32020: 200, -32022: 200, -31999: 200, 7: 200, 1 << 40: 200,
	} {
		vendor := modernAsk("vendor.example/fail", "", fmt.Sprintf(`"code":%d,`, code))
		tool := modernAsk("tools/call", "fail", fmt.Sprintf(`"name":"fail","arguments":{"code":%d},`, code))
		old := posted(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"fail","arguments":{"code":%d}}}`, code), session)
		w.answers(t, []refusalRow{
			{fmt.Sprintf("method %d", code), vendor, wanted{status: status, code: code, id: "7", text: "the handler says so"}},
			{fmt.Sprintf("tool %d", code), tool, wanted{status: status, code: code, id: "7", text: "the handler says so"}},
			{fmt.Sprintf("legacy %d", code), old, wanted{status: 200, code: code, id: "7", text: "the handler says so"}},
		})
	}
	w.answers(t, []refusalRow{
		{"a plain error of a method", modernAsk("vendor.example/fail", "", ""), wanted{status: 200, code: -32603, id: "7", text: "Internal error"}},
		{"a plain error of a tool", modernAsk("tools/call", "fail", `"name":"fail","arguments":{},`), wanted{status: 200, text: `"isError":true`}},
	})
}

// TestRowsAfterTheStream holds that an error which comes when the answer has become a stream rides on it, with the 200 that
// has been sent.
func TestRowsAfterTheStream(t *testing.T) {
	w := library(t, server.Options{})
	for _, code := range []int64{-32021, -32601, -32602} {
		call := modernAsk("tools/call", "fail", fmt.Sprintf(`"name":"fail","arguments":{"code":%d,"after":true},`, code)).
			withMeta(version, "{}", `"progressToken":"p"`)
		a := w.do(t, call)
		events := strings.Split(strings.TrimSpace(a.body), "\n\n")
		if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" || a.header.Get("X-Accel-Buffering") != "no" || len(events) != 2 {
			t.Fatalf("%s %v", a, a.header)
		}
		for _, event := range events {
			if strings.Contains(event, "id:") || strings.Contains(event, "retry:") {
				t.Errorf("a modern stream cannot be gone on with: %s", event)
			}
		}
		_, data, _ := strings.Cut(events[1], "data: ")
		wanted{code: code, id: "7", text: "the handler says so"}.in(t, data)
	}
}

// TestRowsNameSessions holds that every answer within a session names it, refusals too, and that no modern one names any.
func TestRowsNameSessions(t *testing.T) {
	w := library(t, server.Options{})
	id := w.sessionOf(t, "2025-11-25")
	session := sessionHeader + ": " + id
	for name, a := range map[string]ask{
		"answer":            posted(unclaimed, session),
		"notification":      posted(notice, session),
		"unknown method":    posted(`{"jsonrpc":"2.0","id":7,"method":"tools/none"}`, session),
		"another revision":  posted(unclaimed, session, "MCP-Protocol-Version: 2025-06-18"),
		"initialize again":  initialize("2025-11-25", session),
		"array it has not":  posted(`[`+unclaimed+`]`, session),
		"an answer to none": posted(postedAnswer, session),
	} {
		if got := w.do(t, a); got.header.Get(sessionHeader) != id {
			t.Errorf("%s: session %q in %s", name, got.header.Get(sessionHeader), got)
		}
	}
	for name, a := range map[string]ask{
		"answer":       claims("2026-07-28", "tools/list"),
		"refusal":      claims("2027-01-01", "tools/list"),
		"discover":     claims("2026-07-28", "server/discover"),
		"notification": posted(notice, modernHeader),
	} {
		for _, sent := range []string{session, sessionHeader + ": nope"} {
			if got := w.do(t, a.also(sent).also("Last-Event-ID: 1")); len(got.header.Values(sessionHeader)) > 0 || got.status == 404 {
				t.Errorf("%s of the modern era: %s, session %q", name, got, got.header.Values(sessionHeader))
			}
		}
	}
}
