package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// The hint of an entry counts before that of its method, and that before the server's, each member for itself.
func TestCacheHintsOfMethods(t *testing.T) {
	s := newServer(server.Options{
		Cache: mcp.CacheFor(time.Second, mcp.CachePrivate),
		MethodCache: map[string]mcp.CacheHint{
			mcp.MethodDiscover:              mcp.CacheFor(time.Hour, mcp.CachePublic),
			mcp.MethodListTools:             mcp.CacheFor(time.Minute, ""),
			mcp.MethodListResourceTemplates: {Scope: mcp.CachePublic},
			mcp.MethodReadResource:          mcp.CacheFor(2*time.Second, mcp.CachePublic),
		},
	})
	rawTool(t, s, "a", nothing)
	s.AddPrompt(mcp.Prompt{Name: "p"}, func(context.Context, *server.Request, map[string]string) (*mcp.GetPromptResult, error) {
		return nil, nil
	})
	s.AddResourceTemplate(mcp.ResourceTemplate{URITemplate: "book:{id}", Name: "book"}, showing(""))
	for uri, hint := range map[string]mcp.CacheHint{"a:plain": {}, "a:own": mcp.CacheFor(3*time.Second, "")} {
		s.AddResource(mcp.Resource{URI: uri, Name: uri}, func(context.Context, *server.Request) (*mcp.ReadResourceResult, error) {
			return &mcp.ReadResourceResult{Contents: []mcp.ResourceContents{{Text: "x"}}, Cache: hint}, nil
		})
	}
	w := dial(t, s, modern)
	for _, c := range []struct{ method, members, want string }{
		{"server/discover", "", `3600000 "public"`},
		{"tools/list", "", `60000 "private"`},
		{"prompts/list", "", `1000 "private"`},
		{"resources/list", "", `1000 "private"`},
		{"resources/templates/list", "", `1000 "public"`},
		{"resources/read", `"uri":"a:plain"`, `2000 "public"`},
		{"resources/read", `"uri":"a:own"`, `3000 "public"`},
	} {
		result := w.call(c.method, c.members).Result
		if got := member(t, result, "ttlMs") + " " + member(t, result, "cacheScope"); got != c.want {
			t.Errorf("%s %s: hints %s, want %s", c.method, c.members, got, c.want)
		}
	}
}

// A hint that nobody would ever see, or that may not be sent, is a mistake of the programmer.
func TestWrongHints(t *testing.T) {
	negative := int64(-1)
	for want, opts := range map[string]server.Options{
		"ttlMs is -1":         {Cache: mcp.CacheHint{TTLMs: &negative}},
		`"tools/call"`:        {MethodCache: map[string]mcp.CacheHint{mcp.MethodCallTool: {}}},
		`cacheScope is "all"`: {MethodCache: map[string]mcp.CacheHint{mcp.MethodListTools: {Scope: "all"}}},
	} {
		t.Run(want, func(t *testing.T) {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, want) || !strings.HasPrefix(v, "server: the cache hint of") {
					t.Errorf("New panics with %q, want it to name %s", v, want)
				}
			}()
			newServer(opts)
		})
	}
}
