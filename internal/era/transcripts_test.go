package era_test

import (
	"slices"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
)

// sample is one exchange per method, in neutral form.
type sample struct{ params, result string }

const aTask = `"taskId":"t1","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:01Z"`

var samples = map[string]sample{
	"initialize": {
		`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"reader","version":"2.0.0"}}`,
		`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"library","version":"1.0.0"}}`,
	},
	"ping": {"", `{}`},
	"completion/complete": {
		`{"ref":{"type":"ref/prompt","name":"review"},"argument":{"name":"style","value":"po"}}`,
		`{"completion":{"values":["polite"]}}`,
	},
	"logging/setLevel": {`{"level":"info"}`, `{}`},
	"prompts/get": {
		`{"name":"review","arguments":{"style":"polite"}}`,
		`{"messages":[{"role":"user","content":{"type":"text","text":"Review politely."}}]}`,
	},
	"prompts/list":             {"", `{"prompts":[{"name":"review"}]}`},
	"resources/list":           {`{"cursor":""}`, `{"resources":[{"name":"Moby-Dick","uri":"book:1"}],"nextCursor":""}`},
	"resources/templates/list": {"", `{"resourceTemplates":[{"name":"book","uriTemplate":"book:{id}"}]}`},
	"resources/read":           {`{"uri":"book:1"}`, `{"contents":[{"uri":"book:1","text":"Call me Ishmael."}]}`},
	"resources/subscribe":      {`{"uri":"book:1"}`, `{}`},
	"resources/unsubscribe":    {`{"uri":"book:1"}`, `{}`},
	"tools/call":               {`{"name":"forecast","arguments":{"city":"Oslo","days":1e0}}`, `{"content":[{"type":"text","text":"rain"}]}`},
	"tools/list":               {"", `{"tools":[{"name":"forecast","inputSchema":{"type":"object"}}]}`},
	"tasks/get":                {`{"taskId":"t1"}`, `{` + aTask + `,"ttl":60000}`},
	"tasks/result": {
		`{"taskId":"t1"}`,
		`{"content":[{"type":"text","text":"rain"}],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`,
	},
	"tasks/list":   {"", `{"tasks":[]}`},
	"tasks/cancel": {`{"taskId":"t1"}`, `{` + aTask + `,"ttl":null}`},
	"sampling/createMessage": {
		`{"messages":[{"role":"user","content":{"type":"text","text":"Shorter, please."}}],"maxTokens":10}`,
		`{"role":"assistant","content":{"type":"text","text":"Rain."},"model":"small"}`,
	},
	"elicitation/create": {
		`{"message":"Which city?","requestedSchema":{"type":"object","properties":{"city":{"type":"string"}}}}`,
		`{"action":"accept","content":{"city":"Oslo"}}`,
	},
	"roots/list":           {"", `{"roots":[{"uri":"file:///home/ada"}]}`},
	"server/discover":      {"", `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"tasks":{"list":{}}}}`},
	"subscriptions/listen": {`{"notifications":{"toolsListChanged":true}}`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`},
	"example/echo":         {`{"say":"\u0041"}`, `{"said":"\u0041"}`},
	"shelf/sort":           {`{"by":"title"}`, `{"moved":3}`},
}

var noticeSamples = map[string]string{
	"notifications/initialized":                `{}`,
	"notifications/cancelled":                  `{"requestId":1,"reason":"no longer needed"}`,
	"notifications/progress":                   `{"progressToken":1,"progress":1,"total":2}`,
	"notifications/roots/list_changed":         `{}`,
	"notifications/tasks/status":               `{` + aTask + `,"ttl":60000}`,
	"notifications/message":                    `{"level":"info","data":"asking the stations"}`,
	"notifications/resources/updated":          `{"uri":"book:1"}`,
	"notifications/resources/list_changed":     `{}`,
	"notifications/tools/list_changed":         `{}`,
	"notifications/prompts/list_changed":       `{}`,
	"notifications/elicitation/complete":       `{"elicitationId":"e1"}`,
	"notifications/subscriptions/acknowledged": `{"notifications":{"toolsListChanged":true}}`,
	"notifications/shelf/moved":                `{"shelf":"A"}`,
}

func transcripts() []transcript {
	return slices.Concat(methodTranscripts(), noticeTranscripts(), legacyTranscripts(), modernTranscripts(), refusalTranscripts())
}

// methodTranscripts makes one transcript for every method of both eras, in the newest revision of each.
func methodTranscripts() []transcript {
	var all []transcript
	for _, f := range slices.Concat(methodFacts, vendorFacts) {
		if !f.request {
			continue
		}
		x := samples[f.method]
		for _, at := range []struct{ era, revision string }{{"legacy", mcp.Version20251125}, {"modern", mcp.Version20260728}} {
			if !f.has(at.revision) {
				continue
			}
			tr := transcript{era: at.era, name: fileName(f.method), prose: "the method " + f.method, revision: at.revision}
			for _, from := range f.senders() {
				result := x.result
				tr.steps = append(tr.steps, step{
					from: from, call: &era.Outgoing{Method: f.method, Params: raw(x.params)}, outcome: &era.Outcome{Result: raw(result)},
				})
			}
			all = append(all, tr)
		}
	}
	return all
}

func fileName(method string) string { return strings.ReplaceAll(method, "/", "_") }

func noticeTranscripts() []transcript {
	legacy := transcript{era: "legacy", name: "notifications", prose: "every notification of 2025-11-25", revision: mcp.Version20251125}
	modern := transcript{era: "modern", name: "notifications", prose: "every notification of 2026-07-28", revision: mcp.Version20260728}
	for _, f := range slices.Concat(methodFacts, vendorFacts) {
		for _, from := range f.senders() {
			if f.request {
				continue
			}
			s := step{from: from, notice: &era.Notice{Method: f.method, Params: raw(noticeSamples[f.method])}}
			if f.has(mcp.Version20251125) {
				legacy.steps = append(legacy.steps, s)
			}
			if f.hasModern(from) {
				if from == era.ServerSide && strings.Contains(f.method, "list_changed") {
					s.notice = &era.Notice{Method: f.method, Params: s.notice.Params, Subscription: raw(`"listen-1"`)}
				}
				modern.steps = append(modern.steps, s)
			}
		}
	}
	return []transcript{legacy, modern}
}

func call(method, params string) *era.Outgoing {
	return &era.Outgoing{Method: method, Params: raw(params)}
}

func ok(result string) *era.Outcome { return &era.Outcome{Result: raw(result)} }

func failed(e *mcp.Error) *era.Outcome { return &era.Outcome{Err: e} }

const ofClient = era.ClientSide

func legacyTranscripts() []transcript {
	var all []transcript
	for _, revision := range mcp.LegacyVersions() {
		all = append(all, transcript{
			era: "legacy", name: "handshake_" + revision, prose: "the handshake of " + revision, revision: revision,
			steps: []step{
				{from: ofClient, call: call("initialize", strings.Replace(samples["initialize"].params, "2025-11-25", revision, 1)),
					outcome: ok(strings.Replace(samples["initialize"].result, "2025-11-25", revision, 1))},
				{from: ofClient, notice: &era.Notice{Method: "notifications/initialized"}},
				{from: ofClient, call: call("resources/read", `{"uri":"book:0"}`), outcome: failed(mcp.ResourceNotFound("book:0"))},
				{from: ofClient, call: call("tools/call", `{"name":"forecast"}`), outcome: failed(mcp.URLElicitationRequired())},
			},
		})
	}
	return append(all,
		transcript{
			era: "legacy", name: "structured", revision: mcp.Version20251125,
			prose: "structured content that is no object, or whose schema is none, is wrapped together with the schema",
			steps: []step{
				{from: ofClient, call: call("tools/list", ""), outcome: ok(`{"tools":[` +
					`{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}},` +
					`{"name":"b","inputSchema":{"type":"object"},"outputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"array","items":{"$ref":"#/$defs/n"},"$defs":{"n":{"type":"number"}}}}]}`)},
				{from: ofClient, call: call("tools/call", `{"name":"a"}`), outcome: ok(`{"content":[],"structuredContent":{"n":1.50}}`)},
				{from: ofClient, call: call("tools/call", `{"name":"b"}`),
					outcome: &era.Outcome{Result: raw(`{"content":[],"structuredContent":[1.50]}`), WrapOutput: true}},
			},
		},
		transcript{
			era: "legacy", name: "progress", revision: mcp.Version20251125,
			prose: "a call with a progress token and a _meta of its own, whose other members keep their place",
			steps: []step{{from: ofClient, outcome: ok(samples["tools/call"].result), call: &era.Outgoing{
				Method: "tools/call", Params: raw(`{"_meta":{"progressToken":"old","a":"\u0041"},"name":"forecast"}`), Token: raw(`7`),
			}}},
		},
	)
}

