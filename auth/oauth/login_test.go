package oauth

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

func TestLogin(t *testing.T) {
	s := newScene(t)
	s.opts.ClientName, s.opts.ClientURI = "Harbour", "https://harbour.test"
	a := s.authorizer()
	must(t, a)
	must(t, a)
	equal(t, "logins", s.visits, 1)
	equal(t, "requests to the server", len(s.rs.requests), 3)
	for i, body := range s.rs.bodies {
		if body != "question" {
			t.Errorf("body of request %d is %q", i, body)
		}
	}
	page := s.as.pages[0]
	for name, want := range map[string]string{"response_type": "code", "client_id": "client-1-of-as.test", "code_challenge_method": "S256",
		"redirect_uri": "http://127.0.0.1:1717/back", "resource": "https://mcp.test/mcp"} {
		equal(t, name, page.Get(name), want)
	}
	if len(page.Get("state")) < 20 || len(page.Get("code_challenge")) != 43 || page.Has("scope") || page.Has("prompt") {
		t.Errorf("query of the login: %v", page)
	}
	form := s.as.last(grantCode)
	equal(t, "client", form.Get("client_id"), "client-1-of-as.test")
	if n := len(form.Get("code_verifier")); n < 43 || n > 128 {
		t.Errorf("the verifier has %d characters", n)
	}
	body := s.as.clients[0]
	for name, want := range map[string]any{"client_name": "Harbour", "client_uri": "https://harbour.test", "application_type": "native", "token_endpoint_auth_method": "none"} {
		equal(t, name, body[name], want)
	}
	if grants := body["grant_types"].([]any); !slices.Contains(grants, any(grantRefresh)) || !slices.Contains(grants, any(grantCode)) {
		t.Errorf("grant types %v", grants)
	}
}

func TestLoginByName(t *testing.T) {
	s := newScene(t)
	a := s.authorizer()
	if err := a.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.rs.bodies[1], `"ping"`) {
		t.Errorf("bodies %q", s.rs.bodies)
	}
	must(t, a)
	if err := a.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, a)
	equal(t, "logins", s.visits, 2)
	equal(t, "registrations", len(s.as.clients), 1)
}

// TestAnswersToALogin holds the four rows of RFC 9207, the state, and that nothing of a strange answer is shown.
func TestAnswersToALogin(t *testing.T) {
	wrong, slash := "https://evil.test", "https://as.test/"
	none := ""
	for _, c := range []struct {
		name      string
		promised  any
		iss       *string
		tamper    func(url.Values)
		ok        bool
		is        error
		mentioned string
	}{
		{"promised and right", true, nil, nil, true, nil, ""},
		{"promised and absent", true, &none, nil, false, ErrIssuer, "does not say where it comes from"},
		{"promised and wrong", true, &wrong, nil, false, ErrIssuer, "does not come from"},
		{"not promised and right", nil, nil, nil, true, nil, ""},
		{"not promised and absent", nil, &none, nil, true, nil, ""},
		{"not promised and wrong", nil, &wrong, nil, false, ErrIssuer, "does not come from"},
		{"a slash more", true, &slash, nil, false, ErrIssuer, "does not come from"},
		{"twice", true, nil, func(q url.Values) { q["iss"] = append(q["iss"], wrong) }, false, ErrIssuer, "does not come from"},
		{"another state", true, nil, func(q url.Values) { q.Set("state", "x") }, false, nil, "another state"},
		{"no state", true, nil, func(q url.Values) { q.Del("state") }, false, nil, "another state"},
		{"no code", true, nil, func(q url.Values) { q.Del("code") }, false, nil, "no code"},
		{"refused by another", true, &wrong, func(q url.Values) { q.Del("code"); q.Set("error", "SHOWN") }, false, ErrIssuer, "does not come from"},
		{"refused", true, nil, func(q url.Values) { q.Del("code"); q.Set("error", "access_denied") }, false, nil, "access_denied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.as.metadata = map[string]any{"authorization_response_iss_parameter_supported": c.promised}
			s.as.iss, s.tamper = c.iss, c.tamper
			a := s.authorizer()
			if c.ok {
				must(t, a)
				return
			}
			err := fails(t, a, c.mentioned)
			if c.is != nil && !errors.Is(err, c.is) || !errors.Is(err, client.ErrUnauthorized) || strings.Contains(err.Error(), "SHOWN") {
				t.Errorf("error %v", err)
			}
			equal(t, "token requests", len(s.as.forms), 0)
			fails(t, a, c.mentioned) // at once, without another login
			equal(t, "logins", s.visits, 1)
			if err := a.Login(t.Context()); err == nil || s.visits != 2 {
				t.Errorf("a login by name: %v after %d logins; want another try", err, s.visits)
			}
		})
	}
}

