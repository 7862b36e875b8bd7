package auth_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

func base64url(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

const (
	bare    = `Bearer resource_metadata="` + metadataURL + `", scope="read"`
	invalid = bare + `, error="invalid_token", error_description="`
)

// What a request shows of itself, and what becomes of it.
func TestBearer(t *testing.T) {
	i := newIssuer(t)
	url := serve(t, i.options(t), server.HTTPOptions{})
	good := i.token(t, nil)
	stranger := newIssuer(t)
	for _, c := range []struct {
		name      string
		path      string
		headers   []string
		status    int
		challenge string
		body      string
	}{
		{"good", "/mcp", []string{"Authorization", "Bearer " + good}, 200, "", `ann [read] \"\"\"\"`},
		{"scheme in lower case", "/mcp", []string{"Authorization", "bearer " + good}, 200, "", "ann"},
		{"slash at the end", "/mcp/", []string{"Authorization", "Bearer " + good}, 200, "", "ann"},
		{"no token", "/mcp", nil, 401, bare, "an access token is needed here"},
		{"no token, slash at the end", "/mcp/", []string{"X-Forwarded-Proto", "https"}, 401, bare, "an access token is needed here"},
		{"another scheme", "/mcp", []string{"Authorization", "Basic YTpi"}, 401, bare, "needed here"},
		{"empty", "/mcp", []string{"Authorization", "Bearer"}, 401, invalid + `the header Authorization holds no access token that can be read"`, ""},
		{"no token68", "/mcp", []string{"Authorization", "Bearer a b"}, 401, invalid + `the header Authorization holds no access token that can be read"`, ""},
		{"not a JWT", "/mcp", []string{"Authorization", "Bearer secret123"}, 401, invalid + `the access token is no JWT that is signed with an algorithm taken here"`, ""},
		{"expired", "/mcp", []string{"Authorization", "Bearer " + i.token(t, map[string]any{"exp": time.Now().Add(-time.Hour).Unix()})}, 401, invalid + `the access token has expired"`, ""},
		{"for another resource", "/mcp", []string{"Authorization", "Bearer " + i.token(t, map[string]any{"aud": "https://pub.example/y/mcp"})}, 401, invalid + `the access token is for another resource"`, ""},
		{"from another issuer", "/mcp", []string{"Authorization", "Bearer " + stranger.token(t, nil)}, 401, invalid + `the access token is signed with a key that the issuer does not have"`, ""},
		{"too little", "/mcp", []string{"Authorization", "Bearer " + i.token(t, map[string]any{"scope": "other"})}, 403,
			bare + `, error="insufficient_scope", error_description="the access token does not grant what this request needs: read"`, ""},
		{"in the address", "/mcp?access_token=" + good, nil, 400,
			`Bearer resource_metadata="` + metadataURL + `", error="invalid_request", error_description="an access token belongs into the header Authorization, never into the address"`, ""},
		{"in the address, escaped, and good in the header", "/mcp?a=1&access%5Ftoken=x", []string{"Authorization", "Bearer " + good}, 400,
			`Bearer resource_metadata="` + metadataURL + `", error="invalid_request", error_description="an access token belongs into the header Authorization, never into the address"`, ""},
		{"two", "/mcp", []string{"Authorization", "Bearer " + good, "Authorization", "Bearer " + good}, 400,
			`Bearer resource_metadata="` + metadataURL + `", error="invalid_request", error_description="there is more than one header Authorization"`, ""},
		{"a proof scheme where none is taken", "/mcp", []string{"Authorization", "DPoP " + good}, 401,
			invalid + `access tokens that are bound to a key are not taken here"`, ""},
		{"bound, without a proof", "/mcp", []string{"Authorization", "Bearer " + i.token(t, map[string]any{"cnf": map[string]any{"jkt": "x"}})}, 401,
			invalid + `access tokens that are bound to a key are not taken here"`, ""},
		{"bound to a certificate", "/mcp", []string{"Authorization", "Bearer " + i.token(t, map[string]any{"cnf": map[string]any{"x5t#S256": "x"}})}, 401,
			invalid + `the access token is bound in a way that is not known here"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := append([]string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "whoami"}, c.headers...)
			got := ask(t, "POST", url+c.path, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami",`+meta+`}}`, headers...)
			if got.status != c.status || got.header.Get("WWW-Authenticate") != c.challenge || !strings.Contains(got.body, c.body) {
				t.Errorf("want %d %s %q\ngot  %v", c.status, c.challenge, c.body, got)
			}
			if strings.Contains(got.String(), good) || strings.Contains(got.String(), "secret123") {
				t.Errorf("the answer holds the token: %v", got)
			}
		})
	}
}

