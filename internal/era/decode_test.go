package era_test

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// answerTo writes an answer by hand.
func answerTo(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }

// describe writes an outcome in short.
func describe(o *era.Outcome, err error) string {
	switch {
	case err != nil:
		return mcp.CodeOf(err).String()
	case o.Err != nil:
		return "error " + o.Err.Code.String()
	case o.Input != nil:
		return "input " + string(o.Input.Requests) + " " + string(o.Input.State)
	case o.ResultType != "":
		return o.ResultType + " " + string(o.Result)
	}
	return string(o.Result)
}

const (
	invalid     = "invalid result"
	unsupported = "unsupported result type"
)

func TestDecodeOutcomeModern(t *testing.T) {
	_, client := codecs(t, mcp.Version20260728)
	const info = `"_meta":{"io.modelcontextprotocol/serverInfo":`
	for _, tc := range []struct{ name, method, result, want string }{
		{"no object", "tools/list", `[]`, invalid},
		{"null", "tools/list", `null`, invalid},
		{"resultType absent", "tools/list", `{"tools":[]}`, `{"tools":[]}`},
		{"complete", "tools/list", `{"resultType":"complete","tools":[]}`, `{"tools":[]}`},
		{"complete, with escapes", "tools/list", `{"tools":[],"result\u0054ype":"complet\u0065"}`, `{"tools":[]}`},
		{"resultType no string", "tools/list", `{"resultType":1,"tools":[]}`, invalid},
		{"resultType null", "tools/list", `{"resultType":null,"tools":[]}`, invalid},
		{"input without both", "tools/call", `{"resultType":"input_required"}`, invalid},
		{"input with nothing in it", "tools/call", `{"resultType":"input_required","inputRequests":{},"requestState":1}`, invalid},
		{"input with requests", "tools/call", `{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}`, `input {"a":{"method":"roots/list"}} `},
		{"input with requests no object", "tools/call", `{"resultType":"input_required","inputRequests":[1],"requestState":"s"}`, `input  "s"`},
		{"input with state", "prompts/get", `{"resultType":"input_required","requestState":"s\u00e9"}`, `input  "s\u00e9"`},
		{"input with state no string", "resources/read", `{"resultType":"input_required","inputRequests":{"a":{}},"requestState":{}}`, `input {"a":{}} `},
		{"input where none may come", "tools/list", `{"resultType":"input_required","requestState":"s"}`, invalid},
		{"another type", "tools/call", `{"resultType":"later","content":[]}`, unsupported},
		{"a type of an extension", "tools/call", `{"resultType":"task","taskId":"t","ttlMs":5}`, `task {"taskId":"t","ttlMs":5}`},
		{"a type of an extension elsewhere", "tools/list", `{"resultType":"task","taskId":"t"}`, unsupported},
		{"cache members go", "tools/list", `{"tools":[],"ttlMs":5,"cacheScope":"public","resultType":"complete"}`, `{"tools":[]}`},
		{"cache members of others stay", "tools/call", `{"content":[],"ttlMs":5}`, `{"content":[],"ttlMs":5}`},
		{"content is given", "tools/call", `{"structuredContent":1}`, `{"structuredContent":1,"content":[]}`},
		{"serverInfo stays", "prompts/get", `{"messages":[],` + info + `{"name":"a","version":"1"}}}`, `{"messages":[],` + info + `{"name":"a","version":"1"}}}`},
		{"bad serverInfo goes", "prompts/get", `{"messages":[],` + info + `{"name":1},"b":2}}`, `{"messages":[],"_meta":{"b":2}}`},
		{"bad serverInfo goes with its _meta", "prompts/get", `{"messages":[],` + info + `"x"}}`, `{"messages":[]}`},
		{"unknown members stay", "prompts/get", `{"messages":[], "x" : 1.50, "resultType":"complete"}`, `{"messages":[], "x" : 1.50}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := call(tc.method, "")
			if got := describe(client.DecodeOutcome(out, decode(t, answerTo(tc.result)))); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestDecodeOutcomeLegacy(t *testing.T) {
	_, client := codecs(t, mcp.Version20251125)
	_, old := codecs(t, mcp.Version20250618)
	for _, tc := range []struct {
		name           string
		codec          era.Codec
		method, params string
		result, want   string
	}{
		{"no object", client, "tools/list", "", `1`, invalid},
		{"resultType goes", client, "tools/list", "", `{"resultType":"input_required","tools":[]}`, `{"tools":[]}`},
		{"resultType of another kind goes", client, "tools/list", "", `{"tools":[],"resultType":7}`, `{"tools":[]}`},
		{"cache members stay", client, "tools/list", "", `{"tools":[],"ttlMs":5}`, `{"tools":[],"ttlMs":5}`},
		{"content is given", client, "tools/call", "", `{"isError":true}`, `{"isError":true,"content":[]}`},
		{"content is given to an empty result", client, "tools/call", "", `{}`, `{"content":[]}`},
		{"content is there", client, "tools/call", "", `{"content":[],"task":{}}`, `{"content":[],"task":{}}`},
		{"a task nobody asked for", client, "tools/call", `{"name":"a"}`, `{"task":{}}`, invalid},
		{"a task that was asked for", client, "tools/call", `{"name":"a","task":{}}`, `{"task":{"ttl":1,"pollInterval":2},"_meta":{"a":1}}`, `task {"ttlMs":1,"pollIntervalMs":2,"_meta":{"a":1}}`},
		{"a task", client, "tasks/get", `{"taskId":"t"}`, `{"status":"failed","ttl":1.0,"pollInterval":2,"x":1}`, `{"status":"failed","ttlMs":1.0,"pollIntervalMs":2,"x":1}`},
		{"a list of tasks", client, "tasks/list", "", `{"tasks":[{"ttl":1},{"ttl":null}],"nextCursor":"c"}`, `{"tasks":[{"ttlMs":1},{"ttlMs":null}],"nextCursor":"c"}`},
		{"a task before there were any", old, "tools/call", `{"name":"a","task":{}}`, `{"task":{}}`, invalid},
		{"input nobody can give", client, "tools/call", "", `{"inputRequests":{}}`, invalid},
		{"state of the other era", client, "tools/call", "", `{"requestState":"s"}`, invalid},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := describe(tc.codec.DecodeOutcome(call(tc.method, tc.params), decode(t, answerTo(tc.result)))); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	server, _ := codecs(t, mcp.Version20251125)
	got := describe(server.DecodeOutcome(call("elicitation/create", ""), decode(t, answerTo(`{"action":"decline","content":null}`))))
	if got != `{"action":"decline"}` {
		t.Errorf("null content of an elicitation: %s", got)
	}
}

// TestCacheHint holds how the cache members of a modern result are read, leniently.
func TestCacheHint(t *testing.T) {
	_, client := codecs(t, mcp.Version20260728)
	for _, tc := range []struct {
		members string
		ttl     int64
		scope   string
	}{
		{``, 0, "private"},
		{`,"ttlMs":1500,"cacheScope":"public"`, 1500, "public"},
		{`,"ttlMs":-1,"cacheScope":"everybody"`, 0, "private"},
		{`,"ttlMs":"1500","cacheScope":1`, 0, "private"},
		{`,"ttlMs":1.5`, 0, "private"},
		{`,"ttlMs":9007199254740992`, 0, "private"},
		{`,"ttlMs":null,"cacheScope":null`, 0, "private"},
	} {
		for _, method := range []string{"server/discover", "tools/list", "resources/read"} {
			o, err := client.DecodeOutcome(call(method, ""), decode(t, answerTo(`{"a":1`+tc.members+`}`)))
			if err != nil {
				t.Fatal(err)
			}
			if *o.Cache.TTLMs != tc.ttl || o.Cache.Scope != tc.scope || string(o.Result) != `{"a":1}` {
				t.Errorf("%s %s: %d %s %s", method, tc.members, *o.Cache.TTLMs, o.Cache.Scope, o.Result)
			}
		}
	}
}

// TestDecodeCall holds what a server gets to see of a modern and of a legacy request.
func TestDecodeCall(t *testing.T) {
	modern, _ := codecs(t, mcp.Version20260728)
	legacy, _ := codecs(t, mcp.Version20251125)
	frame := strings.Replace(modernCall("tools/call", `"name":"a" ,"x":[1.0],"inputResponses":{"k":{}},"requestState":"s"`),
		`ies":{}`, `ies":{"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/logLevel":"info","progressToken":"p","example.com/a":1`, 1)
	c, err := modern.DecodeCall(decode(t, frame), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, got, want string }{
		{"params", string(c.Params()), `{"name":"a" ,"x":[1.0],"_meta":{"progressToken":"p","example.com/a":1}}`},
		{"inputResponses", string(c.InputResponses), `{"k":{}}`},
		{"requestState", string(c.RequestState), `"s"`},
		{"capabilities", string(c.Envelope.ClientCapabilities), `{"roots":{}}`},
		{"clientInfo", string(c.Envelope.ClientInfo), `{"name":"c","version":"1"}`},
		{"logLevel", string(c.Envelope.LogLevel), `"info"`},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, tc.got, tc.want)
		}
	}
	if token, ok := c.ProgressToken(); !ok || string(token) != `"p"` {
		t.Errorf("progress token %s", token)
	}
	c, err = legacy.DecodeCall(decode(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","requestState":"s","inputResponses":{}}}`), nil)
	if err != nil || string(c.Params()) != `{"name":"a"}` || c.RequestState != nil || c.InputResponses != nil {
		t.Errorf("a legacy call brings retry material: %s %s", c.Params(), c.RequestState)
	}
	c, err = modern.DecodeCall(decode(t, modernCall("example/echo", `"requestState":1`)), nil)
	if err != nil || string(c.Params()) != `{"requestState":1}` || c.RequestState != nil {
		t.Errorf("a vendor's own member is taken for retry material: %v", err)
	}
}

// TestModernClientTakesNoRequests holds that nothing can be asked of a modern client by a request.
func TestModernClientTakesNoRequests(t *testing.T) {
	_, client := codecs(t, mcp.Version20260728)
	for _, method := range []string{"roots/list", "ping", "example/echo", "sampling/createMessage"} {
		if _, err := client.DecodeCall(decode(t, modernCall(method, "")), nil); err == nil {
			t.Errorf("%s is taken", method)
		}
	}
	if _, err := client.AppendResult(nil, nil, ok(`{}`)); err == nil {
		t.Error("a modern client answers a request")
	}
}

// TestDecodeNotice holds which notifications are dropped, and that the modern ones lose the envelope.
func TestDecodeNotice(t *testing.T) {
	modernServer, modernClient := codecs(t, mcp.Version20260728)
	legacyServer, _ := codecs(t, mcp.Version20250618)
	for _, tc := range []struct {
		name  string
		codec era.Codec
		frame string
		want  string // the params; "dropped" for none
	}{
		{"modern, of the handshake", modernServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "dropped"},
		{"modern, to the wrong side", modernServer, `{"jsonrpc":"2.0","method":"notifications/progress"}`, "dropped"},
		{"modern, a vendor's", modernServer, `{"jsonrpc":"2.0","method":"example/hint","params":{` + envelopeOf(`"2026-07-28"`) + `}}`, "{}"},
		{"modern, of a listen", modernClient, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a","_meta":{"io.modelcontextprotocol/subscriptionId":7,"b":1}}}`, `{"uri":"a","_meta":{"b":1}}`},
		{"legacy, of a later revision", legacyServer, `{"jsonrpc":"2.0","method":"notifications/tasks/status"}`, "dropped"},
		{"legacy, of the modern era", legacyServer, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}`, "dropped"},
		{"legacy, as it came", legacyServer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"_meta":{"b":1}}}`, `{"requestId":1,"_meta":{"b":1}}`},
	} {
		got := "dropped"
		if n, ok := tc.codec.DecodeNotice(decode(t, tc.frame)); ok {
			got = string(n.Params)
		}
		if got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}