func TestScopes(t *testing.T) {
	const challenge = `Bearer scope="read list", resource_metadata="https://mcp.test` + usualMetadata + `"`
	for _, c := range []struct {
		name      string
		challenge string
		published []string
		offered   []string // by the authorization server
		opts      Options
		want      string
		consent   bool
	}{
		{name: "of the challenge", challenge: challenge, published: []string{"other"}, want: "read list"},
		{name: "of the metadata", published: []string{"a", "b", "a"}, want: "a b"},
		{name: "none"},
		{name: "none, and offline access offered", offered: []string{"offline_access"}},
		{name: "offline access", challenge: challenge, offered: []string{"offline_access"}, want: "read list offline_access", consent: true},
		{name: "offline access not wanted", challenge: challenge, offered: []string{"offline_access"}, opts: Options{NoOffline: true}, want: "read list"},
		{name: "of the options", challenge: challenge, opts: Options{Scopes: []string{"mine", "read"}}, want: "read list mine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.opts.Scopes, s.opts.NoOffline, s.rs.challenge = c.opts.Scopes, c.opts.NoOffline, c.challenge
			s.as.metadata = map[string]any{"scopes_supported": c.offered}
			if c.published != nil {
				s.rs.documents[usualMetadata].(map[string]any)["scopes_supported"] = c.published
			}
			must(t, s.authorizer())
			equal(t, "scope", s.as.pages[0].Get("scope"), c.want)
			equal(t, "scope is there", s.as.pages[0].Has("scope"), c.want != "")
			equal(t, "consent", s.as.pages[0].Get("prompt") == "consent", c.consent)
		})
	}
}

func TestStepUp(t *testing.T) {
	s := newScene(t)
	s.rs.challenge = `Bearer scope="basic", resource_metadata="https://mcp.test` + usualMetadata + `"`
	want := "basic"
	s.rs.needs = func(*http.Request) string { return want }
	a := s.authorizer()
	must(t, a)
	want = "write"
	must(t, a)
	equal(t, "scope of the second login", s.as.pages[1].Get("scope"), "basic write")
	want = "admin"
	must(t, a)
	equal(t, "scope of the third login", s.as.pages[2].Get("scope"), "basic write admin")
	equal(t, "refreshes, which cannot widen a token", s.as.count(grantRefresh), 0)
}

