package auth_test

import (
	"context"
	"crypto"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/server"
)

// login is an authorization server for programs: it gives every client the scopes it asks for, bound to a key where the request
// carries a proof.
func login(t *testing.T, resource *string) *issuer {
	i := &issuer{}
	i.rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{
			"issuer": i.url, "jwks_uri": i.url + "/keys", "token_endpoint": i.url + "/token", "grant_types_supported": []string{"client_credentials"},
			"token_endpoint_auth_methods_supported": []string{"client_secret_basic"}, "code_challenge_methods_supported": []string{"S256"},
			"dpop_signing_alg_values_supported": []string{"ES256"},
		})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) { reply(w, i.public()) })
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		change, kind := map[string]any{"aud": *resource, "sub": "robot", "client_id": "robot", "scope": r.FormValue("scope")}, "Bearer"
		if r.FormValue("resource") != *resource {
			t.Errorf("a token was asked for %q", r.FormValue("resource"))
		}
		if proof := r.Header.Get("DPoP"); proof != "" {
			signed, err := jose.ParseSignedCompact(proof, []jose.SignatureAlgorithm{jose.ES256})
			if err != nil {
				t.Errorf("the proof: %v", err)
				return
			}
			sum, err := signed.Signatures[0].Protected.JSONWebKey.Thumbprint(crypto.SHA256)
			if err != nil {
				t.Errorf("the key of the proof: %v", err)
			}
			change["cnf"], kind = map[string]any{"jkt": base64url(sum)}, "DPoP"
		}
		reply(w, map[string]any{"access_token": i.token(t, change), "token_type": kind, "expires_in": 3600, "scope": r.FormValue("scope")})
	})
	i.url = listen(t, mux)
	return i
}

// Our client signs in at our server: it finds the way by the challenge, gets further scopes when a tool needs them, and proves
// to have its key where that is asked for.
func TestBothSides(t *testing.T) {
	for name, proofs := range map[string]*auth.DPoPOptions{
		"bearer": nil,
		"bound":  {Required: true},
		"nonces": {Required: true, NonceKey: []byte(strings.Repeat("k", 32))},
	} {
		t.Run(name, func(t *testing.T) {
			var resource string
			i := login(t, &resource)
			s := newServer(server.HTTPOptions{})
			var handler atomic.Pointer[http.Handler]
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler.Load()).ServeHTTP(w, r) }))
			t.Cleanup(func() {
				if err := s.Shutdown(context.Background()); err != nil {
					t.Errorf("shutdown: %v", err)
				}
				web.Close()
			})
			resource = web.URL + "/mcp"
			opts := i.options(t)
			opts.Resource, opts.DPoP = resource, proofs
			opts.ScopesFor = auth.ToolScopes(map[string][]string{"write": {"write"}})
			whole := mount(opts, s)
			handler.Store(&whole)

			robot, err := oauth.New(resource, oauth.Options{
				Flow: oauth.ClientCredentials{}, Credentials: []oauth.Credentials{{Issuer: i.url, ClientID: "robot", Secret: "kept"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer robot.Close()
			c, err := client.DialHTTP(t.Context(), resource, client.Options{HTTPClient: robot.Client()})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			for tool, want := range map[string]string{"whoami": "robot [read", "write": "robot [read write]"} {
				out, err := c.CallTool(t.Context(), tool, nil)
				if err != nil || !strings.Contains(out.Text(), want) {
					t.Errorf("%s: %v, %v", tool, out, err)
				}
			}
		})
	}
}
