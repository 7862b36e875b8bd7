package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// returning registers a typed tool "x" that returns one value.
func returning[Out any](out Out) func(*server.Server) {
	return func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "x"}, func(context.Context, *server.Request, struct{}) (Out, error) { return out, nil })
	}
}

type point struct {
	X int `json:"x"`
	Y int `json:"y,omitempty"`
}

func TestOutputs(t *testing.T) {
	text := func(s string) string { return `{"content":[{"type":"text","text":"` + s + `"}]` }
	for _, c := range []struct {
		name     string
		register func(*server.Server)
		modern   string
		legacy   string // "" for the same
	}{
		{"string", returning("hi <b>"), text("hi <b>") + `}`, ""},
		{"no UTF-8", returning("a\xff\n\x00"), text(`a`+"\uFFFD"+`\n\u0000`) + `}`, ""},
		{"one block", returning[mcp.Content](mcp.Text("a")), text("a") + `}`, ""},
		{"no block", returning[mcp.Content](nil), `{"content":[]}`, ""},
		{"blocks", returning([]mcp.Content{mcp.Text("a"), mcp.Image("image/png", []byte("x"))}),
			`{"content":[{"type":"text","text":"a"},{"type":"image","data":"eA==","mimeType":"image/png"}]}`, ""},
		{"nil blocks", returning([]mcp.Content(nil)), `{"content":[]}`, ""},
		{"concrete block", returning(mcp.Text("a")), text("a") + `}`, ""},
		{"whole result", returning(&mcp.CallToolResult{Content: []mcp.Content{mcp.Text("a")}, IsError: true, Meta: mcp.Meta(`{"k":1}`)}),
			text("a") + `,"isError":true}`, text("a") + `,"isError":true}`},
		{"whole result by value", returning(mcp.CallToolResult{Content: []mcp.Content{mcp.Text("a")}}), text("a") + `}`, ""},
		{"nil result", returning((*mcp.CallToolResult)(nil)), `{"content":[]}`, ""},
		{"struct", returning(point{X: 1}), text(`{\"x\":1}`) + `,"structuredContent":{"x":1}}`, ""},
		{"pointer", returning(&point{X: 1, Y: 2}), text(`{\"x\":1,\"y\":2}`) + `,"structuredContent":{"x":1,"y":2}}`, ""},
		{"nil pointer", returning((*point)(nil)), `error -32603`, ""},
		{"slice", returning([]int{1, 2}), text(`[1,2]`) + `,"structuredContent":[1,2]}`, text(`[1,2]`) + `,"structuredContent":{"result":[1,2]}}`},
		{"nil slice", returning([]int(nil)), text(`[]`) + `,"structuredContent":[]}`, text(`[]`) + `,"structuredContent":{"result":[]}}`},
		{"number", returning(7), text(`7`) + `,"structuredContent":7}`, text(`7`) + `,"structuredContent":{"result":7}}`},
		{"no JSON form", returning(math.NaN()), `error -32603`, ""},
		{"map in order", returning(map[string]int{"b": 2, "a": 1}), text(`{\"a\":1,\"b\":2}`) + `,"structuredContent":{"a":1,"b":2}}`, ""},
		{"any: nothing", returning[any](nil), `{"content":[]}`, ""},
		{"any: text", returning[any]("a"), text("a") + `}`, ""},
		{"any: result", returning[any](mcp.ErrorResult("a")), text("a") + `,"isError":true}`, ""},
		{"any: data", returning[any](point{X: 1}), text(`{\"x\":1}`) + `,"structuredContent":{"x":1}}`, ""},
		{"raw JSON", returning(json.RawMessage(`{"n":1.50}`)), text(`{\"n\":1.50}`) + `,"structuredContent":{"n":1.50}}`, ""},
	} {
		s := newServer(server.Options{})
		c.register(s)
		if c.legacy == "" {
			c.legacy = c.modern
		}
		for revision, want := range map[string]string{legacy: c.legacy, modern: c.modern} {
			t.Run(c.name+"/"+revision, func(t *testing.T) { dial(t, s, revision).want("tools/call", `"name":"x"`, want) })
		}
	}
}

