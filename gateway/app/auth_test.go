package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// TestRefusalsInOrder holds, at every door of the gateway, what is refused how, and what comes first.
func TestRefusalsInOrder(t *testing.T) {
	login := startLogin(t)
	up := startWatched(t, server.Options{})
	r := start(t, read(t, protected(`{"resource": "`+resource+`", "scopes": ["mcp"],
		"tokens": [{"name": "ann", "token": "`+annsToken+`", "scopes": ["mcp"]}], "jwt": {"issuer": "`+login.url+`"}}`, up.url)))
	defer r.end(t)
	r.err.wait(t, "watched: ready")
	const (
		metadata  = `Bearer resource_metadata="https://pub.example/.well-known/oauth-protected-resource/x/`
		nobody    = `mcp", scope="mcp"`
		invalid   = nobody + `, error="invalid_token", error_description="`
		malformed = `mcp", error="invalid_request", error_description="`
		lacking   = nobody + `, error="insufficient_scope", error_description="`
	)
	good := bearer(annsToken)
	for _, c := range []struct {
		name, method, path string
		headers            []string
		status             int
		challenge          string // after what all have
	}{
		// Before the token: method, Host and Origin.
		{"a method that there is not", "PUT", "/mcp", nil, 405, ""},
		{"the same over HTTP+SSE", "POST", "/sse", nil, 405, ""},
		{"a foreign host", "POST", "/mcp", []string{"Host", "evil.example"}, 403, ""},
		{"a foreign page", "POST", "/mcp", []string{"Origin", "https://evil.example"}, 403, ""},
		{"a foreign page with a token", "GET", "/sse", append([]string{"Origin", "https://evil.example"}, good...), 403, ""},

		// The token, at every door.
		{"nobody", "POST", "/mcp", nil, 401, nobody},
		{"nobody, the other spelling", "POST", "/mcp/", nil, 401, nobody},
		{"nobody wants a stream", "GET", "/mcp", nil, 401, nobody},
		{"nobody ends a session", "DELETE", "/mcp", []string{"Mcp-Session-Id", "x"}, 401, nobody},
		{"nobody over HTTP+SSE", "GET", "/sse", nil, 401, `sse", scope="mcp"`},
		{"nobody posts over HTTP+SSE", "POST", "/message?sessionId=x", nil, 401, `sse", scope="mcp"`},
		{"nobody at the root", "GET", "/", nil, 401, nobody},
		{"nobody elsewhere", "GET", "/admin", nil, 401, nobody},
		{"another scheme", "POST", "/mcp", []string{"Authorization", "Basic YW5uOnB3"}, 401, nobody},
		{"a token of nobody's", "POST", "/mcp", bearer("a-token-of-nobody"), 401, invalid + `the access token is no JWT"`},
		{"no token behind the scheme", "POST", "/mcp", []string{"Authorization", "Bearer"}, 401, invalid + `the header Authorization holds no access token that can be read"`},
		{"one that is too long", "POST", "/mcp", bearer(strings.Repeat("a", 16<<10+1)), 401, invalid + `the header Authorization holds no access token that can be read"`},
		{"two headers", "POST", "/mcp", append(bearer(annsToken), good...), 400, malformed + `there is more than one header Authorization"`},
		{"in the address", "POST", "/mcp?access_token=" + annsToken, nil, 400, malformed + `an access token belongs into the header Authorization, never into the address"`},
		{"bound to a key", "POST", "/mcp", []string{"Authorization", "DPoP " + annsToken}, 401, invalid + `access tokens that are bound to a key are not taken here"`},
		{"with too little", "POST", "/mcp", bearer(login.token(t, map[string]any{"scope": "other"})), 403, lacking + `the access token does not grant what this request needs: mcp"`},

		// After the token.
		{"a media type", "POST", "/mcp", append([]string{"Content-Type", "-", "Content-Type", "text/plain"}, good...), 415, ""},
		{"what is taken", "POST", "/mcp", append([]string{"Accept", "-", "Accept", "image/png"}, good...), 406, ""},
		{"no JSON", "POST", "/mcp", good, 400, ""},
		{"no JSON, the other spelling", "POST", "/mcp/", good, 400, ""},
		{"an unknown session", "DELETE", "/mcp", append([]string{"Mcp-Session-Id", "x"}, good...), 404, ""},
		{"the root", "GET", "/", good, 200, ""},
		{"nothing", "GET", "/admin", good, 404, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := "no JSON"
			if c.method == "GET" {
				body = ""
			}
			got := ask(t, c.method, r.base()+c.path, body, c.headers...)
			challenges := got.header.Values("WWW-Authenticate")
			want := []string{metadata + c.challenge}
			if c.challenge == "" {
				want = nil
			}
			if got.status != c.status || !slices.Equal(challenges, want) {
				t.Errorf("got %v\nwant %d %q", got, c.status, want)
			}
		})
	}
	if told := r.err.String(); strings.Contains(told, annsToken) || !strings.Contains(told, "refused a request from 127.0.0.1: the access token is no JWT (401)") {
		t.Errorf("it tells\n%s", told)
	}
}

