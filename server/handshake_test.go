package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// full is a server with one of everything.
func full(opts server.Options) *server.Server {
	s := newServer(opts)
	letters(s)
	s.CompletePrompt("letter", "to", func(context.Context, *server.Request, string, map[string]string) ([]string, error) { return nil, nil })
	s.AddResource(mcp.Resource{URI: "a:1", Name: "a"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: "x"}}}, nil
	})
	server.AddTool(s, mcp.Tool{Name: "x"}, func(context.Context, *server.Request, struct{}) (string, error) { return "x", nil })
	return s
}

func greet(t *testing.T, s *server.Server, revision string) json.RawMessage {
	t.Helper()
	peer := connect(t, s)
	peer.Send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	m := peer.Next()
	if m.Error != nil {
		t.Fatalf("initialize: %s", m.Frame())
	}
	return m.Result
}

func TestCapabilities(t *testing.T) {
	const all = `{"logging":{},"completions":{},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true}}`
	withoutCompletions := strings.Replace(all, `"completions":{},`, "", 1)
	s := full(server.Options{Instructions: "be kind", Capabilities: mcp.ServerCapabilities{Tasks: json.RawMessage(`{"list":{}}`)}})
	for revision, want := range map[string]string{
		mcp.Version20241105: withoutCompletions,
		mcp.Version20250326: all,
		mcp.Version20250618: all,
		mcp.Version20251125: strings.TrimSuffix(all, "}") + `,"tasks":{"list":{}}}`,
	} {
		result := greet(t, s, revision)
		if got := member(t, result, "capabilities"); got != want {
			t.Errorf("%s:\n  want %s\n  got  %s", revision, want, got)
		}
		if member(t, result, "protocolVersion") != `"`+revision+`"` || member(t, result, "instructions") != `"be kind"` || member(t, result, "serverInfo", "name") != `"test"` {
			t.Errorf("%s: the greeting is wrong: %s", revision, result)
		}
	}
	dial(t, s, modern).want("server/discover", "", `{"supportedVersions":["2026-07-28"],"capabilities":`+all+`,"instructions":"be kind"}`)
}

// Capabilities that the options declare stand as they are, before the first entry is there.
func TestDeclaredCapabilities(t *testing.T) {
	s := newServer(server.Options{Capabilities: mcp.ServerCapabilities{Tools: &mcp.ToolsCapability{}, Completions: &mcp.Capability{}}})
	rawTool(t, s, "x", nothing)
	if got := member(t, greet(t, s, legacy), "capabilities"); got != `{"logging":{},"completions":{},"tools":{}}` {
		t.Errorf("got %s", got)
	}
}

func TestServedVersions(t *testing.T) {
	if got := member(t, greet(t, full(server.Options{}), "2099-01-01"), "protocolVersion"); got != `"2025-11-25"` {
		t.Errorf("an unknown revision is countered with the newest legacy one, got %s", got)
	}
	old := full(server.Options{Versions: []string{mcp.Version20250618, mcp.Version20250326}})
	if got := member(t, greet(t, old, legacy), "protocolVersion"); got != `"2025-06-18"` {
		t.Errorf("a revision that is not served is countered with the preferred one, got %s", got)
	}
	dial(t, old, modern).want("server/discover", "", `error -32022 {"supported":["2025-06-18","2025-03-26"],"requested":"2026-07-28"}`)

	young := full(server.Options{Versions: []string{modern}})
	peer := connect(t, young)
	for _, method := range []string{"initialize", "tools/list", "ping"} {
		peer.Send(`{"jsonrpc":"2.0","id":"a","method":"` + method + `","params":{"protocolVersion":"2025-11-25"}}`)
		m := peer.Expect(`{"id":"a","error":{"code":-32022}}`)
		if !strings.Contains(m.Error.Message, modern) {
			t.Errorf("%s: the error names no way in: %s", method, m.Error.Message)
		}
	}
	dial(t, young, modern).want("tools/call", `"name":"x"`, `{"content":[{"type":"text","text":"x"}]}`)
}

