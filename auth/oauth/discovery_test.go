package oauth

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
)

// TestC086FindsMetadataWhereverItIs holds the order of discovery, and that no other place is asked.
func TestC086FindsMetadataWhereverItIs(t *testing.T) {
	prm := map[string]any{"resource": "https://mcp.test/mcp", "authorization_servers": []string{"https://as.test/tenant"}}
	const own, root = "https://mcp.test/.well-known/oauth-protected-resource/mcp", "https://mcp.test/.well-known/oauth-protected-resource"
	for _, c := range []struct {
		name      string
		challenge string
		prm       string // path of the document
		asked     []string
		as        string
		asAsked   []string
	}{
		{"challenged at an odd path", `Bearer resource_metadata="https://mcp.test/odd/place"`, "/odd/place", []string{"/odd/place"},
			"/.well-known/oauth-authorization-server/tenant", []string{"/.well-known/oauth-authorization-server/tenant"}},
		{"with the path", "-", "/.well-known/oauth-protected-resource/mcp", []string{own},
			"/.well-known/openid-configuration/tenant", []string{"/.well-known/oauth-authorization-server/tenant", "/.well-known/openid-configuration/tenant"}},
		{"at the root", "-", "/.well-known/oauth-protected-resource", []string{own, root},
			"/tenant/.well-known/openid-configuration", []string{"/.well-known/oauth-authorization-server/tenant",
				"/.well-known/openid-configuration/tenant", "/tenant/.well-known/openid-configuration"}},
		{"challenged in vain", `Bearer resource_metadata="https://mcp.test/wrong"`, "/.well-known/oauth-protected-resource", []string{"/wrong", own, root},
			"/.well-known/oauth-authorization-server/tenant", []string{"/.well-known/oauth-authorization-server/tenant"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.as.issuer, s.as.at = "https://as.test/tenant", []string{c.as}
			s.rs.challenge, s.rs.documents = c.challenge, map[string]any{c.prm: prm}
			must(t, s.authorizer())
			var rs, as []string
			for _, line := range s.seen {
				if path, ok := strings.CutPrefix(line, "GET mcp.test"); ok {
					rs = append(rs, path)
				}
				if path, ok := strings.CutPrefix(line, "GET as.test"); ok && strings.Contains(path, "well-known") {
					as = append(as, path)
				}
			}
			equal(t, "asked the server", strings.Join(rs, " "), strings.ReplaceAll(strings.Join(c.asked, " "), "https://mcp.test", ""))
			equal(t, "asked the authorization server", strings.Join(as, " "), strings.Join(c.asAsked, " "))
		})
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestC086ErrorNamesEveryAddress(t *testing.T) {
	s := newScene(t)
	s.rs.challenge = `Bearer resource_metadata="https://mcp.test/odd?secret=1"`
	s.rs.documents = map[string]any{"/odd": "<html>", usualMetadata: 500, "/.well-known/oauth-protected-resource": map[string]any{}}
	err := fails(t, s.authorizer(), "https://mcp.test/odd: the answer is no JSON object", usualMetadata+": HTTP status 500",
		`/.well-known/oauth-protected-resource: the answer has no member "resource"`)
	var of *Error
	if !errors.As(err, &of) || len(of.Tried) != 3 || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v does not name three addresses, or shows a query", err)
	}
	if !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("%v is not client.ErrUnauthorized", err)
	}
	equal(t, "logins", s.visits, 0)
}

// TestC095BrokenMetadataIsSkipped holds that what is no metadata is passed over, with the reason, and that a header of the
// user's own switches all of it off.
//
// Seen to fail without the look for a header in RoundTrip: with a header of the user's own seven requests were made instead of one.
func TestC095BrokenMetadataIsSkipped(t *testing.T) {
	for name, broken := range map[string]any{"a page": "<!doctype html>", "empty": map[string]any{}, "absent": 404, "failing": 500,
		"a list": []string{}, "wrong types": map[string]any{"resource": 1}, "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.rs.documents["/.well-known/oauth-protected-resource"] = s.rs.documents[usualMetadata]
			s.rs.documents[usualMetadata] = broken
			must(t, s.authorizer())
		})
	}
	t.Run("header of the user's own", func(t *testing.T) {
		s := newScene(t)
		s.rs.challenge = "-"
		a := s.authorizer()
		req := newRequest(t)
		req.Header.Set("Authorization", "Bearer mine")
		resp, err := a.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "status", resp.StatusCode, 401)
		equal(t, "requests", len(s.seen), 1)
	})
}

