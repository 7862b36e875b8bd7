package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	rialto "github.com/rialto-mcp/rialto/server"
)

// A tool that was never listed, and one that has changed since, cost one list and one repetition; then they are known.
func TestMirrorsRefused(t *testing.T) {
	const renamed = `{"type":"object","properties":{"text":{"type":"string","x-mcp-header":"Words"}}}`
	tools := map[string]string{"a": `{"type":"object"}`, "marked": markedSchema, "z": `{"type":"object"}`}
	s := serveStrict(t, rialto.Options{PageSize: 1}, tools)
	c := s.dial(t, client.Options{})
	call := func() {
		t.Helper()
		if result, err := c.CallTool(t.Context(), "marked", map[string]any{"text": "x"}); err != nil || text(result) != `{"text":"x"}` {
			t.Errorf("got %q, %v", text(result), err)
		}
	}
	s.last()
	call()
	calls, posts := s.last()
	if rest, ok := strings.CutPrefix(posts, "tools/call tools/list"); !ok || !strings.HasSuffix(rest, " tools/call") || strings.Count(posts, "call") != 2 ||
		fmt.Sprint(calls) != "[[] [Text: x]]" {
		t.Errorf("never listed: %s was sent with %q", posts, calls)
	}
	call()
	if calls, posts := s.last(); posts != "tools/call" || fmt.Sprint(calls) != "[[Text: x]]" {
		t.Errorf("known: %s was sent with %q", posts, calls)
	}
	s.add(t, "marked", renamed)
	call()
	if calls, _ := s.last(); fmt.Sprint(calls) != "[[Text: x] [Words: x]]" {
		t.Errorf("changed: sent with %q", calls)
	}
	call()
	if calls, posts := s.last(); posts != "tools/call" || fmt.Sprint(calls) != "[[Words: x]]" {
		t.Errorf("known anew: %s was sent with %q", posts, calls)
	}
	s.add(t, "marked", `{"type":"object"}`)
	list(t, c)
	s.last()
	call()
	if calls, posts := s.last(); posts != "tools/call" || fmt.Sprint(calls) != "[[]]" {
		t.Errorf("no longer marked: %s was sent with %q", posts, calls)
	}
}

// A server that refuses whatever comes is asked twice at most, and its own error is what the caller gets.
func TestMirrorsRefusedForGood(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":{id},"result":{"tools":[{"name":"marked","inputSchema":` + markedOneLine + `}]}}`
	const broken = `{"jsonrpc":"2.0","id":{id},"result":{"tools":[{"name":"marked","inputSchema":{"properties":{"a":{"x-mcp-header":""}}}}]}}`
	const empty = `{"jsonrpc":"2.0","id":{id},"result":{"tools":[]}}`
	cases := []struct{ name, list, sent, fault string }{
		{"always", list, "tools/call tools/list tools/call", ""},
		{"not in the list", empty, "tools/call tools/list", ""},
		{"declared wrongly", broken, "tools/call tools/list", "must be a non-empty string"},
		{"no list", rpcError(-32603), "tools/call tools/list", `headers for tool "marked"`},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, reactions{
				"server/discover": answer(200, jsonType, discoverOK), "tools/list": answer(200, jsonType, tc.list),
				"tools/call": answer(400, jsonType, rpcError(-32020)),
			})
			faults := make(chan error, 10)
			c, err := client.DialHTTP(t.Context(), s.URL, client.Options{OnError: func(err error) { faults <- err }})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, err = c.CallTool(t.Context(), "marked", map[string]any{"text": "x"})
			var fault *mcp.Error
			if !errors.As(err, &fault) || fault.Code != mcp.CodeHeaderMismatch || !fault.Remote {
				t.Errorf("got %v", err)
			}
			if got := s.sent(); got != "server/discover "+tc.sent {
				t.Errorf("sent were %s", got)
			}
			if tc.fault != "" {
				if err := <-faults; !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("reported was %v", err)
				}
			}
		})
	}
}

// What a client knows of a list that has changed is used until the new one is read.
func TestMirrorsStale(t *testing.T) {
	s := serveStrict(t, rialto.Options{}, map[string]string{"marked": markedSchema})
	c := s.dial(t, client.Options{})
	list(t, c)
	changed := make(chan struct{}, 1)
	defer c.OnToolsChange(func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	})()
	for told := false; !told; { // the stream opens in the background
		s.add(t, "other", `{"type":"object"}`)
		s.RemoveTool("other")
		select {
		case <-changed:
			told = true
		case <-t.Context().Done():
			t.Fatal("no news")
		case <-time.After(10 * time.Millisecond):
		}
	}
	s.last()
	if _, err := c.CallTool(t.Context(), "marked", map[string]any{"text": "x"}); err != nil {
		t.Error(err)
	}
	if calls, posts := s.last(); posts != "tools/call" || fmt.Sprint(calls) != "[[Text: x]]" {
		t.Errorf("%s was sent with %q", posts, calls)
	}
}

