package era_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

const stamp = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"library","version":"1.0.0"}}`

func TestAppendResultModern(t *testing.T) {
	server, _ := codecs(t, mcp.Version20260728)
	hint := mcp.CacheFor(2e9, mcp.CachePublic)
	wild := int64(-5)
	for _, tc := range []struct {
		name, method string
		o            era.Outcome
		want         string // "fails" for an error
	}{
		{"plain", "tools/call", era.Outcome{Result: raw(`{"content":[]}`), Plain: true}, `{"content":[],"resultType":"complete",` + stamp + `}`},
		{"plain and empty", "completion/complete", era.Outcome{Result: raw(` { } `), Plain: true}, `{"resultType":"complete",` + stamp + `}`},
		{"plain over lines", "tools/call", era.Outcome{Result: raw("{\n\"content\":[]\r\n}"), Plain: true}, `{"content":[],"resultType":"complete",` + stamp + `}`},
		{"plain, no object", "tools/call", era.Outcome{Result: raw(`[]`), Plain: true}, "fails"},
		{"plain, nothing", "tools/call", era.Outcome{Plain: true}, "fails"},
		{"plain, cacheable", "prompts/list", era.Outcome{Result: raw(`{"prompts":[]}`), Plain: true}, `{"prompts":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",` + stamp + `}`},
		{"plain, hint", "prompts/list", era.Outcome{Result: raw(`{"prompts":[]}`), Plain: true, Cache: hint}, `{"prompts":[],"resultType":"complete","ttlMs":2000,"cacheScope":"public",` + stamp + `}`},
		{"hint out of range", "prompts/list", era.Outcome{Result: raw(`{"prompts":[]}`), Cache: mcp.CacheHint{TTLMs: &wild, Scope: "x"}}, `{"prompts":[],"resultType":"complete","ttlMs":0,"cacheScope":"private",` + stamp + `}`},
		{"scanned", "tools/call", era.Outcome{Result: raw(`{"content":[]}`)}, `{"content":[],"resultType":"complete",` + stamp + `}`},
		{"no object", "tools/call", era.Outcome{Result: raw(`null`)}, "fails"},
		{"own complete", "tools/call", era.Outcome{Result: raw(`{"resultType":"complete","content":[]}`)}, `{"resultType":"complete","content":[],` + stamp + `}`},
		{"own type on a call", "tools/call", era.Outcome{Result: raw(`{"resultType":"task","taskId":"t"}`)}, `{"resultType":"task","taskId":"t",` + stamp + `}`},
		{"own type elsewhere", "tools/list", era.Outcome{Result: raw(`{"resultType":"task"}`)}, "fails"},
		{"own type, a vendor's method", "example/echo", era.Outcome{Result: raw(`{"resultType":"later"}`)}, "fails"},
		{"own type no string", "tools/call", era.Outcome{Result: raw(`{"resultType":null}`)}, "fails"},
		{"extension's type", "tools/call", era.Outcome{Result: raw(`{"taskId":"t"}`), ResultType: "task"}, `{"taskId":"t","resultType":"task",` + stamp + `}`},
		{"extension's type elsewhere", "prompts/list", era.Outcome{Result: raw(`{}`), ResultType: "task"}, "fails"},
		{"two types", "tools/call", era.Outcome{Result: raw(`{"resultType":"complete"}`), ResultType: "task"}, "fails"},
		{"own cache", "resources/read", era.Outcome{Result: raw(`{"ttlMs":7,"cacheScope":"public","contents":[]}`)}, `{"ttlMs":7,"cacheScope":"public","contents":[],"resultType":"complete",` + stamp + `}`},
		{"own cache before the hint", "resources/read", era.Outcome{Result: raw(`{"ttlMs":7}`), Cache: hint}, `{"ttlMs":7,"resultType":"complete","cacheScope":"public",` + stamp + `}`},
		{"own cache invalid", "resources/read", era.Outcome{Result: raw(`{"ttlMs":1.5,"cacheScope":"x"}`), Cache: hint}, `{"ttlMs":2000,"cacheScope":"public","resultType":"complete",` + stamp + `}`},
		{"own ttl beyond 2^53", "resources/read", era.Outcome{Result: raw(`{"ttlMs":9007199254740992}`)}, `{"ttlMs":0,"resultType":"complete","cacheScope":"private",` + stamp + `}`},
		{"cache members where none belong", "tools/call", era.Outcome{Result: raw(`{"ttlMs":-1}`), Cache: hint}, `{"ttlMs":-1,"resultType":"complete",` + stamp + `}`},
		{"no cache on another type", "resources/read", era.Outcome{Result: raw(`{"resultType":"task"}`), Cache: hint}, `{"resultType":"task",` + stamp + `}`},
		{"own _meta", "tools/call", era.Outcome{Result: raw(`{"_meta":{"a":"\u0041"},"content":[]}`)}, `{"_meta":{"a":"\u0041",` + stamp[len(`"_meta":{`):] + `,"content":[],"resultType":"complete"}`},
		{"own empty _meta", "tools/call", era.Outcome{Result: raw(`{"_meta":{}}`)}, `{` + stamp + `,"resultType":"complete"}`},
		{"own serverInfo wins", "tools/call", era.Outcome{Result: raw(`{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}}}`)}, `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}},"resultType":"complete"}`},
		{"own _meta no object", "tools/call", era.Outcome{Result: raw(`{"_meta":1}`)}, `{"_meta":1,"resultType":"complete"}`},
		{"execution goes", "tools/list", era.Outcome{Result: raw(`{"tools":[{"execution":{},"name":"a"},{"name":"b","\u0065xecution":1}]}`), Plain: true},
			`{"tools":[{"name":"a"},{"name":"b"}],"resultType":"complete","ttlMs":0,"cacheScope":"private",` + stamp + `}`},
		{"execution elsewhere stays", "tools/call", era.Outcome{Result: raw(`{"tools":[{"execution":{}}]}`)}, `{"tools":[{"execution":{}}],"resultType":"complete",` + stamp + `}`},
		{"tasks go from capabilities", "example/echo", era.Outcome{Result: raw(`{"capabilities":{"tasks":{},"tools":{}}}`)}, `{"capabilities":{"tools":{}},"resultType":"complete",` + stamp + `}`},
		{"natural structured content", "tools/call", era.Outcome{Result: raw(`{"structuredContent":[1]}`), WrapOutput: true}, `{"structuredContent":[1],"resultType":"complete",` + stamp + `}`},
		{"input", "tools/call", era.Outcome{Input: &era.InputRound{Requests: raw(`{"a":{}}`), State: raw(`"s"`)}, Cache: hint}, `{"resultType":"input_required","inputRequests":{"a":{}},"requestState":"s",` + stamp + `}`},
		{"input of a cacheable method", "resources/read", era.Outcome{Input: &era.InputRound{State: raw(`"s"`)}, Cache: hint}, `{"resultType":"input_required","requestState":"s",` + stamp + `}`},
		{"input without anything", "tools/call", era.Outcome{Input: &era.InputRound{Requests: raw(`{}`)}}, "fails"},
		{"input where none may be", "tools/list", era.Outcome{Input: &era.InputRound{State: raw(`"s"`)}}, "fails"},
		{"input of a vendor's method", "example/echo", era.Outcome{Input: &era.InputRound{State: raw(`"s"`)}}, "fails"},
		{"input requests no object", "tools/call", era.Outcome{Input: &era.InputRound{Requests: raw(`[1]`)}}, "fails"},
		{"input state no string", "tools/call", era.Outcome{Input: &era.InputRound{State: raw(`1`)}}, "fails"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := server.AppendResult([]byte("^"), rowOf(server, tc.method, era.ServerSide), &tc.o)
			if err != nil {
				got = []byte("^fails")
			}
			if string(got) != "^"+tc.want {
				t.Errorf("\ngot  %s\nwant ^%s", got, tc.want)
			}
			if err == nil && !json.Valid(got[1:]) {
				t.Errorf("not JSON: %s", got)
			}
		})
	}
}

