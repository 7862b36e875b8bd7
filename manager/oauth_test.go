package manager

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestOAuth reads what hosts write about signing in.
func TestOAuth(t *testing.T) {
	opts := ReadOptions{Lookup: lookupIn(map[string]string{"SECRET": "hush", "ID": "c", "AT": "https://as.example"})}
	for _, tc := range []struct {
		name, in string
		want     *OAuth
	}{
		{"nothing", `"x": 1`, nil},
		{"null", `"oauth": null`, nil},
		{"off", `"oauth": false`, &OAuth{Off: true}},
		{"on", `"oauth": true`, &OAuth{}},
		{"on, in another word", `"auth": "oauth"`, &OAuth{}},
		{"a token of another host", `"auth": "sk-1"`, nil},
		{"VS Code", `"oauth": {"clientId": "c"}`, &OAuth{ClientID: "c"}},
		{"Claude Code", `"oauth": {"clientId": "c", "callbackPort": 8080, "scopes": "a b", "authServerMetadataUrl": "https://as.example/.well-known/openid-configuration"}`,
			&OAuth{ClientID: "c", CallbackHost: "localhost", CallbackPort: 8080, Scopes: []string{"a", "b"}, MetadataURL: "https://as.example/.well-known/openid-configuration"}},
		{"Cursor", `"auth": {"CLIENT_ID": "${env:ID}", "CLIENT_SECRET": "${env:SECRET}", "scopes": ["a", "b"]}`, &OAuth{ClientID: "c", ClientSecret: "hush", Scopes: []string{"a", "b"}}},
		{"Gemini CLI", `"oauth": {"enabled": true, "clientId": "c", "tokenUrl": "https://as.example/t", "redirectUri": "http://localhost:7777/oauth/callback"}`,
			&OAuth{ClientID: "c", CallbackHost: "localhost", CallbackPort: 7777, CallbackPath: "/oauth/callback"}},
		{"switched off", `"oauth": {"enabled": false, "clientId": "c"}`, &OAuth{Off: true, ClientID: "c"}},
		{"others", `"oauth": {"client_id": "c", "scope": "a", "authorizationServer": "${AT}", "redirectUri": "http://127.0.0.1/back"}`,
			&OAuth{ClientID: "c", Scopes: []string{"a"}, Issuer: "https://as.example", CallbackHost: "127.0.0.1", CallbackPath: "/back"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := readEntry(t, `{"url": "https://h.example/mcp", `+tc.in+`}`, opts)
			if err != nil {
				t.Fatal(err)
			}
			if s.OAuth != nil {
				if !strings.Contains(tc.in, string(s.OAuth.Raw)) {
					t.Errorf("raw: %s", s.OAuth.Raw)
				}
				s.OAuth.Raw = nil
			}
			if !reflect.DeepEqual(s.OAuth, tc.want) {
				t.Errorf("the fields differ from those of %v", tc.want)
			}
			for _, shown := range []string{fmt.Sprintf("%v %+v %#v", s.OAuth, s.OAuth, s.OAuth), Reason(s, fmt.Errorf("sent hush or hushhush"))} {
				if s.OAuth != nil && s.OAuth.ClientSecret != "" && strings.Contains(shown, `"hush`) {
					t.Errorf("shown: %s", shown)
				}
			}
		})
	}
}

func TestWrongOAuth(t *testing.T) {
	const at = "f:1:52: mcpServers.s.oauth"
	for _, tc := range []struct{ in, want string }{
		{`[]`, at + ": this must be an object, or true or false, not a list"},
		{`"yes"`, at + ": this must be an object, or true or false, not text in quotes"},
		{`{"clientId":1}`, "f:1:64: mcpServers.s.oauth.clientId: this must be text in quotes, not a number"},
		{`{"clientId":"a","client_id":"b"}`, "f:1:80: mcpServers.s.oauth.client_id: this says the same as clientId; keep one"},
		{`{"clientSecret":"hush"}`, "f:1:68: mcpServers.s.oauth.clientSecret: a secret without a client says nothing; add the clientId"},
		{`{"callbackPort":"8080"}`, "f:1:68: mcpServers.s.oauth.callbackPort: this must be a port, a number from 1 to 65535"},
		{`{"callbackPort":65536}`, "f:1:68: mcpServers.s.oauth.callbackPort: this must be a port, a number from 1 to 65535"},
		{`{"issuer":"http://hush.example"}`, "f:1:62: mcpServers.s.oauth.issuer: this must be an address that begins with https://"},
		{`{"redirectUri":"https://hush.example/back"}`, "f:1:67: mcpServers.s.oauth.redirectUri: the browser can be sent back to this machine only; write an address such as http://localhost:8080/callback"},
		{`{"callbackPort":1,"redirectUri":"http://localhost:2/"}`, "f:1:84: mcpServers.s.oauth.redirectUri: this names another port than callbackPort; keep one"},
		{`{"scopes":{}}`, "f:1:62: mcpServers.s.oauth.scopes: this must be a list of texts, not an object"},
		{`{"enabled":"no"}`, "f:1:63: mcpServers.s.oauth.enabled: this must be true or false, not text in quotes"},
	} {
		_, err := readEntry(t, `{"url":"https://h/mcp","oauth":`+tc.in+`}`, ReadOptions{})
		got := fmt.Sprint(err)
		if tail := tc.want[strings.Index(tc.want, "mcpServers"):]; !strings.HasSuffix(got, tail) || strings.Contains(got, "hush") {
			t.Errorf("%s: got\n%v\nwant\n%s", tc.in, err, tc.want)
		}
	}
}
