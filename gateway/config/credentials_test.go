package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/signon"
)

// readCredentials reads a file with callers and one server at an address.
func readCredentials(entry, auth, callers string) (*config.Config, error) {
	text := fmt.Sprintf(`{"gateway":{%s"servers":{"a":{"auth":%s}}},"mcpServers":{"a":%s}}`, callers, auth, entry)
	env := func(name string) (string, bool) { return "secret-of-" + name, true }
	return config.Read(strings.NewReader(text), "f", config.Options{Lookup: env})
}

const (
	someCallers = `"auth":{"tokens":[{"name":"ann","token":"token-of-ann-0123456789"}]},`
	someEntry   = `{"url":"https://office.example/mcp"}`
)

func TestCredentials(t *testing.T) {
	c, err := readCredentials(someEntry, `{"type":"exchange","issuer":"https://login.example","clientId":"g","clientSecret":"${S}","audience":["x"],
		"resource":false,"scopes":["read"],"subjectTokenType":"jwt"}`, someCallers)
	if err != nil {
		t.Fatal(err)
	}
	got := c.Credentials("a")
	want := signon.Settings{
		Type: signon.Exchange, Issuer: "https://login.example", ClientID: "g", ClientSecret: "secret-of-S", Audience: []string{"x"}, NoResource: true,
		Scopes: []string{"read"}, SubjectType: "urn:ietf:params:oauth:token-type:jwt",
	}
	if fmt.Sprintf("%+q", plain(got)) != fmt.Sprintf("%+q", plain(want)) {
		t.Errorf("got %+q\nwant %+q", plain(got), plain(want))
	}
	text, err := c.Marshal()
	if err != nil || strings.Contains(string(text), "secret-of") || !strings.Contains(string(text), `"clientSecret": "${S}"`) {
		t.Errorf("%s, %v", text, err)
	}
	again, err := config.Read(strings.NewReader(strings.Replace(string(text), `"***"`, `"token-of-ann-0123456789"`, 1)), "f", config.Options{})
	if err != nil || again.Credentials("a").Issuer != want.Issuer {
		t.Errorf("read again: %v", err)
	}
}

// plain are settings without the words that hide them.
func plain(s signon.Settings) any {
	type plain signon.Settings
	return plain(s)
}

func TestWrongCredentials(t *testing.T) {
	for _, tc := range []struct{ entry, auth, callers, want string }{
		{someEntry, `{}`, someCallers, "say how callers come by credentials"},
		{someEntry, `{"type":"magic"}`, someCallers, "gateway.servers.a.auth.type: write login, exchange or enterprise"},
		{someEntry, `{"type":"exchange","clientId":"g"}`, someCallers, "the authorization server that exchanges tokens is missing"},
		{someEntry, `{"type":"enterprise","tokenUrl":"https://login.example/token"}`, someCallers, "add clientId"},
		{someEntry, `{"type":"exchange","tokenUrl":"http://login.example/token","clientId":"g"}`, someCallers, "must begin with https://"},
		{someEntry, `{"type":"exchange","tokenUrl":"https://login.example/token","clientId":"g","subjectTokenType":"x"}`, someCallers, "write access_token, jwt or id_token"},
		{someEntry, `{"type":"login","clientId":"g"}`, someCallers, "stands under oauth in the entry"},
		{someEntry, `{"type":"login"}`, "", "add gateway.auth, which says who may call"},
		{`{"command":"x"}`, `{"type":"login"}`, someCallers, "a server that is started is shown no tokens"},
		{`{"url":"https://o.example/mcp","headers":{"authorization":"x"}}`, `{"type":"login"}`, someCallers, "an Authorization header of its own"},
		{`{"url":"https://o.example/mcp","oauth":false}`, `{"type":"login"}`, someCallers, "nobody signs in"},
		{`{"url":"https://o.example/mcp","oauth":{}}`, `{"type":"exchange","tokenUrl":"https://login.example/token","clientId":"g"}`, someCallers, "not used where tokens are exchanged"},
		{someEntry, `{"type":"login"},"share":"all"`, someCallers, "cannot share a connection"},
	} {
		c, err := readCredentials(tc.entry, tc.auth, tc.callers)
		if c != nil || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s of %s: %v, want %s", tc.auth, tc.entry, err, tc.want)
		}
	}
}