// TestHostileTokens holds that a token proves what it says by the issuer's signature alone.
func TestHostileTokens(t *testing.T) {
	login, shop := startLogin(t), startLogin(t)
	up := startWatched(t, server.Options{})
	r := start(t, read(t, protected(`{"resource": "`+resource+`", "scopes": ["mcp"],
		"jwt": [{"issuer": "`+login.url+`", "audience": "api://desk", "rolesClaim": "groups"}, {"issuer": "`+shop.url+`", "algorithms": ["ES256"]}]}`, up.url)))
	defer r.end(t)
	r.err.wait(t, "watched: ready")
	head := func(change map[string]any) map[string]any {
		h := map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": "k1"}
		for k, v := range change {
			h[k] = v
		}
		return h
	}
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	thief := newKey(t)
	none := encode(toJSON(t, head(map[string]any{"alg": "none"}))) + "." + encode(toJSON(t, login.claims(nil))) + "."
	confused := encode(toJSON(t, head(map[string]any{"alg": "HS256"}))) + "." + encode(toJSON(t, login.claims(nil)))
	mac := hmac.New(sha256.New, toJSON(t, publicJWK(login.key, "k1")))
	mac.Write([]byte(confused))
	confused += "." + encode(mac.Sum(nil))
	good := login.token(t, nil)
	for _, c := range []struct {
		name, token string
		good        bool
	}{
		{"good", good, true},
		{"of the other issuer", shop.token(t, nil), true},
		{"with several audiences", login.token(t, map[string]any{"aud": []string{"https://other.example", resource + "/"}}), true},
		{"for the issuer's own name of the gateway", login.token(t, map[string]any{"aud": "api://desk"}), true},
		{"just over, for clocks differ", login.token(t, map[string]any{"exp": in(-10 * time.Second)}), true},
		{"alg none", none, false},
		{"alg none without its last dot", strings.TrimSuffix(none, "."), false},
		{"signed with the public key as a secret", confused, false},
		{"signed by somebody else", signed(t, thief, head(nil), login.claims(nil)), false},
		{"with a key of its own", signed(t, thief, head(map[string]any{"jwk": publicJWK(thief, "k1")}), login.claims(nil)), false},
		{"a key that the issuer does not have", signed(t, thief, head(map[string]any{"kid": "k2"}), login.claims(nil)), false},
		{"of another type", signed(t, login.key, head(map[string]any{"typ": "logout+jwt"}), login.claims(nil)), false},
		{"by one issuer in the name of the other", signed(t, shop.key, head(nil), login.claims(nil)), false},
		{"of an issuer that nobody knows", login.token(t, map[string]any{"iss": "https://thief.example"}), false},
		{"without an issuer", login.token(t, map[string]any{"iss": nil}), false},
		{"over", login.token(t, map[string]any{"exp": in(-time.Minute)}), false},
		{"without an end", login.token(t, map[string]any{"exp": nil}), false},
		{"not good yet", login.token(t, map[string]any{"nbf": in(time.Minute)}), false},
		{"for another server", login.token(t, map[string]any{"aud": "https://other.example/mcp"}), false},
		{"for another path of the gateway", login.token(t, map[string]any{"aud": "https://pub.example/x/sse"}), false},
		{"for the host of the gateway alone", login.token(t, map[string]any{"aud": "https://pub.example"}), false},
		{"for nobody", login.token(t, map[string]any{"aud": nil}), false},
		{"with the name that another issuer has for the gateway", shop.token(t, map[string]any{"aud": "api://desk"}), false},
		{"of nobody", login.token(t, map[string]any{"sub": nil, "client_id": nil}), false},
		{"changed", good[:len(good)-8] + "AAAAAAA" + good[len(good)-1:], false},
		{"huge", login.token(t, map[string]any{"junk": strings.Repeat("x", 20<<10)}), false},
	} {
		want := map[bool]int{true: 200, false: 401}[c.good]
		if got := modern(t, r.url, "greet", "", bearer(c.token)...); got.status != want {
			t.Errorf("modern, %s: got %v, want %d", c.name, got, want)
		}
		if got := ask(t, "POST", r.url, helloLegacy, bearer(c.token)...); got.status != want || c.good != (got.header.Get("Mcp-Session-Id") != "") {
			t.Errorf("legacy, %s: got %v, want %d", c.name, got, want)
		}
	}
}

