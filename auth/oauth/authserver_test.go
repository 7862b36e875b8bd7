package oauth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// authServer is an authorization server. Its fields may be changed between requests.
type authServer struct {
	issuer    string
	at        []string       // paths of the metadata; nil means the first of the RFC
	metadata  map[string]any // over the default; nil values take members out
	iss       *string        // in answers to logins; nil means the issuer
	deny      string         // error of logins
	rotate    bool           // refresh tokens are good once
	noRefresh bool
	life      int
	register  func(body map[string]any) map[string]any
	token     func(form url.Values, r *http.Request) (status int, body map[string]any) // before everything else; 0 goes on
	nonce     string                                                                   // wanted in proofs
	pending   int                                                                      // answers before a device is let in

	mu        sync.Mutex
	codes     map[string]url.Values
	refreshes map[string]string // refresh token to scope
	tokens    map[string]string // access token to scope
	pages     []url.Values      // queries of logins
	forms     []url.Values      // of token requests, with "_authorization" and "_dpop"
	clients   []map[string]any  // registrations
	devices   int
	revoked   []url.Values // forms of revocations

	refuseRevoke bool
	device       map[string]any // answer to a device; nil means a good one
}

func newAuthServer(issuer string) *authServer {
	return &authServer{issuer: issuer, life: 3600, codes: map[string]url.Values{}, refreshes: map[string]string{}, tokens: map[string]string{}}
}

func (s *authServer) document() map[string]any {
	m := map[string]any{"issuer": s.issuer, "authorization_endpoint": s.issuer + "/authorize", "token_endpoint": s.issuer + "/token",
		"registration_endpoint": s.issuer + "/register", "device_authorization_endpoint": s.issuer + "/device",
		"code_challenge_methods_supported": []string{"plain", "S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"authorization_response_iss_parameter_supported": true}
	maps.Copy(m, s.metadata)
	maps.DeleteFunc(m, func(_ string, v any) bool { return v == nil })
	return m
}

func (s *authServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, _ := url.Parse(s.issuer)
	at := s.at
	if at == nil {
		at = []string{"/.well-known/oauth-authorization-server" + u.Path}
	}
	switch path := r.URL.Path; {
	case slices.Contains(at, path):
		send(w, 200, s.document())
	case path == u.Path+"/authorize":
		s.authorize(w, r)
	case path == u.Path+"/token":
		s.serveToken(w, r)
	case path == u.Path+"/register":
		var body map[string]any
		_ = json.NewDecoder(r.Body).Decode(&body)
		s.clients = append(s.clients, body)
		out := map[string]any{"client_id": fmt.Sprintf("client-%d-of-%s", len(s.clients), u.Host), "token_endpoint_auth_method": "none"}
		if s.register != nil {
			out = s.register(body)
		}
		status := 201
		if out["error"] != nil {
			status = 400
		}
		send(w, status, out)
	case path == u.Path+"/revoke":
		_ = r.ParseForm()
		s.revoked = append(s.revoked, r.PostForm)
		if s.refuseRevoke {
			send(w, 400, map[string]any{"error": "invalid_request", "error_description": "no " + r.PostForm.Get("token")})
		}
	case path == u.Path+"/device":
		s.devices++
		if s.device != nil {
			send(w, 200, s.device)
			return
		}
		send(w, 200, map[string]any{"device_code": "device-secret", "user_code": "ABCD-EFGH", "verification_uri": s.issuer + "/go",
			"expires_in": 600, "interval": 2})
	default:
		http.NotFound(w, r)
	}
}

func (s *authServer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.pages = append(s.pages, q)
	back, _ := url.Parse(q.Get("redirect_uri"))
	out := url.Values{"state": {q.Get("state")}}
	if s.deny != "" {
		out.Set("error", s.deny)
		out.Set("error_description", "the person said no")
	} else {
		code := rand.Text()
		s.codes[code] = q
		out.Set("code", code)
	}
	switch {
	case s.iss == nil:
		out.Set("iss", s.issuer)
	case *s.iss != "":
		out.Set("iss", *s.iss)
	}
	back.RawQuery = out.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (s *authServer) serveToken(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	form := maps.Clone(r.PostForm)
	form["_authorization"], form["_dpop"] = r.Header["Authorization"], r.Header["Dpop"]
	s.forms = append(s.forms, form)
	no := func(code string) {
		send(w, 400, map[string]any{"error": code, "error_description": "no: " + form.Get("refresh_token")})
	}
	if s.nonce != "" && claims(r.Header.Get("DPoP"))["nonce"] != s.nonce {
		w.Header().Set("DPoP-Nonce", s.nonce)
		no("use_dpop_nonce")
		return
	}
	if s.token != nil {
		if status, body := s.token(form, r); status != 0 {
			send(w, status, body)
			return
		}
	}
	scope := form.Get("scope")
	switch form.Get("grant_type") {
	case grantCode:
		q, ok := s.codes[form.Get("code")]
		delete(s.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if !ok || q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || q.Get("redirect_uri") != form.Get("redirect_uri") ||
			q.Get("resource") != form.Get("resource") {
			no("invalid_grant")
			return
		}
		scope = q.Get("scope")
	case grantRefresh:
		had, ok := s.refreshes[form.Get("refresh_token")]
		if !ok {
			no("invalid_grant")
			return
		}
		if scope = had; s.rotate {
			delete(s.refreshes, form.Get("refresh_token"))
		}
	case grantDevice:
		if s.pending--; s.pending >= 0 {
			no("authorization_pending")
			return
		}
	case grantClient, grantJWTBearer:
	default:
		no("unsupported_grant_type")
		return
	}
	send(w, 200, s.issue(scope, r.Header.Get("DPoP") != ""))
}

func (s *authServer) issue(scope string, bound bool) map[string]any {
	access, refresh := "access-"+rand.Text(), "refresh-"+rand.Text()
	s.tokens[access] = scope
	out := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": s.life, "scope": scope}
	if bound {
		out["token_type"] = "DPoP"
	}
	if !s.noRefresh {
		s.refreshes[refresh] = scope
		out["refresh_token"] = refresh
	}
	return out
}

// revoke makes all access tokens worthless.
func (s *authServer) revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = map[string]string{}
}

func (s *authServer) last(grant string) url.Values {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, form := range slices.Backward(s.forms) {
		if form.Get("grant_type") == grant {
			return form
		}
	}
	return nil
}

func (s *authServer) count(grant string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, form := range s.forms {
		if form.Get("grant_type") == grant {
			n++
		}
	}
	return n
}
