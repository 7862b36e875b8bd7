package auth_test

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
)

// TestCheckAddress: one wording for every place where such an address is configured, and no secret of the address in it.
func TestCheckAddress(t *testing.T) {
	const (
		form    = "this must be an address such as https://mcp.example.com/mcp"
		bare    = "this must be an address without query and fragment, such as https://mcp.example.com/mcp"
		private = "the address must begin with https:// unless it is on this machine: tokens travel there, or are believed for what it says"
	)
	for _, c := range []struct{ address, named, asked string }{ // as CheckAddress and CheckEndpoint have it
		{"https://mcp.example.com/mcp", "", ""},
		{"http://localhost:8421/mcp", "", ""},
		{"http://127.0.0.1/mcp", "", ""},
		{"http://[::1]:80/", "", ""},
		{"https://mcp.example.com/keys?tenant=1", bare, ""},
		{"https://mcp.example.com/mcp#hush", bare, form},
		{"https://user:hush@mcp.example.com/", form, form},
		{"https://user:hush@%zz/", form, form},
		{"https://:8421/", form, form},
		{"mcp.example.com/mcp", form, form},
		{"", form, form},
		{"http://mcp.example.com/mcp", private, private},
		{"http://localhost.example.com/mcp", private, private},
		{"ftp://127.0.0.1/", private, private},
	} {
		if got := text(auth.CheckAddress(c.address)); got != c.named {
			t.Errorf("CheckAddress(%q): %q, want %q", c.address, got, c.named)
		}
		if got := text(auth.CheckEndpoint(c.address)); got != c.asked {
			t.Errorf("CheckEndpoint(%q): %q, want %q", c.address, got, c.asked)
		}
		if c.named == "" {
			continue
		}
		err := auth.Options{Verifier: auth.StaticTokens(nil), AuthorizationServers: []string{c.address}}.Check()
		if got := text(err); got != "auth: AuthorizationServers: "+c.named || strings.Contains(got, "hush") {
			t.Errorf("Check of %q: %q", c.address, got)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