// TestC085Metadata holds where clients find out where tokens are to be had: at addresses that no header of a request changes.
func TestC085Metadata(t *testing.T) {
	login := startLogin(t)
	r := start(t, read(t, protected(`{"resource": "`+resource+`", "scopes": ["mcp"], "scopesSupported": ["mcp", "more"], "dpop": "optional", "jwt": {"issuer": "`+login.url+`"}}`, "http://127.0.0.1:1/")))
	defer r.end(t)
	for path, of := range map[string]string{
		"": resource, "/": resource, "/x/mcp": resource, "/x/mcp/": resource, "/x/sse": "https://pub.example/x/sse",
		"/mcp": "", "/x/admin": "", "/x": "", "/x/message": "",
	} {
		got := ask(t, "GET", r.base()+"/.well-known/oauth-protected-resource"+path, "", "Host", "evil.example", "X-Forwarded-Host", "evil.example", "Authorization", "Bearer wrong")
		var doc struct {
			Resource string   `json:"resource"`
			Servers  []string `json:"authorization_servers"`
			Scopes   []string `json:"scopes_supported"`
			Methods  []string `json:"bearer_methods_supported"`
		}
		if of == "" {
			if got.status != http.StatusNotFound {
				t.Errorf("%s: %v", path, got)
			}
			continue
		}
		if err := json.Unmarshal([]byte(got.body), &doc); err != nil || got.status != 200 {
			t.Errorf("%s: %v, %v", path, got, err)
		}
		want := fmt.Sprintf("{%s [%s] [mcp more] [header]}", of, login.url)
		if fmt.Sprint(doc) != want || !strings.Contains(got.body, `"dpop_signing_alg_values_supported"`) {
			t.Errorf("%s: got %v, want %s", path, got, want)
		}
	}
	if got := ask(t, "OPTIONS", r.url, "", "Origin", "http://localhost:1", "Access-Control-Request-Method", "POST"); got.status == 401 {
		t.Errorf("a preflight is asked for a token: %v", got)
	}
}

// TestNoMetadataWithoutIssuers holds that a gateway with tokens of its file alone sends nobody to look for others.
func TestNoMetadataWithoutIssuers(t *testing.T) {
	for _, conf := range []string{protected(own, "http://127.0.0.1:1/"), `{}`} {
		r := start(t, read(t, conf))
		if got := ask(t, "GET", r.base()+"/.well-known/oauth-protected-resource/mcp", ""); got.status != 404 {
			t.Errorf("metadata: %v", got)
		}
		if got := ask(t, "POST", r.url, helloLegacy); conf != `{}` && (got.status != 401 || got.header.Get("WWW-Authenticate") != "Bearer") {
			t.Errorf("nobody: %v", got)
		}
		r.end(t)
	}
}

// TestHealthForStrangers holds that a stranger learns that the gateway runs, and not what is behind it.
func TestHealthForStrangers(t *testing.T) {
	const short, long = `{"status":"ok"}`, `{"status":"ok","servers":[{"name":"watched","state":"`
	for _, c := range []struct {
		auth    string
		headers []string
		status  int
		want    string
	}{
		{own, nil, 200, short},
		{own, bearer(annsToken), 200, long},
		{own, bearer("a-token-of-nobody"), 401, ""},
		{strings.TrimSuffix(own, "}") + `, "public": ["/healthz"]}`, nil, 200, long},
		{"null", nil, 200, long},
	} {
		r := start(t, read(t, protected(c.auth, "http://127.0.0.1:1/")))
		if got := ask(t, "GET", r.base()+"/healthz", "", c.headers...); got.status != c.status || c.status == 200 && !strings.HasPrefix(got.body, c.want) || c.want == short && strings.TrimSpace(got.body) != short {
			t.Errorf("%s %q: %v", c.auth, c.headers, got)
		}
		r.end(t)
	}
}

// TestPublicRoot holds that the page at the root may be shown to everybody, and nothing else with it.
func TestPublicRoot(t *testing.T) {
	r := start(t, read(t, protected(strings.TrimSuffix(own, "}")+`, "public": ["/"]}`, "http://127.0.0.1:1/")))
	defer r.end(t)
	for path, want := range map[string]int{"/": 200, "/admin": 401, "/mcp": 401, "/sse": 401} {
		if got := ask(t, "GET", r.base()+path, ""); got.status != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestNobodyIsAskedOnStdio holds that the client of a pipe needs no token: it has started the gateway.
func TestNobodyIsAskedOnStdio(t *testing.T) {
	up := startWatched(t, server.Options{})
	near, far := transport.Pair(0)
	done := make(chan error, 1)
	conf := read(t, protected(own, up.url))
	go func() { done <- Run(context.Background(), Options{Config: conf, Stdio: far, Stderr: &lines{}}) }() // ends with near
	c, err := client.Connect(t.Context(), near, client.Options{})
	check(t, err)
	if result, err := c.CallTool(t.Context(), "greet", nil); err != nil || result.Text() != "hello" {
		t.Errorf("got %v, %v", result, err)
	}
	check(t, c.Close())
	check(t, <-done)
}

// TestTokensThatWereNeverWritten holds that the output of rialto check is nothing to start a gateway with.
func TestTokensThatWereNeverWritten(t *testing.T) {
	conf := read(t, protected(`{"tokens": [{"name": "ann", "token": "***"}]}`, "http://127.0.0.1:1/"))
	err := Run(t.Context(), Options{Config: conf, Listen: "127.0.0.1:0", Stderr: &lines{}})
	if err == nil || err.Error() != "gateway.auth: the token of ann is hidden (***), as rialto check prints it; write the token" {
		t.Errorf("got %v", err)
	}
}
