package auth_test

import (
	"net/netip"
	"testing"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/server"
)

// The public address that is configured wins over whatever a request says, in the document and in the challenge.
func TestC085PublicURLWins(t *testing.T) {
	i := newIssuer(t)
	opts := i.options(t)
	opts.ScopesSupported, opts.Name, opts.Documentation = []string{"read", "write"}, "Weather", "https://pub.example/docs"
	opts.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	url := serve(t, opts, server.HTTPOptions{AllowedHosts: []string{"evil.example"}})
	forged := []string{"Host", "evil.example", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "http", "Forwarded", "host=evil.example"}
	want := `{"resource":"` + resource + `","authorization_servers":["` + i.url + `"],"scopes_supported":["read","write"],` +
		`"bearer_methods_supported":["header"],"resource_name":"Weather","resource_documentation":"https://pub.example/docs"}`
	for _, path := range []string{auth.MetadataPath, auth.MetadataPath + "/", auth.MetadataPath + "/x/mcp", auth.MetadataPath + "/x/mcp/"} {
		got := ask(t, "GET", url+path, "", append(forged, "Origin", "https://anywhere.example")...)
		if got.status != 200 || got.body != want || got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v %v", path, got, got.header)
		}
	}
	if got := call(t, url, "whoami", "", forged...); got.status != 401 || got.header.Get("WWW-Authenticate") != bare {
		t.Errorf("challenge: %v", got)
	}
}

func TestMetadataElsewhere(t *testing.T) {
	i := newIssuer(t)
	url := serve(t, i.options(t), server.HTTPOptions{})
	none := i.options(t)
	none.AuthorizationServers = nil
	bare := serve(t, none, server.HTTPOptions{})
	for _, c := range []struct {
		method, address string
		status          int
	}{
		{"HEAD", url + auth.MetadataPath, 200},
		{"OPTIONS", url + auth.MetadataPath, 204},
		{"POST", url + auth.MetadataPath, 405},
		{"GET", url + auth.MetadataPath + "/other", 404},
		{"GET", url + auth.MetadataPath + "x", 404},
		{"GET", url + "/.well-known/else", 404},
		{"GET", bare + auth.MetadataPath, 404}, // there is nowhere to get a token
	} {
		if got := ask(t, c.method, c.address, ""); got.status != c.status {
			t.Errorf("%s %s: want %d, got %v", c.method, c.address, c.status, got)
		}
	}
}

// Without a configured address it is derived from the request, and from headers of a proxy only when that is trusted.
func TestDerivedAddress(t *testing.T) {
	i := newIssuer(t)
	trusted := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	for _, c := range []struct {
		name    string
		proxies []netip.Prefix
		headers []string
		want    string
	}{
		{"the host", nil, []string{"Host", "localhost:1"}, "http://localhost:1"},
		{"no trust", nil, []string{"Host", "localhost:1", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https"}, "http://localhost:1"},
		{"trust of others", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, []string{"Host", "localhost:1", "X-Forwarded-Host", "evil.example"}, "http://localhost:1"},
		{"trust", trusted, []string{"Host", "localhost:1", "X-Forwarded-Host", "pub.example", "X-Forwarded-Proto", "https"}, "https://pub.example"},
		{"the nearest counts", trusted, []string{"Host", "localhost:1", "X-Forwarded-Host", "evil.example, pub.example", "X-Forwarded-Proto", "gopher,https"}, "https://pub.example"},
		{"no host", trusted, []string{"Host", "localhost:1", "X-Forwarded-Host", `a"/b`}, "http://invalid"},
		{"no scheme", trusted, []string{"Host", "localhost:1", "X-Forwarded-Proto", "javascript"}, "http://localhost:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := i.options(t)
			opts.Resource, opts.Path, opts.Audiences, opts.TrustedProxies = "", "/mcp", []string{resource}, c.proxies
			url := serve(t, opts, server.HTTPOptions{})
			got := call(t, url, "whoami", "", c.headers...)
			if want := `Bearer resource_metadata="` + c.want + `/.well-known/oauth-protected-resource/mcp", scope="read"`; got.header.Get("WWW-Authenticate") != want {
				t.Errorf("want %s, got %v", want, got)
			}
		})
	}
}
