package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// schemaWorld is a server with one tool for each schema given, which says what arguments it was called with.
func schemaWorld(t *testing.T, schemas map[string]string) *world {
	t.Helper()
	w := start(t, server.Options{})
	w.RemoveTool(w.ToolNames()...)
	for name, schema := range schemas {
		if err := w.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, sayArguments); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return w
}

func sayArguments(_ context.Context, req *server.Request) (*mcp.CallToolResult, error) {
	return mcp.TextResult("got " + string(req.Arguments())), nil
}

// both makes a call in the modern era and in a session. arguments is a member with a comma in front, or "".
func (w *world) both(t *testing.T, tool, arguments string) (modern, legacy string) {
	t.Helper()
	m := modernAsk("tools/call", tool, fmt.Sprintf(`"name":%q%s,`, tool, arguments))
	l := posted(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q%s}}`, tool, arguments), sessionHeader+": "+w.sessionOf(t, "2025-11-25"))
	return w.do(t, m).body, w.do(t, l).body
}

// TestC065OddSchemasAreServed is the server's half: elsewhere one tool with an odd schema made the whole list fail. Here
// every schema that is legal is listed as it was written, and what is none is refused where the tool is added, with a reason.
func TestC065OddSchemasAreServed(t *testing.T) {
	w := start(t, server.Options{})
	odd := mcp.Tool{Name: "odd", OutputSchema: json.RawMessage(`{"type":["null","array"]}`)}
	union := mcp.Tool{Name: "union", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":["number","null"]}}}`)}
	for _, tool := range []mcp.Tool{odd, {Name: "none"}, union} {
		if err := w.AddRawTool(tool, sayArguments); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	for name, schema := range map[string]string{"true": `true`, "array": `{"type":"array"}`, "no type": `{}`, "broken": `{"type":"object","properties":{"a":{"type":"strin"}}}`} {
		err := w.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, sayArguments)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "schema") {
			t.Errorf("%s: %v", name, err)
		}
	}
	session := sessionHeader + ": " + w.sessionOf(t, "2025-11-25")
	modern, legacy := w.do(t, claims("2026-07-28", "tools/list")).body, w.do(t, posted(unclaimed, session)).body
	for _, list := range []string{modern, legacy} {
		for _, name := range []string{`"odd"`, `"none"`, `"union"`, `"echo"`} {
			if !strings.Contains(list, `"name":`+name) {
				t.Errorf("the tool %s is not in the list: %s", name, list)
			}
		}
		if !strings.Contains(list, string(union.InputSchema)) {
			t.Errorf("a schema has changed on its way: %s", list)
		}
	}
	if !strings.Contains(modern, string(odd.OutputSchema)) {
		t.Errorf("an output schema has changed on its way: %s", modern)
	}
	for _, n := range []string{"1", "null"} {
		for _, got := range pair(w.both(t, "union", `,"arguments":{"n":`+n+`}`)) {
			if !strings.Contains(got, `got {\"n\":`+n+`}`) {
				t.Errorf("n is %s: %s", n, got)
			}
		}
	}
}

func pair(a, b string) []string { return []string{a, b} }

// TestC067References: elsewhere references in a circle, or to a neighbour, brought programs down. Here they are relayed as
// they were written and arguments are checked by them; what would have to be fetched is refused where the tool is added.
func TestC067References(t *testing.T) {
	schemas := map[string]string{
		"neighbour": `{"type":"object","properties":{"a":{"type":"integer"},"b":{"$ref":"#/properties/a","description":"x"}}}`,
		"tree":      `{"type":"object","properties":{"node":{"$ref":"#/$defs/node"}},"$defs":{"node":{"type":"object","properties":{"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"additionalProperties":false}}}`,
		"itself":    `{"type":"object","properties":{"next":{"$ref":"#"}},"additionalProperties":false}`,
		"anchor":    `{"type":"object","properties":{"a":{"$ref":"#here"}},"$defs":{"x":{"$anchor":"here","type":"string"}}}`,
	}
	w := schemaWorld(t, schemas)
	list := w.do(t, claims("2026-07-28", "tools/list")).body
	for name, schema := range schemas {
		if !strings.Contains(list, schema) {
			t.Errorf("the schema of %q has changed on its way: %s", name, list)
		}
	}
	for _, c := range []struct {
		tool, args string
		fits       bool
	}{
		{"neighbour", `{"b":1}`, true}, {"neighbour", `{"b":"1"}`, false},
		{"tree", `{"node":{"children":[{"children":[{}]}]}}`, true}, {"tree", `{"node":{"children":[{"children":[{"x":1}]}]}}`, false},
		{"itself", `{"next":{"next":{}}}`, true}, {"itself", `{"next":{"next":{"x":1}}}`, false},
		{"anchor", `{"a":"x"}`, true}, {"anchor", `{"a":1}`, false},
	} {
		for _, got := range pair(w.both(t, c.tool, `,"arguments":`+c.args)) {
			if fits := !strings.Contains(got, `"isError":true`); fits != c.fits || code(got) != 0 {
				t.Errorf("%s of %s: %s", c.args, c.tool, got)
			}
		}
	}
	asked := start(t, server.Options{}) // what a reference would be fetched from
	for name, schema := range map[string]string{
		"fetched": `{"type":"object","properties":{"a":{"$ref":"http://` + asked.addr + `/schema"}}}`,
		"secure":  `{"type":"object","properties":{"a":{"$ref":"https://schemas.example/a.json"}}}`,
		"file":    `{"type":"object","properties":{"a":{"$ref":"file:///etc/hostname"}}}`,
		"lost":    `{"type":"object","properties":{"a":{"$ref":"#/$defs/lost"}}}`,
		"deep":    `{"type":"object","allOf":[` + strings.Repeat(`{"allOf":[`, 10_000) + `{}` + strings.Repeat(`]}`, 10_000) + `]}`,
		"wide":    `{"type":"object","allOf":[{}` + strings.Repeat(`,{}`, 20_000) + `]}`,
	} {
		began := time.Now()
		err := w.AddRawTool(mcp.Tool{Name: name, InputSchema: json.RawMessage(schema)}, sayArguments)
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: %.300v", name, err)
		}
		if took := time.Since(began); took > patience/4 {
			t.Errorf("%s took %s", name, took)
		}
	}
	if n := asked.sockets.Load(); n != 0 {
		t.Errorf("a reference was fetched, %d connections", n)
	}
}

