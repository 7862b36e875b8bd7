package auth_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// issuer is an authorization server as far as a resource server sees it: metadata and keys, which it rotates.
type issuer struct {
	url     string
	fetches atomic.Int32 // of the keys

	mu   sync.Mutex
	keys []jose.JSONWebKey // private; the newest last
}

func newIssuer(t testing.TB) *issuer {
	t.Helper()
	i := &issuer{}
	i.rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server/tenant", func(w http.ResponseWriter, _ *http.Request) {
		reply(w, map[string]any{"issuer": i.url, "jwks_uri": i.url + "/keys"})
	})
	mux.HandleFunc("GET /tenant/keys", func(w http.ResponseWriter, _ *http.Request) {
		i.fetches.Add(1)
		reply(w, i.public())
	})
	web := httptest.NewServer(mux)
	t.Cleanup(web.Close)
	i.url = web.URL + "/tenant"
	return i
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the other side sees what is missing
}

func newKey(id string) jose.JSONWebKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: id, Algorithm: "ES256", Use: "sig"}
}

// rotate replaces the keys by a fresh one.
func (i *issuer) rotate() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = []jose.JSONWebKey{newKey(fmt.Sprintf("key-%d", time.Now().UnixNano()))}
}

func (i *issuer) key() jose.JSONWebKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[len(i.keys)-1]
}

func (i *issuer) public() jose.JSONWebKeySet {
	i.mu.Lock()
	defer i.mu.Unlock()
	var set jose.JSONWebKeySet
	for _, k := range i.keys {
		set.Keys = append(set.Keys, k.Public())
	}
	return set
}

// claims of a good token, with changes; a nil value takes a claim away.
func (i *issuer) claims(change map[string]any) map[string]any {
	all := map[string]any{
		"iss": i.url, "sub": "ann", "client_id": "desk", "aud": resource, "scope": "read",
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

// token mints an access token.
func (i *issuer) token(t testing.TB, change map[string]any) string {
	t.Helper()
	return sign(t, i.key(), "ES256", "at+jwt", i.claims(change))
}

// sign makes a JWT of any value.
func sign(t testing.TB, key any, algorithm, typ string, payload any) string {
	t.Helper()
	opts := &jose.SignerOptions{}
	if typ != "" {
		opts = opts.WithType(jose.ContentType(typ))
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithm), Key: key}, opts)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(raw)
	if err != nil {
		t.Fatal(err)
	}
	out, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func thumbprint(t testing.TB, key jose.JSONWebKey) string {
	t.Helper()
	sum, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return base64url(sum)
}

// resource is the public address of the protected server, which its own has nothing to do with.
const resource = "https://pub.example/x/mcp"

const metadataURL = "https://pub.example/.well-known/oauth-protected-resource/x/mcp"

// verifier takes the tokens of an issuer.
func (i *issuer) verifier(t testing.TB) *auth.JWT {
	t.Helper()
	v, err := auth.NewJWT(auth.JWTOptions{Issuer: i.url})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// options protect the resource with tokens of an issuer.
func (i *issuer) options(t testing.TB) auth.Options {
	t.Helper()
	return auth.Options{
		Resource: resource, AuthorizationServers: []string{i.url}, Verifier: i.verifier(t), Scopes: []string{"read"},
		OnError: func(err error) { t.Errorf("reported: %v", err) },
	}
}

// newServer has a tool that says who calls it and what it can see of the token.
func newServer(http server.HTTPOptions) *server.Server {
	s := server.New(mcp.Implementation{Name: "protected", Version: "1"}, server.Options{HTTP: http})
	for _, name := range []string{"whoami", "write"} {
		server.AddTool(s, mcp.Tool{Name: name}, func(_ context.Context, req *server.Request, _ struct{}) (string, error) {
			who := req.Principal()
			if who == nil {
				return "nobody", nil
			}
			return fmt.Sprintf("%s %v %q%q", who.Subject, who.Scopes, req.Header("Authorization"), req.Header("DPoP")), nil
		})
	}
	return s
}

// serve runs the whole of a protected server on a real listener and returns its address.
func serve(t testing.TB, opts auth.Options, http server.HTTPOptions) string {
	t.Helper()
	s := newServer(http)
	url := listen(t, mount(opts, s))
	t.Cleanup(func() {
		if err := s.Shutdown(context.Background()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return url
}

func mount(opts auth.Options, s *server.Server) http.Handler {
	mux := http.NewServeMux()
	guarded := auth.Bearer(opts)(s.Handler())
	mux.Handle("/mcp", guarded)
	mux.Handle("/mcp/", guarded)
	mux.Handle("/.well-known/", auth.Metadata(opts))
	return mux
}

func listen(t testing.TB, h http.Handler) string {
	t.Helper()
	web := httptest.NewServer(h)
	t.Cleanup(web.Close)
	return web.URL
}

// reply of a server.
type response struct {
	status int
	header http.Header
	body   string
}

func (a response) String() string {
	return fmt.Sprintf("%d %v %s", a.status, a.header.Values("WWW-Authenticate"), strings.TrimSpace(a.body))
}

// ask sends one request. headers are names and values in turn.
func ask(t testing.TB, method, url, body string, headers ...string) response {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Add(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{res.StatusCode, res.Header, string(raw)}
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// call sends a modern tools/call with a token.
func call(t testing.TB, url, tool, token string, more ...string) response {
	t.Helper()
	headers := append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}, more...)
	if token != "" {
		headers = append(headers, "Authorization", "Bearer "+token)
	}
	return ask(t, "POST", url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`",`+meta+`}}`, headers...)
}