// What a list shows and what a call returns agree on the wrap of an output that is no object.
func TestLegacyWrapOfOutputs(t *testing.T) {
	s := newServer(server.Options{})
	returning([]string{"a"})(s)
	for revision, want := range map[string][2]string{
		modern: {`{"type":"array","items":{"type":"string"}}`, `["a"]`},
		legacy: {`{"type":"object","properties":{"result":{"type":"array","items":{"type":"string"}}},"required":["result"]}`, `{"result":["a"]}`},
	} {
		w := dial(t, s, revision)
		var tools []json.RawMessage
		if err := json.Unmarshal([]byte(member(t, w.call("tools/list", "").Result, "tools")), &tools); err != nil {
			t.Fatal(err)
		}
		if got := member(t, tools[0], "outputSchema"); got != want[0] {
			t.Errorf("%s lists %s, want %s", revision, got, want[0])
		}
		if got := member(t, w.call("tools/call", `"name":"x"`).Result, "structuredContent"); got != want[1] {
			t.Errorf("%s returns %s, want %s", revision, got, want[1])
		}
	}
}

// A schema without a type is no object root: even an object value is wrapped, as the list says.
func TestLegacyWrapOfTypelessSchema(t *testing.T) {
	s := newServer(server.Options{})
	tool := mcp.Tool{Name: "x", OutputSchema: json.RawMessage(`{"anyOf":[{"type":"object"},{"type":"null"}]}`)}
	if err := s.AddRawTool(tool, func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"a":1}`)}, nil
	}); err != nil {
		t.Fatal(err)
	}
	for revision, want := range map[string]string{modern: `{"a":1}`, legacy: `{"result":{"a":1}}`} {
		if got := member(t, dial(t, s, revision).call("tools/call", `"name":"x"`).Result, "structuredContent"); got != want {
			t.Errorf("%s: want %s, got %s", revision, want, got)
		}
	}
}

// A successful result that breaks its schema is the server's fault: the client learns nothing of the value, the log learns
// the place and the rule.
func TestOutputsThatBreakTheirSchema(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer","maximum":9}},"required":["n"]}`)
	for _, c := range []struct {
		result *mcp.CallToolResult
		err    error
		want   string
		logged string
	}{
		{&mcp.CallToolResult{StructuredContent: json.RawMessage(`{"n":4711}`)}, nil, "error -32603", "/n"},
		{&mcp.CallToolResult{StructuredContent: json.RawMessage(`{}`)}, nil, "error -32603", "misses"},
		{mcp.TextResult("4711"), nil, "error -32603", "no structured content"},
		{nil, nil, "error -32603", "no structured content"},
		{&mcp.CallToolResult{StructuredContent: json.RawMessage(`{"n":`)}, nil, "error -32603", "x"},
		{mcp.ErrorResult("4711"), nil, `{"content":[{"type":"text","text":"4711"}],"isError":true}`, ""},
		{nil, errors.New("no"), `{"content":[{"type":"text","text":"no"}],"isError":true}`, ""},
		{&mcp.CallToolResult{StructuredContent: json.RawMessage(`{"n":1}`), Content: []mcp.Content{mcp.Text("own")}}, nil,
			`{"content":[{"type":"text","text":"own"}],"structuredContent":{"n":1}}`, ""},
	} {
		for _, revision := range bothEras {
			var log bytes.Buffer
			s := newServer(server.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			err := s.AddRawTool(mcp.Tool{Name: "x", OutputSchema: schema}, func(context.Context, *server.Request) (*mcp.CallToolResult, error) {
				return c.result, c.err
			})
			if err != nil {
				t.Fatal(err)
			}
			dial(t, s, revision).want("tools/call", `"name":"x"`, c.want)
			if !strings.Contains(log.String(), c.logged) || strings.Contains(log.String(), "4711") || (c.logged == "") != (log.Len() == 0) {
				t.Errorf("want %q in the log and nothing of the value, got %q", c.logged, log.String())
			}
		}
	}
}

// A handler's bytes that are no JSON never reach the wire.
func TestBrokenContentStaysInside(t *testing.T) {
	for name, result := range map[string]*mcp.CallToolResult{
		"structured": {StructuredContent: json.RawMessage(`{"n":`)},
		"meta":       {Meta: mcp.Meta(`{"a":1}}`)},
	} {
		s := newServer(server.Options{})
		rawTool(t, s, "x", func(context.Context, *server.Request) (*mcp.CallToolResult, error) { return result, nil })
		for _, revision := range bothEras {
			t.Run(name+"/"+revision, func(t *testing.T) { dial(t, s, revision).want("tools/call", `"name":"x"`, "error -32603") })
		}
	}
}

// What a tool returns may be shared between calls and is not changed.
func TestResultsAreNotChanged(t *testing.T) {
	shared := &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"a":1}`)}
	s := newServer(server.Options{})
	returning(shared)(s)
	w := dial(t, s, modern)
	for range 2 {
		w.want("tools/call", `"name":"x"`, `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`)
	}
	if shared.Content != nil {
		t.Errorf("the text block was put into the handler's own value: %v", shared.Content)
	}
}
