package signin_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// office is an MCP server that lets nobody in without a token, and the authorization server that it trusts, both on this
// machine. Everybody who agrees there is Ada.
type office struct {
	address string // of the MCP server
	issuer  string
	close   func()

	mu     sync.Mutex
	known  string // the id of the one client that may come; empty registers whoever asks
	secret string // of that client
	codes  map[string]url.Values
	tokens map[string]auth.Token
	logins []url.Values // queries of the page of logins
	sent   http.Header  // with the last request to the MCP server
}

func openOffice() *office {
	o := &office{codes: map[string]url.Values{}, tokens: map[string]auth.Token{}}
	login := httptest.NewServer(http.HandlerFunc(o.serve))
	o.issuer = login.URL
	s := server.New(mcp.Implementation{Name: "office", Version: "1"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "whoami"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return req.Principal().Subject, nil
	})
	mux := http.NewServeMux()
	desk := httptest.NewUnstartedServer(mux)
	o.address = "http://" + desk.Listener.Addr().String() + "/mcp"
	opts := auth.Options{Resource: o.address, AuthorizationServers: []string{o.issuer}, Verifier: auth.VerifierFunc(o.verify), Scopes: []string{"read"}}
	guarded := auth.Bearer(opts)(s.Handler())
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.sent = r.Header.Clone()
		o.mu.Unlock()
		guarded.ServeHTTP(w, r)
	})
	mux.Handle("/.well-known/", auth.Metadata(opts))
	desk.Start()
	o.close = func() { desk.Close(); login.Close() }
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

// count tells how many logins there were.
func (o *office) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.logins)
}

// last gives the query of the last login.
func (o *office) last() url.Values {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.logins[len(o.logins)-1]
}

// header gives one that came with the last request to the MCP server.
func (o *office) header(name string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent.Get(name)
}

// agree is the user's browser and the user: the page is opened, and the way back followed.
func agree(ctx context.Context, page string) error {
	go func() { // ends with the answer of the program that waits for it
		req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, page, nil)
		if err != nil {
			return
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
		}
	}()
	return nil
}

// serve is the authorization server.
func (o *office) serve(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	send := func(status int, body map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		document := map[string]any{"issuer": o.issuer, "authorization_endpoint": o.issuer + "/authorize", "token_endpoint": o.issuer + "/token",
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none", "client_secret_post"},
			"authorization_response_iss_parameter_supported": true}
		if o.known == "" {
			document["registration_endpoint"] = o.issuer + "/register"
		}
		send(200, document)
	case "/register":
		send(201, map[string]any{"client_id": "registered", "token_endpoint_auth_method": "none"})
	case "/authorize":
		q, code := r.URL.Query(), rand.Text()
		o.logins = append(o.logins, q)
		o.codes[code] = q
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {o.issuer}}.Encode(), http.StatusFound)
	case "/token":
		q := o.codes[r.FormValue("code")]
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		wrong := o.known != "" && (r.FormValue("client_id") != o.known || r.FormValue("client_secret") != o.secret)
		machine := r.FormValue("grant_type") == "client_credentials"
		if wrong || !machine && q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			send(400, map[string]any{"error": "invalid_grant", "error_description": "not for " + r.FormValue("client_secret")})
			return
		}
		access := rand.Text()
		o.tokens[access] = auth.Token{Principal: mcp.Principal{Issuer: o.issuer, Subject: "Ada", Scopes: strings.Fields("read " + q.Get("scope"))},
			Audience: []string{r.FormValue("resource")}}
		send(200, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600})
	default:
		http.NotFound(w, r)
	}
}
