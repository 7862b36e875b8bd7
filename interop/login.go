package interop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// LoginServer is an authorization server that lets everybody in who keeps to OAuth 2.1: it registers clients, wants PKCE and the
// resource, and makes signed tokens for that resource.
type LoginServer struct {
	URL string

	key *ecdsa.PrivateKey

	mu        sync.Mutex
	codes     map[string]url.Values // queries of logins
	resources []string              // that tokens were made for
}

// StartLogin runs it until the test ends.
func StartLogin(t testing.TB) *LoginServer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	l := &LoginServer{key: key, codes: make(map[string]url.Values)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", l.metadata)
	mux.HandleFunc("GET /keys", l.keys)
	mux.HandleFunc("POST /register", l.register)
	mux.HandleFunc("GET /authorize", l.authorize)
	mux.HandleFunc("POST /token", l.token)
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	l.URL = web.URL
	return l
}

// Resources are those that tokens were made for, in their order.
func (l *LoginServer) Resources() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.resources...)
}

func (l *LoginServer) metadata(w http.ResponseWriter, _ *http.Request) {
	sendJSON(w, http.StatusOK, map[string]any{
		"issuer": l.URL, "authorization_endpoint": l.URL + "/authorize", "token_endpoint": l.URL + "/token",
		"registration_endpoint": l.URL + "/register", "jwks_uri": l.URL + "/keys", "response_types_supported": []string{"code"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (l *LoginServer) keys(w http.ResponseWriter, _ *http.Request) {
	point, err := l.key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	sendJSON(w, http.StatusOK, map[string]any{"keys": []any{map[string]any{
		"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": "k", "x": base64url(point[1:33]), "y": base64url(point[33:]),
	}}})
}

func (l *LoginServer) register(w http.ResponseWriter, r *http.Request) {
	var client map[string]any
	if err := json.NewDecoder(r.Body).Decode(&client); err != nil {
		sendJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_client_metadata"})
		return
	}
	client["client_id"] = rand.Text()
	sendJSON(w, http.StatusCreated, client)
}

func (l *LoginServer) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("code_challenge_method") != "S256" || q.Get("resource") == "" {
		http.Error(w, "the login has no redirect, no PKCE or no resource", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	l.mu.Lock()
	l.codes[code] = q
	l.mu.Unlock()
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {l.URL}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func (l *LoginServer) token(w http.ResponseWriter, r *http.Request) {
	code, resource := r.FormValue("code"), r.FormValue("resource")
	l.mu.Lock()
	q, ok := l.codes[code]
	delete(l.codes, code)
	l.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	if !ok || q.Get("code_challenge") != base64url(sum[:]) || q.Get("resource") != resource || q.Get("redirect_uri") != r.FormValue("redirect_uri") {
		sendJSON(w, http.StatusBadRequest, map[string]any{"error": "invalid_grant"})
		return
	}
	token, err := l.sign(map[string]any{
		"iss": l.URL, "sub": "ann", "client_id": r.FormValue("client_id"), "aud": resource, "scope": q.Get("scope"),
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	l.mu.Lock()
	l.resources = append(l.resources, resource)
	l.mu.Unlock()
	sendJSON(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600, "scope": q.Get("scope")})
}

// sign makes a token of claims. RFC 9068.
func (l *LoginServer) sign(claims map[string]any) (string, error) {
	raw, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64url([]byte(`{"alg":"ES256","typ":"at+jwt","kid":"k"}`)) + "." + base64url(raw)
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, l.key, sum[:])
	if err != nil {
		return "", err
	}
	const half = 32
	return text + "." + base64url(append(r.FillBytes(make([]byte, half)), s.FillBytes(make([]byte, half))...)), nil
}

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func sendJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		panic(fmt.Sprintf("write an answer: %v", err)) // of a test: net/http tells of it
	}
}
