package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// speaker sends a request in one way, a frame and the headers that go with it, and returns the answer.
type speaker struct {
	name string
	bare bool // no claim: legacy
	say  func(t testing.TB, frame string, head ...string) string
}

// speakers are the four ways to one furnished server: both eras over HTTP and over a pipe.
func speakers(t *testing.T) []speaker {
	t.Helper()
	w := library(t, server.Options{})
	if err := furnishChild(w.Server); err != nil {
		t.Fatal(err)
	}
	session := sessionHeader + ": " + w.sessionOf(t, "2025-11-25")
	modernPipe, legacyPipe := spawn(t, "library"), spawn(t, "library")
	legacyPipe.greet(t, "2025-11-25")
	over := func(c *child) func(testing.TB, string, ...string) string {
		return func(t testing.TB, frame string, _ ...string) string {
			t.Helper()
			c.send(t, frame)
			return c.next(t)
		}
	}
	return []speaker{
		{"modern over HTTP", false, func(t testing.TB, frame string, head ...string) string {
			return w.do(t, posted(frame, append(head, modernHeader)...)).body
		}},
		{"legacy over HTTP", true, func(t testing.TB, frame string, _ ...string) string { return w.do(t, posted(frame, session)).body }},
		{"modern over a pipe", false, over(modernPipe)},
		{"legacy over a pipe", true, over(legacyPipe)},
	}
}

// TestC049IDsKeepTheirType: elsewhere ids were read as numbers, so that 1 and "1" were one. Here two such requests are in
// flight at once and each gets its own answer, the later one first.
//
// Seen to fail with ids read without their quotes: the second call on the pipe was refused as one that runs already, and the
// answer in the session had the id 1.
func TestC049IDsKeepTheirType(t *testing.T) {
	t.Run("pipe", func(t *testing.T) {
		c := spawn(t, "library")
		c.send(t, callLine("1", "hold", `{"name":"number"}`, false))
		c.send(t, callLine(`"1"`, "hold", `{"name":"text"}`, false))
		for _, held := range [][2]string{{"text", `"1"`}, {"number", "1"}} {
			c.send(t, callLine("9", "release", fmt.Sprintf(`{"name":%q}`, held[0]), false))
			checkHeld(t, []string{c.next(t), c.next(t)}, held[0], held[1])
		}
	})
	t.Run("session", func(t *testing.T) {
		w := library(t, server.Options{})
		if err := furnishChild(w.Server); err != nil {
			t.Fatal(err)
		}
		session := sessionHeader + ": " + w.sessionOf(t, "2025-11-25")
		number, text := w.dial(t), w.dial(t)
		number.write(t, w.text(posted(callLine("1", "hold", `{"name":"number"}`, true), session)))
		text.write(t, w.text(posted(callLine(`"1"`, "hold", `{"name":"text"}`, true), session)))
		for _, held := range []struct {
			name, id string
			on       *wire
		}{{"text", `"1"`, text}, {"number", "1", number}} {
			released := w.do(t, posted(callLine("9", "release", fmt.Sprintf(`{"name":%q}`, held.name), true), session))
			checkHeld(t, []string{released.body, held.on.answer(t).body}, held.name, held.id)
		}
	})
}

// checkHeld finds the answer to a held call and to its release among two lines.
func checkHeld(t *testing.T, lines []string, name, id string) {
	t.Helper()
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(idOf(b), idOf(a)) })
	slices.SortStableFunc(lines, func(a, b string) int { // the release last
		return strings.Count(a, "released") - strings.Count(b, "released")
	})
	if idOf(lines[0]) != id || !strings.Contains(lines[0], `\"`+name+`\"`) || idOf(lines[1]) != "9" {
		t.Errorf("%s: got %q", name, lines)
	}
}

