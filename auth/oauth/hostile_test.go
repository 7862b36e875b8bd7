package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode"
)

// inside are addresses that nobody may make a client in the wide world go to.
var inside = []string{
	"http://as.test", "https://127.0.0.1", "http://localhost", "https://10.0.0.1", "https://169.254.169.254", "https://[fd00:ec2::254]",
	"https://[::ffff:169.254.169.254]", "https://[::ffff:7f00:1]", "https://[64:ff9b::a9fe:a9fe]", "https://user:pass@as.test",
}

// nowhere are addresses that are none.
var nowhere = []string{"file:///etc/passwd", "javascript:alert(1)", "ldap://as.test", "https://", "//as.test", "as.test", "\x00"}

// TestHostileAddresses goes through all places where a server names an address: none of those above is asked or shown.
func TestHostileAddresses(t *testing.T) {
	member := func(name string) func(*scene, string) {
		return func(s *scene, address string) { s.as.metadata = map[string]any{name: address + "/x"} }
	}
	for place, name := range map[string]func(*scene, string){
		"token endpoint":  member("token_endpoint"),
		"registration":    member("registration_endpoint"),
		"page for logins": member("authorization_endpoint"),
		"codes for devices": func(s *scene, address string) {
			s.opts.Flow = Device{Show: s.show}
			member("device_authorization_endpoint")(s, address)
		},
		"page for devices": func(s *scene, address string) {
			s.opts.Flow = Device{Show: s.show}
			s.as.device = map[string]any{"device_code": "d", "user_code": "u", "verification_uri": address + "/x"}
		},
		"page with the code": func(s *scene, address string) {
			s.opts.Flow = Device{Show: s.show}
			s.as.device = map[string]any{"device_code": "d", "user_code": "u", "verification_uri": "https://as.test/go", "verification_uri_complete": address + "/x"}
		},
		"issuer": func(s *scene, address string) {
			s.rs.documents[usualMetadata] = map[string]any{"resource": "https://mcp.test/mcp", "authorization_servers": []string{address}}
		},
		"metadata of the resource": func(s *scene, address string) {
			s.rs.challenge = fmt.Sprintf("Bearer resource_metadata=%q", address+"/x")
			delete(s.rs.documents, usualMetadata)
		},
	} {
		t.Run(place, func(t *testing.T) {
			for _, address := range append(nowhere, inside...) {
				s := newScene(t)
				name(s, address)
				err := fails(t, s.authorizer())
				if strings.HasPrefix(address, "http") && !strings.Contains(address, "@") && address != "https://" && !errors.Is(err, ErrGuard) &&
					(place != "issuer" || address != "http://as.test") {
					t.Errorf("%s: error %v", address, err)
				}
				if n := s.requests("mcp.test") + s.requests(" as.test"); n != len(s.seen) || s.visits > 0 && place != "token endpoint" {
					t.Errorf("%s: %d visits; requests %q", address, s.visits, s.seen)
				}
			}
		})
	}
}

// show counts the prompts of another device among the visits.
func (s *scene) show(context.Context, DevicePrompt) error {
	s.visits++
	return nil
}

// TestHostileRedirects holds that documents are not fetched, and forms not sent, where a redirect leads that may not.
func TestHostileRedirects(t *testing.T) {
	for _, from := range []string{"/.well-known/oauth-authorization-server", "/token", "/register"} {
		for _, to := range append([]string{"https://attacker.test"}, inside...) {
			s := newScene(t)
			s.hosts["as.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == from {
					http.Redirect(w, r, to+"/there", http.StatusTemporaryRedirect)
					return
				}
				s.as.ServeHTTP(w, r)
			})
			asked := false
			s.hosts["attacker.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = true
				http.NotFound(w, r)
			})
			fails(t, s.authorizer())
			if n := s.requests("mcp.test") + s.requests(" as.test") + s.requests(" attacker.test"); n != len(s.seen) || s.requests("/there") > 0 && !asked {
				t.Errorf("%s to %s: requests %q", from, to, s.seen)
			}
			if document := strings.HasPrefix(from, "/."); asked != (document && to == "https://attacker.test") {
				t.Errorf("%s to %s: was it asked? %t", from, to, asked)
			}
		}
	}
}

// TestMixUp holds that a code of an honest authorization server is not given to another one, whose metadata send the person
// to the page of the honest one.
func TestMixUp(t *testing.T) {
	empty := ""
	for name, honest := range map[string]*string{"that says who it is": nil, "that does not": &empty} {
		s := newScene(t)
		other := newAuthServer("https://honest.test")
		other.iss = honest
		s.hosts["honest.test"] = other
		s.as.metadata = map[string]any{"authorization_endpoint": "https://honest.test/authorize"}
		if err := fails(t, s.authorizer(), "the answer to the login"); !errors.Is(err, ErrIssuer) {
			t.Errorf("a server %s: %v", name, err)
		}
		equal(t, "visits", s.visits, 1)
		equal(t, "codes that were given away", s.requests("/token"), 0)
	}
}

