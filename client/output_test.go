package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	rialto "github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

const celsius = `{"type":"object","properties":{"degrees":{"type":"number","minimum":-273}},"required":["degrees"]}`

// toolOf is a list of one tool.
func toolOf(name, output string) string {
	if output != "" {
		output = `,"outputSchema":` + output
	}
	return `{"tools":[{"name":"` + name + `","inputSchema":{"type":"object"}` + output + `}]}`
}

// What comes of a result, by the schema that the tool was listed with.
func TestOutputChecked(t *testing.T) {
	cases := []struct{ name, schema, result, fault string }{
		{"fits", celsius, `{"content":[],"structuredContent":{"degrees":7.50}}`, ""},
		{"breaks", celsius, `{"content":[],"structuredContent":{"degrees":-999}}`, "/degrees"},
		{"another shape", celsius, `{"content":[],"structuredContent":["secret"]}`, "object"},
		{"nothing structured", celsius, `{"content":[{"type":"text","text":"{\"degrees\":7}"}]}`, "has no structuredContent"},
		{"null is not absent", celsius, `{"content":[],"structuredContent":null}`, "object"},
		{"null where it fits", `{"type":["null","array"]}`, `{"content":[],"structuredContent":null}`, ""},
		{"the tool failed", celsius, `{"content":[{"type":"text","text":"no station"}],"isError":true,"structuredContent":{"degrees":"?"}}`, ""},
		{"no schema", "", `{"content":[],"structuredContent":{"degrees":-999}}`, ""},
		{"everything fits", "true", `{"content":[],"structuredContent":[1]}`, ""},
		{"nothing fits", "false", `{"content":[],"structuredContent":{}}`, "schema"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			rest := script{"tools/list": result(toolOf("t", tc.schema)), "tools/call": result(tc.result)}
			eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				c := connect(t, conn, client.Options{})
				if _, err := c.CallTool(t.Context(), "t", nil); err != nil {
					t.Errorf("not seen in a list: %v", err)
				}
				list(t, c)
				for range 2 {
					r, err := c.CallTool(t.Context(), "t", nil)
					var broken *client.OutputError
					switch {
					case tc.fault == "" && err != nil:
						t.Error(err)
					case tc.fault == "":
					case !errors.As(err, &broken) || !errors.Is(err, mcp.CodeInvalidResult) || !strings.Contains(err.Error(), tc.fault) || !strings.Contains(err.Error(), `"t"`):
						t.Errorf("got %v, %v; want %q", r, err, tc.fault)
					case broken.Tool != "t" || broken.Result == nil || strings.Contains(err.Error(), "999") || strings.Contains(err.Error(), "secret"):
						t.Errorf("the error shows the value, or not the result: %v, %+v", err, broken)
					}
				}
				wanted := 1
				if tc.fault != "" {
					wanted = 2 // the schema might have been an old one; that is found out once
				}
				if got := p.asked("tools/list"); got != wanted {
					t.Errorf("listed %d times, want %d", got, wanted)
				}
			})
		})
	}
}

// An option turns the check off, and revisions that have no structured content have no check.
func TestOutputUnchecked(t *testing.T) {
	rest := script{"tools/list": result(toolOf("t", celsius)), "tools/call": result(`{"content":[],"structuredContent":7}`)}
	eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
		c := connect(t, conn, client.Options{UncheckedOutput: true})
		list(t, c)
		if r, err := c.CallTool(t.Context(), "t", nil); err != nil || string(r.StructuredContent) != "7" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := legacy(rest)
		s["initialize"] = initialized("2025-03-26")
		conn, p := play(s)
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		list(t, c)
		if _, err := c.CallTool(t.Context(), "t", nil); err != nil {
			t.Errorf("2025-03-26: %v", err)
		}
	})
}

// A result that breaks what the client knows may keep what the server lists by now.
func TestOutputSchemaHasChanged(t *testing.T) {
	cases := []struct {
		name, now string
		good      bool
	}{
		{"another schema", `{"type":"object","properties":{"kelvin":{"type":"number"}},"required":["kelvin"]}`, true},
		{"no schema", "", true},
		{"another that it breaks too", `{"type":"object","required":["fahrenheit"]}`, false},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			rest := script{"tools/call": result(`{"content":[],"structuredContent":{"kelvin":280}}`)}
			rest["tools/list"] = func(p *peer, m *jsonrpc.Message) {
				schema := tc.now
				if p.asked("tools/list") == 1 {
					schema = celsius
				}
				result(toolOf("t", schema))(p, m)
			}
			eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				c := connect(t, conn, client.Options{})
				list(t, c)
				_, err := c.CallTool(t.Context(), "t", nil)
				if (err == nil) != tc.good || err != nil && !strings.Contains(err.Error(), "fahrenheit") {
					t.Errorf("got %v", err)
				}
				if got := p.asked("tools/list"); got != 2 {
					t.Errorf("listed %d times", got)
				}
			})
		})
	}
}

// A pattern that cannot be run is no reason to leave the rest of a schema unchecked, nor a call unmade.
func TestOutputBesideAPatternOutsideRE2(t *testing.T) {
	const schema = `{"type":"object","properties":{"a":{"pattern":"(?=x)"},"n":{"type":"number"}}}`
	for content, good := range map[string]bool{`{"a":"y","n":1}`: true, `{"a":"y","n":"1"}`: false} {
		rest := script{"tools/list": result(toolOf("t", schema)), "tools/call": result(`{"content":[],"structuredContent":` + content + `}`)}
		eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
			c := connect(t, conn, client.Options{})
			list(t, c)
			if _, err := c.CallTool(t.Context(), "t", nil); (err == nil) != good || p.asked("tools/call") != 1 {
				t.Errorf("%s: %v after %d calls", content, err, p.asked("tools/call"))
			}
		})
	}
}