// TestC062NamesAreExact: elsewhere keys matched without case, or after folding, so that two programs in a row read two
// methods in one message. Here only exact names count; what only looks like one is an unknown member, and the same name
// twice is refused.
func TestC062NamesAreExact(t *testing.T) {
	echo := func(bare bool, top, params, args string) string {
		meta := "," + claimOf("2026-07-28")
		if bare {
			meta = ""
		}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call"%s,"params":{"name":"echo"%s,"arguments":{"text":"safe"%s}%s}}`, top, params, args, meta)
	}
	head := []string{"Mcp-Method: tools/call", "Mcp-Name: echo"}
	ignored := []struct{ name, top, params, args string }{
		{"Method", `,"Method":"tools/list"`, "", ""},
		{"METHOD", `,"METHOD":"tools/list"`, "", ""},
		{"method with a zero behind", `,"method\u0000":"tools/list"`, "", ""},
		{"method with a blank behind", `,"method ":"tools/list"`, "", ""},
		{"Params", `,"Params":{"name":"fail"}`, "", ""},
		{"params with a long s", `,"paramſ":{"name":"fail"}`, "", ""},
		{"params with an escaped long s", `,"param\u017f":{"name":"fail"}`, "", ""},
		{"ID", `,"ID":8,"Id":9`, "", ""},
		{"id with a dotless i", `,"ıd":8`, "", ""},
		{"Name", "", `,"Name":"fail"`, ""},
		{"name with a zero behind", "", `,"name\u0000":"fail"`, ""},
		{"Arguments", "", `,"Arguments":{"text":"danger"}`, ""},
		{"_Meta", "", `,"_Meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}`, ""},
		{"Text", "", "", `,"Text":"danger"`},
		{"text with a Kelvin sign's kin", "", "", `,"teXt":"danger"`},
	}
	twice := []struct{ name, top, params, args string }{
		{"method", `,"method":"tools/call"`, "", ""},
		{"method, escaped", `,"\u006dethod":"tools/list"`, "", ""},
		{"id", `,"id":7`, "", ""},
		{"jsonrpc", `,"jsonrpc":"2.0"`, "", ""},
		{"an unknown member", `,"x":1,"x":1`, "", ""},
		{"name", "", `,"name":"echo"`, ""},
		{"name, escaped", "", `,"n\u0061me":"fail"`, ""},
		{"an argument", "", "", `,"text":"danger"`},
		{"deep in an argument", "", "", `,"more":[{"a":1,"a":2}]`},
	}
	for _, way := range speakers(t) {
		t.Run(way.name, func(t *testing.T) {
			for _, c := range ignored {
				if got := way.say(t, echo(way.bare, c.top, c.params, c.args), head...); idOf(got) != "7" || !strings.Contains(got, `"text":"safe"`) {
					t.Errorf("%s: %s", c.name, got)
				}
			}
			for _, c := range twice {
				t.Run(c.name+" twice", func(t *testing.T) {
					wanted{code: -32700, text: "stands twice"}.in(t, way.say(t, echo(way.bare, c.top, c.params, c.args), head...))
				})
			}
			if !way.bare {
				_, last, _ := strings.Cut(claimOf("2026-07-28"), "{")
				wanted{code: -32700}.in(t, way.say(t, strings.Replace(echo(false, "", "", ""), `"_meta":{`, `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, 1), head...))
				if !strings.Contains(last, "protocolVersion") {
					t.Error("the claim has another form")
				}
			}
			wanted{code: -32700}.in(t, way.say(t, echo(way.bare, "", "", "")+"\x00", head...))
		})
	}
}

// TestC064ListsAreNeverNull is the server's half: elsewhere lists without an entry left as null. Here they leave as [],
// whatever a handler has returned.
func TestC064ListsAreNeverNull(t *testing.T) {
	bare := start(t, server.Options{Capabilities: mcp.ServerCapabilities{
		Tools: &mcp.ToolsCapability{}, Prompts: &mcp.PromptsCapability{}, Resources: &mcp.ResourcesCapability{},
	}})
	bare.RemoveTool(bare.ToolNames()...)
	type found struct {
		Items []string            `json:"items"`
		Index map[string][]string `json:"index"`
	}
	full := start(t, server.Options{})
	server.AddTool(full.Server, mcp.Tool{Name: "find"}, func(context.Context, *server.Request, struct{}) (found, error) { return found{}, nil })
	full.tool(t, "nothing", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return &mcp.CallToolResult{}, nil })
	full.tool(t, "nil", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return nil, nil })
	full.AddPrompt(mcp.Prompt{Name: "silent"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{}, nil
	})
	for _, c := range []struct {
		w                     *world
		method, name, members string
		has                   string
	}{
		{bare, "tools/list", "", "", `"tools":[]`},
		{bare, "prompts/list", "", "", `"prompts":[]`},
		{bare, "resources/list", "", "", `"resources":[]`},
		{bare, "resources/templates/list", "", "", `"resourceTemplates":[]`},
		{full, "tools/list", "", "", `"name":"find"`},
		{full, "tools/call", "find", `"name":"find",`, `"items":[]`},
		{full, "tools/call", "find", `"name":"find",`, `"index":{}`},
		{full, "tools/call", "nothing", `"name":"nothing",`, `"content":[]`},
		{full, "tools/call", "nil", `"name":"nil",`, `"content":[]`},
		{full, "prompts/get", "silent", `"name":"silent",`, `"messages":[]`},
	} {
		session := sessionHeader + ": " + c.w.sessionOf(t, "2025-11-25")
		old := posted(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s}}`, c.method, strings.TrimSuffix(c.members, ",")), session)
		for _, a := range []ask{modernAsk(c.method, c.name, c.members), old} {
			got := c.w.do(t, a)
			if got.status != 200 || !strings.Contains(got.body, c.has) || strings.Contains(got.body, "null") || !json.Valid([]byte(got.body)) {
				t.Errorf("%s %s: want %s in %s", c.method, c.name, c.has, got)
			}
		}
	}
}

// TestC070UnknownIsIgnored is the server's half: elsewhere a capability of tomorrow or a notification nobody knows ended the
// session. Here the one is ignored, the other too, and an unknown request is told that its method is not there.
func TestC070UnknownIsIgnored(t *testing.T) {
	w := library(t, server.Options{})
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","extra":[null],"params":{"protocolVersion":"2025-11-25","extra":{"a":1},` +
		`"capabilities":{"elicitation":{"form":{"deep":[1]},"hologram":{}},"hologram":{"a":{"b":null}},"roots":{"listChanged":true,"x":1}},` +
		`"clientInfo":{"name":"c","version":"1","mood":"fine","icons":[{"src":"https://a.example/i.png","glow":true}]},"_meta":{"com.example/x":1}}}`
	a := w.do(t, posted(hello))
	session := sessionHeader + ": " + a.header.Get(sessionHeader)
	pipe := spawn(t, "library")
	pipe.send(t, hello)
	for _, got := range []string{a.body, pipe.next(t)} {
		if !strings.Contains(got, `"protocolVersion":"2025-11-25"`) {
			t.Errorf("initialize: %s", got)
		}
	}
	for _, notice := range []string{
		`{"jsonrpc":"2.0","method":"notifications/stderr","params":{"content":"a"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized","extra":1}`,
		`{"jsonrpc":"2.0","method":"vendor/notice"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99,"mood":"bad"}}`,
	} {
		wanted{status: 202}.of(t, w.do(t, posted(notice, session)))
		pipe.send(t, notice)
	}
	unknown := `{"jsonrpc":"2.0","id":7,"method":"hologram/show","params":{"a":1}}`
	wanted{status: 200, code: -32601, id: "7"}.of(t, w.do(t, posted(unknown, session)))
	pipe.send(t, unknown)
	wanted{code: -32601, id: "7"}.in(t, pipe.next(t))
	for _, got := range []string{w.do(t, posted(unclaimed, session)).body, func() string { pipe.send(t, unclaimed); return pipe.next(t) }()} {
		if !strings.Contains(got, `"tools":[`) {
			t.Errorf("afterwards: %s", got)
		}
	}
	modern := claims("2026-07-28", "tools/list").withMeta(version, `{"hologram":{"a":null},"elicitation":{"form":{},"x":1}}`, `"com.example/y":[1],"io.modelcontextprotocol/mood":"fine"`)
	wanted{status: 200, text: `"tools":[`}.of(t, w.do(t, modern))
}
