package config

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// readAuth reads a section auth with a few variables.
func readAuth(auth string, more ...string) (*Config, error) {
	env := map[string]string{"ANN": "0123456789abcdef", "SHORT": "hush", "ODD": "hush hush hush hush"}
	text := `{"gateway":{"auth":` + auth + strings.Join(more, "") + `},"mcpServers":{}}`
	return Read(strings.NewReader(text), "f", Options{Lookup: func(name string) (string, bool) { value, ok := env[name]; return value, ok }})
}

func TestAuth(t *testing.T) {
	c, err := readAuth(`{"resource": "https://mcp.example.com/mcp", "scopes": ["mcp"],
		"tokens": [{"name": "ann", "token": "${ANN}", "scopes": ["mcp", "x"], "roles": ["ops"]}, {"name": "bob", "sha256": "` + strings.Repeat("0a", 32) + `", "scopes": ["mcp"]}],
		"jwt": {"issuer": "https://login.example.com", "audience": "api://mcp", "rolesClaim": "groups"}}`)
	if err != nil {
		t.Fatal(err)
	}
	a := c.Auth
	if ann := a.Tokens[0]; ann.Name != "ann" || ann.Digest != sha256.Sum256([]byte("0123456789abcdef")) || fmt.Sprint(ann.Scopes, ann.Roles) != "[mcp x] [ops]" {
		t.Errorf("ann is %+v", ann)
	}
	if bob := a.Tokens[1]; bob.Digest[0] != 10 || bob.Hidden {
		t.Errorf("bob is %+v", bob)
	}
	if want := (Issuer{URL: "https://login.example.com", Audiences: []string{"api://mcp"}, RolesClaim: "groups"}); len(a.Issuers) != 1 || !reflect.DeepEqual(a.Issuers[0], want) {
		t.Errorf("the issuers are %#v", a.Issuers)
	}
	if got := fmt.Sprintf("%v %+v %#v", *a, a, a); strings.Contains(got, "0123456789abcdef") {
		t.Errorf("the token is kept: %s", got)
	}
	if c, err := readAuth("null"); err != nil || c.Auth != nil {
		t.Errorf("none: %v, %v", c, err)
	}
}

// What rialto check prints is no configuration to run: it has no tokens. A program that reads a file for one of its servers
// needs none of the gateway's variables.
func TestAuthWithoutItsTokens(t *testing.T) {
	if c, err := readAuth(`{"tokens": [{"name": "a", "token": "***"}, {"name": "b", "sha256": "***"}]}`); err != nil || !c.Auth.Tokens[0].Hidden || !c.Auth.Tokens[1].Hidden {
		t.Errorf("the mask: %+v, %v", c, err)
	}
	_, err := Read(strings.NewReader(`{"gateway": {"auth": {"tokens": [{"name": "a", "token": "${NOT_SET}"}]}}, "mcpServers": {"x": {"command": "x"}}}`), "f",
		Options{Lookup: func(string) (string, bool) { return "", false }, Only: []string{"x"}})
	if err != nil {
		t.Errorf("for one server: %v", err)
	}
}