func modernTranscripts() []transcript {
	const state = `"c2VhbGVk+/=\u00e9"`
	return []transcript{
		{
			era: "modern", name: "input_required", revision: mcp.Version20260728,
			prose: "a tool asks for input and is called again with the answer",
			steps: []step{
				{from: ofClient, call: call("tools/call", `{"name":"forecast"}`), outcome: &era.Outcome{Input: &era.InputRound{
					Requests: raw(`{"q1":{"method":"elicitation/create","params":` + samples["elicitation/create"].params + `}}`), State: raw(state),
				}}},
				{from: ofClient, outcome: ok(samples["tools/call"].result), call: &era.Outgoing{
					Method: "tools/call", Params: raw(`{"name":"forecast"}`), RequestState: raw(state),
					InputResponses: raw(`{"q1":` + samples["elicitation/create"].result + `}`),
				}},
				{from: ofClient, call: call("prompts/get", `{"name":"review"}`), outcome: &era.Outcome{Input: &era.InputRound{State: raw(state)}}},
			},
		},
		{
			era: "modern", name: "envelope", revision: mcp.Version20260728,
			prose: "a request with a log level, a progress token, and _meta members of the caller, which win",
			steps: []step{
				{from: ofClient, outcome: ok(samples["tools/call"].result), call: &era.Outgoing{
					Method: "tools/call", Params: raw(`{"name":"forecast"}`), LogLevel: "debug", Token: raw(`"p1"`),
				}},
				{from: ofClient, outcome: ok(samples["tools/call"].result), call: &era.Outgoing{
					Method: "tools/call", Params: raw(`{"name":"forecast","_meta":{"traceparent":"00-1","example.com/a":1}}`),
					Meta: raw(`{"io.modelcontextprotocol/clientInfo":{"name":"caller","version":"3"},"example.com/a":2}`), LogLevel: "error",
				}},
			},
		},
		{
			era: "modern", name: "stamps", revision: mcp.Version20260728,
			prose: "what a result says itself stays; vocabulary of older revisions goes",
			steps: []step{
				{from: ofClient, call: call("tools/list", ""), outcome: &era.Outcome{
					Result: raw(`{"tools":[{"name":"a","execution":{"taskSupport":"optional"},"inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}],"_meta":{"example.com/a":1}}`),
					Cache:  mcp.CacheFor(1500000000, mcp.CachePublic),
				}},
				{from: ofClient, call: call("resources/read", `{"uri":"book:1"}`), outcome: &era.Outcome{
					Result: raw(`{"contents":[],"ttlMs":-1,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"upstream","version":"9"}}}`),
				}},
				{from: ofClient, call: call("tools/call", `{"name":"forecast"}`), outcome: &era.Outcome{
					Result: raw(`{"content":[],"structuredContent":[1.50]}`), WrapOutput: true,
				}},
				{from: ofClient, call: call("prompts/list", ""), outcome: &era.Outcome{Result: raw(`{"prompts":[]}`), Plain: true}},
				{from: ofClient, call: call("tools/call", `{"name":"forecast"}`), outcome: &era.Outcome{Result: raw(`{"content":[]}`), Plain: true}},
			},
		},
		{
			era: "modern", name: "errors", revision: mcp.Version20260728,
			prose: "errors whose number depends on the era",
			steps: []step{
				{from: ofClient, call: call("resources/read", `{"uri":"book:0"}`), outcome: failed(mcp.ResourceNotFound("book:0"))},
				{from: ofClient, call: call("tools/call", `{"name":"forecast"}`), outcome: failed(mcp.URLElicitationRequired())},
				{from: ofClient, call: call("tools/call", `{"name":"forecast"}`),
					outcome: failed(mcp.MissingCapability(mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}}))},
			},
		},
		{
			era: "modern", name: "tasks", revision: mcp.Version20260728,
			prose: "the tasks extension: a task as a result, and its methods",
			steps: []step{
				{from: ofClient, call: call("tools/call", `{"name":"slow"}`), outcome: &era.Outcome{Result: raw(`{` + aTask + `,"ttlMs":60000}`), ResultType: "task"}},
				{from: ofClient, call: call("tasks/get", `{"taskId":"t1"}`), outcome: ok(`{` + aTask + `,"ttlMs":60000}`)},
				{from: ofClient, call: call("tasks/update", `{"taskId":"t1","inputResponses":{"q1":{"action":"decline"}}}`), outcome: ok(`{}`)},
				{from: ofClient, call: call("tasks/cancel", `{"taskId":"tä"}`), outcome: ok(`{}`)},
			},
		},
	}
}
