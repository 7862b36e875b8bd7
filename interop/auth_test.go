package interop

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestProtectedServer drives a server that wants a token with the clients that can send one: with a good one, with one that
// grants too little for a tool, with a wrong one and with none.
func TestProtectedServer(t *testing.T) {
	s := ownMemo(server.Options{})
	guarded := auth.Bearer(auth.Options{
		Scopes: []string{"memo"}, ScopesFor: auth.ToolScopes(map[string][]string{"say": {"say"}}),
		Verifier: auth.StaticTokens(map[string]mcp.Principal{
			"all":  {Subject: "ann", Scopes: []string{"memo", "say"}},
			"less": {Subject: "bob", Scopes: []string{"memo"}},
		}),
	})(s.Handler())
	web := httptest.NewServer(guarded)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shut our server down: %v", err)
		}
		web.Close()
	})
	// What each makes of a wrong token and of one that grants too little.
	told := map[string][2]string{
		"typescript-1": {"the access token is not known here", "memo say"},
		"typescript-2": {"401", `Insufficient scope: required "memo say"`},
		"rialto":       {"401", "403"},
	}
	for _, driver := range Drivers() {
		texts, ok := told[driver.Name]
		if !ok {
			continue
		}
		run := func(token string) *Report {
			return driver.Run(t, Target{URL: web.URL + "/mcp"}, Plan{Token: token, Steps: []Step{
				{Do: "list", Kind: "tools"}, {Do: "call", Name: "say", Arguments: map[string]any{"text": "hello"}},
			}})
		}
		t.Run(driver.Name, func(t *testing.T) {
			for _, token := range []string{"all", "less"} {
				report := run(token)
				if report.Error != nil || len(report.Steps[0].Names) == 0 {
					t.Fatalf("%s: connecting and listing: %+v", token, report)
				}
				call := report.Steps[1]
				switch {
				case token == "all" && !strings.Contains(string(call.Result), "hello"):
					t.Errorf("the call: %+v", call)
				case token == "less" && (call.Error == nil || !strings.Contains(call.Error.Message, texts[1])):
					t.Errorf("a call that needs more: want %q, got %+v", texts[1], call)
				}
			}
			for _, token := range []string{"wrong", ""} {
				report := run(token)
				if report.Error == nil || token != "" && !strings.Contains(report.Error.Message, texts[0]) {
					t.Errorf("%q: want %q, got %+v", token, texts[0], report.Error)
				}
			}
		})
	}
}
