package oauth

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/rialto-mcp/rialto/client"
)

// checkProof reads a proof as a server does and answers its claims and the thumbprint of its key.
func checkProof(t *testing.T, text string) (map[string]any, string) {
	t.Helper()
	signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatalf("proof %q: %v", text, err)
	}
	header := signed.Signatures[0].Header
	if header.ExtraHeaders[jose.HeaderType] != "dpop+jwt" || header.JSONWebKey == nil || !header.JSONWebKey.IsPublic() {
		t.Fatalf("header of the proof: %v", header)
	}
	if _, err := signed.Verify(header.JSONWebKey); err != nil {
		t.Fatalf("signature of the proof: %v", err)
	}
	thumb, err := header.JSONWebKey.Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return claims(text), base64.RawURLEncoding.EncodeToString(thumb)
}

func boundScene(t *testing.T) *scene {
	s := newScene(t)
	s.rs.dpop = true
	s.rs.challenge = `DPoP algs="ES256", resource_metadata="https://mcp.test` + usualMetadata + `"`
	s.as.metadata = map[string]any{"dpop_signing_alg_values_supported": []string{"RS256", "ES256"}}
	return s
}

func TestDPoP(t *testing.T) {
	s := boundScene(t)
	s.opts.Store = files(t)
	a := s.authorizer()
	must(t, a)
	must(t, a)
	sent, thumb := checkProof(t, s.as.last(grantCode).Get("_dpop"))
	equal(t, "thumbprint in the login", s.as.pages[0].Get("dpop_jkt"), thumb)
	equal(t, "method", sent["htm"], any("POST"))
	equal(t, "address", sent["htu"], any("https://as.test/token"))
	equal(t, "registered for it", s.as.clients[0]["dpop_bound_access_tokens"], any(true))
	seen := map[any]bool{}
	for _, r := range s.rs.requests[1:] {
		scheme, access := r.Header.Get("Authorization")[:5], r.Header.Get("Authorization")[5:]
		equal(t, "scheme", scheme, "DPoP ")
		got, with := checkProof(t, r.Header.Get("DPoP"))
		sum := sha256.Sum256([]byte(access))
		equal(t, "hash of the token", got["ath"], any(base64.RawURLEncoding.EncodeToString(sum[:])))
		equal(t, "address", got["htu"], any("https://mcp.test/mcp"))
		equal(t, "key", with, thumb)
		if seen[got["jti"]] {
			t.Error("a proof was used twice")
		}
		seen[got["jti"]] = true
	}
	// Another process uses the same key, also to refresh.
	s.clock.pass(2 * time.Hour)
	must(t, s.authorizer())
	if _, with := checkProof(t, s.as.last(grantRefresh).Get("_dpop")); with != thumb {
		t.Error("the refresh was made with another key")
	}
}

func TestDPoPNonces(t *testing.T) {
	s := boundScene(t)
	s.as.nonce, s.rs.nonce = "nonce-of-as", "nonce-of-rs"
	a := s.authorizer()
	must(t, a)
	equal(t, "token requests", len(s.as.forms), 2)
	equal(t, "requests to the server", len(s.rs.requests), 3)
	first, second := claims(s.as.forms[0].Get("_dpop")), claims(s.as.forms[1].Get("_dpop"))
	if first["jti"] == second["jti"] || second["nonce"] != "nonce-of-as" {
		t.Errorf("proofs %v and %v", first, second)
	}
	must(t, a)
	equal(t, "requests to the server", len(s.rs.requests), 4)
	s.rs.nonce = "another"
	must(t, a)
	equal(t, "requests to the server", len(s.rs.requests), 6)
	equal(t, "logins", s.visits, 1)
}

// TestDPoPWhen holds when tokens are bound: when the resource demands it, or the user.
func TestDPoPWhen(t *testing.T) {
	for _, c := range []struct {
		name      string
		mode      DPoP
		challenge string
		required  bool
		bound     bool
	}{
		{"bearer alone", DPoPWhenAsked, `Bearer`, false, false},
		{"both schemes", DPoPWhenAsked, `DPoP algs="ES256", Bearer`, false, false},
		{"DPoP alone", DPoPWhenAsked, `DPoP algs="ES256"`, false, true},
		{"the metadata demands it", DPoPWhenAsked, `Bearer`, true, true},
		{"always", DPoPAlways, `Bearer`, false, true},
		{"never", DPoPNever, `DPoP`, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := boundScene(t)
			s.rs.challenge, s.rs.dpop, s.opts.DPoP = c.challenge, c.bound, c.mode
			s.rs.documents[usualMetadata].(map[string]any)["dpop_bound_access_tokens_required"] = c.required
			must(t, s.authorizer())
			equal(t, "a proof was sent", s.as.last(grantCode).Get("_dpop") != "", c.bound)
		})
	}
	t.Run("the authorization server binds nothing", func(t *testing.T) {
		s := boundScene(t)
		s.as.token = func(form url.Values, r *http.Request) (int, map[string]any) { return 200, s.as.issue("", false) }
		if err := fails(t, s.authorizer(), "not bound"); !errors.Is(err, client.ErrUnauthorized) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("other kinds of keys", func(t *testing.T) {
		s := boundScene(t)
		s.as.metadata = map[string]any{"dpop_signing_alg_values_supported": []string{"PS512"}}
		fails(t, s.authorizer(), "ES256")
	})
}

func TestProofAddress(t *testing.T) {
	p, err := newProver()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse("https://mcp.test/a%2Fb/c?query=1#part")
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.proof(time.Now(), "GET", u, "", "")
	if err != nil {
		t.Fatal(err)
	}
	got, _ := checkProof(t, text)
	equal(t, "address", got["htu"], any("https://mcp.test/a%2Fb/c"))
	for address, want := range map[string]string{"HTTPS://MCP.test:443/A": "https://mcp.test/A", "https://mcp.test": "https://mcp.test/",
		"http://[::1]:80/x": "http://[::1]/x", "https://mcp.test:80/x": "https://mcp.test:80/x", "https://mcp.test:8443/x": "https://mcp.test:8443/x"} {
		equal(t, address, target(parse(t, address)), want)
	}
	if got["nonce"] != nil || got["ath"] != nil {
		t.Errorf("claims %v", got)
	}
}
