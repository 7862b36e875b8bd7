package oauth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// office is an MCP server with two tools, guarded by package auth, and the authorization server that it trusts, which signs
// its tokens. Both are on this machine, so that plain HTTP is allowed.
type office struct {
	address string // of the MCP server
	login   string // of the authorization server
	close   func()
	key     jose.JSONWebKey

	mu     sync.Mutex
	codes  map[string]url.Values
	good   map[string]bool // access tokens
	grants []string        // in order
}

// openOffice opens an office; dpop guards it by proofs of possession as well.
func openOffice(dpop *auth.DPoPOptions) *office {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	o := &office{codes: map[string]url.Values{}, good: map[string]bool{}, key: jose.JSONWebKey{Key: private, KeyID: "one", Use: "sig"}}
	login := httptest.NewServer(http.HandlerFunc(o.serveLogin))
	o.login = login.URL
	tokens, err := auth.NewJWT(auth.JWTOptions{Issuer: o.login, RequireType: true})
	if err != nil {
		panic(err)
	}

	s := server.New(mcp.Implementation{Name: "office", Version: "1.0.0"}, server.Options{})
	server.AddTool(s, mcp.Tool{Name: "read", Description: "Reads the notes"}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
		return "notes of " + req.Principal().Subject, nil
	})
	server.AddTool(s, mcp.Tool{Name: "write", Description: "Writes a note"}, func(context.Context, *server.Request, struct{}) (string, error) {
		return "written", nil
	})
	mux := http.NewServeMux()
	desk := httptest.NewUnstartedServer(mux)
	o.address = "http://" + desk.Listener.Addr().String() + "/mcp"
	opts := auth.Options{Resource: o.address, AuthorizationServers: []string{o.login}, Verifier: o.verifier(tokens), DPoP: dpop,
		Scopes: []string{"notes:read"}, ScopesFor: auth.ToolScopes(map[string][]string{"write": {"notes:write"}})}
	mux.Handle("/mcp", auth.Bearer(opts)(s.Handler()))
	mux.Handle("/.well-known/", auth.Metadata(opts))
	desk.Start()
	o.close = func() { desk.Close(); login.Close() }
	return o
}

// verifier takes tokens that are signed and have not been revoked.
func (o *office) verifier(signed auth.Verifier) auth.Verifier {
	return auth.VerifierFunc(func(ctx context.Context, token string) (*auth.Token, error) {
		o.mu.Lock()
		good := o.good[token]
		o.mu.Unlock()
		if !good {
			return nil, auth.Invalidf("the token is not known")
		}
		return signed.Verify(ctx, token)
	})
}

// revoke makes all tokens worthless.
func (o *office) revoke() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.good)
}

func (o *office) granted() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.Join(o.grants, " ")
}

// serveLogin is the authorization server: everybody who asks is Ada.
func (o *office) serveLogin(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	send := func(body map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		send(map[string]any{"issuer": o.login, "authorization_endpoint": o.login + "/authorize", "token_endpoint": o.login + "/token",
			"jwks_uri": o.login + "/keys", "registration_endpoint": o.login + "/register", "code_challenge_methods_supported": []string{"S256"},
			"token_endpoint_auth_methods_supported": []string{"none", "client_secret_basic"}, "dpop_signing_alg_values_supported": []string{"ES256"},
			"authorization_response_iss_parameter_supported": true})
	case "/keys":
		send(map[string]any{"keys": []any{o.key.Public()}})
	case "/register":
		send(map[string]any{"client_id": "client-1", "token_endpoint_auth_method": "none"})
	case "/authorize":
		q, code := r.URL.Query(), rand.Text()
		o.codes[code] = q
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {o.login}}.Encode(), http.StatusFound)
	case "/token":
		o.serveToken(w, r, send)
	default:
		http.NotFound(w, r)
	}
}

func (o *office) serveToken(w http.ResponseWriter, r *http.Request, send func(map[string]any)) {
	grant, scope, resource := r.FormValue("grant_type"), r.FormValue("scope"), r.FormValue("resource")
	o.grants = append(o.grants, grant)
	if grant == "authorization_code" {
		q := o.codes[r.FormValue("code")]
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if q.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || q.Get("resource") != resource {
			w.WriteHeader(http.StatusBadRequest)
			send(map[string]any{"error": "invalid_grant"})
			return
		}
		scope = q.Get("scope")
	}
	if grant == "refresh_token" {
		scope = r.FormValue("refresh_token")
	}
	claims := map[string]any{"iss": o.login, "sub": "Ada", "aud": resource, "scope": scope, "exp": time.Now().Add(time.Hour).Unix(), "jti": rand.Text()}
	kind := "Bearer"
	if proof, err := jose.ParseSignedCompact(r.Header.Get("DPoP"), []jose.SignatureAlgorithm{jose.ES256}); err == nil {
		thumb, err := proof.Signatures[0].Header.JSONWebKey.Thumbprint(crypto.SHA256)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		kind, claims["cnf"] = "DPoP", map[string]string{"jkt": base64.RawURLEncoding.EncodeToString(thumb)}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: o.key}, (&jose.SignerOptions{}).WithType("at+jwt"))
	if err != nil {
		panic(err)
	}
	access, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		panic(err)
	}
	o.good[access] = true
	send(map[string]any{"access_token": access, "token_type": kind, "expires_in": 3600, "scope": scope, "refresh_token": scope})
}
