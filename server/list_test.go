package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

func nothing(context.Context, *server.Request) (*mcp.CallToolResult, error) { return nil, nil }

// names walks through a list of tools and returns the names of one page and its cursor.
func (w *wire) names(members string) (names []string, cursor string) {
	w.t.Helper()
	result := w.call("tools/list", members).Result
	var page struct {
		Tools      []struct{ Name string }
		NextCursor string
	}
	if err := json.Unmarshal(result, &page); err != nil {
		w.t.Fatal(err)
	}
	for _, tool := range page.Tools {
		names = append(names, tool.Name)
	}
	return names, page.NextCursor
}

func (w *wire) wantNames(cursor, want string) (next string) {
	w.t.Helper()
	members := ""
	if cursor != "" {
		members = fmt.Sprintf(`"cursor":%q`, cursor)
	}
	names, next := w.names(members)
	if got := strings.Join(names, " "); got != want {
		w.t.Errorf("want the page %q, got %q", want, got)
	}
	return next
}

// Empty lists are [], whoever asks.
func TestEmptyLists(t *testing.T) {
	for _, revision := range mcp.Versions() {
		w := dial(t, newServer(server.Options{}), revision)
		w.want("tools/list", "", `{"tools":[]}`)
		w.want("prompts/list", "", `{"prompts":[]}`)
		w.want("resources/list", "", `{"resources":[]}`)
		w.want("resources/templates/list", "", `{"resourceTemplates":[]}`)
	}
}

// A legacy list request needs no params.
func TestListWithoutParams(t *testing.T) {
	w := dial(t, newServer(server.Options{}), legacy)
	w.Send(`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`)
	w.Expect(`{"id":"a","result":{"tools":[]}}`)
}

func TestOrderOfRegistration(t *testing.T) {
	s := newServer(server.Options{})
	for _, name := range []string{"c", "a", "b"} {
		rawTool(t, s, name, nothing)
	}
	w := dial(t, s, modern)
	w.wantNames("", "c a b")
	if err := s.AddRawTool(mcp.Tool{Name: "a", Title: "new"}, nothing); err != nil {
		t.Fatal(err)
	}
	w.wantNames("", "c a b") // in its place
	if got := s.RemoveTool("c", "c", "no"); got != 1 {
		t.Errorf("want one tool removed, got %d", got)
	}
	rawTool(t, s, "c", nothing)
	w.wantNames("", "a b c")
	if got, want := s.ToolNames(), []string{"a", "b", "c"}; !reflect.DeepEqual(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
	if !s.HasTool("a") || s.HasTool("no") || s.RemoveTool("no") != 0 {
		t.Error("HasTool or RemoveTool is wrong about what is there")
	}
	w.want("tools/call", `"name":"a"`, `{"content":[]}`)
	s.RemoveTool("a")
	w.want("tools/call", `"name":"a"`, "error -32602")
}

func TestPages(t *testing.T) {
	s := newServer(server.Options{PageSize: 2})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		rawTool(t, s, name, nothing)
	}
	for _, revision := range bothEras {
		w := dial(t, s, revision)
		cursor := w.wantNames("", "a b")
		cursor = w.wantNames(cursor, "c d")
		if end := w.wantNames(cursor, "e"); end != "" {
			t.Errorf("the last page has a cursor: %q", end)
		}
		for members, want := range map[string]string{`"cursor":""`: "a b", `"cursor":null`: "a b"} {
			if names, _ := w.names(members); strings.Join(names, " ") != want {
				t.Errorf("%s: want %q, got %q", members, want, names)
			}
		}
		for _, bad := range []string{`"nonsense"`, `"!"`, `5`, `"MA"`, `"MDph"`, `"LTE6YQ"`, `["a"]`} {
			w.want("tools/list", `"cursor":`+bad, "error -32602")
		}
	}
}

// The size of pages may change between two of them.
func TestSetPageSize(t *testing.T) {
	for _, revision := range bothEras {
		s := newServer(server.Options{PageSize: 2})
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			rawTool(t, s, name, nothing)
		}
		w := dial(t, s, revision)
		cursor := w.wantNames("", "a b")
		s.SetPageSize(1)
		cursor = w.wantNames(cursor, "c")
		s.SetPageSize(0)
		if end := w.wantNames(cursor, "d e"); end != "" {
			t.Errorf("the last page has a cursor: %q", end)
		}
		w.wantNames("", "a b c d e")
	}
}