// TestEncodeFailureAnswers holds that a result which cannot be encoded still answers its request.
func TestEncodeFailureAnswers(t *testing.T) {
	server, _ := codecs(t, mcp.Version20260728)
	frame, err := era.AppendOutcome([]byte("^"), server, jsonrpc.IntID(3), rowOf(server, "tools/list", era.ServerSide), ok(`{"resultType":"task"}`))
	if err == nil || string(frame) != `^{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal error"}}` {
		t.Errorf("%s, %v", frame, err)
	}
}

func TestAppendResultLegacy(t *testing.T) {
	server, _ := codecs(t, mcp.Version20251125)
	for _, tc := range []struct {
		name, method string
		o            era.Outcome
		want         string
	}{
		{"as it is", "prompts/list", era.Outcome{Result: raw(`{ "prompts" : [] }`), Cache: mcp.CacheFor(1e9, mcp.CachePublic)}, `{ "prompts" : [] }`},
		{"without line breaks", "prompts/list", era.Outcome{Result: raw("{\n\"prompts\":\r\n[]}")}, `{"prompts":[]}`},
		{"object content stays", "tools/call", era.Outcome{Result: raw(`{"structuredContent":{"a":1}}`)}, `{"structuredContent":{"a":1}}`},
		{"object content under a wrapped schema", "tools/call", era.Outcome{Result: raw(`{"structuredContent":{"a":1},"x":1}`), WrapOutput: true}, `{"structuredContent":{"result":{"a":1}},"x":1}`},
		{"list content", "tools/call", era.Outcome{Result: raw(`{"content":[],"structuredContent":[1.50,"\u0041"]}`)}, `{"content":[],"structuredContent":{"result":[1.50,"\u0041"]}}`},
		{"null content", "tools/call", era.Outcome{Result: raw(`{"structuredContent":null}`)}, `{"structuredContent":{"result":null}}`},
		{"no content", "tools/call", era.Outcome{Result: raw(`{"content":[]}`), WrapOutput: true}, `{"content":[]}`},
		{"plain under a wrapped schema", "tools/call", era.Outcome{Result: raw(`{"content":[]}`), WrapOutput: true, Plain: true}, `{"content":[]}`},
		{"content of another method", "prompts/get", era.Outcome{Result: raw(`{"structuredContent":[1]}`)}, `{"structuredContent":[1]}`},
		{"a vendor's", "example/echo", era.Outcome{Result: raw(`{"tools":[{"outputSchema":{}}]}`)}, `{"tools":[{"outputSchema":{}}]}`},
		{"stamps of a relay go", "prompts/list", era.Outcome{Result: raw(`{"resultType":"complete","prompts":[],"ttlMs":1,"cacheScope":"public",` + stamp + `}`)}, `{"prompts":[]}`},
		{"what is beside a stamp stays", "tools/call", era.Outcome{Result: raw(`{"ttlMs":1,"_meta":{"a":"\u0041","io.modelcontextprotocol/serverInfo":{}},"structuredContent":1}`)}, `{"ttlMs":1,"_meta":{"a":"\u0041"},"structuredContent":{"result":1}}`},
		{"a vendor's own resultType stays", "example/echo", era.Outcome{Result: raw(`{"resultType":"x"}`)}, `{"resultType":"x"}`},
		{"no object", "prompts/list", era.Outcome{Result: raw(`[]`)}, "fails"},
		{"input", "tools/call", era.Outcome{Input: &era.InputRound{State: raw(`"s"`)}}, "fails"},
		{"a result of an extension", "tools/call", era.Outcome{Result: raw(`{}`), ResultType: "other"}, "fails"},
		{"a task", "tools/call", era.Outcome{Result: raw(`{"taskId":"t","status":"working","ttlMs":1.0,"pollIntervalMs":2,"_meta":{"a":1}}`), ResultType: "task"}, `{"task":{"taskId":"t","status":"working","ttl":1.0,"pollInterval":2},"_meta":{"a":1}}`},
		{"a task elsewhere", "prompts/get", era.Outcome{Result: raw(`{}`), ResultType: "task"}, "fails"},
		{"a task's state", "tasks/get", era.Outcome{Result: raw(`{"taskId":"t","status":"completed","ttlMs":null,"result":{"content":[]}}`)}, `{"taskId":"t","status":"completed","ttl":null}`},
		{"a tool that has failed", "tasks/cancel", era.Outcome{Result: raw(`{"status":"completed","result":{"isError":true}}`)}, `{"status":"failed"}`},
		{"questions of a task", "tasks/get", era.Outcome{Result: raw(`{"status":"input_required","inputRequests":{"a":{}},"x":1}`)}, `{"status":"input_required","x":1}`},
		{"a list of tasks", "tasks/list", era.Outcome{Result: raw(`{"tasks":[{"status":"completed","result":{"isError":true}},{"ttlMs":5}],"nextCursor":"c"}`)}, `{"tasks":[{"status":"failed"},{"ttl":5}],"nextCursor":"c"}`},
		{"a task's result", "tasks/result", era.Outcome{Result: raw(`{"structuredContent":[1],"_meta":{"a":1}}`)}, `{"structuredContent":{"result":[1]},"_meta":{"a":1}}`},
		{"execution stays", "tools/list", era.Outcome{Result: raw(`{"tools":[{"name":"a","execution":{}}]}`)}, `{"tools":[{"name":"a","execution":{}}]}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := server.AppendResult([]byte("^"), rowOf(server, tc.method, era.ServerSide), &tc.o)
			if err != nil {
				got = []byte("^fails")
			}
			if string(got) != "^"+tc.want {
				t.Errorf("\ngot  %s\nwant ^%s", got, tc.want)
			}
		})
	}
}

func TestWrappedSchema(t *testing.T) {
	server, _ := codecs(t, mcp.Version20250618)
	row := rowOf(server, "tools/list", era.ServerSide)
	wrap := func(natural string) string {
		return `{"type":"object","properties":{"result":` + natural + `},"required":["result"]}`
	}
	for _, tc := range []struct{ name, schema, want string }{
		{"object", `{"type":"object","$ref":"#"}`, `{"type":"object","$ref":"#"}`},
		{"object with escapes", `{"typ\u0065":"obj\u0065ct"}`, `{"typ\u0065":"obj\u0065ct"}`},
		{"array", `{"type":"array","items":{"type":"number","maximum":1.0}}`, wrap(`{"type":"array","items":{"type":"number","maximum":1.0}}`)},
		{"list of types", `{"type":["object","null"]}`, wrap(`{"type":["object","null"]}`)},
		{"no type", `{"anyOf":[{"type":"object"},{"$ref":"#/$defs/a"}]}`, wrap(`{"anyOf":[{"type":"object"},{"$ref":"#/properties/result/$defs/a"}]}`)},
		{"boolean", `true`, wrap(`true`)},
		{"dialect", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"null"}`,
			`{"$schema":"https://json-schema.org/draft/2020-12/schema",` + wrap(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"null"}`)[1:]},
		{"pointers", `{"items":{"$ref":"#"},"not":{"$dynamicRef":"#/$defs/x"},"if":{"$ref":"#anchor"},"then":{"$ref":"other.json#/a"}}`,
			wrap(`{"items":{"$ref":"#/properties/result"},"not":{"$dynamicRef":"#/properties/result/$defs/x"},"if":{"$ref":"#anchor"},"then":{"$ref":"other.json#/a"}}`)},
		{"own base", `{"$id":"https://example.com/s","items":{"$ref":"#/a"}}`, wrap(`{"$id":"https://example.com/s","items":{"$ref":"#/a"}}`)},
		{"fragment id", `{"$id":"#s","items":{"$ref":"#/a"}}`, wrap(`{"$id":"#s","items":{"$ref":"#/properties/result/a"}}`)},
		{"base within", `{"items":{"$id":"b.json","not":{"$ref":"#/a"}},"not":{"$ref":"#/a"}}`,
			wrap(`{"items":{"$id":"b.json","not":{"$ref":"#/a"}},"not":{"$ref":"#/properties/result/a"}}`)},
		{"data", `{"const":{"$ref":"#/a"},"enum":[{"$ref":"#"}],"default":{"$ref":"#"},"examples":[{"$ref":"#"}]}`,
			wrap(`{"const":{"$ref":"#/a"},"enum":[{"$ref":"#"}],"default":{"$ref":"#"},"examples":[{"$ref":"#"}]}`)},
		{"names", `{"properties":{"$ref":{"$ref":"#/a"},"default":{"$ref":"#"},"const":true},"dependencies":{"enum":["$ref"]},"$defs":{"examples":{"$ref":"#"}}}`,
			wrap(`{"properties":{"$ref":{"$ref":"#/properties/result/a"},"default":{"$ref":"#/properties/result"},"const":true},"dependencies":{"enum":["$ref"]},"$defs":{"examples":{"$ref":"#/properties/result"}}}`)},
		{"recursion elsewhere", `{"items":{"$recursiveRef":"#"}}`, wrap(`{"items":{"$recursiveRef":"#"}}`)},
		{"recursion", `{"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$recursiveRef":"#"}}`,
			`{"$schema":"https://json-schema.org/draft/2019-09/schema",` + wrap(`{"$schema":"https://json-schema.org/draft/2019-09/schema","items":{"$ref":"#/properties/result"}}`)[1:]},
		{"recursion beside a ref", `{"$schema":"x2019-09","items":{"$ref":"#/a","$recursiveRef":"#","allOf":[true]},"not":{"$recursiveRef":"#","$ref":"b"}}`,
			`{"$schema":"x2019-09",` + wrap(`{"$schema":"x2019-09","items":{"$ref":"#/properties/result/a","allOf":[true,{"$ref":"#/properties/result"}]},"not":{"$ref":"b","allOf":[{"$ref":"#/properties/result"}]}}`)[1:]},
		{"recursion with an anchor", `{"$schema":"x2019-09","$recursiveAnchor":true,"items":{"$recursiveRef":"#"}}`,
			`{"$schema":"x2019-09",` + wrap(`{"$schema":"x2019-09","$recursiveAnchor":true,"items":{"$recursiveRef":"#"}}`)[1:]},
	} {
		t.Run(tc.name, func(t *testing.T) {
			list := func(schema string) string {
				return `{"tools":[{"name":"a","outputSchema":` + schema + `,"x":1}],"nextCursor":"n"}`
			}
			got, err := server.AppendResult(nil, row, ok(list(tc.schema)))
			if err != nil || string(got) != list(tc.want) {
				t.Errorf("\ngot  %s\nwant %s (%v)", got, list(tc.want), err)
			}
		})
	}
}

// TestAppendCallFails holds what cannot be sent, and that nothing is written of it.
func TestAppendCallFails(t *testing.T) {
	_, modern := codecs(t, mcp.Version20260728)
	modernServer, _ := codecs(t, mcp.Version20260728)
	_, legacy := codecs(t, mcp.Version20250618)
	legacyServer, _ := codecs(t, mcp.Version20250326)
	for _, tc := range []struct {
		name  string
		codec era.Codec
		out   *era.Outgoing
		local bool // for lack of the method
	}{
		{"modern, ping", modern, call("ping", ""), true},
		{"modern, setLevel", modern, call("logging/setLevel", ""), true},
		{"modern, initialize", modern, call("initialize", ""), true},
		{"modern server asks", modernServer, call("roots/list", ""), true},
		{"modern server asks a vendor's method", modernServer, call("example/echo", ""), true},
		{"legacy, discover", legacy, call("server/discover", ""), true},
		{"legacy, tasks too early", legacy, call("tasks/get", ""), true},
		{"legacy, elicitation too early", legacyServer, call("elicitation/create", ""), true},
		{"params no object", modern, call("tools/call", `[]`), false},
		{"_meta no object", modern, call("tools/call", `{"_meta":1}`), false},
		{"params no object, legacy", legacy, call("tools/call", `1`), false},
		{"answers where none are asked", modern, &era.Outgoing{Method: "tools/list", RequestState: raw(`"s"`)}, false},
		{"answers on the legacy wire", legacy, &era.Outgoing{Method: "tools/call", InputResponses: raw(`{}`)}, false},
	} {
		got, err := tc.codec.AppendCall([]byte("^"), tc.out)
		if err == nil || string(got) != "^" {
			t.Errorf("%s: %s, %v", tc.name, got, err)
		}
		if (mcp.CodeOf(err) == mcp.CodeMethodNotSupported) != tc.local {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	for method, codec := range map[string]era.Codec{
		"notifications/initialized": modern, "notifications/roots/list_changed": modern, "notifications/tools/list_changed": modern,
		"notifications/subscriptions/acknowledged": legacyServer, "notifications/elicitation/complete": legacyServer,
	} {
		if got, err := codec.AppendNotice([]byte("^"), &era.Notice{Method: method}); mcp.CodeOf(err) != mcp.CodeMethodNotSupported || string(got) != "^" {
			t.Errorf("%s in %s: %s, %v", method, codec.Revision(), got, err)
		}
	}
}

// TestAppendCallEdits holds how params and _meta of a caller are spliced: token for token, a caller's words first.
func TestAppendCallEdits(t *testing.T) {
	_, modern := codecs(t, mcp.Version20260728)
	_, legacy := codecs(t, mcp.Version20251125)
	const meta = mcp.MetaProtocolVersion
	for _, tc := range []struct {
		name  string
		codec era.Codec
		out   era.Outgoing
		has   []string // parts of the frame, in order
		lacks []string
	}{
		{"legacy, nothing to do", legacy, era.Outgoing{Params: raw(`{ "name" : "\u0041" }`)}, []string{`"params":{ "name" : "\u0041" }}`}, []string{"_meta"}},
		{"legacy, no params", legacy, era.Outgoing{}, []string{`"method":"tools/call"}`}, []string{"params"}},
		{"legacy, token", legacy, era.Outgoing{Token: raw(`1`)}, []string{`"params":{"_meta":{"progressToken":1}}}`}, nil},
		{"legacy, meta wins over params", legacy, era.Outgoing{Params: raw(`{"_meta":{"a":1,"b":2},"x":1}`), Meta: raw(`{"\u0061":3}`)}, []string{`{"_meta":{"b":2,"\u0061":3},"x":1}`}, nil},
		{"legacy, token wins over all", legacy, era.Outgoing{Params: raw(`{"_meta":{"progressToken":2}}`), Meta: raw(`{"progressToken":3}`), Token: raw(`1`)}, []string{`{"_meta":{"progressToken":1}}`}, nil},
		{"modern, _meta keeps its place", modern, era.Outgoing{Params: raw(`{"a":1,"_meta":{"x":"\u0041"},"b":2}`)}, []string{`{"a":1,"_meta":{"` + meta + `"`, `"x":"\u0041"},"b":2}`}, nil},
		{"modern, params without _meta", modern, era.Outgoing{Params: raw(`{"a":1.0}`)}, []string{`{"a":1.0,"_meta":{"` + meta + `"`}, nil},
		{"modern, stale retry material", modern, era.Outgoing{Params: raw(`{"requestState":"old","inputResponses":{"old":1},"name":"a"}`), RequestState: raw(`"new"`)}, []string{`{"name":"a","requestState":"new","_meta"`}, []string{"old"}},
		{"modern, caller's capabilities", modern, era.Outgoing{Meta: raw(`{"io.modelcontextprotocol/clientCapabilities":{"mine":{}}}`)}, []string{`"io.modelcontextprotocol/clientCapabilities":{"mine":{}}`}, []string{"elicitation"}},
		{"modern, level of the caller", modern, era.Outgoing{LogLevel: "info", Meta: raw(`{"io.modelcontextprotocol/logLevel":"error"}`)}, []string{`"error"`}, []string{"info\""}},
		{"modern, no tasks and no listChanged", modern, era.Outgoing{}, []string{`"roots":{}`}, []string{`"tasks":`, "listChanged"}},
		{"modern, lines", modern, era.Outgoing{Params: raw("{\n\"a\":\n1}")}, []string{`{"a":1,`}, []string{"\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.out.Method, tc.out.ID = "tools/call", jsonrpc.IntID(1)
			frame, err := tc.codec.AppendCall(nil, &tc.out)
			if err != nil {
				t.Fatal(err)
			}
			rest := string(frame)
			for _, part := range tc.has {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Errorf("%s lacks %s", rest, part)
				}
				rest = after
			}
			for _, part := range tc.lacks {
				if bytes.Contains(frame, []byte(part)) {
					t.Errorf("%s has %s", frame, part)
				}
			}
			decode(t, string(frame))
		})
	}
}

// TestLegacyHeaders holds that a legacy message names its revision where the revision has the header, but not before the
// handshake has settled it.
func TestLegacyHeaders(t *testing.T) {
	for revision, want := range map[string]int{"2024-10-07": 0, "2024-11-05": 0, "2025-03-26": 0, "2025-06-18": 1, "2025-11-25": 1} {
		_, client := codecs(t, revision)
		for name, got := range map[string][][2]string{
			"call": client.CallHeaders(call("tools/list", "")), "notice": client.NoticeHeaders(&era.Notice{Method: "notifications/initialized"}),
		} {
			if len(got) != want || want == 1 && got[0] != [2]string{"Mcp-Protocol-Version", revision} {
				t.Errorf("%s of %s: %v", name, revision, got)
			}
		}
		if got := client.CallHeaders(call("initialize", "")); got != nil {
			t.Errorf("initialize of %s: %v", revision, got)
		}
	}
}

// TestEncoded holds that a result which has been encoded before goes out as it is.
func TestEncoded(t *testing.T) {
	for _, revision := range []string{mcp.Version20251125, mcp.Version20260728} {
		server, _ := codecs(t, revision)
		o := &era.Outcome{Result: raw(`{"kept":[1.0]}`), Encoded: true}
		frame, err := era.AppendOutcome(nil, server, jsonrpc.StringID("a"), rowOf(server, "tools/list", era.ServerSide), o)
		if err != nil || string(frame) != `{"jsonrpc":"2.0","id":"a","result":{"kept":[1.0]}}` {
			t.Errorf("%s: %s, %v", revision, frame, err)
		}
	}
}