// code is that of the error in a body, or 0.
func code(body string) int64 {
	n, _, _, _ := errorIn(body)
	return n
}

// TestC067CirclesEnd: arguments that a schema in a circle would follow for ever are answered in time.
func TestC067CirclesEnd(t *testing.T) {
	w := schemaWorld(t, map[string]string{
		"forks": `{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/c"}]},` +
			`"b":{"type":"object","properties":{"n":{"$ref":"#/$defs/a"}},"required":["x"]},"c":{"type":"object","properties":{"n":{"$ref":"#/$defs/a"}},"required":["y"]}}}`,
	})
	args := strings.Repeat(`{"n":`, 100) + "1" + strings.Repeat("}", 100)
	began := time.Now()
	for _, got := range pair(w.both(t, "forks", `,"arguments":{"a":`+args+`}`)) {
		if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "take too long") {
			t.Errorf("got %.300s", got)
		}
	}
	if took := time.Since(began); took > patience/4 {
		t.Errorf("took %s", took)
	}
}

// TestC068AbsentIsNotZero: elsewhere a zero was taken for missing and replaced by the default, and a call without arguments
// failed though it needs none. Here 0 stays 0 and absent arguments are {}, null ones too.
//
// Seen to fail with null arguments passed on as they are: the rows of null were refused in both eras.
func TestC068AbsentIsNotZero(t *testing.T) {
	type count struct {
		N    *int `json:"n,omitempty"`
		Plus int  `json:"plus,omitempty" jsonschema:"added to n"`
	}
	w := schemaWorld(t, map[string]string{"raw": `{"type":"object","properties":{"n":{"type":"integer","default":5}}}`})
	server.AddTool(w.Server, mcp.Tool{Name: "typed"}, func(_ context.Context, _ *server.Request, in count) (string, error) {
		if in.N == nil {
			return "got nothing", nil
		}
		return fmt.Sprint("got ", *in.N), nil
	})
	for _, c := range []struct{ name, tool, arguments, want string }{
		{"zero", "typed", `,"arguments":{"n":0}`, "got 0"},
		{"empty", "typed", `,"arguments":{}`, "got nothing"},
		{"absent", "typed", ``, "got nothing"},
		{"null", "typed", `,"arguments":null`, "got nothing"},
		{"zero, raw", "raw", `,"arguments":{"n":0}`, `got {\"n\":0}`},
		{"empty, raw", "raw", `,"arguments":{}`, `got {`},
		{"absent, raw", "raw", ``, `got {`},
		{"null, raw", "raw", `,"arguments":null`, `got {`},
	} {
		for _, got := range pair(w.both(t, c.tool, c.arguments)) {
			if !strings.Contains(got, c.want) || strings.Contains(got, "isError") {
				t.Errorf("%s: want %q in %s", c.name, c.want, got)
			}
		}
	}
	session := sessionHeader + ": " + w.sessionOf(t, "2025-11-25")
	for _, params := range []string{``, `,"params":{}`} {
		list := `{"jsonrpc":"2.0","id":7,"method":"tools/list"` + params + `}`
		wanted{status: 200, text: `"tools":[`}.of(t, w.do(t, posted(list, session)))
		wanted{status: 400, code: -32602, id: "7", data: envelopeData("protocolVersion", "missing")}.of(t, w.do(t, posted(list, modernHeader, "Mcp-Method: tools/list")))
	}
}
