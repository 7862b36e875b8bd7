package oauth

import (
	"context"
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
