package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestEnterprise holds the two steps of enterprise-managed authorization.
func TestEnterprise(t *testing.T) {
	scene := func(t *testing.T) (*scene, *authServer) {
		s := newScene(t)
		idp := newAuthServer("https://idp.test")
		idp.at = []string{"/.well-known/openid-configuration"}
		idp.metadata = map[string]any{"code_challenge_methods_supported": nil, "token_endpoint_auth_methods_supported": nil}
		idp.token = func(form url.Values, _ *http.Request) (int, map[string]any) {
			return 200, map[string]any{"access_token": "the-id-jag", "issued_token_type": typeIDJAG, "token_type": "N_A"}
		}
		s.hosts["idp.test"] = idp
		s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{MethodBasic}}
		s.rs.challenge = `Bearer scope="read", resource_metadata="https://mcp.test` + usualMetadata + `"`
		s.opts.Credentials = []Credentials{{ClientID: "app", Secret: "app-secret"}}
		s.opts.Flow = Enterprise{Provider: "https://idp.test", Client: Credentials{ClientID: "app-at-idp"},
			Identity: func(context.Context) (string, error) { return "the-id-token", nil }}
		return s, idp
	}
	t.Run("good", func(t *testing.T) {
		s, idp := scene(t)
		must(t, s.authorizer())
		asked := idp.last(grantExchange)
		for name, want := range map[string]string{"requested_token_type": typeIDJAG, "subject_token": "the-id-token", "subject_token_type": IdentityIDToken,
			"audience": "https://as.test", "resource": "https://mcp.test/mcp", "scope": "read", "client_id": "app-at-idp"} {
			equal(t, name, asked.Get(name), want)
		}
		form := s.as.last(grantJWTBearer)
		equal(t, "assertion", form.Get("assertion"), "the-id-jag")
		equal(t, "Authorization", form.Get("_authorization"), "Basic "+base64.StdEncoding.EncodeToString([]byte("app:app-secret")))
	})
	t.Run("endpoint given", func(t *testing.T) {
		s, idp := scene(t)
		flow := s.opts.Flow.(Enterprise)
		flow.Provider, flow.TokenEndpoint, flow.IdentityType = "", "https://idp.test/token", IdentitySAML2
		flow.Client.Secret = "idp-secret"
		s.opts.Flow = flow
		must(t, s.authorizer())
		equal(t, "kind", idp.last(grantExchange).Get("subject_token_type"), IdentitySAML2)
		equal(t, "requests for metadata", s.requests("idp.test/.well-known"), 0)
		if !strings.HasPrefix(idp.last(grantExchange).Get("_authorization"), "Basic ") {
			t.Error("the provider was shown no secret")
		}
	})
	t.Run("refused by the provider", func(t *testing.T) {
		s, idp := scene(t)
		idp.token = func(form url.Values, _ *http.Request) (int, map[string]any) {
			return 400, map[string]any{"error": "invalid_grant", "error_description": "no " + form.Get("subject_token")}
		}
		err := fails(t, s.authorizer(), "identity provider", "invalid_grant")
		if strings.Contains(err.Error(), "the-id-token") {
			t.Errorf("%v shows the identity", err)
		}
		equal(t, "requests to the authorization server", len(s.as.forms), 0)
	})
	t.Run("another kind of token", func(t *testing.T) {
		s, idp := scene(t)
		idp.token = func(url.Values, *http.Request) (int, map[string]any) {
			return 200, map[string]any{"access_token": "x", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"}
		}
		fails(t, s.authorizer(), "not an ID-JAG")
	})
	t.Run("an endpoint without TLS", func(t *testing.T) {
		s, idp := scene(t)
		idp.metadata["token_endpoint"] = "http://idp.test/token"
		if err := fails(t, s.authorizer(), "http://idp.test/token", "https"); !errors.Is(err, ErrGuard) {
			t.Errorf("error %v", err)
		}
		equal(t, "token requests", len(idp.forms), 0)
	})
}