// wrongTools declare headers in ways that the specification forbids; the others are good.
func wrongTools() (page string, wrong map[string]string) {
	property := func(p string) string { return `{"type":"object","properties":{` + p + `}}` }
	schemas := map[string]string{
		"empty":          property(`"a":{"type":"string","x-mcp-header":""}`),
		"object":         property(`"a":{"type":"object","x-mcp-header":"A"}`),
		"array":          property(`"a":{"type":"array","x-mcp-header":"A"}`),
		"null":           property(`"a":{"type":"null","x-mcp-header":"A"}`),
		"number":         property(`"a":{"type":"number","x-mcp-header":"A"}`),
		"several types":  property(`"a":{"type":["string","null"],"x-mcp-header":"A"}`),
		"twice":          property(`"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}`),
		"twice by case":  property(`"a":{"type":"string","x-mcp-header":"Ab"},"b":{"type":"string","x-mcp-header":"aB"}`),
		"space":          property(`"a":{"type":"string","x-mcp-header":"My A"}`),
		"colon":          property(`"a":{"type":"string","x-mcp-header":"A:b"}`),
		"not ASCII":      property(`"a":{"type":"string","x-mcp-header":"Région"}`),
		"control":        property(`"a":{"type":"string","x-mcp-header":"A\tb"}`),
		"under items":    property(`"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`),
		"keyword hidden": property(`"a":{"type":"number","x-mcp-\u0068eader":"A"}`),
	}
	var entries []string
	for name, schema := range schemas {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema))
	}
	entries = append(entries, `{"name":"valid","inputSchema":`+markedOneLine+`}`, `{"name":"plain","inputSchema":{"type":"object"}}`)
	return `{"tools":[` + strings.Join(entries, ",") + `]}`, schemas
}

// A tool that declares headers wrongly is left out of typed lists over HTTP, alone, and reported by name; a raw list and the
// other wires keep it.
func TestMirrorsWrongDeclarations(t *testing.T) {
	page, wrong := wrongTools()
	body := `{"jsonrpc":"2.0","id":{id},"result":` + page + `}`
	s := serve(t, reactions{"server/discover": answer(200, jsonType, discoverOK), "tools/list": answer(200, jsonType, body)})
	var mu sync.Mutex
	var faults []string
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{OnError: func(err error) {
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, err.Error())
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := list(t, c); !slices.Equal(got, []string{"valid", "plain"}) {
		t.Errorf("listed are %q", got)
	}
	mu.Lock()
	for name := range wrong {
		if !slices.ContainsFunc(faults, func(f string) bool {
			return strings.Contains(f, fmt.Sprintf("%q", name)) && strings.Contains(f, "x-mcp-header at /properties/")
		}) {
			t.Errorf("%q is not among the faults %q", name, faults)
		}
	}
	mu.Unlock()
	raw, err := c.Raw(t.Context(), mcp.MethodListTools, nil, client.RawOptions{})
	if err != nil || string(raw.Result) != page {
		t.Errorf("a raw list is %s, %v", raw.Result, err)
	}
	tools, _ := mcp.Member(raw.Result, "tools")
	var entries []json.RawMessage
	if err := json.Unmarshal(tools, &entries); err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name, _ := mcp.Meta(entry).Text("name")
		if _, isWrong := wrong[name]; isWrong != (c.CheckTool(entry) != nil) {
			t.Errorf("CheckTool answers %v for %s", c.CheckTool(entry), entry)
		}
	}

	old := serve(t, reactions{
		"server/discover": answer(404, "text/plain", "no"), "initialize": answer(200, jsonType, initializOK), "tools/list": answer(200, jsonType, body),
	})
	legacy, err := client.DialHTTP(t.Context(), old.URL, client.Options{Mode: client.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	defer legacy.Close()
	conn, p := play(modern(script{"tools/list": result(page)}))
	defer p.conn.Close()
	for name, c := range map[string]*client.Client{"legacy HTTP": legacy, "modern, in memory": connect(t, conn, client.Options{})} {
		if got := list(t, c); len(got) != len(wrong)+2 {
			t.Errorf("%s: listed are %q", name, got)
		}
		if err := c.CheckTool(entries[0]); err != nil {
			t.Errorf("%s: CheckTool answers %v", name, err)
		}
	}
}