// TestStepUpEnds holds that a server which is never content does not lead to logins without end.
func TestStepUpEnds(t *testing.T) {
	t.Run("the same scope", func(t *testing.T) {
		s := newScene(t)
		s.as.token = func(form url.Values, _ *http.Request) (int, map[string]any) { // gives less than asked for
			return 200, s.as.issue("little", false)
		}
		s.rs.needs = func(*http.Request) string { return "much" }
		a := s.authorizer()
		for range 3 {
			if status, err := call(t, a); status != 403 || err != nil {
				t.Fatalf("status %d, error %v", status, err)
			}
		}
		equal(t, "logins", s.visits, 2)
	})
	t.Run("another scope each time", func(t *testing.T) {
		s := newScene(t)
		n := 0
		s.rs.needs = func(*http.Request) string { n++; return strings.Repeat("x", n) }
		if status, err := call(t, s.authorizer()); status != 403 || err != nil {
			t.Fatalf("status %d, error %v", status, err)
		}
		equal(t, "logins", s.visits, 1+maxStepUps)
	})
	t.Run("no scope named", func(t *testing.T) {
		s := newScene(t)
		a := s.authorizer()
		must(t, a)
		s.rs.needs = func(*http.Request) string { return "" }
		s.hosts["mcp.test"] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`)
			w.WriteHeader(403)
		})
		if status, err := call(t, a); status != 403 || err != nil {
			t.Fatalf("status %d, error %v", status, err)
		}
		equal(t, "logins", s.visits, 1)
	})
}

// TestNewTokenRefused holds that people are not asked without end by a server which takes no token at all.
func TestNewTokenRefused(t *testing.T) {
	s := newScene(t)
	s.rs.as = newAuthServer("https://as.test") // which knows none of the tokens
	a := s.authorizer()
	err := fails(t, a, "refuses the new access token")
	if !errors.Is(err, ErrRefused) || !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("error %v", err)
	}
	fails(t, a)
	equal(t, "logins", s.visits, 1)
}

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

// TestForeignOrigin holds that a token goes nowhere but to its server.
func TestForeignOrigin(t *testing.T) {
	s := newScene(t)
	var got []string
	s.hosts["else.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		w.WriteHeader(401)
	})
	a := s.authorizer()
	must(t, a)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://else.test/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := a.RoundTrip(req)
	if err != nil || resp.StatusCode != 401 || len(got) != 1 || got[0] != "" {
		t.Errorf("answer %v, error %v, headers %q", resp, err, got)
	}
	equal(t, "logins", s.visits, 1)
}

func TestLoginEndsWithClose(t *testing.T) {
	s := newScene(t)
	began := make(chan struct{})
	s.opts.Flow = Redirect{URL: "http://127.0.0.1:1717/back", Visit: func(ctx context.Context, _ string) (string, error) {
		close(began)
		<-ctx.Done()
		return "", ctx.Err()
	}}
	a := s.authorizer()
	failed := make(chan error, 1)
	go func() {
		_, err := call(t, a)
		failed <- err
	}()
	<-began
	a.Close()
	if err := <-failed; err == nil {
		t.Error("the request succeeded")
	}
	fails(t, a, "closed")
}

// TestImpatientCaller holds that a login goes on when the call that began it gives up, and serves the next one.
func TestImpatientCaller(t *testing.T) {
	s := newScene(t)
	began, agree := make(chan struct{}), make(chan struct{})
	s.opts.Flow = Redirect{URL: "http://127.0.0.1:1717/back", Visit: func(ctx context.Context, page string) (string, error) {
		close(began)
		<-agree
		return s.visit(ctx, page)
	}}
	a := s.authorizer()
	ctx, giveUp := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := a.RoundTrip(newRequest(t).WithContext(ctx))
		failed <- err
	}()
	<-began
	giveUp()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	close(agree)
	must(t, a)
	equal(t, "logins", s.visits, 1)
}

func TestWhatIsNoOption(t *testing.T) {
	flow := Redirect{URL: "https://harbour.test/back", Visit: func(context.Context, string) (string, error) { return "", nil }}
	for name, c := range map[string]struct {
		server string
		opts   Options
	}{
		"no address":            {"mcp.test", Options{Flow: flow}},
		"http":                  {"http://mcp.test/mcp", Options{Flow: flow}},
		"no flow":               {"https://mcp.test", Options{}},
		"no visit":              {"https://mcp.test", Options{Flow: Redirect{URL: "https://x.test"}}},
		"redirect to http":      {"https://mcp.test", Options{Flow: Redirect{URL: "http://harbour.test/", Visit: flow.Visit}}},
		"document without path": {"https://mcp.test", Options{Flow: flow, ClientMetadataURL: "https://harbour.test/"}},
		"document over http":    {"https://mcp.test", Options{Flow: flow, ClientMetadataURL: "http://harbour.test/x"}},
		"no client id":          {"https://mcp.test", Options{Flow: flow, Credentials: []Credentials{{Secret: "x"}}}},
		"basic without secret":  {"https://mcp.test", Options{Flow: flow, Credentials: []Credentials{{ClientID: "x", Method: MethodBasic}}}},
		"unknown method":        {"https://mcp.test", Options{Flow: flow, Credentials: []Credentials{{ClientID: "x", Method: "magic"}}}},
		"no credentials":        {"https://mcp.test", Options{Flow: ClientCredentials{}}},
		"no assertion":          {"https://mcp.test", Options{Flow: Workload{}}},
		"no identity":           {"https://mcp.test", Options{Flow: Enterprise{}}},
		"provider over http":    {"https://mcp.test", Options{Flow: Enterprise{Provider: "http://idp.test", Client: Credentials{ClientID: "x"}, Identity: func(context.Context) (string, error) { return "", nil }}}},
		"nothing to show":       {"https://mcp.test", Options{Flow: Device{}}},
		"no port":               {"https://mcp.test", Options{Flow: Browser{Port: 70000}}},
		"no path":               {"https://mcp.test", Options{Flow: Browser{Path: "callback"}}},
	} {
		if a, err := New(c.server, c.opts); err == nil {
			a.Close()
			t.Errorf("%s: no error", name)
		}
	}
	a, err := New("http://mcp.test/mcp", Options{Flow: flow, PlainHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}

func TestStoredOnly(t *testing.T) {
	s := newScene(t)
	s.opts.Store = NewMemoryStore(0)
	must(t, s.authorizer())
	s.opts.Flow = Stored{}
	a := s.authorizer()
	must(t, a)
	s.as.revoke()
	must(t, a)
	equal(t, "refreshes", s.as.count(grantRefresh), 1)
	s.as.revoke()
	s.as.refreshes = map[string]string{}
	s.clock.pass(10 * time.Minute)
	if err := fails(t, a, "a login is needed"); !errors.Is(err, ErrLoginNeeded) {
		t.Errorf("%v is not ErrLoginNeeded", err)
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

// TestLogoutGivesUp holds that tokens are revoked where that can be done, and forgotten in any case.
func TestLogoutGivesUp(t *testing.T) {
	s := newScene(t)
	s.as.metadata = map[string]any{"revocation_endpoint": "https://as.test/revoke"}
	s.opts.Store = NewMemoryStore(0)
	a := s.authorizer()
	if err := a.Logout(t.Context()); err != nil || len(s.seen) > 0 {
		t.Errorf("without tokens: %v after %v", err, s.seen)
	}
	must(t, a)
	if err := a.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "revocations", len(s.as.revoked), 2)
	for i, kind := range []string{"refresh_token", "access_token"} {
		form := s.as.revoked[i]
		equal(t, "kind", form.Get("token_type_hint"), kind)
		equal(t, "client", form.Get("client_id"), "client-1-of-as.test")
		if !strings.HasPrefix(form.Get("token"), strings.TrimSuffix(kind, "_token")) {
			t.Errorf("the token of the kind %s is %q", kind, form.Get("token"))
		}
	}
	must(t, a)
	s.as.refuseRevoke = true
	err := a.Logout(t.Context())
	if err == nil || !strings.Contains(err.Error(), "invalid_request") || strings.Contains(err.Error(), "access-") || strings.Contains(err.Error(), "refresh-") {
		t.Errorf("error %v", err)
	}
	must(t, s.authorizer())
	equal(t, "logins", s.visits, 3)
}
