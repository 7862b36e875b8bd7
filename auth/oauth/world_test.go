package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// world is a network of handlers, by host. Nothing in it touches a real one, so that it works inside synctest too.
type world struct {
	mu    sync.Mutex
	hosts map[string]http.Handler
	seen  []string // method, host and path of each request
}

func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.seen = append(w.seen, r.Method+" "+r.URL.Host+r.URL.Path)
	h := w.hosts[r.URL.Host]
	w.mu.Unlock()
	if h == nil {
		return nil, fmt.Errorf("no such host %s", r.URL.Host)
	}
	if r.Context().Err() != nil {
		return nil, r.Context().Err()
	}
	in := r.Clone(r.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, in)
	in.Body.Close()
	resp := rec.Result()
	resp.Request = r
	return resp, nil
}

// requests counts the requests so far whose line contains the text.
func (w *world) requests(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, line := range w.seen {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}

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

// resourceServer is an MCP server that wants tokens.
type resourceServer struct {
	challenge string                       // the header of 401; "-" for none, "" for the usual one
	documents map[string]any               // by path; a string is a page, an int a status
	as        *authServer                  // whose tokens are good
	needs     func(r *http.Request) string // scope of a request
	dpop      bool
	nonce     string

	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

const usualMetadata = "/.well-known/oauth-protected-resource/mcp"

func newResourceServer(as *authServer) *resourceServer {
	return &resourceServer{as: as, documents: map[string]any{usualMetadata: map[string]any{
		"resource": "https://mcp.test/mcp", "authorization_servers": []string{as.issuer}}}}
}

func (s *resourceServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if document, ok := s.documents[r.URL.Path]; ok {
		switch document := document.(type) {
		case int:
			w.WriteHeader(document)
		case string:
			fmt.Fprint(w, document)
		default:
			send(w, 200, document)
		}
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/mcp") {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s.requests, s.bodies = append(s.requests, r), append(s.bodies, string(body))
	s.as.mu.Lock()
	defer s.as.mu.Unlock()
	scheme, access, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	scope, ok := s.as.tokens[access]
	challenge := s.challenge
	if challenge == "" {
		challenge = `Bearer realm="it, \"really\"", resource_metadata="https://mcp.test` + usualMetadata + `"`
	}
	if want := map[bool]string{false: "Bearer", true: "DPoP"}[s.dpop]; !ok || scheme != want {
		if challenge != "-" {
			w.Header().Add("WWW-Authenticate", challenge)
		}
		w.WriteHeader(401)
		return
	}
	if s.nonce != "" && claims(r.Header.Get("DPoP"))["nonce"] != s.nonce {
		w.Header().Set("DPoP-Nonce", s.nonce)
		w.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
		w.WriteHeader(401)
		return
	}
	if s.needs != nil {
		if need := s.needs(r); !covers(strings.Fields(scope), strings.Fields(need)) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q`, need))
			w.WriteHeader(403)
			return
		}
	}
	fmt.Fprint(w, "welcome")
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// claims reads the claims of a JWT without checking it.
func claims(text string) map[string]any {
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		return nil
	}
	raw, _ := base64.RawURLEncoding.DecodeString(parts[1])
	var out map[string]any
	_ = json.Unmarshal(raw, &out)
	return out
}

// scene is an authorization server, a resource server and a client of it.
type scene struct {
	*world
	as     *authServer
	rs     *resourceServer
	opts   Options
	t      *testing.T
	visits int
	tamper func(back url.Values)
	clock  *clock
}

func newScene(t *testing.T) *scene {
	as := newAuthServer("https://as.test")
	s := &scene{as: as, rs: newResourceServer(as), t: t, clock: &clock{at: time.Now()}}
	s.world = &world{hosts: map[string]http.Handler{"as.test": as, "mcp.test": s.rs}}
	s.opts = Options{Base: s.world, Flow: Redirect{URL: "http://127.0.0.1:1717/back", Visit: s.visit}}
	return s
}

// visit is a person who agrees to everything.
func (s *scene) visit(ctx context.Context, page string) (string, error) {
	s.mu.Lock()
	s.visits++
	s.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return "", err
	}
	resp, err := s.world.RoundTrip(req)
	if err != nil {
		return "", err
	}
	back, err := resp.Location()
	if err != nil {
		return "", fmt.Errorf("the page has HTTP status %d", resp.StatusCode)
	}
	if s.tamper != nil {
		q := back.Query()
		s.tamper(q)
		back.RawQuery = q.Encode()
	}
	return back.String(), nil
}

// authorizer makes the client; what it fetches stays in the world.
func (s *scene) authorizer() *Authorizer {
	s.t.Helper()
	a, err := New("https://mcp.test/mcp", s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	a.web.named.Transport, a.web.trusted.Transport = s.world, s.world
	a.web.guard.lookup = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
	}
	a.now = s.clock.now
	s.t.Cleanup(func() { a.Close() })
	return a
}

// call sends one request through an authorizer and answers its status.
func call(t *testing.T, a *Authorizer) (int, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://mcp.test/mcp", strings.NewReader("question"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := a.Client().Do(req)
	if err != nil {
		return 0, err
	}
	resp.Body.Close()
	return resp.StatusCode, nil
}

// must sends a request that has to succeed.
func must(t *testing.T, a *Authorizer) {
	t.Helper()
	if status, err := call(t, a); err != nil || status != 200 {
		t.Fatalf("status %d, error %v; want 200", status, err)
	}
}

// fails sends a request that has to fail, with all of the texts in its error.
func fails(t *testing.T, a *Authorizer, texts ...string) error {
	t.Helper()
	status, err := call(t, a)
	if err == nil {
		t.Fatalf("status %d, want an error", status)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q does not mention %q", err, text)
		}
	}
	return err
}

// clock is a time that tests set.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
