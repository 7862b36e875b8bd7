package app

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
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

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// Tokens of the files under test.
const (
	annsToken = "token-of-ann-0123456789"
	bobsToken = "token-of-bob-0123456789"
)

// resource is the public address of a gateway under test, which its own has nothing to do with.
const resource = "https://pub.example/x/mcp"

// loginServer is an authorization server as far as a gateway sees it: metadata, keys, and tokens that it makes.
type loginServer struct {
	url  string
	key  *ecdsa.PrivateKey
	down atomic.Bool // it answers nothing
}

func startLogin(t testing.TB) *loginServer {
	t.Helper()
	l := &loginServer{key: newKey(t)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, map[string]any{"issuer": l.url, "jwks_uri": l.url + "/keys"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		sendJSON(w, map[string]any{"keys": []any{publicJWK(l.key, "k1")}})
	})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.down.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	l.url = web.URL
	return l
}

func sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the other side sees what is missing
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// publicJWK writes a key as RFC 7517 has it.
func publicJWK(key *ecdsa.PrivateKey, id string) map[string]any {
	point, err := key.PublicKey.Bytes() // 4, x, y
	if err != nil {
		panic(err)
	}
	return map[string]any{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": id, "x": encode(point[1:33]), "y": encode(point[33:])}
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// claims are those of a good token of ann's, with changes; a nil value takes one away.
func (l *loginServer) claims(change map[string]any) map[string]any {
	all := map[string]any{
		"iss": l.url, "sub": "ann", "client_id": "desk", "aud": resource, "scope": "mcp", "groups": []string{"ops"},
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	maps.Copy(all, change)
	maps.DeleteFunc(all, func(_ string, v any) bool { return v == nil })
	return all
}

func (l *loginServer) token(t testing.TB, change map[string]any) string {
	t.Helper()
	return signed(t, l.key, map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "k1"}, l.claims(change))
}

// signed makes a JWT with any head, signed with ES256 whatever that says.
func signed(t testing.TB, key *ecdsa.PrivateKey, head, claims any) string {
	t.Helper()
	text := encode(toJSON(t, head)) + "." + encode(toJSON(t, claims))
	sum := sha256.Sum256([]byte(text))
	r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + encode(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
}

func toJSON(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// watched is a server behind the gateway that keeps all it is sent. Its tool greet answers at once, ask asks its user for a
// name, and wait waits for release.
type watched struct {
	url              string
	entered, release chan struct{}
	givenUp          chan struct{} // the client of wait does not wait any more

	mu   sync.Mutex
	seen strings.Builder
}

func startWatched(t testing.TB, o server.Options) *watched {
	t.Helper()
	u := &watched{entered: make(chan struct{}, 10), release: make(chan struct{}), givenUp: make(chan struct{}, 10)}
	s := server.New(mcp.Implementation{Name: "watched", Version: "1"}, o)
	server.AddTool(s, mcp.Tool{Name: "greet"}, func(context.Context, *server.Request, struct{}) (string, error) { return "hello", nil })
	server.AddTool(s, mcp.Tool{Name: "ask"}, func(ctx context.Context, req *server.Request, _ struct{}) (string, error) {
		name, err := server.ElicitAs[struct{ Name string }](ctx, req, "Who are you?")
		return "hello " + name.Name, err
	})
	server.AddTool(s, mcp.Tool{Name: "wait"}, func(ctx context.Context, _ *server.Request, _ struct{}) (string, error) {
		u.entered <- struct{}{}
		select {
		case <-u.release:
			return "done", nil
		case <-ctx.Done():
			u.givenUp <- struct{}{}
			return "", ctx.Err()
		}
	})
	inner := s.Handler()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a body that breaks off fails below
		u.mu.Lock()
		fmt.Fprintf(&u.seen, "%s %s %q %s\n", r.Method, r.URL, r.Header, body)
		u.mu.Unlock()
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		inner.ServeHTTP(w, r)
	}))
	u.url = web.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return u
}

func (u *watched) all() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen.String()
}

// protected is a configuration with a section auth and one server.
func protected(auth, server string) string {
	return fmt.Sprintf(`{"gateway": {"auth": %s}, "mcpServers": {"watched": {"url": %q}}}`, auth, server)
}

// own are tokens of ann, who may read, and bob, who may nothing special.
const own = `{"tokens": [{"name": "ann", "token": "` + annsToken + `", "scopes": ["mcp"]}, {"name": "bob", "token": "` + bobsToken + `"}]}`

// base is the address of a gateway without the path of the endpoint.
func (r *running) base() string { return strings.TrimSuffix(r.url, "/mcp") }

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) String() string {
	return fmt.Sprintf("%d %q %.300s", a.status, a.header.Values("WWW-Authenticate"), strings.TrimSpace(a.body))
}

// ask sends one request. headers are names and values by turns; Host is the host, and a value "-" takes a header away.
func ask(t testing.TB, method, url, body string, headers ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			req.Host = value
		case value == "-":
			req.Header.Del(name)
		default:
			req.Header.Add(name, value)
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // read to its end
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(raw)}
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

const (
	helloLegacy = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}`
	greetLegacy = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet","arguments":{}}}`
	modernMeta  = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
)

// modern calls a tool as a modern client does; members go into params.
func modern(t testing.TB, url, tool, members string, headers ...string) answer {
	t.Helper()
	headers = append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool}, headers...)
	return ask(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`",`+members+`"arguments":{},`+modernMeta+`}}`, headers...)
}
