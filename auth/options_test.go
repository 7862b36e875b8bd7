package auth_test

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
)

func TestCheck(t *testing.T) {
	some := auth.StaticTokens(nil)
	for _, c := range []struct {
		opts auth.Options
		want string // in the error; "" for none
	}{
		{auth.Options{Verifier: some}, ""},
		{auth.Options{Verifier: some, Resource: "http://127.0.0.1:8421/mcp", AuthorizationServers: []string{"http://localhost:9"}}, ""},
		{auth.Options{}, "Verifier"},
		{auth.Options{Verifier: some, Resource: "http://pub.example/mcp"}, "https"},
		{auth.Options{Verifier: some, Resource: "pub.example/mcp"}, "Resource"},
		{auth.Options{Verifier: some, Resource: "https://pub.example/mcp#x"}, "Resource"},
		{auth.Options{Verifier: some, Resource: "https://pub.example/mcp?x"}, "Resource"},
		{auth.Options{Verifier: some, Resource: "https://u:p@pub.example/mcp"}, "Resource"},
		{auth.Options{Verifier: some, Path: "mcp"}, "Path"},
		{auth.Options{Verifier: some, AuthorizationServers: []string{"ftp://x"}}, "AuthorizationServers"},
		{auth.Options{Verifier: some, Scopes: []string{`a"b`}}, "scope"},
		{auth.Options{Verifier: some, DPoP: &auth.DPoPOptions{Algorithms: []string{"HS256"}}}, "HS256"},
		{auth.Options{Verifier: some, DPoP: &auth.DPoPOptions{NonceKey: []byte("short")}}, "NonceKey"},
	} {
		err := c.opts.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Bearer takes options that Check refuses")
		}
	}()
	auth.Bearer(auth.Options{})
}