// A cursor names the entry before it: nobody is passed over when entries come and go between two pages.
func TestCursorsAreStable(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*server.Server)
		want   string
	}{
		{"nothing happens", func(*server.Server) {}, "c d"},
		{"an entry before goes", func(s *server.Server) { s.RemoveTool("a") }, "c d"},
		{"the entry itself goes", func(s *server.Server) { s.RemoveTool("b") }, "c d"},
		{"the next goes", func(s *server.Server) { s.RemoveTool("c") }, "d e"},
		{"all that follow go", func(s *server.Server) { s.RemoveTool("c", "d", "e") }, ""},
		{"all go", func(s *server.Server) { s.RemoveTool("a", "b", "c", "d", "e") }, ""},
		{"one moves to the end", func(s *server.Server) {
			s.RemoveTool("a")
			if err := s.AddRawTool(mcp.Tool{Name: "a"}, nothing); err != nil {
				panic(err)
			}
		}, "c d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(server.Options{PageSize: 2})
			for _, name := range []string{"a", "b", "c", "d", "e"} {
				rawTool(t, s, name, nothing)
			}
			w := dial(t, s, modern)
			cursor := w.wantNames("", "a b")
			c.change(s)
			w.wantNames(cursor, c.want)
		})
	}
}

// Lists are the same bytes for everybody, and say how long they may be kept on the era that has hints.
func TestListsAreEqualAndHinted(t *testing.T) {
	s := newServer(server.Options{Cache: mcp.CacheFor(90e9, mcp.CachePublic)})
	rawTool(t, s, "a", nothing)
	one, two := dial(t, s, modern).call("tools/list", "").Result, dial(t, s, modern).call("tools/list", "").Result
	if string(one) != string(two) {
		t.Errorf("two clients got different lists:\n%s\n%s", one, two)
	}
	if member(t, one, "ttlMs") != "90000" || member(t, one, "cacheScope") != `"public"` {
		t.Errorf("the hint is missing: %s", one)
	}
	if old := dial(t, s, legacy).call("tools/list", "").Result; string(old) != `{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{}}}]}` {
		t.Errorf("a legacy list got more than is its own: %s", old)
	}
}

// Titles, icons and annotations are listed as they were given.
func TestListedMembers(t *testing.T) {
	yes := true
	s := newServer(server.Options{})
	tool := mcp.Tool{Name: "a", Title: "A", Icons: []mcp.Icon{{Src: "https://example.com/a.png"}}, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: &yes}}
	if err := s.AddRawTool(tool, nothing); err != nil {
		t.Fatal(err)
	}
	dial(t, s, modern).want("tools/list", "", `{"tools":[{"name":"a","title":"A","inputSchema":{"type":"object","properties":{}},`+
		`"annotations":{"readOnlyHint":true},"icons":[{"src":"https://example.com/a.png"}]}]}`)
}

// catalogue answers one list by itself and leaves the others to the server.
type catalogue struct{ tools *server.List }

func (c catalogue) List(_ context.Context, req *server.Request, kind server.ListKind) (*server.List, error) {
	switch kind {
	case server.Tools:
		return c.tools, nil
	case server.Resources:
		return nil, mcp.Errorf(-32099, "not for %s", req.ProtocolVersion())
	}
	return nil, nil
}

func (c catalogue) Describe(context.Context, *server.Request) (*server.Description, error) {
	return &server.Description{Instructions: "call me", Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}}}, nil
}

func TestCatalogue(t *testing.T) {
	raw := `{"name":"far","inputSchema":{"type":"object"},"big":12345678901234567890.10,"x":"\u0041"}`
	list := server.NewList(server.Tools, []json.RawMessage{json.RawMessage(raw)}, mcp.CacheFor(5e9, ""))
	s := newServer(server.Options{Catalogue: catalogue{list}, Cache: mcp.CacheHint{Scope: mcp.CachePublic}})
	s.AddPrompt(mcp.Prompt{Name: "near"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, nil
	})
	w := dial(t, s, modern)
	w.want("tools/list", "", `{"tools":[`+raw+`]}`) // token for token
	w.want("prompts/list", "", `{"prompts":[{"name":"near"}]}`)
	w.want("resources/list", "", "error -32099")
	w.want("server/discover", "", `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"instructions":"call me"}`)
	if result := w.call("tools/list", "").Result; member(t, result, "ttlMs") != "5000" || member(t, result, "cacheScope") != `"public"` {
		t.Errorf("the hints of list and server do not complete each other: %s", result)
	}
	if list.Len() != 1 || server.Tools.String() != "tools" {
		t.Error("Len or String is wrong")
	}
}