// TestC067ClientsFetchNoReference is the client's half: a schema that cannot be used for a check does not count as one that
// everything fits. The tool is listed, and calling it says what is wrong and how to do without.
func TestC067ClientsFetchNoReference(t *testing.T) {
	cases := []struct{ name, schema, fault string }{
		{"elsewhere", `{"type":"object","properties":{"a":{"$ref":"https://127.0.0.1:1/x.json"}}}`, "https://127.0.0.1:1/x.json"},
		{"nowhere", `{"$ref":"#/$defs/none"}`, "none"},
		{"another dialect", `{"$schema":"https://example.com/mine","type":"object"}`, "https://example.com/mine"},
		{"broken", `{"type":"strin"}`, "schema"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			rest := script{"tools/list": result(toolOf("t", tc.schema)), "tools/call": result(`{"content":[],"structuredContent":{}}`)}
			eras(t, rest, func(t *testing.T, era string, conn transport.Conn, p *peer) {
				c := connect(t, conn, client.Options{})
				if got := list(t, c); fmt.Sprint(got) != "[t]" {
					t.Errorf("listed are %q", got)
				}
				for range 2 {
					_, err := c.CallTool(t.Context(), "t", nil)
					if err == nil || !strings.Contains(err.Error(), tc.fault) || !strings.Contains(err.Error(), `"t"`) || !strings.Contains(err.Error(), "UncheckedOutput") {
						t.Errorf("got %v", err)
					}
				}
				if p.asked("tools/call") != 0 {
					t.Error("it was called")
				}
			})
		})
	}
}

// The schemas that one server may have kept here are bounded. One that is not kept is not checked, which is reported.
func TestOutputBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 1 << 20
		n := 0
		conn, p := play(modern(script{
			"tools/list": func(p *peer, m *jsonrpc.Message) {
				n++
				next := ""
				if n < 10 {
					next = `,"nextCursor":"` + fmt.Sprint(n) + `"`
				}
				result(fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{},"outputSchema":{"type":"object","description":%q}}]%s}`, n, strings.Repeat("x", each), next))(p, m)
			},
			"tools/call": result(`{"content":[],"structuredContent":7}`),
		}))
		defer p.conn.Close()
		var mu sync.Mutex
		var faults []string
		c := connect(t, conn, client.Options{OnError: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			faults = append(faults, err.Error())
		}})
		if got := list(t, c); len(got) != 10 {
			t.Fatalf("listed are %q", got)
		}
		mu.Lock()
		if len(faults) == 0 || !strings.Contains(faults[0], "not checked") {
			t.Errorf("reported is %q", faults)
		}
		mu.Unlock()
		if _, err := c.CallTool(t.Context(), "t10", nil); err != nil {
			t.Errorf("the last: %v", err)
		}
		n = 9 // the list that is read again is of one page
		if _, err := c.CallTool(t.Context(), "t1", nil); !errors.Is(err, mcp.CodeInvalidResult) {
			t.Errorf("the first: %v", err)
		}
	})
}

// Lists are kept and outputs checked on every wire, also where the structured content of the era is an object alone.
func TestKeptOnEveryWire(t *testing.T) {
	for _, wire := range mcptest.Wires() {
		t.Run(wire.Name, func(t *testing.T) {
			s := rialto.New(mcp.Implementation{Name: "stations", Version: "1"}, rialto.Options{Cache: mcp.CacheFor(time.Minute, mcp.CachePublic)})
			says := func(content string) rialto.ToolHandler {
				return func(context.Context, *rialto.Request) (*mcp.CallToolResult, error) {
					return &mcp.CallToolResult{StructuredContent: json.RawMessage(content)}, nil
				}
			}
			must(t, s.AddRawTool(mcp.Tool{Name: "array", OutputSchema: json.RawMessage(`{"type":"array","items":{"type":"integer"}}`)}, says("[1,2]")))
			must(t, s.AddRawTool(mcp.Tool{Name: "object", OutputSchema: json.RawMessage(celsius)}, says(`{"degrees":7}`)))
			sent := map[string]int{}
			counted := func(next client.Call) client.Call {
				return func(ctx context.Context, req *client.OutgoingRequest) (*client.RawResult, error) {
					sent[req.Method]++
					return next(ctx, req)
				}
			}
			c := wire.Dial(t, s, client.Options{Middleware: []client.Middleware{counted}, Cache: client.CacheOptions{Floor: time.Minute}})
			for range 3 {
				if got := list(t, c); fmt.Sprint(got) != "[array object]" {
					t.Fatalf("listed are %q", got)
				}
				for _, name := range []string{"array", "object"} {
					if r, err := c.CallTool(t.Context(), name, nil); err != nil || r.StructuredContent == nil {
						t.Errorf("%s: %+v, %v", name, r, err)
					}
				}
			}
			if sent["tools/list"] != 1 || sent["tools/call"] != 6 {
				t.Errorf("sent were %v", sent)
			}
		})
	}
}
