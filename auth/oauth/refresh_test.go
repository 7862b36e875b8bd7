package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

func TestRefreshBeforeExpiry(t *testing.T) {
	s := newScene(t)
	a := s.authorizer()
	must(t, a)
	s.clock.pass(time.Hour - 31*time.Second)
	must(t, a)
	equal(t, "refreshes", s.as.count(grantRefresh), 0)
	s.clock.pass(2 * time.Second)
	must(t, a)
	form := s.as.last(grantRefresh)
	equal(t, "refreshes", s.as.count(grantRefresh), 1)
	equal(t, "resource", form.Get("resource"), "https://mcp.test/mcp")
	equal(t, "client", form.Get("client_id"), "client-1-of-as.test")
	equal(t, "answers of 401", len(s.rs.requests), 4)
	equal(t, "logins", s.visits, 1)
}

// TestRefreshKeepsOldToken holds that a server which gives no new refresh token leaves the old one in use.
func TestRefreshKeepsOldToken(t *testing.T) {
	s := newScene(t)
	a := s.authorizer()
	must(t, a)
	s.as.noRefresh = true
	for range 3 {
		s.clock.pass(2 * time.Hour)
		must(t, a)
	}
	equal(t, "refreshes", s.as.count(grantRefresh), 3)
	equal(t, "logins", s.visits, 1)
}

// TestC091OneRefreshForAll holds that many calls which meet 401 at once refresh once.
func TestC091OneRefreshForAll(t *testing.T) {
	s := newScene(t)
	s.as.rotate = true
	a := s.authorizer()
	must(t, a)
	s.as.revoke()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if status, err := call(t, a); status != 200 || err != nil {
				t.Errorf("status %d, error %v", status, err)
			}
		})
	}
	all.Wait()
	equal(t, "refreshes", s.as.count(grantRefresh), 1)
	equal(t, "logins", s.visits, 1)
}

// TestC091SharedStore holds that several authorizers with one store (as several processes have) refresh once.
func TestC091SharedStore(t *testing.T) {
	for name, open := range map[string]func() Store{
		"memory": func() Store { return NewMemoryStore(0) },
		"files":  func() Store { return files(t) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.as.rotate = true
			s.opts.Store = open()
			var all []*Authorizer
			for range 5 {
				a := s.authorizer()
				must(t, a)
				all = append(all, a)
			}
			equal(t, "logins", s.visits, 1)
			equal(t, "registrations", len(s.as.clients), 1)
			s.as.revoke()
			var wait sync.WaitGroup
			for _, a := range all {
				for range 4 {
					wait.Go(func() {
						if status, err := call(t, a); status != 200 || err != nil {
							t.Errorf("status %d, error %v", status, err)
						}
					})
				}
			}
			wait.Wait()
			equal(t, "refreshes", s.as.count(grantRefresh), 1)
			equal(t, "logins", s.visits, 1)
		})
	}
}

// TestC091OutagesDeleteNothing holds that a server which is busy, broken or away costs no login.
func TestC091OutagesDeleteNothing(t *testing.T) {
	for name, outage := range map[string]func(s *scene) func(){
		"busy": func(s *scene) func() {
			s.as.token = func(url.Values, *http.Request) (int, map[string]any) { return 503, map[string]any{} }
			return func() { s.as.token = nil }
		},
		"broken": func(s *scene) func() {
			s.as.token = func(url.Values, *http.Request) (int, map[string]any) {
				return 500, map[string]any{"error": "server_error"}
			}
			return func() { s.as.token = nil }
		},
		"away": func(s *scene) func() {
			h := s.hosts["as.test"]
			delete(s.hosts, "as.test")
			return func() { s.hosts["as.test"] = h }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			a := s.authorizer()
			must(t, a)
			s.as.revoke()
			over := outage(s)
			err := fails(t, a)
			var of *Error
			if errors.Is(err, client.ErrUnauthorized) || !errors.As(err, &of) || !of.Temporary() {
				t.Errorf("%v is no passing error", err)
			}
			over()
			must(t, a)
			equal(t, "logins", s.visits, 1)
		})
	}
	t.Run("still good for a moment", func(t *testing.T) {
		s := newScene(t)
		a := s.authorizer()
		must(t, a)
		s.clock.pass(time.Hour - 20*time.Second)
		s.as.token = func(url.Values, *http.Request) (int, map[string]any) { return 503, map[string]any{} }
		must(t, a)
		equal(t, "refreshes that failed", s.as.count(grantRefresh), 1)
	})
}

