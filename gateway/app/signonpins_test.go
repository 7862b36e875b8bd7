package app

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestCallersSignInUnderPins holds that the tool which stands for a login is never taken for one of the server: it is there though
// pins know other definitions, and what the server lists afterwards is what they accept. A look for signs does not hide it either.
func TestCallersSignInUnderPins(t *testing.T) {
	onBothEras(t, func(t *testing.T, versions []string, mode client.Mode) {
		o := openOffice(t, versions)
		lock := filepath.Join(t.TempDir(), "lock.json")
		text := strings.Replace(twoCallers(o.address, `{"auth": {"type": "login"}}`), `{"gateway": {`,
			fmt.Sprintf(`{"gateway": {"policy": {"pin": {"file": %q}, "scan": {"do": "hide"}}, `, lock), 1)
		f := launchWith(t, text, filepath.Join(t.TempDir(), "tokens"))
		person := newBrowser(t)
		visiting := client.Options{ElicitURL: func(_ context.Context, req *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			o.with(func() { o.browser = "Ann at the office" })
			person.agree(t, req.URL)
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		}}
		ann := caller(t, f, annsToken, mode, visiting)
		if got := toolsOf(t, ann); got != "sign_in" {
			t.Fatalf("before she has signed in ann sees %q", got)
		}
		if _, err := ann.CallTool(t.Context(), "sign_in", nil); err != nil {
			t.Fatal(err)
		}
		if got := toolsOf(t, ann) + " " + whoami(t, ann); got != "whoami Ann at the office" {
			t.Errorf("then she sees and is %q", got)
		}
		if got := toolsOf(t, caller(t, f, bobsToken, mode, client.Options{})); got != "sign_in" {
			t.Errorf("bob, when there are pins, sees %q", got)
		}
		f.end(t)
	})
}
