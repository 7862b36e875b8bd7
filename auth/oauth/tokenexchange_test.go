package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// exchangeScene is a scene whose server is called with tokens that sts.test gives for others. They are good for a minute.
func exchangeScene(t *testing.T) (*scene, *authServer) {
	s := newScene(t)
	sts := newAuthServer("https://sts.test")
	sts.metadata = map[string]any{"code_challenge_methods_supported": nil, "token_endpoint_auth_methods_supported": []string{MethodBasic}}
	s.hosts["sts.test"] = sts
	given := 0
	sts.token = func(form url.Values, _ *http.Request) (int, map[string]any) {
		given++
		token := fmt.Sprintf("of-%s-%d", form.Get("subject_token"), given)
		s.as.mu.Lock()
		s.as.tokens[token] = "read"
		s.as.mu.Unlock()
		return 200, map[string]any{"access_token": token, "issued_token_type": TypeAccessToken, "token_type": "Bearer", "expires_in": 60,
			"refresh_token": "not-to-be-used"}
	}
	s.opts.Scopes = []string{"read"}
	s.opts.Flow = Exchange{Issuer: "https://sts.test", Client: Credentials{ClientID: "gateway", Secret: "gateway-secret"}, Audience: []string{"mcp"},
		Subject: func(context.Context) (string, error) { return "callers", nil }}
	return s, sts
}

// shown are the tokens that the server has seen.
func (s *resourceServer) shown() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.requests {
		out = append(out, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}
	return strings.Join(out, " ")
}

// TestExchange holds what is sent, and that the server gets neither a request without a token nor the token that is exchanged.
func TestExchange(t *testing.T) {
	s, sts := exchangeScene(t)
	must(t, s.authorizer())
	asked := sts.last(grantExchange)
	for name, want := range map[string]string{"subject_token": "callers", "subject_token_type": TypeAccessToken, "requested_token_type": TypeAccessToken,
		"audience": "mcp", "resource": "https://mcp.test/mcp", "scope": "read", "client_id": "",
		"_authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("gateway:gateway-secret"))} {
		equal(t, name, asked.Get(name), want)
	}
	equal(t, "tokens shown to the server", s.rs.shown(), "of-callers-1")
	equal(t, "requests for the metadata of the server", s.requests("mcp.test/.well-known"), 0)
}

// TestExchangeOnceWhileItIsGood holds that a token is kept until it is over, and that the next one is exchanged for what the
// caller shows then, never got by a refresh.
func TestExchangeOnceWhileItIsGood(t *testing.T) {
	s, sts := exchangeScene(t)
	flow, subject := s.opts.Flow.(Exchange), "first"
	flow.Subject = func(context.Context) (string, error) { return subject, nil }
	s.opts.Flow = flow
	a := s.authorizer()
	must(t, a)
	subject = "second"
	must(t, a)
	s.clock.pass(61 * time.Second)
	must(t, a)
	equal(t, "tokens shown to the server", s.rs.shown(), "of-first-1 of-first-1 of-second-2")
	equal(t, "refreshes", sts.count(grantRefresh), 0)
}

// TestExchangeWithAnEndpoint holds that a configured endpoint needs no metadata.
func TestExchangeWithAnEndpoint(t *testing.T) {
	s, sts := exchangeScene(t)
	flow := s.opts.Flow.(Exchange)
	flow.Issuer, flow.TokenEndpoint, flow.NoResource, flow.SubjectType, flow.Audience = "", "https://sts.test/token", true, TypeJWT, nil
	s.opts.Flow = flow
	must(t, s.authorizer())
	equal(t, "requests for metadata", s.requests(".well-known"), 0)
	asked := sts.last(grantExchange)
	equal(t, "kind", asked.Get("subject_token_type"), TypeJWT)
	if asked.Has("resource") || asked.Has("audience") {
		t.Errorf("sent %v", asked)
	}
}

// TestExchangeThatTheServerRefuses holds that a token which the server does not take is exchanged anew, once.
func TestExchangeThatTheServerRefuses(t *testing.T) {
	s, sts := exchangeScene(t)
	a := s.authorizer()
	must(t, a)
	s.as.mu.Lock()
	clear(s.as.tokens)
	s.as.mu.Unlock()
	s.clock.pass(2 * time.Minute) // a refusal of what was got a moment ago is not asked about again
	must(t, a)
	s.as.mu.Lock()
	clear(s.as.tokens)
	s.as.mu.Unlock()
	if err := fails(t, a); !errors.Is(err, ErrRefused) {
		t.Errorf("error %v", err)
	}
	equal(t, "exchanges", sts.count(grantExchange), 2)
}

