package interop

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestTypeScriptVisitsPages sends a user of the official SDK 1.x to a page, by a request and by an error: the client hears of
// the page itself that it is done with, and goes on.
func TestTypeScriptVisitsPages(t *testing.T) {
	for name, refuses := range map[string]bool{"asked while the call waits": false, "refused until the page is visited": true} {
		t.Run(name, func(t *testing.T) {
			var visited atomic.Bool
			s := server.New(mcp.Implementation{Name: "pages", Version: "1.0.0"}, server.Options{URLElicitationErrors: refuses})
			mux := http.NewServeMux()
			mux.Handle("/mcp", s.Handler())
			mux.HandleFunc("/sign-in", func(_ http.ResponseWriter, r *http.Request) {
				visited.Store(true)
				if !s.ElicitationComplete(r.Context(), r.FormValue("id")) {
					t.Errorf("nobody is told that %q is done with", r.FormValue("id"))
				}
			})
			web := httptest.NewServer(mux)
			t.Cleanup(func() {
				if err := s.Shutdown(context.Background()); err != nil {
					t.Error(err)
				}
				web.Close()
			})
			server.AddTool(s, mcp.Tool{Name: "enter", Description: "Takes a user who has signed in"},
				func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
					if !visited.Load() {
						page := mcp.ElicitURLParams{Message: "Sign in", URL: web.URL + "/sign-in?id=a+page", ElicitationID: "a page"}
						if answer, err := req.ElicitURL(ctx, page); err != nil || !answer.Accepted() {
							return "", err
						}
					}
					return "welcome", nil
				})
			driver := Driver{Name: "typescript-1-pages", run: nodeDriver("pages1.mjs")}
			report := driver.Run(t, Target{URL: web.URL + "/mcp"}, Plan{Steps: []Step{{Do: "call", Name: "enter"}}})
			if report.Error != nil {
				t.Fatalf("connect: %d %s", report.Error.Code, report.Error.Message)
			}
			SaysText("welcome")(t, report.Steps[0])
		})
	}
}
