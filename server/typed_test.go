package server_test

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

// Everything is an input with a bit of all that the rules for typed values speak of.
type Everything struct {
	City     string        `json:"city,omitempty" jsonschema:"where to look"`
	Days     int           `json:"days" jsonschema:"default=5"`
	Wait     time.Duration `json:"wait,omitempty"`
	Small    int8          `json:"small,omitempty"`
	Next     *Everything   `json:"next,omitempty"`
	Strict   *bool         `json:"strict"`
	Untagged string        `json:",omitempty"`
}

// seen is a server with one tool that tells what it got, in Go's own words.
func seen(t *testing.T) *server.Server {
	t.Helper()
	s := newServer(server.Options{})
	server.AddTool(s, mcp.Tool{Name: "see"}, func(_ context.Context, _ *server.Request, in Everything) (string, error) {
		next, strict := "-", "-"
		if in.Next != nil {
			next = in.Next.City
		}
		if in.Strict != nil {
			strict = fmt.Sprint(*in.Strict)
		}
		return fmt.Sprintf("%s|%d|%s|%d|%s|%s|%s", in.City, in.Days, in.Wait, in.Small, next, strict, in.Untagged), nil
	})
	return s
}

func TestArguments(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{``, "|5|0s|0|-|-|"},                 // absent
		{`"arguments":null`, "|5|0s|0|-|-|"}, // null counts as absent
		{`"arguments":{}`, "|5|0s|0|-|-|"},
		{`"arguments":{"days":0}`, "|0|0s|0|-|-|"}, // a zero is a value, not a gap
		{`"arguments":{"city":"","days":1.0,"small":1e0}`, "|1|0s|1|-|-|"},
		{`"arguments":{"city":"Oslo","wait":"1m30s"}`, "Oslo|5|1m30s|0|-|-|"},
		{`"arguments":{"strict":false,"Untagged":"x"}`, "|5|0s|0|-|false|x"},
		{`"arguments":{"strict":null}`, "|5|0s|0|-|-|"},
		{`"arguments":{"next":{"city":"Bergen","days":1,"next":{"city":"Voss","days":2}}}`, "|5|0s|0|Bergen|-|"},
	} {
		for _, revision := range bothEras {
			w := dial(t, seen(t), revision)
			members := strings.Trim(`"name":"see",`+c.arguments, ",")
			w.want("tools/call", members, `{"content":[{"type":"text","text":"`+c.want+`"}]}`)
		}
	}
}

// Arguments that break the schema are a result that a model can read from 2025-11-25 on, and an error before.
func TestBadArguments(t *testing.T) {
	for _, arguments := range []string{
		`{"days":"five"}`, `{"days":1.5}`, `{"small":300}`, `{"wait":90}`, `{"wait":"soon"}`, `{"City":"Oslo"}`, `{"next":{"city":3}}`,
	} {
		for _, revision := range mcp.Versions() {
			m := dial(t, seen(t), revision).call("tools/call", `"name":"see","arguments":`+arguments)
			told := m.Error != nil && m.Error.Code == -32602 && strings.Contains(m.Error.Message, "Invalid arguments for tool see")
			if revision == legacy || revision == modern {
				told = member(t, m.Result, "isError") == "true" && strings.Contains(string(m.Result), "Invalid arguments for tool see")
			}
			if !told {
				t.Errorf("%s, %s: got %s", revision, arguments, m.Frame())
			}
		}
	}
	for _, revision := range bothEras {
		dial(t, seen(t), revision).want("tools/call", `"name":"see","arguments":[1]`, "error -32602")
	}
}