// TestC091PagesDeleteNothing holds that an answer of something in front of the authorization server costs no login either,
// while refusals of its own do, also without a reason.
func TestC091PagesDeleteNothing(t *testing.T) {
	for status, logins := range map[int]int{302: 1, 403: 1, 404: 1, 405: 1, 413: 1, 451: 1, 400: 2, 401: 2} {
		s := newScene(t)
		a := s.authorizer()
		must(t, a)
		s.as.revoke()
		front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/token" && r.FormValue("grant_type") == grantRefresh {
				w.WriteHeader(status)
				fmt.Fprint(w, "<html>You are not welcome here")
				return
			}
			s.as.ServeHTTP(w, r)
		})
		s.hosts["as.test"] = front
		if logins == 1 {
			fails(t, a, fmt.Sprint(status))
			s.hosts["as.test"] = s.as
			s.clock.pass(time.Minute)
		}
		must(t, a)
		equal(t, fmt.Sprint(status), s.visits, logins)
	}
}

// TestC091NewerTokensAreFound holds that a refused refresh token is no reason to delete what another has stored meanwhile.
func TestC091NewerTokensAreFound(t *testing.T) {
	s := newScene(t)
	s.as.rotate = true
	store := NewMemoryStore(0)
	s.opts.Store = store
	a := s.authorizer()
	must(t, a)
	// Somebody who does not keep to the lock refreshes between the moment the store is read and the answer.
	s.as.token = func(form url.Values, _ *http.Request) (int, map[string]any) {
		s.as.token = nil
		had, err := a.load(t.Context())
		if err != nil {
			t.Error(err)
			return 0, nil
		}
		delete(s.as.refreshes, form.Get("refresh_token"))
		other := s.as.issue("", false)
		had.Access, had.Refresh = other["access_token"].(string), other["refresh_token"].(string)
		if err := a.save(t.Context(), had); err != nil {
			t.Error(err)
		}
		return 0, nil
	}
	s.as.revoke()
	must(t, a)
	must(t, a)
	equal(t, "logins", s.visits, 1)
}

// TestLostRefresh holds what happens once a refresh token is worth nothing: one login, with the scopes that were asked for.
func TestLostRefresh(t *testing.T) {
	s := newScene(t)
	s.rs.challenge = `Bearer scope="read", resource_metadata="https://mcp.test` + usualMetadata + `"`
	a := s.authorizer()
	must(t, a)
	s.clock.pass(2 * time.Hour)
	s.as.revoke()
	s.as.refreshes = map[string]string{}
	s.rs.challenge = `Bearer scope="write", resource_metadata="https://mcp.test` + usualMetadata + `"`
	must(t, a)
	equal(t, "logins", s.visits, 2)
	equal(t, "scope of the second", s.as.pages[1].Get("scope"), "read write")
}

// TestC094LostForGood holds that the error of a lost login names the server, and comes back at once.
func TestC094LostForGood(t *testing.T) {
	s := newScene(t)
	a := s.authorizer()
	must(t, a)
	s.clock.pass(2 * time.Hour)
	s.as.revoke()
	s.as.refreshes, s.as.deny = map[string]string{}, "access_denied"
	err := fails(t, a, "https://mcp.test", "access_denied")
	if !errors.Is(err, client.ErrUnauthorized) {
		t.Errorf("%v is not client.ErrUnauthorized", err)
	}
	fails(t, a, "access_denied")
	equal(t, "logins", s.visits, 2)
	s.clock.pass(31 * time.Second)
	s.as.deny = ""
	must(t, a)
}

func TestNewProcess(t *testing.T) {
	s := newScene(t)
	s.opts.Store = files(t)
	must(t, s.authorizer())
	must(t, s.authorizer())
	equal(t, "logins", s.visits, 1)
	s.clock.pass(2 * time.Hour)
	must(t, s.authorizer())
	equal(t, "refreshes", s.as.count(grantRefresh), 1)
	equal(t, "requests without a token", len(s.rs.requests), 4)
	s.opts.User = "another"
	must(t, s.authorizer())
	equal(t, "logins", s.visits, 2)
}

// TestStoreFails holds that tokens which cannot be stored are used, and that a store which cannot be read is an error.
func TestStoreFails(t *testing.T) {
	s := newScene(t)
	s.opts.Store = NewMemoryStore(1)
	s.opts.Credentials = []Credentials{{Issuer: "https://as.test", ClientID: "given"}}
	if err := s.opts.Store.Put(t.Context(), "something else", nil); err != nil {
		t.Fatal(err)
	}
	a := s.authorizer()
	must(t, a)
	must(t, a)
	equal(t, "logins", s.visits, 1)
}

// TestBrokenRecord holds that a record which cannot be read costs a login and no more.
func TestBrokenRecord(t *testing.T) {
	s := newScene(t)
	s.opts.Store = NewMemoryStore(0)
	a := s.authorizer()
	for _, raw := range []string{"{", "[]", `{"access_token":"x","dpop_key":{"kty":"oct"}}`} {
		if err := s.opts.Store.Put(t.Context(), a.tokenKey(), []byte(raw)); err != nil {
			t.Fatal(err)
		}
		before := s.visits
		must(t, s.authorizer())
		equal(t, "logins after "+raw, s.visits-before, 1)
	}
}
