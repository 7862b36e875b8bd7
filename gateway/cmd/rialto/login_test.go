package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/gateway/demo"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// bureau is an MCP server that lets nobody in without a token, and its authorization server, which lets in everybody.
type bureau struct {
	address string
	mu      sync.Mutex
	issuer  string
	codes   map[string]url.Values
	tokens  map[string]bool
}

func openBureau(t *testing.T) *bureau {
	b := &bureau{codes: map[string]url.Values{}, tokens: map[string]bool{}}
	login := httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(login.Close)
	b.issuer = login.URL
	mux := http.NewServeMux()
	desk := httptest.NewUnstartedServer(mux)
	b.address = "http://" + desk.Listener.Addr().String() + "/mcp"
	opts := auth.Options{Resource: b.address, AuthorizationServers: []string{b.issuer}, Verifier: auth.VerifierFunc(b.verify)}
	mux.Handle("/mcp", auth.Bearer(opts)(demo.Server("1", server.Options{}).Handler()))
	mux.Handle("/.well-known/", auth.Metadata(opts))
	desk.Start()
	t.Cleanup(desk.Close)
	return b
}

func (b *bureau) verify(_ context.Context, token string) (*auth.Token, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.tokens[token] {
		return nil, &auth.InvalidToken{Reason: "the token is not known"}
	}
	return &auth.Token{Principal: mcp.Principal{Subject: "ada"}, Audience: []string{b.address}}, nil
}

func (b *bureau) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	send := func(body map[string]any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body)
	}
	switch r.URL.Path {
	case "/.well-known/oauth-authorization-server":
		send(map[string]any{"issuer": b.issuer, "authorization_endpoint": b.issuer + "/authorize", "token_endpoint": b.issuer + "/token",
			"registration_endpoint": b.issuer + "/register", "revocation_endpoint": b.issuer + "/revoke", "code_challenge_methods_supported": []string{"S256"}})
	case "/register":
		send(map[string]any{"client_id": "registered", "token_endpoint_auth_method": "none"})
	case "/authorize":
		q, code := r.URL.Query(), rand.Text()
		b.codes[code] = q
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {code}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	case "/token":
		sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
		if b.codes[r.FormValue("code")].Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		token := "token-" + rand.Text()
		b.tokens[token] = true
		send(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
	case "/revoke":
		delete(b.tokens, r.FormValue("token"))
	default:
		http.NotFound(w, r)
	}
}

// TestLoginAndLogout goes the whole way of somebody who signs the gateway in: what a gateway that runs says before, that it takes up
// the login by itself, that other commands use it, what lies on the disk, and the logout.
func TestLoginAndLogout(t *testing.T) {
	b := openBureau(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "mcp.json")
	if err := os.WriteFile(file, []byte(fmt.Sprintf(`{"mcpServers": {"bureau": {"url": %q, "oauth": {}}}}`, b.address)), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens := filepath.Join(folder, "tokens")
	lookup := func(name string) (string, bool) { return tokens, name == "RIALTO_TOKENS" }
	visit := func(ctx context.Context, page string) error {
		go func() { // ends with the answer of the program that waits for the browser
			if resp, err := http.Get(page); err == nil {
				_ = resp.Body.Close()
			}
		}()
		return nil
	}
	rialto := func(args ...string) (code int, stdout, stderr string) {
		var out, err bytes.Buffer
		e := &environment{stdout: &out, stderr: &err, lookup: lookup, folder: folder, open: visit}
		code = run(t.Context(), args, e)
		return code, out.String(), err.String()
	}
	if code, _, stderr := rialto("tools", "bureau"); code != exitAuth || !strings.Contains(stderr, "sign in: rialto login bureau") {
		t.Errorf("before: %d %s", code, stderr)
	}
	told := &lockedBuffer{}
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan int, 1)
	go func() { // ends with stop
		e := &environment{stdout: told, stderr: told, lookup: lookup, folder: folder}
		over <- run(ctx, []string{"gateway", "--config", file, "--listen", "127.0.0.1:0"}, e)
	}()
	told.wait(t, "sign in with: rialto login bureau")
	if code, stdout, stderr := rialto("login", "bureau"); code != 0 || !strings.Contains(stdout, "Signed in at bureau") {
		t.Fatalf("login: %d %s %s", code, stdout, stderr)
	}
	told.wait(t, "bureau: ready")
	if code, stdout, stderr := rialto("call", "bureau", "add", "a=2", "b=3"); code != 0 || !strings.Contains(stdout, "5") {
		t.Errorf("call: %d %s %s", code, stdout, stderr)
	}
	if code, stdout, _ := rialto("check", "--connect"); code != 0 || !strings.Contains(stdout, "ready") {
		t.Errorf("check: %d %s", code, stdout)
	}
	left := 0
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		for token := range b.tokens {
			if bytes.Contains(raw, []byte(token)) {
				t.Errorf("%s shows the token", path)
			}
		}
		left++
		return err
	})
	if err != nil || left < 3 {
		t.Errorf("%d files, %v", left, err)
	}
	if code, stdout, stderr := rialto("logout", "bureau"); code != 0 || !strings.Contains(stdout, "Signed out at bureau") {
		t.Errorf("logout: %d %s %s", code, stdout, stderr)
	}
	if len(b.tokens) != 0 {
		t.Error("the tokens were not given up")
	}
	if code, _, _ := rialto("tools", "bureau"); code != exitAuth {
		t.Errorf("after the logout: %d", code)
	}
	if code, stdout, stderr := rialto("logout", "bureau", "--caller", "ada"); code != 0 || !strings.Contains(stdout, "Nothing is kept of ada at bureau any more") {
		t.Errorf("the logout of a caller: %d %s %s", code, stdout, stderr)
	}
	if code, _, stderr := rialto("logout", "bureau", "--issuer", "https://login.example"); code != exitUsage || !strings.Contains(stderr, "add --caller NAME") {
		t.Errorf("the logout of half a caller: %d %s", code, stderr)
	}
	if code, _, stderr := rialto("login", "nobody"); code != exitUsage || !strings.Contains(stderr, `no server "nobody"; it has bureau`) {
		t.Errorf("an unknown server: %d %s", code, stderr)
	}
	stop()
	<-over
}

// lockedBuffer is standard error that can be waited on.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) wait(t *testing.T, want string) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		text := l.b.String()
		l.mu.Unlock()
		if strings.Contains(text, want) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%q does not come; so far:\n%s", want, text)
		}
	}
}
