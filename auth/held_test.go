package auth_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestTokenOf holds that only who asks for it by name gets the token of a request, where the options keep it: no header has it,
// and no context shows it.
func TestTokenOf(t *testing.T) {
	for _, keep := range []bool{false, true} {
		for header, want := range map[string]string{"Bearer secret-token": "secret-token", "": ""} {
			got := "not called"
			h := auth.Bearer(auth.Options{
				Resource: "https://here.example/mcp", Optional: true, KeepToken: keep,
				Verifier: auth.StaticTokens(map[string]mcp.Principal{"secret-token": {Subject: "ann"}}),
			})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = auth.TokenOf(r.Context())
				if shown := fmt.Sprintf("%v %+v %v", r.Context(), r.Context(), r.Header); strings.Contains(shown, "secret-token") {
					t.Errorf("it shows in %s", shown)
				}
			}))
			r := httptest.NewRequest(http.MethodPost, "/mcp", nil)
			if header != "" {
				r.Header.Set("Authorization", header)
			}
			h.ServeHTTP(httptest.NewRecorder(), r)
			if !keep {
				want = ""
			}
			if got != want {
				t.Errorf("keep %v, %q: got %q", keep, header, got)
			}
		}
	}
}
