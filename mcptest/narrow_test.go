package mcptest_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/mcptest"
	"github.com/rialto-mcp/rialto/server"
)

// TestNarrowedRevisions holds that both sides speak what both allow.
func TestNarrowedRevisions(t *testing.T) {
	old, older, young := mcp.Version20250618, mcp.Version20250326, mcp.Version20260728
	for _, c := range []struct {
		name           string
		client, server []string // nil: all
		want           string   // empty: no connection
	}{
		{"all", nil, nil, young},
		{"client", []string{old, older}, nil, old},
		{"server", nil, []string{older}, older},
		{"both", []string{older, old}, []string{old, older}, older},
		{"modern alone", []string{young}, []string{young}, young},
		{"nothing in common", []string{young}, []string{old}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := server.New(mcp.Implementation{Name: "library", Version: "1.0.0"}, server.Options{Versions: c.server})
			found, err := client.DialHTTP(t.Context(), mcptest.Serve(t, s), client.Options{Versions: c.client})
			if c.want == "" {
				if !errors.Is(err, mcp.CodeNegotiationFailed) && !errors.Is(err, mcp.CodeUnsupportedVersion) {
					t.Errorf("got %v", err)
				}
				return
			}
			check(t, err)
			defer func() { check(t, found.Close()) }()
			if found.ProtocolVersion() != c.want {
				t.Errorf("they speak %s, want %s", found.ProtocolVersion(), c.want)
			}
		})
	}
}

// TestModernWiresDeclareExtensions holds that each side learns of the other's extensions, and that their methods work.
func TestModernWiresDeclareExtensions(t *testing.T) {
	shelf := mcp.Extension{Identifier: "com.example/shelf", Settings: json.RawMessage(`{"depth":2}`), Requests: []string{"shelf/sort"}}
	for _, w := range mcptest.Wires() {
		if !w.Modern {
			continue
		}
		t.Run(w.Name, func(t *testing.T) {
			s := server.New(mcp.Implementation{Name: "library", Version: "1.0.0"}, server.Options{Extensions: []mcp.Extension{shelf}})
			s.Handle("shelf/sort", func(_ context.Context, req *server.Request) (*server.RawResult, error) {
				return &server.RawResult{Result: json.RawMessage(`{"client":` + string(req.ClientCapabilities().Extensions[shelf.Identifier]) + `}`)}, nil
			})
			c := w.Dial(t, s, client.Options{Extensions: []mcp.Extension{shelf}})
			if got := c.ServerCapabilities().Extensions[shelf.Identifier]; string(got) != `{"depth":2}` {
				t.Errorf("the server declares %s", got)
			}
			result, err := c.Raw(t.Context(), "shelf/sort", nil, client.RawOptions{})
			check(t, err)
			if told, _ := mcp.Member(result.Result, "client"); string(told) != `{"depth":2}` {
				t.Errorf("got %s", result.Result)
			}
			stranger := w.Dial(t, s)
			if _, err := stranger.Raw(t.Context(), "shelf/sort", nil, client.RawOptions{}); !errors.Is(err, mcp.CodeMissingCapability) {
				t.Errorf("without the extension: %v", err)
			}
		})
	}
}
