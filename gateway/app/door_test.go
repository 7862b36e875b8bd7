package app

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// TestAddressesOfPaths holds which public address the paths of a gateway have, for which tokens are made.
func TestAddressesOfPaths(t *testing.T) {
	for _, c := range []struct{ resource, path, want string }{
		{"https://pub.example/mcp", "/mcp", "https://pub.example/mcp"},
		{"https://pub.example/mcp", "/sse", "https://pub.example/sse"},
		{"https://pub.example/mcp", "/mcp/team", "https://pub.example/mcp/team"},
		{"https://pub.example/x/mcp/", "/mcp", "https://pub.example/x/mcp/"},
		{"https://pub.example/x/mcp/", "/sse", "https://pub.example/x/sse"},
		{"https://pub.example/x/mcp/", "/mcp/team", "https://pub.example/x/mcp/team"},
		{"https://pub.example/gateway", "/mcp", "https://pub.example/gateway"}, // a proxy gives it another path
		{"https://pub.example/gateway", "/mcp/team", "https://pub.example/gateway/team"},
		{"https://pub.example/gateway", "/sse", "https://pub.example/gateway"}, // nobody knows where that is
		{"", "/mcp", ""},
		{"", "/sse", ""},
	} {
		l := &lock{auth: &config.Auth{Resource: c.resource}, path: "/mcp"}
		if got := l.resource(c.path); got != c.want {
			t.Errorf("%s of %q: got %q, want %q", c.path, c.resource, got, c.want)
		}
	}
}

// TestGuardBelowTheEndpoint holds that a handler below the endpoint has metadata of its own, takes tokens for itself and for the
// whole gateway, and that one for it is good nowhere else.
func TestGuardBelowTheEndpoint(t *testing.T) {
	login := startLogin(t)
	conf := read(t, protected(`{"resource": "`+resource+`", "jwt": {"issuer": "`+login.url+`", "rolesClaim": "groups"}}`, "http://127.0.0.1:1/"))
	d := newDoor(streamhttp.NewGuard(nil, nil), &refusals{line: t.Logf})
	defer d.log.close()
	l, err := d.fit(conf, false)
	check(t, err)
	d.lock.Store(l)
	var seen []*mcp.Principal
	here := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = append(seen, transport.PrincipalOf(r)) })
	mux := http.NewServeMux()
	mux.Handle("/mcp", d.guard(atEndpoint, here))
	mux.Handle("/mcp/team", d.guard(placeOf("team"), here))
	mux.HandleFunc("/.well-known/", d.metadata)
	web := httptest.NewServer(mux)
	defer web.Close()
	team := login.token(t, map[string]any{"aud": resource + "/team"})
	whole := login.token(t, nil)
	for _, c := range []struct {
		path, token string
		status      int
	}{{"/mcp", whole, 200}, {"/mcp/team", whole, 200}, {"/mcp/team", team, 200}, {"/mcp", team, 401}} {
		if got := ask(t, "POST", web.URL+c.path, "", bearer(c.token)...); got.status != c.status {
			t.Errorf("%s with a token for %s: %v", c.path, map[bool]string{true: "all", false: "the team"}[c.token == whole], got)
		}
	}
	who := seen[0]
	if len(seen) != 3 || who.Issuer != login.url || who.Subject != "ann" || who.ClientID != "desk" || !slices.Equal(who.Scopes, []string{"mcp"}) ||
		!slices.Equal(who.Roles, []string{"ops"}) || !strings.Contains(string(who.Claims), `"groups":["ops"]`) {
		t.Errorf("let in %d times, first %+v", len(seen), who)
	}
	nobody := ask(t, "POST", web.URL+"/mcp/team", "")
	where := "/.well-known/oauth-protected-resource/x/mcp/team"
	if !strings.Contains(nobody.header.Get("WWW-Authenticate"), `resource_metadata="https://pub.example`+where+`"`) {
		t.Errorf("nobody: %v", nobody)
	}
	if got := ask(t, "GET", web.URL+where, ""); !strings.Contains(got.body, `"resource":"`+resource+`/team"`) {
		t.Errorf("the metadata: %v", got)
	}
}

// TestTokensOfBundles holds that a bundle is an address of its own for tokens too: one that was made for it opens nothing else, one
// for the whole gateway opens it as well. Who is taken out loses what they have open in a bundle.
func TestTokensOfBundles(t *testing.T) {
	login := startLogin(t)
	up := startWatched(t, server.Options{})
	conf := func(tokens string) string {
		return strings.Replace(protected(`{"resource": "`+resource+`", "tokens": [`+tokens+`], "jwt": {"issuer": "`+login.url+`"}}`, up.url),
			`"auth"`, `"bundles": {"team": {"tools": ["greet"]}, "other": {"tools": ["greet"]}}, "auth"`, 1)
	}
	f := follow(t, conf(`{"name": "ann", "token": "`+annsToken+`"}, {"name": "bob", "token": "`+bobsToken+`"}`))
	defer f.end(t)
	f.err.wait(t, "watched: ready")
	team, whole := login.token(t, map[string]any{"aud": resource + "/team"}), login.token(t, nil)
	for _, c := range []struct {
		path, token string
		status      int
	}{
		{"/team", team, 200}, {"/team", whole, 200}, {"/team", annsToken, 200}, {"/other", whole, 200},
		{"/other", team, 401}, {"", team, 401}, {"/none", team, 401}, {"/none", whole, 404},
	} {
		if got := modern(t, f.url+c.path, "greet", "", bearer(c.token)...); got.status != c.status {
			t.Errorf("%q with %.12s: %v", c.path, c.token, got)
		}
	}
	for path, where := range map[string]string{"/team": "/x/mcp/team", "/none": "/x/mcp"} {
		got := modern(t, f.url+path, "greet", "")
		if want := `Bearer resource_metadata="https://pub.example/.well-known/oauth-protected-resource` + where + `"`; got.status != 401 || got.header.Get("WWW-Authenticate") != want {
			t.Errorf("nobody at %s: %v", path, got)
		}
	}
	anns, bobs := openSSE(t, f.url+"/team", annsToken), news(t, f.url+"/team", bobsToken)
	save(t, f.file, conf(`{"name": "bob", "token": "`+bobsToken+`"}`))
	f.err.wait(t, "was read anew: settings auth")
	if more := anns.next(); more != "" {
		t.Errorf("the stream of ann goes on with %s", more)
	}
	select {
	case <-bobs:
		t.Error("the subscription of bob is over")
	default:
	}
}
