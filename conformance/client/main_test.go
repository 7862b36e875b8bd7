package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/conformance/fixture"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// everything serves the everything-server in some revisions.
func everything(t *testing.T, versions ...string) string {
	t.Helper()
	return serve(t, fixture.New(server.Options{Versions: versions}))
}

func serve(t *testing.T, s *server.Server) string {
	t.Helper()
	web := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return web.URL
}

// A scenario that nobody knows uses all that a server offers: here every tool, prompt and resource of the everything-server,
// questions included.
func TestEverythingMeetsEverything(t *testing.T) {
	for _, version := range []string{mcp.LatestModern, mcp.LatestLegacy} {
		t.Run(version, func(t *testing.T) {
			s := scene{url: everything(t, version), name: "of-a-later-suite"}
			err := s.run(t.Context(), "")
			if err == nil {
				return
			}
			for line := range strings.Lines(err.Error()) {
				if !strings.Contains(line, "_job") { // those break down by design, or are for clients that know tasks
					t.Error(line)
				}
			}
		})
	}
}

func TestContextOfAScenario(t *testing.T) {
	url := everything(t)
	for name, tc := range map[string]struct{ given, want string }{
		"calls":        {`{"toolCalls":[{"name":"test_simple_text","arguments":{}}],"name":"http-custom-headers"}`, ""},
		"a wrong call": {`{"toolCalls":[{"name":"no_such_tool","arguments":{}}]}`, `call tool "no_such_tool"`},
		"no JSON":      {`{`, "MCP_CONFORMANCE_CONTEXT cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene{url: url, name: "http-custom-headers"}
			switch err := s.run(t.Context(), tc.given); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, expected %q", err, tc.want)
			}
		})
	}
}

// A server that is accepted although it should have been refused fails the scenario.
func TestRefusalsAreExpected(t *testing.T) {
	s := scene{url: serve(t, server.New(mcp.Implementation{Name: "open to all", Version: "1"}, server.Options{})), name: "auth/iss-wrong-issuer"}
	if err := s.run(t.Context(), ""); !errors.Is(err, oauth.ErrIssuer) || !strings.Contains(err.Error(), "was accepted") {
		t.Errorf("got %v", err)
	}
}

func TestSample(t *testing.T) {
	for name, tc := range map[string]struct {
		schema string
		want   map[string]any
	}{
		"by type": {
			`{"required":["a","b","c"],"properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"enum":["x","y"]},"d":{"type":"string"}}}`,
			map[string]any{"a": "test", "b": 7, "c": "x"},
		},
		"nothing required": {`{"type":"object"}`, map[string]any{}},
		"no schema":        {``, map[string]any{}},
		"an odd one":       {`{"required":"a"}`, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sample(json.RawMessage(tc.schema)); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, expected %v", got, tc.want)
			}
		})
	}
}
