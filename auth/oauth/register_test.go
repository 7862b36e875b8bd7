package oauth

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestClientsByOrder(t *testing.T) {
	const document = "https://harbour.test/client.json"
	reads := map[string]any{"client_id_metadata_document_supported": true}
	for _, c := range []struct {
		name     string
		metadata map[string]any
		opts     Options
		want     string
		fails    string
	}{
		{name: "given before all", metadata: reads, opts: Options{Credentials: []Credentials{{ClientID: "given"}}, ClientMetadataURL: document}, want: "given"},
		{name: "given for the issuer", opts: Options{Credentials: []Credentials{{ClientID: "any"}, {Issuer: "https://as.test", ClientID: "exact"}}}, want: "exact"},
		{name: "a document", metadata: reads, opts: Options{ClientMetadataURL: document}, want: document},
		{name: "a document that nobody reads", opts: Options{ClientMetadataURL: document}, want: "client-1-of-as.test"},
		{name: "given for another issuer", opts: Options{Credentials: []Credentials{{Issuer: "https://else.test", ClientID: "x"}}}, fails: "for other issuers"},
		{name: "no registration wanted", opts: Options{NoRegistration: true}, fails: "switched off"},
		{name: "no registration offered", metadata: map[string]any{"registration_endpoint": nil}, fails: "by hand"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.as.metadata = c.metadata
			s.opts.Credentials, s.opts.ClientMetadataURL, s.opts.NoRegistration = c.opts.Credentials, c.opts.ClientMetadataURL, c.opts.NoRegistration
			if c.fails != "" {
				if err := fails(t, s.authorizer(), c.fails); !errors.Is(err, ErrNoClient) {
					t.Errorf("%v is not ErrNoClient", err)
				}
				return
			}
			must(t, s.authorizer())
			equal(t, "client of the login", s.as.pages[0].Get("client_id"), c.want)
			equal(t, "client of the token request", s.as.last(grantCode).Get("client_id"), c.want)
		})
	}
}

// TestCredentialsBelongToAnIssuer holds that nothing of one issuer is shown to another.
func TestCredentialsBelongToAnIssuer(t *testing.T) {
	migrate := func(s *scene) *authServer {
		s.as.revoke()
		second := newAuthServer("https://second.test")
		s.hosts["second.test"] = second
		s.rs.documents[usualMetadata].(map[string]any)["authorization_servers"] = []string{"https://second.test"}
		s.rs.as = second
		return second
	}
	t.Run("registered anew", func(t *testing.T) {
		s := newScene(t)
		a := s.authorizer()
		must(t, a)
		second := migrate(s)
		must(t, a)
		equal(t, "registrations", len(second.clients), 1)
		equal(t, "client", second.pages[0].Get("client_id"), "client-1-of-second.test")
		equal(t, "refreshes", second.count(grantRefresh)+s.as.count(grantRefresh), 0)
	})
	t.Run("given without an issuer", func(t *testing.T) {
		s := newScene(t)
		s.opts.Credentials = []Credentials{{ClientID: "given", Secret: "secret"}}
		s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": nil}
		a := s.authorizer()
		must(t, a)
		second := migrate(s)
		if err := fails(t, a, "belong to https://as.test", "https://second.test"); !errors.Is(err, ErrIssuer) {
			t.Errorf("%v is not ErrIssuer", err)
		}
		equal(t, "requests with them", len(second.forms)+len(second.pages), 0)
	})
}

func TestClientAuthentication(t *testing.T) {
	for _, c := range []struct {
		name   string
		list   []string
		given  string // the method that the registration names
		secret string
		method string
	}{
		{"none", []string{"none"}, "none", "", MethodNone},
		{"basic", []string{"client_secret_basic"}, "client_secret_basic", "s e/cret", MethodBasic},
		{"post", []string{"client_secret_post"}, "client_secret_post", "s e/cret", MethodPost},
		{"nothing listed, a secret given", nil, "", "s e/cret", MethodBasic},
		{"a secret without a method", []string{"client_secret_post", "none"}, "", "s e/cret", MethodPost},
		{"a secret that nobody wants", []string{"none"}, "", "s e/cret", MethodNone},
		{"a method without a secret", []string{"client_secret_basic"}, "client_secret_basic", "", MethodNone},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": c.list}
			s.as.register = func(map[string]any) map[string]any {
				return map[string]any{"client_id": "an id:", "client_secret": c.secret, "token_endpoint_auth_method": c.given, "client_secret_expires_at": 0}
			}
			must(t, s.authorizer())
			form := s.as.last(grantCode)
			basic := ""
			if c.method == MethodBasic {
				basic = "Basic " + base64.StdEncoding.EncodeToString([]byte("an+id%3A:s+e%2Fcret"))
			}
			equal(t, "Authorization", form.Get("_authorization"), basic)
			equal(t, "client_secret", form.Get("client_secret"), map[bool]string{true: "s e/cret"}[c.method == MethodPost])
			equal(t, "client_id", form.Get("client_id") == "an id:", c.method != MethodBasic)
		})
	}
	t.Run("none that fits", func(t *testing.T) {
		s := newScene(t)
		s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{"tls_client_auth"}}
		s.opts.Credentials = []Credentials{{ClientID: "x", Secret: "secret-x"}}
		fails(t, s.authorizer(), "client_secret_basic", "tls_client_auth")
	})
}

func TestRegistrationRefused(t *testing.T) {
	s := newScene(t)
	s.as.register = func(map[string]any) map[string]any {
		return map[string]any{"error": "invalid_redirect_uri", "error_description": "no \x1b[31mloopback here"}
	}
	err := fails(t, s.authorizer(), "invalid_redirect_uri", "native", "http://127.0.0.1:1717/back", "400")
	if strings.Contains(err.Error(), "\x1b") {
		t.Errorf("a control character is shown: %q", err)
	}
}

// TestForgottenRegistration holds that a client which the authorization server has forgotten is registered anew.
func TestForgottenRegistration(t *testing.T) {
	s := newScene(t)
	a := s.authorizer()
	must(t, a)
	s.as.token = func(form url.Values, _ *http.Request) (int, map[string]any) {
		if form.Get("client_id") == "client-1-of-as.test" {
			return 401, map[string]any{"error": "invalid_client"}
		}
		return 0, nil
	}
	s.as.revoke()
	must(t, a)
	equal(t, "registrations", len(s.as.clients), 2)
}

func TestApplicationType(t *testing.T) {
	for redirect, want := range map[string]string{"http://127.0.0.1:1/x": "native", "http://localhost/x": "native", "http://[::1]:9/": "native",
		"my.app:/x": "native", "": "native", "https://harbour.test/x": "web", "https://localhost/x": "native"} {
		equal(t, redirect, applicationType(redirect), want)
	}
}

// TestSecretThatExpires holds that a registration whose secret has expired is made anew.
func TestSecretThatExpires(t *testing.T) {
	s := newScene(t)
	s.as.register = func(map[string]any) map[string]any {
		return map[string]any{"client_id": "x", "client_secret": "secret", "client_secret_expires_at": s.clock.now().Add(time.Hour).Unix()}
	}
	a := s.authorizer()
	for i, want := range []int{1, 1, 2} {
		must(t, a)
		if err := a.Logout(t.Context()); err != nil {
			t.Fatal(err)
		}
		equal(t, "registrations", len(s.as.clients), want)
		s.clock.pass(time.Duration(i+1) * 40 * time.Minute)
	}
}
