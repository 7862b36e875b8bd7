package app

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/apps"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestExtensionsOfTheFile holds that an extension which the gateway does not know is passed on, both ways, as soon as the file names
// it, and no longer; one that it knows is in any case.
func TestExtensionsOfTheFile(t *testing.T) {
	vendor := mcp.Extension{Identifier: "com.example/x"}
	s := server.New(mcp.Implementation{Name: "extended", Version: "1"}, server.Options{Extensions: []mcp.Extension{vendor, apps.Extension()}})
	server.AddTool(s, mcp.Tool{Name: "tell"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		if req.ClientCapabilities().HasExtension(vendor.Identifier) {
			return "told", nil
		}
		return "not told", nil
	})
	ts := httptest.NewServer(s.Handler())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		check(t, s.Shutdown(ctx))
		ts.Close()
	})
	g := follow(t, file("", "a", ts.URL))
	want := func(said string, declared bool) {
		t.Helper()
		c, err := client.DialHTTP(t.Context(), g.url, client.Options{Mode: client.Modern, Extensions: []mcp.Extension{vendor}})
		check(t, err)
		defer func() { check(t, c.Close()) }()
		result, err := c.CallTool(t.Context(), "tell", nil)
		check(t, err)
		caps := c.ServerCapabilities()
		if result.Text() != said || caps.HasExtension(vendor.Identifier) != declared || !caps.HasExtension(apps.Identifier) {
			t.Errorf("the server is %s, the client is told of %v", result.Text(), caps.Extensions)
		}
	}
	want("not told", false)
	save(t, g.file, file(`"extensions": ["com.example/x"]`, "a", ts.URL))
	g.err.wait(t, "was read anew: settings extensions")
	want("told", true)
}