// What may stand in the audience of a token.
func TestAudience(t *testing.T) {
	for _, c := range []struct {
		resource  string
		audiences []string
		token     []string
		ours      bool
		status    int
	}{
		{resource, nil, []string{resource}, false, 200},
		{resource, nil, []string{"https://other.example", resource + "/"}, false, 200},
		{"https://pub.example", nil, []string{"https://pub.example/"}, false, 200},
		{resource, nil, []string{"https://pub.example"}, false, 401},
		{resource, nil, []string{"https://pub.example/x"}, false, 401},
		{resource, nil, []string{"https://PUB.example/x/mcp"}, false, 401},
		{resource, nil, []string{resource + "//"}, false, 401},
		{resource, nil, []string{resource + "/more"}, false, 401},
		{resource, nil, nil, false, 401},
		{resource, nil, []string{""}, false, 401},
		{resource, nil, nil, true, 200},
		{resource, []string{"api://weather"}, []string{"api://weather"}, false, 200},
		{resource, []string{"api://weather"}, []string{"api://weather/"}, false, 401},
		{"", []string{"api://weather"}, []string{"api://weather"}, false, 200},
		{"", nil, []string{""}, false, 401},
		{"", []string{""}, []string{""}, false, 401},
	} {
		url := serve(t, auth.Options{
			Resource: c.resource, Audiences: c.audiences,
			Verifier: auth.VerifierFunc(func(context.Context, string) (*auth.Token, error) {
				return &auth.Token{Principal: mcp.Principal{Subject: "ann"}, Audience: c.token, Ours: c.ours}, nil
			}),
		}, server.HTTPOptions{})
		if got := call(t, url, "whoami", "t"); got.status != c.status {
			t.Errorf("%q (and %q) for %q: want %d, got %v", c.resource, c.audiences, c.token, c.status, got)
		}
	}
	// What the sender says of the host is no audience.
	url := serve(t, auth.Options{Verifier: auth.VerifierFunc(func(context.Context, string) (*auth.Token, error) {
		return &auth.Token{Principal: mcp.Principal{Subject: "ann"}, Audience: []string{"http://localhost/mcp"}}, nil
	})}, server.HTTPOptions{})
	if got := call(t, url, "whoami", "t", "Host", "localhost"); got.status != 401 {
		t.Errorf("a host of the sender's choice: %v", got)
	}
}

