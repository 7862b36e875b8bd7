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
	for kind, addresses := range map[reachability][]string{
		public:   {"8.8.8.8", "2606:4700::1111", "172.32.0.1", "100.128.0.1", "2002:808:808::1", "64:ff9b::8.8.8.8"},
		loopback: {"127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1", "2002:7f00:1::"},
		private: {"10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fd00::1", "fec0::1", "100.64.0.1", "198.18.0.1",
			"::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "2002:a00:1::", "fd00:ec2::254"},
		never: {"169.254.169.254", "169.254.170.2", "fe80::1", "fe80::1%eth0", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "240.0.0.1",
			"255.255.255.255", "192.0.0.192", "192.88.99.1", "100::1", "2001:db8::1", "::ffff:169.254.169.254",
			"64:ff9b::169.254.169.254", "2002:a9fe:a9fe::", "::7f00:1", "::a9fe:a9fe", "0.1.2.3"},
	} {
		for _, address := range addresses {
			equal(t, address, reach(netip.MustParseAddr(address)), kind)
		}
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

// TestPermits holds what a server may name that is somewhere in the world, in a private network, or on this machine.
func TestPermits(t *testing.T) {
	world := newGuard(parse(t, "https://8.8.8.8/mcp"), false)
	office := newGuard(parse(t, "https://10.0.0.1/mcp"), false)
	here := newGuard(parse(t, "http://localhost:1/mcp"), false)
	for _, c := range []struct {
		address             string
		world, office, here bool
	}{
		{"https://as.test/x", true, true, true},
		{"https://9.9.9.9/x", true, true, true},
		{"https://192.168.0.1/x", false, true, true},
		{"https://[fd00::1]/x", false, true, true},
		{"https://127.0.0.1/x", false, false, true},
		{"http://127.0.0.1/x", false, false, true},
		{"http://localhost/x", false, false, true},
		{"https://x.LOCALHOST./x", false, false, true},
		{"https://[::1]/x", false, false, true},
		{"https://[::ffff:127.0.0.1]/x", false, false, true},
		{"http://[::ffff:7f00:1]/x", false, false, true},
		{"http://192.168.0.1/x", false, false, false},
		{"http://as.test/x", false, false, false},
		{"http://2130706433/x", false, false, false},
		{"https://169.254.169.254/latest", false, false, false},
		{"https://[::ffff:169.254.169.254]/latest", false, false, false},
		{"https://[fe80::1%25eth0]/", false, false, false},
		{"https://0.0.0.0/", false, false, false},
		{"https://u:p@as.test/x", false, false, false},
		{"https://as.test/x#y", false, false, false},
		{"ftp://as.test/x", false, false, false},
		{"javascript:alert(1)", false, false, false},
		{"file:///etc/passwd", false, false, false},
		{"https:as.test/x", false, false, false},
		{"https:///x", false, false, false},
		{"https://:443/x", false, false, false},
		{"//as.test/x", false, false, false},
	} {
		for g, want := range map[*guard]bool{world: c.world, office: c.office, here: c.here} {
			err := g.permits(t.Context(), parse(t, c.address))
			if (err == nil) != want || err != nil && !errors.Is(err, ErrGuard) {
				t.Errorf("%s from %s: %v", c.address, g.server, err)
			}
		}
	}
}

// TestNearness holds that a server is as far inside as the outermost of its addresses.
func TestNearness(t *testing.T) {
	for name, c := range map[string]struct {
		addrs []string
		err   error
		want  reachability
	}{
		"loopback":             {addrs: []string{"127.0.0.1", "::1"}, want: loopback},
		"private":              {addrs: []string{"10.0.0.1", "fd00::1"}, want: private},
		"private and loopback": {addrs: []string{"127.0.0.1", "10.0.0.1"}, want: private},
		"public":               {addrs: []string{"8.8.8.8"}},
		"mixed":                {addrs: []string{"10.0.0.1", "8.8.8.8"}},
		"mixed, the other way": {addrs: []string{"8.8.8.8", "127.0.0.1"}},
		"no place for servers": {addrs: []string{"169.254.1.1"}},
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
		equal(t, name, g.nearness(t.Context()), c.want)
		equal(t, name, g.nearness(t.Context()), c.want)
	}
	literal := newGuard(parse(t, "https://169.254.1.1/mcp"), false)
	equal(t, "an address that is no place for servers", literal.nearness(t.Context()), public)
}

// TestDialGuard holds, over real connections, that the address is judged which is dialled, whatever a name stood for before,
// and that redirects are held to the same rules.
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
		case "/endless":
			for {
				if _, err := w.Write([]byte(`{"issuer":"x", `)); err != nil {
					return
				}
			}
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
	nameServer(t, map[string]string{"as.test": "127.0.0.1", "metadata.test": "169.254.169.254"})
	var m serverMetadata

	far := open("https://8.8.8.8/mcp", 0)
	if _, err := far.get(t.Context(), endpoint{url: named + "/document"}, nil, &m); !errors.Is(err, ErrGuard) || hits.Load() != 0 {
		t.Errorf("from afar: %v after %d requests", err, hits.Load())
	}
	for _, host := range []string{"as.test:" + port, "metadata.test", "2130706433:" + port, "0x7f000001:" + port, "127.1:" + port} {
		_, err := far.get(t.Context(), endpoint{url: "https://" + host + "/document"}, nil, &m)
		if err == nil || hits.Load() != 0 || strings.Contains(host, "test") && !errors.Is(err, ErrGuard) {
			t.Errorf("%s: %v after %d requests", host, err, hits.Load())
		}
	}
	if _, err := far.post(t.Context(), endpoint{url: "https://as.test:" + port + "/token"}, "text/plain", "x", nil); !errors.Is(err, ErrGuard) || hits.Load() != 0 {
		t.Errorf("a form to a name that leads inside: %v after %d requests", err, hits.Load())
	}
	if _, err := far.post(t.Context(), endpoint{url: named + "/token"}, "text/plain", "x", nil); !errors.Is(err, ErrGuard) || hits.Load() != 0 {
		t.Errorf("from afar: %v after %d requests", err, hits.Load())
	}
	if _, err := far.get(t.Context(), endpoint{url: named + "/document", trusted: true}, nil, &m); err != nil {
		t.Errorf("an address of the user's own: %v", err)
	}

	near := open("https://127.0.0.1:1/mcp", 0)
	for path, want := range map[string]string{"/document": "", "/there": "", "/plain": "https", "/metadata": "no address of a server",
		"/round": "too many redirects", "/large": "larger than 1000", "/endless": "larger than 1000"} {
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

// TestDialerOfTheUser holds that no dialer of the user's transport goes past the guard, of whichever kind it is.
func TestDialerOfTheUser(t *testing.T) {
	dial := func(string, string) (net.Conn, error) {
		t.Error("a dialer of the user was asked")
		return nil, net.ErrClosed
	}
	a, err := New("https://8.8.8.8/mcp", Options{Flow: Stored{}, Transport: &http.Transport{
		DialTLS:        dial, //nolint:staticcheck // what older programs set
		DialContext:    func(_ context.Context, network, address string) (net.Conn, error) { return dial(network, address) },
		DialTLSContext: func(_ context.Context, network, address string) (net.Conn, error) { return dial(network, address) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	nameServer(t, map[string]string{"as.test": "127.0.0.1"})
	var m serverMetadata
	if _, err := a.web.get(t.Context(), endpoint{url: "https://as.test/"}, nil, &m); !errors.Is(err, ErrGuard) {
		t.Error(err)
	}
}
