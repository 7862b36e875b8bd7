package era_test

import (
	"strings"

	"github.com/rialto-mcp/rialto/mcp"
)

// envelopeOf writes the _meta of a hand-made modern request.
func envelopeOf(version string) string {
	return `"_meta":{"io.modelcontextprotocol/protocolVersion":` + version + `,"io.modelcontextprotocol/clientCapabilities":{}}`
}

// modernCall writes a modern request by hand.
func modernCall(method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + envelopeOf(`"2026-07-28"`) + `}}`
}

func posted(version, method, name string) headers {
	h := headers{}
	for header, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
		if value != "" {
			h[header] = value
		}
	}
	return h
}

// refusalTranscripts shows every refusal a codec or a classification makes, over HTTP where headers matter.
func refusalTranscripts() []transcript {
	const v = mcp.Version20260728
	http := func(h headers, frame string) step { return step{raw: frame, headers: h} }
	pipe := func(frame string) step { return step{raw: frame} }
	settled := func(frame string) step { return step{raw: frame, settled: true} }
	return []transcript{
		{
			era: "modern", name: "row2_shape", prose: "arrays and responses are not for this era", revision: v,
			steps: []step{
				http(posted(v, "", ""), `[`+modernCall("tools/list", "")+`]`),
				http(posted("", "", ""), `{"jsonrpc":"2.0","id":1,"result":{}}`),
				http(posted(v, "", ""), `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`),
			},
		},
		{
			era: "modern", name: "row3_version_header", prose: "the version header is missing or differs from the claim", revision: v,
			steps: []step{
				http(posted("", "tools/list", ""), modernCall("tools/list", "")),
				http(posted("2025-11-25", "tools/list", ""), modernCall("tools/list", "")),
				http(posted(v, "initialize", ""), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+samples["initialize"].params+`}`),
				http(posted(v, "", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,`+envelopeOf(`"2027-01-01"`)+`}}`),
			},
		},
		{
			era: "modern", name: "row4_version", prose: "the version is not served", revision: v,
			steps: []step{
				http(posted("2027-01-01", "tools/list", ""), strings.Replace(modernCall("tools/list", ""), v, "2027-01-01", 1)),
				http(posted("2025-11-25", "tools/list", ""), strings.Replace(modernCall("tools/list", ""), v, "2025-11-25", 1)),
				http(posted("2027-01-01", "nothing/here", ""), `{"jsonrpc":"2.0","id":1,"method":"nothing/here"}`),
				pipe(strings.Replace(modernCall("nothing/here", ""), v, "2027-01-01", 1)),
			},
		},
		{
			era: "modern", name: "row5_method_header", prose: "the method header is missing or differs from the method", revision: v,
			steps: []step{
				http(posted(v, "", ""), modernCall("nothing/here", "")),
				http(posted(v, "Tools/List", ""), modernCall("tools/list", "")),
				http(posted(v, "tools/list", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`),
			},
		},
		{
			era: "modern", name: "row6_method", prose: "the method does not exist in this era", revision: v,
			steps: []step{
				http(posted(v, "initialize", ""), modernCall("initialize", "")),
				http(posted(v, "nothing/here", ""), `{"jsonrpc":"2.0","id":1,"method":"nothing/here"}`),
				pipe(modernCall("tasks/list", "")),
				pipe(modernCall("ping", "")),
				pipe(modernCall("notifications/cancelled", "")),
				pipe(modernCall("sampling/createMessage", "")),
			},
		},
		{
			era: "modern", name: "row7_meta", prose: "required members of _meta are missing or wrong", revision: v,
			steps: []step{
				http(posted(v, "server/discover", ""), `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`),
				pipe(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + envelopeOf("20260728") + `}}`),
				pipe(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`),
				pipe(strings.Replace(modernCall("tools/list", ""), `ies":{}`, `ies":[]`, 1)),
				pipe(strings.Replace(modernCall("tools/list", ""), `ies":{}`, `ies":{},"io.modelcontextprotocol/clientInfo":{"name":"x"}`, 1)),
				pipe(strings.Replace(modernCall("tools/list", ""), `ies":{}`, `ies":{},"io.modelcontextprotocol/logLevel":"loud"`, 1)),
				http(posted("", "", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,`+envelopeOf("1")+`}}`),
			},
		},
		{
			era: "modern", name: "row7_extension", prose: "a method of an extension that the request does not declare", revision: v,
			steps: []step{
				http(posted(v, "tasks/get", ""), modernCall("tasks/get", `"taskId":"nowhere"`)),
				pipe(modernCall("shelf/sort", "")),
			},
		},
		{
			era: "modern", name: "row8_name_header", prose: "the name header is missing, broken or differs from the name", revision: v,
			steps: []step{
				http(posted(v, "tools/call", ""), modernCall("tools/call", `"name":"forecast"`)),
				http(posted(v, "tools/call", "Forecast"), modernCall("tools/call", `"name":"forecast"`)),
				http(posted(v, "prompts/get", "=?base64?cmV2aWV3?="), modernCall("prompts/get", `"name":"revise"`)),
				http(posted(v, "resources/read", "=?base64?Ym9vazox?"), modernCall("resources/read", `"uri":"book:1"`)),
				http(posted(v, "resources/read", "=?base64?Ym9vaz?="), modernCall("resources/read", `"uri":"book:1"`)),
				http(posted(v, "tasks/get", "t2"), strings.Replace(modernCall("tasks/get", `"taskId":"t1"`), `ies":{}`, `ies":{"extensions":{"`+tasksExtension+`":{}}}`, 1)),
			},
		},
		{
			era: "legacy", name: "refusals", prose: "what is refused before and after a handshake of 2025-11-25", revision: mcp.Version20251125,
			steps: []step{
				pipe(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`),
				pipe(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`),
				pipe(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`),
				pipe(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":[]}}`),
				{raw: `{"jsonrpc":"2.0","method":"notifications/progress"}`, silent: true},
				{raw: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, silent: true},
				settled(`{"jsonrpc":"2.0","id":2,"method":"initialize","params":` + samples["initialize"].params + `}`),
				settled(`{"jsonrpc":"2.0","id":2,"method":"server/discover"}`),
				settled(`{"jsonrpc":"2.0","id":2,"method":"tasks/update"}`),
				settled(`{"jsonrpc":"2.0","id":2,"method":"nothing/here"}`),
				settled(`[{"jsonrpc":"2.0","id":2,"method":"ping"}]`),
			},
		},
		{
			era: "legacy", name: "refusals_http", prose: "what is refused over HTTP before a session is looked up", revision: mcp.Version20251125,
			steps: []step{
				http(posted("1999-01-01", "", ""), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`),
				{raw: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, headers: posted("2025-03-26", "", ""), settled: true},
				{raw: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + samples["initialize"].params + `}`, headers: headers{}, settled: true},
				http(headers{}, `[]`),
				http(headers{}, `[{"jsonrpc":"2.0","id":1,"method":"ping"},1]`),
				http(headers{}, `[{"jsonrpc":"2.0","id":1,"method":"initialize"}]`),
				http(posted("2025-06-18", "", ""), `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`),
			},
		},
	}
}