func TestIssuers(t *testing.T) {
	t.Run("another issuer in the metadata", func(t *testing.T) {
		s := newScene(t)
		s.as.metadata = map[string]any{"issuer": "https://attacker.test"}
		err := fails(t, s.authorizer(), "attacker.test")
		if !errors.Is(err, ErrIssuer) || s.requests("/authorize")+s.requests("/register")+s.requests("/token") > 0 {
			t.Errorf("error %v; requests %v", err, s.seen)
		}
	})
	t.Run("a slash more", func(t *testing.T) {
		s := newScene(t)
		s.as.metadata = map[string]any{"issuer": "https://as.test/"}
		fails(t, s.authorizer(), `"https://as.test/"`)
	})
	t.Run("the second document is right", func(t *testing.T) {
		s := newScene(t)
		s.as.at = []string{"/.well-known/openid-configuration"}
		must(t, s.authorizer())
	})
	t.Run("no PKCE", func(t *testing.T) {
		for _, list := range []any{nil, []string{}, []string{"plain"}} {
			s := newScene(t)
			s.as.metadata = map[string]any{"code_challenge_methods_supported": list}
			if err := fails(t, s.authorizer(), "PKCE"); !errors.Is(err, ErrNoPKCE) {
				t.Errorf("%v: %v", list, err)
			}
			equal(t, "registrations", len(s.as.clients), 0)
		}
	})
}

// TestResources holds that a resource has to cover the address of the server, and travels as it came.
func TestResources(t *testing.T) {
	for _, c := range []struct {
		resource string
		ok       bool
	}{
		{"https://mcp.test/mcp", true},
		{"https://mcp.test", true},
		{"https://mcp.test/", true},
		{"https://MCP.test:443/mcp/", true},
		{"https://evil.test/mcp", false},
		{"http://mcp.test/mcp", false},
		{"https://mcp.test:8443/mcp", false},
		{"https://mcp.test/mc", false},
		{"https://mcp.test/mcp/deeper", false},
		{"https://mcp.test/mcp#part", false},
		{"https://mcp.test/mcp#", false},
		{"https://ann@mcp.test/mcp", false},
		{"https://mcp.test/other/../mcp", false},
		{"https://mcp.test/%6dcp", false},
		{"https://mcp.test.evil.test/mcp", false},
		{"javascript://mcp.test/mcp", false},
		{"https://mcp.test/mcp?x=1", false},
		{"/mcp", false},
		{"mcp.test", false},
	} {
		t.Run(c.resource, func(t *testing.T) {
			s := newScene(t)
			s.rs.documents[usualMetadata] = map[string]any{"resource": c.resource, "authorization_servers": []string{"https://as.test"}}
			a := s.authorizer()
			if !c.ok {
				if err := fails(t, a, "does not cover"); !errors.Is(err, ErrResource) {
					t.Errorf("%v is not ErrResource", err)
				}
				equal(t, "logins", s.visits, 0)
				return
			}
			must(t, a)
			equal(t, "resource of the login", s.as.pages[0].Get("resource"), c.resource)
			equal(t, "resource of the token request", s.as.last(grantCode).Get("resource"), c.resource)
		})
	}
}

func TestSeveralServers(t *testing.T) {
	offer := func(t *testing.T) (*scene, *authServer) {
		s := newScene(t)
		other := newAuthServer("https://other.test")
		s.hosts["other.test"] = other
		s.rs.documents[usualMetadata] = map[string]any{"resource": "https://mcp.test/mcp",
			"authorization_servers": []string{"https://gone.test", "https://other.test", "https://as.test"}}
		return s, other
	}
	t.Run("the first that can be used", func(t *testing.T) {
		s, other := offer(t)
		s.rs.as = other
		must(t, s.authorizer())
	})
	t.Run("the one with credentials", func(t *testing.T) {
		s, _ := offer(t)
		s.opts.Credentials = []Credentials{{Issuer: "https://as.test", ClientID: "known"}}
		must(t, s.authorizer())
		equal(t, "client", s.as.pages[0].Get("client_id"), "known")
	})
	t.Run("chosen", func(t *testing.T) {
		s, other := offer(t)
		s.opts.Choose = func(_ context.Context, issuers []string) (string, error) { return issuers[2], nil }
		must(t, s.authorizer())
		equal(t, "registrations elsewhere", len(other.clients), 0)
	})
	t.Run("chosen wrongly", func(t *testing.T) {
		s, _ := offer(t)
		s.opts.Choose = func(context.Context, []string) (string, error) { return "https://mine.test", nil }
		fails(t, s.authorizer(), "none of those")
	})
	t.Run("none can be used", func(t *testing.T) {
		s, _ := offer(t)
		delete(s.hosts, "other.test")
		delete(s.hosts, "as.test")
		err := fails(t, s.authorizer(), "gone.test", "other.test", "as.test")
		if errors.Is(err, client.ErrUnauthorized) {
			t.Errorf("%v: an outage is taken for a refusal", err)
		}
	})
	t.Run("none offered", func(t *testing.T) {
		s, _ := offer(t)
		s.rs.documents[usualMetadata] = map[string]any{"resource": "https://mcp.test/mcp"}
		fails(t, s.authorizer(), "no authorization server", "Options.Issuer")
		s.opts.Issuer = "https://as.test"
		must(t, s.authorizer())
	})
}