// A name counts only as it is written, and what stands twice is refused before anybody reads it.
func TestNamesOfArgumentsAreExact(t *testing.T) {
	for _, frame := range []string{
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","method":"tools/list","params":{"name":"see"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"see","name":"other"}}`,
		`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"see","arguments":{"days":1,"days":2}}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"see\xff\"}}",
	} {
		w := dial(t, seen(t), legacy)
		w.Send(frame)
		w.Expect(`{"error":{"code":-32700}}`)
	}
	w := dial(t, seen(t), legacy)
	w.want("tools/call", `"name":"see","Name":"other","NAME":1`, `{"content":[{"type":"text","text":"|5|0s|0|-|-|"}]}`)
	w.want("tools/call", `"Name":"see"`, "error -32602")
	w.want("tools/call", `"name":"see\u0000"`, "error -32602")
	w.want("tools/call", `"name":"s\u0065e"`, `{"content":[{"type":"text","text":"|5|0s|0|-|-|"}]}`)
}

func TestInferredSchemas(t *testing.T) {
	s := newServer(server.Options{})
	type in struct {
		City string        `json:"city" jsonschema:"where to look"`
		Wait time.Duration `json:",omitempty"`
	}
	type out struct {
		Warm []float64 `json:"warm"`
	}
	server.AddTool(s, mcp.Tool{Name: "t"}, func(context.Context, *server.Request, in) (out, error) { return out{}, nil })
	server.AddTool(s, mcp.Tool{Name: "tree"}, func(context.Context, *server.Request, Everything) (string, error) { return "", nil })
	w := dial(t, s, modern)
	list := w.call("tools/list", "").Result
	var tools []json.RawMessage
	if err := json.Unmarshal([]byte(member(t, list, "tools")), &tools); err != nil || len(tools) != 2 {
		t.Fatalf("want two tools, got %s (%v)", list, err)
	}
	for _, c := range []struct {
		path []string
		want string
	}{
		{[]string{"inputSchema", "type"}, `"object"`},
		{[]string{"inputSchema", "required"}, `["city"]`},
		{[]string{"inputSchema", "properties", "city", "description"}, `"where to look"`},
		{[]string{"inputSchema", "properties", "Wait", "type"}, `"string"`},
		{[]string{"outputSchema", "properties", "warm", "type"}, `"array"`},
	} {
		if got := member(t, tools[0], c.path...); got != c.want {
			t.Errorf("%v: want %s, got %s", c.path, c.want, got)
		}
	}
	if next := member(t, tools[1], "inputSchema", "properties", "next"); !strings.Contains(next, `"$ref":"#"`) {
		t.Errorf("a type that holds itself becomes a reference, got %s", next)
	}
	w.want("tools/call", `"name":"t","arguments":{"city":"Oslo"}`,
		`{"content":[{"type":"text","text":"{\"warm\":[]}"}],"structuredContent":{"warm":[]}}`) // a nil slice is []
}

func TestRegistrationMistakes(t *testing.T) {
	type unfit struct{ C chan int }
	s := newServer(server.Options{StrictNames: true})
	for name, register := range map[string]func(){
		"input is no object": func() {
			server.AddTool(s, mcp.Tool{Name: "x"}, func(context.Context, *server.Request, int) (string, error) { return "", nil })
		},
		"input has no schema": func() {
			server.AddTool(s, mcp.Tool{Name: "x"}, func(context.Context, *server.Request, unfit) (string, error) { return "", nil })
		},
		"output has no schema": func() {
			server.AddTool(s, mcp.Tool{Name: "x"}, func(context.Context, *server.Request, struct{}) (unfit, error) { return unfit{}, nil })
		},
		"nil function": func() {
			server.AddTool[struct{}, string](s, mcp.Tool{Name: "x"}, nil)
		},
		"strict name": func() {
			server.AddTool(s, mcp.Tool{Name: "a b"}, func(context.Context, *server.Request, struct{}) (string, error) { return "", nil })
		},
		"prompt without name":      func() { s.AddPrompt(mcp.Prompt{}, nil) },
		"resource without handler": func() { s.AddResource(mcp.Resource{URI: "a:1", Name: "a"}, nil) },
		"broken template": func() {
			s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "a:{", Name: "a"}, func(context.Context, *server.Request, map[string]string) (*mcp.ReadResourceResult, error) {
				return nil, nil
			})
		},
		"method of the specification": func() {
			s.Handle("tools/call", func(context.Context, *server.Request) (*server.RawResult, error) { return nil, nil })
		},
		"server without name": func() { server.New(mcp.Implementation{}, server.Options{}) },
		"unknown version":     func() { newServer(server.Options{Versions: []string{"2020-01-01"}}) },
		"bad cache hint":      func() { newServer(server.Options{Cache: mcp.CacheHint{Scope: "all"}}) },
		"bad extension":       func() { newServer(server.Options{Extensions: []mcp.Extension{{Identifier: "x"}}}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, ok := recover().(string); !ok || !strings.HasPrefix(text, "server: ") {
					t.Errorf("want a panic that begins with the package, got %q", text)
				}
			}()
			register()
		})
	}
}

func TestAddRawToolRefuses(t *testing.T) {
	s := newServer(server.Options{})
	fine := func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return nil, nil }
	input := func(properties string) mcp.Tool {
		return mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"object","properties":{` + properties + `}}`)}
	}
	const marked = `{"type":"string","x-mcp-header":"A"}`
	for name, c := range map[string]struct {
		tool mcp.Tool
		h    server.ToolHandler
		want string // of the error
	}{
		"no name":        {mcp.Tool{}, fine, "name"},
		"no handler":     {mcp.Tool{Name: "x"}, nil, "handler"},
		"no object":      {mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{"type":"string"}`)}, fine, "object"},
		"broken schema":  {input(`"a":{"type":"nothing"}`), fine, "/properties/a/type"},
		"network ref":    {input(`"a":{"$ref":"https://example.com/a"}`), fine, "https://example.com/a"},
		"dialect":        {mcp.Tool{Name: "x", InputSchema: json.RawMessage(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object"}`)}, fine, "draft-04"},
		"header number":  {input(`"a":{"type":"number","x-mcp-header":"A"}`), fine, "/properties/a"},
		"header twice":   {input(`"a":` + marked + `,"b":` + strings.ToLower(marked)), fine, "/properties/b"},
		"header in list": {input(`"a":{"type":"array","items":` + marked + `}`), fine, "/properties/a/items"},
		"broken output":  {mcp.Tool{Name: "x", OutputSchema: json.RawMessage(`{"type":7}`)}, fine, "output"},
	} {
		if err := s.AddRawTool(c.tool, c.h); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one that names %q", name, err, c.want)
		}
	}
	if names := s.ToolNames(); len(names) != 0 {
		t.Errorf("a refused tool is registered: %q", names)
	}
}

// Schemas that point into themselves are checked, not followed for ever.
func TestSchemasWithReferences(t *testing.T) {
	s := newServer(server.Options{})
	input := `{"type":"object","properties":{"a":{"type":"integer"},"b":{"$ref":"#/properties/a","description":"x"},"c":{"$ref":"#"}},"additionalProperties":false}`
	err := s.AddRawTool(mcp.Tool{Name: "x", InputSchema: json.RawMessage(input)}, func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return mcp.TextResult("ok"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w := dial(t, s, modern)
	w.want("tools/call", `"name":"x","arguments":{"b":1,"c":{"c":{"a":2}}}`, `{"content":[{"type":"text","text":"ok"}]}`)
	if m := w.call("tools/call", `"name":"x","arguments":{"c":{"c":{"b":"no"}}}`); member(t, m.Result, "isError") != "true" {
		t.Errorf("want an error result, got %s", m.Frame())
	}
	if list := w.call("tools/list", "").Result; !strings.Contains(string(list), input) {
		t.Errorf("the schema is not listed as it was given: %s", list)
	}
}
