package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/bridge"
	"github.com/rialto-mcp/rialto/gateway/route"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// demanding is a modern server that refuses everything for want of what need says, whoever asks.
func demanding(need string) func(*server.Server) {
	refusal := &mcp.Error{Code: mcp.CodeMissingCapability, Message: "not without it", Data: json.RawMessage(need)}
	return func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "book"}, func(context.Context, *server.Request, noInput) (string, error) { return "", refusal })
		s.AddPrompt(mcp.Prompt{Name: "plan"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
			return nil, refusal
		})
		s.AddResource(mcp.Resource{URI: "memo://one", Name: "one"}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) { return nil, refusal })
	}
}

// TestLackingCapabilities holds what becomes of a modern server's refusal of a request for a capability that its client lacks:
// a client that declares with each request gets it as it is; one that has declared once, in its handshake, knows no such error
// and is told in words what is lacking, and where; and so is one that has declared it, since it could mend nothing.
func TestLackingCapabilities(t *testing.T) {
	const (
		form  = `{"requiredCapabilities": {"elicitation": {}}}`
		other = `{"requiredCapabilities":{"extensions":{"com.example/x":{}}}}`
	)
	extended := client.Options{Extensions: []mcp.Extension{{Identifier: "com.example/x"}}}
	for _, tc := range []struct {
		name   string
		modern bool
		opts   client.Options
		need   string
		want   string // in words; empty where the refusal arrives as it is
	}{
		{"legacy, not declared", false, client.Options{}, form, `server "a" needs the capabilities {"elicitation":{}} of its client, which it has not declared in its handshake`},
		{"legacy, declared", false, formOnly, form, `it has declared them, but the gateway does not pass them on`},
		{"legacy, a refusal without data", false, client.Options{}, `null`, `server "a" needs something that its client has not declared: not without it`},
		{"modern, not declared", true, client.Options{}, form, ""},
		{"modern, an extension that is not declared", true, client.Options{}, other, ""},
		{"modern, an extension that the gateway leaves out", true, extended, other, `server "a" needs the capabilities {"extensions":{"com.example/x":{}}} of its client; it has declared them, but the gateway does not pass them on`},
		{"modern, a refusal without data", true, client.Options{}, `null`, ""},
	} {
		for _, overHTTP := range []bool{false, true} {
			t.Run(tc.name+map[bool]string{true: ", http"}[overHTTP], func(t *testing.T) {
				w := newWorld(t, route.Naming{}, backend{name: "a", modern: true, http: overHTTP, fill: demanding(tc.need)})
				dial := w.dial
				if overHTTP {
					dial = w.dialHTTP
				}
				refused(t, dial(t, tc.modern, tc.opts), tc.want)
			})
		}
	}
}

// refused holds that a tool, a prompt and a resource are refused in words that hold want; empty where the refusal is to arrive
// as it is.
func refused(t *testing.T, c *client.Client, want string) {
	t.Helper()
	for _, ask := range []struct{ method, params string }{
		{mcp.MethodCallTool, `{"name":"book","arguments":{}}`}, {mcp.MethodGetPrompt, `{"name":"plan"}`}, {mcp.MethodReadResource, `{"uri":"memo://one"}`},
	} {
		r, err := c.Raw(t.Context(), ask.method, json.RawMessage(ask.params), client.RawOptions{})
		var fault *mcp.Error
		errors.As(err, &fault)
		switch {
		case want == "" && (fault == nil || fault.Code != mcp.CodeMissingCapability || fault.Message != "not without it"):
			t.Errorf("%s: got %s, %v", ask.method, said(r), err)
		case want == "":
		case ask.method == mcp.MethodCallTool:
			var result mcp.CallToolResult
			if err != nil || json.Unmarshal(r.Result, &result) != nil || !result.IsError || !strings.Contains(result.Text(), `tools/call "book" cannot be served: `) || !strings.Contains(result.Text(), want) {
				t.Errorf("%s: got %s, %v", ask.method, said(r), err)
			}
		case fault == nil || fault.Code != mcp.CodeInternal || !strings.Contains(fault.Message, want):
			t.Errorf("%s: got %s, %v", ask.method, said(r), err)
		}
	}
}

// TestClientWithoutASession holds that a legacy client which answers what a server wants to know, but has no session to be asked
// in, is told so.
func TestClientWithoutASession(t *testing.T) {
	w := newWorldWith(t, bridge.Options{Server: server.Options{HTTP: server.HTTPOptions{Sessionless: true}}},
		backend{name: "a", modern: true, fill: asking(nil)}, backend{name: "b", fill: asking(nil)})
	for tool, want := range map[string]string{
		"a__book": "a client of revision 2025-11-25 has them in a session alone, when its handshake is complete",
		"b__book": "The client behind this call cannot be asked",
	} {
		result, err := w.dialHTTP(t, false, user("Bergen")).CallTool(t.Context(), tool, nil)
		if err != nil || !result.IsError || !strings.Contains(result.Text(), want) {
			t.Errorf("%s: got %v, %v", tool, result, err)
		}
	}
}

// TestRefusedLeg holds that what a server says against a request as the gateway has made it is not told to a client as if it
// were its own fault.
func TestRefusedLeg(t *testing.T) {
	fill := func(s *server.Server) {
		server.AddTool(s, mcp.Tool{Name: "strict"}, func(context.Context, *server.Request, noInput) (string, error) {
			return "", mcp.Errorf(mcp.CodeHeaderMismatch, "Mcp-Param-X is missing")
		})
	}
	onEveryWay(t, fill, func(t *testing.T, _ *world, dial func(client.Options) *client.Client) {
		f := fault(t, dial(client.Options{}), mcp.MethodCallTool, `{"name":"strict","arguments":{}}`)
		if f.Code != mcp.CodeInternal || !strings.Contains(f.Message, `server "a" has refused the request as the gateway has made it: Mcp-Param-X is missing`) {
			t.Errorf("got %v", f)
		}
	})
}