// When nobody can say whether a token is good, nothing passes, and the client is told nothing of the reason.
func TestUncertain(t *testing.T) {
	var mu sync.Mutex
	var reported []string
	for name, verify := range map[string]auth.VerifierFunc{
		"error":   func(context.Context, string) (*auth.Token, error) { return nil, errors.New("db at 10.0.0.1 is down") },
		"nothing": func(context.Context, string) (*auth.Token, error) { return nil, nil },
		"nobody":  func(context.Context, string) (*auth.Token, error) { return &auth.Token{Ours: true}, nil },
		"late": func(ctx context.Context, _ string) (*auth.Token, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		url := serve(t, auth.Options{Resource: resource, Verifier: verify, VerifyTimeout: 50 * time.Millisecond, OnError: func(err error) {
			mu.Lock()
			defer mu.Unlock()
			reported = append(reported, err.Error())
		}}, server.HTTPOptions{})
		got := call(t, url, "whoami", "secret123")
		if got.status != 503 || got.header.Get("Retry-After") == "" || strings.Contains(got.body, "10.0.0.1") {
			t.Errorf("%s: %v", name, got)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(reported) != 4 || strings.Contains(strings.Join(reported, " "), "secret123") {
		t.Errorf("reported %q", reported)
	}
}

// Some requests may do without a token, and those with a bad one may not.
func TestOptional(t *testing.T) {
	opts := auth.Options{
		Resource: resource, Optional: true, Scopes: []string{"read"},
		ScopesFor: auth.ToolScopes(map[string][]string{"write": {"write"}}),
		Verifier: auth.StaticTokens(map[string]mcp.Principal{
			"reader": {Subject: "ann", Scopes: []string{"read"}}, "stranger": {Subject: "bob"},
		}),
	}
	url := serve(t, opts, server.HTTPOptions{})
	for _, c := range []struct {
		tool, token string
		status      int
		want        string
	}{
		{"whoami", "", 200, `"nobody"`},
		{"whoami", "reader", 200, "ann"},
		{"whoami", "wrong", 401, "not known here"},
		{"whoami", "stranger", 403, "read"},
		{"write", "", 401, `Bearer scope="write"]`},
		{"write", "reader", 403, `scope="read write"`},
	} {
		if got := call(t, url, c.tool, c.token); got.status != c.status || !strings.Contains(got.String(), c.want) {
			t.Errorf("%s with %q: want %d %s, got %v", c.tool, c.token, c.status, c.want, got)
		}
	}
}

// A preflight carries no token and never can; refusals can be read by the pages that may call.
func TestC054PreflightNeedsNoToken(t *testing.T) {
	i := newIssuer(t)
	url := serve(t, i.options(t), server.HTTPOptions{AllowedOrigins: []string{"https://app.example"}})
	const asked = "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, mcp-param-region, last-event-id, dpop"
	origin := []string{"Origin", "https://app.example"}
	got := ask(t, "OPTIONS", url+"/mcp", "", append(origin, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", asked)...)
	if got.status != 204 || got.header.Get("Access-Control-Allow-Headers") != asked || got.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("preflight: %v %v", got, got.header)
	}
	for _, c := range []struct {
		name   string
		got    response
		status int
	}{
		{"401", call(t, url, "whoami", "", origin...), 401},
		{"403", call(t, url, "whoami", i.token(t, map[string]any{"scope": "other"}), origin...), 403},
		{"404", ask(t, "DELETE", url+"/mcp", "", append(origin, "Authorization", "Bearer "+i.token(t, nil), "Mcp-Session-Id", "x")...), 404},
		{"405", ask(t, "PUT", url+"/mcp", "", origin...), 405},
		{"200", call(t, url, "whoami", i.token(t, nil), origin...), 200},
	} {
		if c.got.status != c.status || c.got.header.Get("Access-Control-Allow-Origin") != "https://app.example" ||
			!strings.Contains(c.got.header.Get("Access-Control-Expose-Headers"), "WWW-Authenticate") || len(c.got.header["Vary"]) != 1 {
			t.Errorf("%s: %v %v", c.name, c.got, c.got.header)
		}
	}
	// Whatever is no preflight needs a token or is refused.
	if got := ask(t, "OPTIONS", url+"/mcp", ""); got.status != 405 {
		t.Errorf("OPTIONS: %v", got)
	}
	if got := ask(t, "OPTIONS", url+"/mcp", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"); got.status != 403 {
		t.Errorf("foreign preflight: %v", got)
	}
}

// The first row of the table of refusals: method, Host and Origin come before the token, all else after it.
func TestOrderOfRefusals(t *testing.T) {
	i := newIssuer(t)
	url := serve(t, i.options(t), server.HTTPOptions{})
	for _, c := range []struct {
		name    string
		method  string
		headers []string
		status  int
	}{
		{"method", "PUT", nil, 405},
		{"host", "POST", []string{"Host", "evil.example"}, 403},
		{"origin", "POST", []string{"Origin", "https://evil.example"}, 403},
		{"token before the type", "POST", []string{"Content-Type", "text/plain"}, 401},
		{"token before the session", "GET", []string{"Mcp-Session-Id", "x"}, 401},
	} {
		if got := ask(t, c.method, url+"/mcp", "no JSON", c.headers...); got.status != c.status {
			t.Errorf("%s: want %d, got %v", c.name, c.status, got)
		}
	}
}

// What one message needs is judged when its version is known, before its headers and before it is told whether there is such
// a tool.
func TestOrderOfScopes(t *testing.T) {
	opts := scoped()
	opts.ScopesFor = func(string, string) []string { return []string{"none has it"} }
	url := serve(t, opts, server.HTTPOptions{})
	send := func(version string, headers ...string) response {
		body := strings.ReplaceAll(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no-such-tool",`+meta+`}}`, "2026-07-28", version)
		return ask(t, "POST", url+"/mcp", body, append(headers, "MCP-Protocol-Version", version, "Authorization", "Bearer reader")...)
	}
	if got := send("2027-01-01"); got.status != 400 {
		t.Errorf("a version that is not served comes first: %v", got)
	}
	if got := send("2026-07-28"); got.status != 403 {
		t.Errorf("a missing Mcp-Method comes later: %v", got)
	}
	if got := send("2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "no-such-tool"); got.status != 403 {
		t.Errorf("a tool that does not exist: %v", got)
	}
}

// Bearer stands around any handler; a preflight reaches it without the header that it should not have.
func TestAnyHandler(t *testing.T) {
	h := auth.Bearer(auth.Options{Resource: resource, Verifier: auth.StaticTokens(map[string]mcp.Principal{"k": {Subject: "ann"}}), KeepHeaders: true})(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			subject := "nobody"
			if who := transport.PrincipalOf(r); who != nil {
				subject = who.Subject
			}
			_, _ = w.Write([]byte(subject + r.Header.Get("Authorization"))) // the test sees what is missing
		}))
	url := listen(t, h)
	if got := ask(t, "GET", url, "", "Authorization", "Bearer k"); got.body != "annBearer k" {
		t.Errorf("with a token: %v", got)
	}
	if got := ask(t, "OPTIONS", url, "", "Authorization", "Bearer k", "Origin", "https://a.example", "Access-Control-Request-Method", "GET"); got.body != "nobody" {
		t.Errorf("preflight: %v", got)
	}
	if got := ask(t, "GET", url, ""); got.status != 401 || got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("without: %v", got)
	}
}