// TestHostileExchange holds that wrong answers come to nothing, that the token of the caller goes nowhere, and that no error
// shows it.
func TestHostileExchange(t *testing.T) {
	answer := func(status int, body map[string]any) func(url.Values, *http.Request) (int, map[string]any) {
		return func(url.Values, *http.Request) (int, map[string]any) { return status, body }
	}
	for _, tc := range []struct {
		name   string
		token  func(form url.Values, _ *http.Request) (int, map[string]any)
		sts    map[string]any // metadata
		want   string
		passes bool // it may work later
	}{
		{"a refusal that echoes", func(form url.Values, _ *http.Request) (int, map[string]any) {
			return 400, map[string]any{"error": "invalid_request", "error_description": "no " + form.Get("subject_token")}
		}, nil, "invalid_request", false},
		{"a refusal with status 200", answer(200, map[string]any{"error": "invalid_target"}), nil, "invalid_target", false},
		{"the same token", func(form url.Values, _ *http.Request) (int, map[string]any) {
			return 200, map[string]any{"access_token": form.Get("subject_token"), "token_type": "Bearer"}
		}, nil, "gave back the token", false},
		{"an ID token", answer(200, map[string]any{"access_token": "id", "issued_token_type": IdentityIDToken, "token_type": "N_A"}), nil, "", false},
		{"another kind", answer(200, map[string]any{"access_token": "x", "issued_token_type": "urn:ietf:params:oauth:token-type:refresh_token", "token_type": "Bearer"}),
			nil, "no access token", false},
		{"a token that is bound to a key", answer(200, map[string]any{"access_token": "x", "token_type": "DPoP"}), nil, "unknown type", false},
		{"no token", answer(200, map[string]any{"token_type": "Bearer"}), nil, "no access token", false},
		{"a token with a line in it", answer(200, map[string]any{"access_token": "x\r\nX-Admin: 1", "token_type": "Bearer"}), nil, "no header can carry", false},
		{"a server that is busy", answer(503, map[string]any{}), nil, "HTTP status 503", true},
		{"a page", answer(200, nil), nil, "", false},
		{"an endpoint without TLS", nil, map[string]any{"token_endpoint": "http://sts.test/token"}, "https", false},
		{"another issuer", nil, map[string]any{"issuer": "https://evil.test"}, "evil.test", false},
		{"no endpoint", nil, map[string]any{"token_endpoint": nil}, "token endpoint", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, sts := exchangeScene(t)
			if tc.token != nil {
				sts.token = tc.token
			}
			for name, value := range tc.sts {
				sts.metadata[name] = value
			}
			err := fails(t, s.authorizer(), tc.want)
			if strings.Contains(err.Error(), "callers") || strings.Contains(err.Error(), "gateway-secret") {
				t.Errorf("%v shows a secret", err)
			}
			if errors.Is(err, client.ErrUnauthorized) == tc.passes {
				t.Errorf("unauthorized: %v for %v", !tc.passes, err)
			}
			equal(t, "requests to the server", s.rs.shown(), "")
			if tc.sts != nil {
				equal(t, "token requests", len(sts.forms), 0)
			}
		})
	}
}

// TestExchangeWithoutASubject holds that a caller without a token gets none.
func TestExchangeWithoutASubject(t *testing.T) {
	s, sts := exchangeScene(t)
	flow := s.opts.Flow.(Exchange)
	flow.Subject = func(context.Context) (string, error) { return "", errors.New("the caller has shown no token") }
	s.opts.Flow = flow
	fails(t, s.authorizer(), "the caller has shown no token")
	equal(t, "token requests", len(sts.forms), 0)
	equal(t, "requests to the server", s.rs.shown(), "")
}

// TestExchangeOptions holds what is refused before anything is sent.
func TestExchangeOptions(t *testing.T) {
	subject := func(context.Context) (string, error) { return "x", nil }
	for want, flow := range map[string]Exchange{
		"Exchange.Subject is missing":           {Issuer: "https://sts.test", Client: Credentials{ClientID: "c"}},
		"needs an Issuer or a TokenEndpoint":    {Subject: subject, Client: Credentials{ClientID: "c"}},
		"the addresses of Exchange":             {Subject: subject, TokenEndpoint: "http://sts.test/token", Client: Credentials{ClientID: "c"}},
		"credentials need a ClientID":           {Subject: subject, Issuer: "https://sts.test"},
		"oauth: the addresses of Exchange have": {Subject: subject, Issuer: "http://sts.test", Client: Credentials{ClientID: "c"}},
	} {
		if _, err := New("https://mcp.test/mcp", Options{Flow: flow}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