// TestPageKeepsItsQuery holds that what a server has in the address of its page stays, and changes nothing of the request.
func TestPageKeepsItsQuery(t *testing.T) {
	s := newScene(t)
	s.as.metadata = map[string]any{"authorization_endpoint": "https://as.test/authorize?tenant=7&client_id=other&state=x&state=y&" +
		"code_challenge_method=plain&redirect_uri=https://attacker.test/&resource=https://other.test/&response_type=token"}
	must(t, s.authorizer())
	q := s.as.pages[0]
	for name, want := range map[string]string{"tenant": "7", "client_id": "client-1-of-as.test", "code_challenge_method": "S256",
		"redirect_uri": "http://127.0.0.1:1717/back", "resource": "https://mcp.test/mcp", "response_type": "code"} {
		equal(t, name, strings.Join(q[name], " "), want)
	}
	equal(t, "states", len(q["state"]), 1)
}

// TestNonceLoop holds that a server which wants another nonce each time does not keep a request going.
func TestNonceLoop(t *testing.T) {
	s := newScene(t)
	s.rs.dpop, s.rs.challenge = true, `DPoP algs="ES256"`
	s.hosts["mcp.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.rs.nonce = rand.Text()
		s.rs.ServeHTTP(w, r)
	})
	status, err := call(t, s.authorizer())
	if n := s.requests("POST mcp.test/mcp"); n > 7 || s.visits > 1 || err == nil && status != 401 {
		t.Errorf("status %d, error %v after %d requests and %d visits", status, err, n, s.visits)
	}
	s = newScene(t)
	s.opts.DPoP = DPoPAlways
	s.hosts["as.test"] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.as.mu.Lock()
		s.as.nonce = rand.Text()
		s.as.mu.Unlock()
		s.as.ServeHTTP(w, r)
	})
	fails(t, s.authorizer(), "use_dpop_nonce")
	equal(t, "token requests", s.requests("/token"), 2)
}

// TestEndlessNonce holds that a nonce beyond its bound is not taken into proofs.
func TestEndlessNonce(t *testing.T) {
	a := newScene(t).authorizer()
	for n, want := range map[int]bool{1: true, 1 << 10: true, 1<<10 + 1: false} {
		nonce := strings.Repeat("n", n)
		a.keepNonce(a.server, http.Header{"Dpop-Nonce": {nonce}})
		equal(t, fmt.Sprint(n, " bytes"), a.nonce(a.server) == nonce, want)
	}
}

// TestHostileUserCodes holds that nothing reaches a terminal which a terminal would obey.
func TestHostileUserCodes(t *testing.T) {
	for code, good := range map[string]bool{"ABCD-EFGH": true, "ЖШ 12": true, "A\x1b[2JB": false, "A\nB": false, "A\u009b2JB": false,
		"A\u202eB": false, strings.Repeat("A", 65): false} {
		s := newScene(t)
		s.opts.Flow = Device{Show: func(context.Context, DevicePrompt) error { s.visits++; return errors.New("seen") }}
		s.as.device = map[string]any{"device_code": "d", "user_code": code, "verification_uri": "https://as.test/go"}
		fails(t, s.authorizer(), map[bool]string{true: "seen", false: "nobody can type"}[good])
		equal(t, code, s.visits == 1, good)
	}
}

// TestPageForPeopleIsPlain holds that an address which is shown has nothing in it that does not print.
func TestPageForPeopleIsPlain(t *testing.T) {
	s := newScene(t)
	var shown DevicePrompt
	s.opts.Flow = Device{Show: func(_ context.Context, p DevicePrompt) error { shown = p; return errors.New("seen") }}
	s.as.device = map[string]any{"device_code": "d", "user_code": "u", "verification_uri": "https://as.test/\u202ego\u009b",
		"verification_uri_complete": "https://as.test/go?\u2066x"}
	fails(t, s.authorizer(), "seen")
	equal(t, "page", shown.Page, "https://as.test/%E2%80%AEgo%C2%9B")
	if strings.ContainsFunc(shown.Page+shown.Complete, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Errorf("%q", shown)
	}
}

// TestErrorsOfTheNetwork holds that what a peer has written into its certificate, or where a name is long, an error stays
// one short line.
func TestErrorsOfTheNetwork(t *testing.T) {
	s := newScene(t)
	a := s.authorizer()
	a.web.named.Transport = transport(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("certificate is valid for \x1b[2J, " + strings.Repeat("x", 5000))
	})
	err := fails(t, a, "certificate is valid for")
	if strings.ContainsFunc(err.Error(), unicode.IsControl) || len(err.Error()) > 2000 {
		t.Errorf("%q", err)
	}
	s = newScene(t)
	s.rs.documents[usualMetadata].(map[string]any)["authorization_servers"] = []string{"https://as.test/" + strings.Repeat("x", 3000)}
	if err := fails(t, s.authorizer(), "cannot be the name"); len(err.Error()) > 1000 {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// TestLongListsInErrors holds that a peer cannot fill a log by what it lists.
func TestLongListsInErrors(t *testing.T) {
	for name, member := range map[string]string{"PKCE": "code_challenge_methods_supported", "methods": "token_endpoint_auth_methods_supported",
		"algorithms": "token_endpoint_auth_signing_alg_values_supported", "proofs": "dpop_signing_alg_values_supported"} {
		s := newScene(t)
		s.opts.DPoP = DPoPAlways
		s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{MethodPrivateKeyJWT}, member: many(10_000)}
		s.opts.Credentials = []Credentials{{ClientID: "app", Key: newTestKey(t)}}
		if err := fails(t, s.authorizer()); len(err.Error()) > 1000 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}