// What a handler learns of the client comes from the handshake on one era and from the request itself on the other.
func TestRequestTellsWhoAsks(t *testing.T) {
	for _, revision := range bothEras {
		s := newServer(server.Options{})
		rawTool(t, s, "who", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
			parent, _, baggage := r.Trace()
			info, caps := r.Envelope()
			out, err := json.Marshal(map[string]any{
				"id": len(r.ID()) > 0, "method": r.Method(), "name": r.Name(), "version": r.ProtocolVersion(), "roots": r.ClientCapabilities().Roots != nil,
				"client": r.ClientInfo().Name, "header": r.Header("User-Agent"), "addr": r.RemoteAddr(), "session": r.SessionID(),
				"principal": r.Principal() == nil, "progress": r.WantsProgress(), "token": string(r.ProgressToken()), "run": r.Run(),
				"trace": parent + baggage, "own": string(r.Meta()), "info": info != nil, "caps": string(caps), "params": string(r.Params()),
			})
			return mcp.TextResult(string(out)), err
		})
		w := dialWith(t, s, revision, `{"roots":{}}`)
		meta := `"traceparent":"00-1","baggage":"b","progressToken":"p"`
		client, info := "tester", "true"
		members := `"name":"who","arguments":{"a":1.0}`
		if revision == modern {
			w.meta = "," + meta
			client, info = "", "false"
		} else {
			members += `,"_meta":{` + meta + `}`
		}
		m := w.call("tools/call", members)
		var text []struct{ Text string }
		if err := json.Unmarshal([]byte(member(t, m.Result, "content")), &text); err != nil {
			t.Fatal(err)
		}
		want := `{"addr":"","caps":"{\"roots\":{}}","client":"` + client + `","header":"","id":true,"info":` + info + `,"method":"tools/call","name":"who",` +
			`"own":"{\"traceparent\":\"00-1\",\"baggage\":\"b\",\"progressToken\":\"p\"}",` +
			`"params":"{\"name\":\"who\",\"arguments\":{\"a\":1.0},\"_meta\":{\"traceparent\":\"00-1\",\"baggage\":\"b\",\"progressToken\":\"p\"}}",` +
			`"principal":true,"progress":true,"roots":true,"run":1,"session":"","token":"\"p\"","trace":"00-1b","version":"` + revision + `"}`
		if text[0].Text != want {
			t.Errorf("%s:\n  want %s\n  got  %s", revision, want, text[0].Text)
		}
	}
}

// The server infers nothing from earlier requests on the same connection of the modern era.
func TestModernRequestsStandAlone(t *testing.T) {
	s := newServer(server.Options{})
	rawTool(t, s, "can", func(_ context.Context, r *server.Request) (*mcp.CallToolResult, error) {
		if r.ClientCapabilities().Roots != nil {
			return mcp.TextResult("roots"), nil
		}
		return mcp.TextResult("nothing"), nil
	})
	w := dialWith(t, s, modern, `{"roots":{}}`)
	w.want("tools/call", `"name":"can"`, `{"content":[{"type":"text","text":"roots"}]}`)
	w.caps = `{}`
	w.want("tools/call", `"name":"can"`, `{"content":[{"type":"text","text":"nothing"}]}`)
}

// TestSetInstructions changes them while clients come and go, of both eras.
func TestSetInstructions(t *testing.T) {
	s := newServer(server.Options{Instructions: "be kind"})
	s.SetInstructions("be brief")
	if got := member(t, greet(t, s, legacy), "instructions"); got != `"be brief"` {
		t.Errorf("got %s", got)
	}
	dial(t, s, modern).want("server/discover", "", `{"supportedVersions":["2026-07-28"],"capabilities":{"logging":{}},"instructions":"be brief"}`)
	s.SetInstructions("")
	dial(t, s, modern).want("server/discover", "", `{"supportedVersions":["2026-07-28"],"capabilities":{"logging":{}}}`)
}
