package app

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// office is an MCP server that lets nobody in without a token, and the authorization server that it trusts. People who sign in at
// it are whom the field browser names at that moment. It exchanges tokens that it is shown for its own.
type office struct {
	address string // of the MCP server
	issuer  string

	mu      sync.Mutex
	browser string                                       // who sits in front of it
	people  map[string]string                            // whose tokens are exchanged, by the token
	life    int                                          // of tokens, in seconds
	deny    string                                       // error of logins
	refuse  func(form url.Values) (status int, body any) // answers exchanges in place of it; nil goes on
	codes   map[string]url.Values                        // queries of logins
	tokens  map[string]auth.Token                        // that are good
	logins  int
	forms   []url.Values // of token requests
	seen    []string     // tokens that the MCP server was shown
}

func openOffice(t *testing.T, versions []string) *office {
	t.Helper()
	o := &office{people: map[string]string{}, codes: map[string]url.Values{}, tokens: map[string]auth.Token{}, life: 3600}
	login := httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(login.Close)
	o.issuer = login.URL
	s := server.New(mcp.Implementation{Name: "office", Version: "1"}, server.Options{Versions: versions})
	server.AddTool(s, mcp.Tool{Name: "whoami"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return req.Principal().Subject, nil
	})
	mux := http.NewServeMux()
	desk := httptest.NewUnstartedServer(mux)
	o.address = "http://" + desk.Listener.Addr().String() + "/mcp"
	opts := auth.Options{Resource: o.address, AuthorizationServers: []string{o.issuer}, Verifier: auth.VerifierFunc(o.verify)}
	guarded := auth.Bearer(opts)(s.Handler())
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.seen = append(o.seen, r.Header.Get("Authorization"))
		o.mu.Unlock()
		guarded.ServeHTTP(w, r)
	})
	mux.Handle("/.well-known/", auth.Metadata(opts))
	desk.Start()
	t.Cleanup(desk.Close)
	return o
}

func (o *office) verify(_ context.Context, token string) (*auth.Token, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	known, ok := o.tokens[token]
	if !ok {
		return nil, &auth.InvalidToken{Reason: "the token is not known"}
	}
	return &known, nil
}

// issue makes a token of somebody. o.mu is held.
func (o *office) issue(subject, resource string) string {
	token := "token-of-the-office-" + rand.Text()
	o.tokens[token] = auth.Token{Principal: mcp.Principal{Issuer: o.issuer, Subject: subject}, Audience: []string{resource}}
	return token
}

// revoke makes all tokens worth nothing.
func (o *office) revoke() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.tokens)
}

// with changes something while nobody is served.
func (o *office) with(change func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	change()
}

// shown tells which tokens the MCP server has seen.
func (o *office) shown() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.seen)
}

// serve is the authorization server.
func (o *office) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	send := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		send(200, map[string]any{
			"issuer": o.issuer, "authorization_endpoint": o.issuer + "/authorize", "token_endpoint": o.issuer + "/token",
			"registration_endpoint": o.issuer + "/register", "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none", "client_secret_post"}, "authorization_response_iss_parameter_supported": true,
		})
	case "/register":
		send(201, map[string]any{"client_id": "registered", "token_endpoint_auth_method": "none"})
	case "/authorize":
		q, code := r.URL.Query(), rand.Text()
		q.Set("who", o.browser)
		o.logins++
		o.codes[code] = q
		if o.deny != "" {
			http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"error": {o.deny}, "state": {q.Get("state")}, "iss": {o.issuer}}.Encode(), http.StatusFound)
			return
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {o.issuer}}.Encode(), http.StatusFound)
	case "/token":
		_ = r.ParseForm()
		if id, secret, ok := r.BasicAuth(); ok {
			r.Form.Set("client_id", id)
			r.Form.Set("client_secret", secret)
		}
		o.forms = append(o.forms, r.Form)
		if r.FormValue("grant_type") == "authorization_code" {
			q := o.codes[r.FormValue("code")]
			delete(o.codes, r.FormValue("code"))
			sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
			if q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
				send(400, map[string]any{"error": "invalid_grant"})
				return
			}
			send(200, map[string]any{"access_token": o.issue(q.Get("who"), r.FormValue("resource")), "token_type": "Bearer", "expires_in": o.life})
			return
		}
		o.exchange(r.Form, send)
	default:
		http.NotFound(w, r)
	}
}

// exchange serves the grants that begin with a token of somebody. o.mu is held.
func (o *office) exchange(form url.Values, send func(int, any)) {
	if o.refuse != nil {
		if status, body := o.refuse(form); status != 0 {
			send(status, body)
			return
		}
	}
	subject, wanted := form.Get("subject_token"), form.Get("requested_token_type")
	if form.Get("grant_type") == "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		subject, wanted = strings.TrimPrefix(form.Get("assertion"), "statement-for-"), ""
	}
	who, ok := o.people[subject]
	switch {
	case !ok || form.Get("client_id") != "gateway" || form.Get("client_secret") != "secret-of-the-gateway":
		send(400, map[string]any{"error": "invalid_grant", "error_description": "not " + subject})
	case strings.HasSuffix(wanted, "id-jag"):
		send(200, map[string]any{"access_token": "statement-for-" + subject, "issued_token_type": wanted, "token_type": "N_A"})
	default:
		send(200, map[string]any{"access_token": o.issue(who, form.Get("resource")), "token_type": "Bearer", "expires_in": o.life,
			"issued_token_type": "urn:ietf:params:oauth:token-type:access_token"})
	}
}