// TestOldDiscovery holds the rules of 2025-03-26: only when asked for, and only where both places answer 404.
func TestOldDiscovery(t *testing.T) {
	old := func(t *testing.T) *scene {
		s := newScene(t)
		s.rs.challenge, s.rs.documents = "-", map[string]any{}
		s.as.issuer = "https://mcp.test"
		s.as.iss = new(string)
		s.hosts["mcp.test"] = both{s.rs, s.as}
		s.opts.OldDiscovery = true
		return s
	}
	t.Run("with metadata", func(t *testing.T) {
		s := old(t)
		s.as.metadata = map[string]any{"token_endpoint": "https://mcp.test/oauth/token", "authorization_response_iss_parameter_supported": nil}
		s.as.token = nil
		s.hosts["mcp.test"] = both{s.rs, rewrite{"/oauth/token", "/token", s.as}}
		must(t, s.authorizer())
		equal(t, "requests to the endpoint of the metadata", s.requests("/oauth/token"), 1)
	})
	t.Run("without metadata", func(t *testing.T) {
		s := old(t)
		s.as.at = []string{"/nowhere"}
		a := s.authorizer()
		must(t, a)
		equal(t, "resource", s.as.pages[0].Get("resource"), "https://mcp.test/mcp")
		equal(t, "registrations", len(s.as.clients), 1)
		s.as.revoke()
		must(t, a)
		equal(t, "refreshes", s.as.count(grantRefresh), 1)
	})
	t.Run("not asked for", func(t *testing.T) {
		s := old(t)
		s.opts.OldDiscovery = false
		fails(t, s.authorizer(), "404", "Options.Issuer")
	})
	t.Run("a place fails", func(t *testing.T) {
		s := old(t)
		s.rs.documents[usualMetadata] = 500
		fails(t, s.authorizer(), "HTTP status 500")
		equal(t, "requests for its metadata", s.requests("oauth-authorization-server"), 0)
	})
}

func TestServerAddresses(t *testing.T) {
	for issuer, want := range map[string]string{
		"https://as.test":         "/.well-known/oauth-authorization-server /.well-known/openid-configuration",
		"https://as.test/":        "/.well-known/oauth-authorization-server /.well-known/openid-configuration",
		"https://as.test/a/b/":    "/.well-known/oauth-authorization-server/a/b /.well-known/openid-configuration/a/b /a/b/.well-known/openid-configuration",
		"https://as.test/a%2Fb":   "/.well-known/oauth-authorization-server/a%2Fb /.well-known/openid-configuration/a%2Fb /a%2Fb/.well-known/openid-configuration",
		"https://as.test/?x=1":    "",
		"https://as.test/#x":      "",
		"https://u:p@as.test/":    "",
		"https://as.test/a b":     "",
		"https://as.test/\u2028":  "",
		"https://as.test?":        "",
		"https://as.test/a#":      "",
		"urn:ietf:something:else": "",
	} {
		got, err := serverAddresses(issuer)
		equal(t, issuer, strings.ReplaceAll(strings.Join(got, " "), "https://as.test", ""), want)
		if (err != nil) != (want == "") {
			t.Errorf("%s: error %v", issuer, err)
		}
	}
}

func TestCanonical(t *testing.T) {
	for address, want := range map[string]string{
		"https://MCP.Test/":         "https://mcp.test",
		"https://mcp.test/a/":       "https://mcp.test/a",
		"https://u:p@mcp.test/a#b":  "https://mcp.test/a",
		"https://mcp.test:8443/a?b": "https://mcp.test:8443/a?b",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, address, canonical(u), want)
	}
}
