package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// TestDeclares holds that a server may say to each caller which of its extensions are there, and that their methods are there in any
// case.
func TestDeclares(t *testing.T) {
	shelf := mcp.Extension{Identifier: "com.example/shelf", ServerOnly: true, Requests: []string{"shelf/list"}}
	s := server.New(mcp.Implementation{Name: "shelf", Version: "1"}, server.Options{
		Extensions: []mcp.Extension{shelf},
		Declares: func(_ context.Context, req *server.Request, enabled map[string]json.RawMessage) map[string]json.RawMessage {
			if req.ClientInfo().Name == "guest" {
				delete(enabled, shelf.Identifier)
				enabled["com.example/plain"] = json.RawMessage(`{"n":1}`)
			}
			return enabled
		},
	})
	s.Handle("shelf/list", func(context.Context, *server.Request) (*server.RawResult, error) {
		return &server.RawResult{Result: json.RawMessage("{}")}, nil
	})
	for who, want := range map[string]string{"owner": `{"com.example/shelf":{}}`, "guest": `{"com.example/plain":{"n":1}}`} {
		c := mcptest.Pair(t, s, client.Options{Info: mcp.Implementation{Name: who, Version: "1"}})
		if got, err := json.Marshal(c.ServerCapabilities().Extensions); err != nil || string(got) != want {
			t.Errorf("%s is told of %s, want %s", who, got, want)
		}
		if _, err := c.Raw(t.Context(), "shelf/list", nil, client.RawOptions{}); err != nil {
			t.Errorf("%s: %v", who, err)
		}
		c = mcptest.Pair(t, s, client.Options{Info: mcp.Implementation{Name: who, Version: "1"}, Mode: client.Legacy})
		if got := c.ServerCapabilities().Extensions; got != nil {
			t.Errorf("%s of the legacy era is told of %v", who, got)
		}
	}
}

// TestExtensionOfTheServerAlone serves an extension that requests need not declare, whose results may be kept.
func TestExtensionOfTheServerAlone(t *testing.T) {
	x := mcp.Extension{
		Identifier: "com.example/shelf", Requests: []string{"shelf/list", "shelf/touch"}, Cacheable: []string{"shelf/list"},
	}
	serve := func(x mcp.Extension, visible func(context.Context, server.Caller, server.ListKind, string) bool) *server.Server {
		s := server.New(mcp.Implementation{Name: "shelf", Version: "1"}, server.Options{
			Extensions: []mcp.Extension{x}, Cache: mcp.CacheFor(time.Minute, mcp.CachePublic), Visible: visible,
		})
		answer := func(ctx context.Context, req *server.Request) (*server.RawResult, error) {
			seen, err := json.Marshal(map[string]bool{"seen": req.MaySee(ctx, server.Resources, "book:1")})
			return &server.RawResult{Result: seen}, err
		}
		s.Handle("shelf/list", answer)
		s.Handle("shelf/touch", answer)
		if !s.HasExtension(x.Identifier) || s.HasExtension("com.example/other") {
			t.Error("HasExtension does not say what the options name")
		}
		return s
	}

	c := mcptest.Pair(t, serve(x, nil))
	_, err := c.Raw(t.Context(), "shelf/list", nil, client.RawOptions{})
	var fault *mcp.Error
	if !errors.As(err, &fault) || fault.Code != mcp.CodeMissingCapability {
		t.Errorf("a request that does not declare an ordinary extension: %v", err)
	}

	x.ServerOnly = true
	c = mcptest.Pair(t, serve(x, nil), client.Options{Extensions: []mcp.Extension{x}})
	list, err := c.Raw(t.Context(), "shelf/list", nil, client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if string(list.Result) != `{"seen":true}` && !strings.HasPrefix(string(list.Result), `{"seen":true,"_meta"`) {
		t.Errorf("the result is %s", list.Result)
	}
	if list.Cache.TTL() != time.Minute || list.Cache.Scope != mcp.CachePublic {
		t.Errorf("the hint of the list is %+v", list.Cache)
	}
	touch, err := c.Raw(t.Context(), "shelf/touch", nil, client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(touch.Result), "ttlMs") {
		t.Errorf("what may not be kept carries a hint: %s", touch.Result)
	}

	c = mcptest.Pair(t, serve(x, func(context.Context, server.Caller, server.ListKind, string) bool { return false }))
	list, err = c.Raw(t.Context(), "shelf/list", nil, client.RawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(list.Result), `"seen":false`) || !strings.Contains(string(list.Result), `"cacheScope":"private"`) {
		t.Errorf("with a filter the result is %s", list.Result)
	}
}