func TestWrongAuth(t *testing.T) {
	const (
		token = `{"name":"a","token":"0123456789abcdef"}`
		jwt   = `{"issuer":"https://login.example"}`
		text  = " without blanks, quotes and backslashes"
	)
	for _, tc := range []struct{ auth, want string }{
		{`true`, "auth: this must be an object, not true or false"},
		{`{}`, "auth: nobody could call: there is no token that would be taken; add tokens or jwt, or leave auth out"},
		{`{"token":"x"}`, "auth.token: this key is not known; did you mean tokens?"},
		{`{"tokens":{}}`, "auth.tokens: this must be a list, not an object"},
		{`{"tokens":["x"]}`, "auth.tokens[0]: this must be an object, not text in quotes"},
		{`{"tokens":[{"token":"0123456789abcdef"}]}`, "auth.tokens[0]: whose token this is has to be said; add name"},
		{`{"tokens":[{"name":"a"}]}`, `auth.tokens[0]: add the token, such as "${TOKEN}", or sha256, the digest of it in hexadecimal digits`},
		{`{"tokens":[{"name":"a b","token":"0123456789abcdef"}]}`, "auth.tokens[0].name: the name of a caller has 1 to 64 visible ASCII characters" + text},
		{`{"tokens":[{"name":"a","token":"hush"}]}`, "auth.tokens[0].token: the token has less than 16 characters, so it can be guessed; openssl rand -hex 32 makes a good one"},
		{`{"tokens":[{"name":"a","token":"${SHORT}"}]}`, "auth.tokens[0].token: the token has less than 16 characters, so it can be guessed; openssl rand -hex 32 makes a good one"},
		{`{"tokens":[{"name":"a","token":"${ODD}"}]}`, "auth.tokens[0].token: a token can have letters, digits and -._~+/ and end in =, since it travels in a header; make another"},
		{`{"tokens":[{"name":"a","token":"${NOT_SET}"}]}`, "auth.tokens[0].token: the variable NOT_SET is not set; set it, or write ${NOT_SET:-default}"},
		{`{"tokens":[{"name":"a","sha256":"00"}]}`, `auth.tokens[0].sha256: this must be 64 hexadecimal digits; printf %s "$TOKEN" | sha256sum prints them`},
		{`{"tokens":[{"name":"a","token":"0123456789abcdef","sha256":"***"}]}`, "auth.tokens[0]: this has both token and sha256; keep one of them"},
		{`{"tokens":[` + token + `,{"name":"a","token":"abcdef0123456789"}]}`, "auth.tokens[1]: another token has this name already; choose one for each caller"},
		{`{"tokens":[` + token + `,{"name":"b","token":"0123456789abcdef"}]}`, "auth.tokens[1]: another entry has this token already, so nobody can tell the two callers apart; make one for each"},
		{`{"tokens":[{"name":"a","token":"0123456789abcdef","scopes":["a b"]}]}`, "auth.tokens[0].scopes[0]: a scope has visible ASCII characters" + text},
		{`{"tokens":[` + token + `],"scopes":["mcp"]}`, "auth.tokens[0]: every caller needs the scope mcp, and this token does not grant it; add it to its scopes"},
		{`{"tokens":[` + token + `],"dpop":"yes"}`, "auth.dpop: write off, optional or required"},
		{`{"tokens":[` + token + `],"dpop":"optional"}`, "auth.dpop: the tokens of a file are bound to no key; write off, or add jwt"},
		{`{"tokens":[` + token + `],"jwt":` + jwt + `,"resource":"https://m/","dpop":"required"}`, "auth.dpop: the tokens of a file are bound to no key, and all of them would be refused; write optional, or leave tokens out"},
		{`{"tokens":[` + token + `],"public":["/mcp"]}`, "auth.public[0]: only these can be served to everybody: /, /healthz"},
		{`{"jwt":` + jwt + `}`, "auth: tokens of an issuer must be made for this gateway; add resource, its public address, such as https://mcp.example.com/mcp"},
		{`{"resource":"http://mcp.example.com/mcp"}`, "auth.resource: the address must begin with https:// unless it is on this machine: tokens travel there, or are believed for what it says"},
		{`{"resource":"mcp.example.com"}`, "auth.resource: this must be an address such as https://mcp.example.com/mcp"},
		{`{"resource":"https://m/mcp?x"}`, "auth.resource: this must be an address without query and fragment, such as https://mcp.example.com/mcp"},
		{`{"resource":"https://m/","jwt":[{}]}`, "auth.jwt[0]: the authorization server is missing; add issuer, as it writes itself in its tokens"},
		{`{"resource":"https://m/","jwt":[` + jwt + `,` + jwt + `]}`, "auth.jwt[1]: this issuer stands here twice; put both into one entry"},
		{`{"resource":"https://m/","jwt":{"issuer":"http://login.example"}}`, "auth.jwt.issuer: the address must begin with https:// unless it is on this machine: tokens travel there, or are believed for what it says"},
		{`{"resource":"https://m/","jwt":{"issuer":"https://l","algorithms":["HS256"]}}`, "auth.jwt.algorithms[0]: this must be one of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA; others can be forged by whoever can check them"},
		{`{"resource":"https://m/","jwt":{"issuer":"https://l","audience":[" "]}}`, "auth.jwt.audience[0]: the audience is empty; write what the tokens have in aud, or remove it"},
		{`{"tokens":[` + token + `]},"insecure":true`, "insecure: insecure lets everybody call, and auth says who may; keep one of them"},
	} {
		c, err := readAuth(tc.auth)
		if c != nil || err == nil || !strings.Contains(err.Error(), ": gateway."+tc.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v and\n%v\nwant\n%s", tc.auth, c, err, tc.want)
		}
	}
}

// The files of the guide are configurations, also those that no test of it runs.
func TestExampleFiles(t *testing.T) {
	files, err := filepath.Glob("../../examples/gateway/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		_, err := ReadFile(file, Options{Lookup: func(name string) (string, bool) { return strings.ToLower(name) + "-0123456789", true }})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestAuthPrintsNoSecrets holds that whatever prints or logs a configuration shows no token, no digest of one and no query of an
// address.
//
// Seen to fail: the digests, and the query of jwksUrl.
func TestAuthPrintsNoSecrets(t *testing.T) {
	const token = "token-of-ann-0123456789"
	c, err := read(`{"mcpServers":{"a":{"url":"https://a.example/mcp","headers":{"X-Key":"hush-hush"}}},"gateway":{"auth":{"resource":"https://m.example/mcp",
		"tokens":[{"name":"ann","token":"` + token + `"}],"jwt":{"issuer":"https://l.example","jwksUrl":"https://l.example/keys?k=hush-hush"}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(token))
	logged, err := json.Marshal(c.Auth)
	if err != nil {
		t.Fatal(err)
	}
	text := string(logged)
	for _, v := range []any{c, *c, c.Auth, *c.Auth, c.Auth.Tokens, c.Auth.Issuers} {
		text += fmt.Sprintf("%v %+v %#v %s", v, v, v, v)
	}
	decimal := strings.Trim(fmt.Sprintf("%d", digest[:8]), "[]")
	for _, secret := range []string{"hush-hush", token, decimal, strings.ReplaceAll(decimal, " ", ","), fmt.Sprintf("%#v", digest[:8])[len("[]byte{"):40]} {
		if strings.Contains(text, secret) {
			t.Errorf("%s stands in %.3000s", secret, text)
		}
	}
}
