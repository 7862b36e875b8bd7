package oauth

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

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

// TestMoreScopesThanBefore holds that a program which wants more than its stored token has asked for opens no browser
// before the server has said what it wants.
func TestMoreScopesThanBefore(t *testing.T) {
	s := newScene(t)
	s.opts.Store = NewMemoryStore(0)
	s.rs.challenge = `Bearer scope="read", resource_metadata="https://mcp.test` + usualMetadata + `"`
	must(t, s.authorizer())
	s.clock.pass(2 * time.Hour)
	s.opts.Scopes = []string{"write"}
	must(t, s.authorizer())
	equal(t, "scope of the second login", s.as.pages[1].Get("scope"), "read write")
	equal(t, "answers of 401", len(s.rs.requests), 4)
}

// many are scopes of one size.
func many(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("s%06d", i)
	}
	return out
}

// TestScopeFloods holds that no number of scopes takes long to read or ends up in a login. Seen to fail: lists were compared
// each with each, for minutes.
func TestScopeFloods(t *testing.T) {
	t.Run("of a challenge", func(t *testing.T) {
		s := newScene(t)
		s.rs.challenge = `Bearer scope="` + joinScopes(many(100_000)) + `"`
		must(t, s.authorizer())
		equal(t, "scope", s.as.pages[0].Get("scope"), "")
	})
	t.Run("of the metadata", func(t *testing.T) {
		s := newScene(t)
		s.rs.documents[usualMetadata].(map[string]any)["scopes_supported"] = many(90_000)
		fails(t, s.authorizer(), "90000 of them", "8192 bytes")
		equal(t, "visits", s.visits, 0)
	})
	t.Run("of an answer", func(t *testing.T) {
		s := newScene(t)
		s.as.token = func(form url.Values, _ *http.Request) (int, map[string]any) {
			body := s.as.issue("", false)
			body["scope"] = joinScopes(many(100_000))
			return 200, body
		}
		must(t, s.authorizer())
	})
	t.Run("little by little", func(t *testing.T) {
		s := newScene(t)
		n := 0
		s.rs.needs = func(*http.Request) string {
			n++
			return fmt.Sprintf("s%d-%s", n, strings.Repeat("x", 1000))
		}
		a := s.authorizer()
		var err error
		for range 20 {
			if _, err = call(t, a); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "8192 bytes") || s.visits > 9 {
			t.Errorf("after %d logins: %v", s.visits, err)
		}
		if t := a.held; len(joinScopes(t.Asked)) > maxScopes {
			s.t.Errorf("%d scopes were asked for", len(t.Asked))
		}
	})
}
