package oauth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
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
