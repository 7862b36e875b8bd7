package oauth

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestReach(t *testing.T) {
	for address, want := range map[string]reachability{
		"8.8.8.8": public, "2606:4700::1111": public, "172.32.0.1": public, "100.128.0.1": public,
		"127.0.0.1": inside, "127.9.9.9": inside, "::1": inside, "10.1.2.3": inside, "172.16.0.1": inside, "192.168.1.1": inside,
		"fd00::1": inside, "100.64.0.1": inside, "::ffff:10.0.0.1": inside, "64:ff9b::10.0.0.1": inside, "2002:7f00:1::": inside,
		"169.254.169.254": never, "fe80::1": never, "0.0.0.0": never, "::": never, "224.0.0.1": never, "255.255.255.255": never,
		"::ffff:169.254.169.254": never, "64:ff9b::169.254.169.254": never, "::7f00:1": never, "0.1.2.3": never,
	} {
		equal(t, address, reach(netip.MustParseAddr(address)), want)
	}
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPermits(t *testing.T) {
	far, near := newGuard(parse(t, "https://8.8.8.8/mcp"), false), newGuard(parse(t, "http://localhost:1/mcp"), false)
	for _, c := range []struct {
		address   string
		far, near bool
	}{
		{"https://as.test/x", true, true},
		{"https://9.9.9.9/x", true, true},
		{"https://127.0.0.1/x", false, true},
		{"http://127.0.0.1/x", false, true},
		{"http://localhost/x", false, true},
		{"https://x.LOCALHOST./x", false, true},
		{"https://[::1]/x", false, true},
		{"https://192.168.0.1/x", false, true},
		{"http://192.168.0.1/x", false, false},
		{"http://as.test/x", false, false},
		{"https://169.254.169.254/latest", false, false},
		{"https://0.0.0.0/", false, false},
		{"https://u:p@as.test/x", false, false},
		{"https://as.test/x#y", false, false},
		{"ftp://as.test/x", false, false},
		{"https:///x", false, false},
		{"//as.test/x", false, false},
	} {
		for g, want := range map[*guard]bool{far: c.far, near: c.near} {
			err := g.permits(t.Context(), parse(t, c.address))
			if (err == nil) != want || err != nil && !errors.Is(err, ErrGuard) {
				t.Errorf("%s from %s: %v", c.address, g.server, err)
			}
		}
	}
}

// TestNearByName holds that a server counts as near only when all its addresses are.
func TestNearByName(t *testing.T) {
	for name, c := range map[string]struct {
		addrs []string
		err   error
		want  bool
	}{
		"private":              {addrs: []string{"10.0.0.1", "fd00::1"}, want: true},
		"public":               {addrs: []string{"8.8.8.8"}},
		"mixed":                {addrs: []string{"10.0.0.1", "8.8.8.8"}},
		"mixed, the other way": {addrs: []string{"8.8.8.8", "10.0.0.1"}},
		"none":                 {},
		"failed":               {err: errors.New("no answer")},
	} {
		g := newGuard(parse(t, "https://mcp.corp/mcp"), false)
		g.lookup = func(context.Context, string) ([]netip.Addr, error) {
			var out []netip.Addr
			for _, addr := range c.addrs {
				out = append(out, netip.MustParseAddr(addr))
			}
			return out, c.err
		}
		equal(t, name, g.isNear(t.Context()), c.want)
		equal(t, name, g.isNear(t.Context()), c.want)
	}
}

// TestDialGuard holds, over real connections, that a name which leads inside is refused when it is dialled, and that
// redirects are held to the same rules.
func TestDialGuard(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		switch r.URL.Path {
		case "/there":
			http.Redirect(w, r, "/document", http.StatusFound)
		case "/plain":
			http.Redirect(w, r, "http://as.test/document", http.StatusFound)
		case "/metadata":
			http.Redirect(w, r, "https://169.254.169.254/", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/large":
			send(w, 200, map[string]string{"issuer": strings.Repeat("x", 2000)})
		case "/slow":
			<-r.Context().Done()
		default:
			send(w, 200, map[string]string{"issuer": "found"})
		}
	}))
	t.Cleanup(srv.Close)
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	open := func(server string, timeout time.Duration) *web {
		transport := srv.Client().Transport.(*http.Transport).Clone()
		transport.TLSClientConfig.ServerName = "example.com"
		a, err := New(server, Options{Flow: Stored{}, Transport: transport, MaxBodyBytes: 1000, FetchTimeout: timeout})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a.web
	}
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	named := "https://localhost:" + port
	var m serverMetadata

	far := open("https://8.8.8.8/mcp", 0)
	if _, err := far.get(t.Context(), endpoint{url: named + "/document"}, nil, &m); !errors.Is(err, ErrGuard) || hits.Load() != 0 {
		t.Errorf("from afar: %v after %d requests", err, hits.Load())
	}
	if _, err := far.post(t.Context(), endpoint{url: named + "/token"}, "text/plain", "x", nil); !errors.Is(err, ErrGuard) || hits.Load() != 0 {
		t.Errorf("from afar: %v after %d requests", err, hits.Load())
	}
	if _, err := far.get(t.Context(), endpoint{url: named + "/document", trusted: true}, nil, &m); err != nil {
		t.Errorf("an address of the user's own: %v", err)
	}

	near := open("https://127.0.0.1:1/mcp", 0)
	for path, want := range map[string]string{"/document": "", "/there": "", "/plain": "https", "/metadata": "no address of a server",
		"/round": "too many redirects", "/large": "larger than 1000"} {
		_, err := near.get(t.Context(), endpoint{url: named + path}, nil, &m)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	hasty := open("https://127.0.0.1:1/mcp", 200*time.Millisecond)
	if _, err := hasty.get(t.Context(), endpoint{url: named + "/slow"}, nil, &m); err == nil || !strings.Contains(err.Error(), "within 200ms") {
		t.Errorf("/slow: %v", err)
	}
	resp, err := near.post(t.Context(), endpoint{url: named + "/there"}, "text/plain", "secret", nil)
	if err != nil || resp.status != http.StatusFound {
		t.Errorf("a form followed a redirect: %v, %v", resp, err)
	}
}
