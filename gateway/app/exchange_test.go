package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// twoCallers is a file in which ann and bob may call, with more of the section, in front of one server at an address.
func twoCallers(address, ofServer string) string {
	return fmt.Sprintf(`{"gateway": {"auth": {"tokens": [{"name": "ann", "token": %q}, {"name": "bob", "token": %q}]},
		"servers": {"office": %s}}, "mcpServers": {"office": {"url": %q}}}`, annsToken, bobsToken, ofServer, address)
}

func exchanging(o *office, kind string) string {
	return fmt.Sprintf(`{"auth": {"type": %q, "tokenUrl": %q, "clientId": "gateway", "clientSecret": "secret-of-the-gateway", "audience": "office"}}`,
		kind, o.issuer+"/token")
}

// caller is a client of a gateway under test that shows a token.
func caller(t *testing.T, f *followed, token string, mode client.Mode, o client.Options) *client.Client {
	t.Helper()
	o.Headers, o.Mode = http.Header{"Authorization": {"Bearer " + token}}, mode
	c, err := client.DialHTTP(t.Context(), f.url, o)
	check(t, err)
	t.Cleanup(func() { _ = c.Close() }) // the gateway may be gone
	return c
}

func toolsOf(t *testing.T, c *client.Client) string {
	t.Helper()
	var names []string
	for tool, err := range c.Tools(t.Context()) {
		check(t, err)
		names = append(names, tool.Name)
	}
	return strings.Join(names, " ")
}

func whoami(t *testing.T, c *client.Client) string {
	t.Helper()
	result, err := c.CallTool(t.Context(), "whoami", nil)
	if err != nil {
		return err.Error()
	}
	return result.Text()
}

// onBothEras runs a test for servers and clients of both eras.
func onBothEras(t *testing.T, run func(t *testing.T, versions []string, mode client.Mode)) {
	for name, versions := range map[string][]string{"legacy server": mcp.LegacyVersions(), "modern server": mcp.ModernVersions()} {
		for mode, as := range map[client.Mode]string{client.Legacy: "legacy client", client.Modern: "modern client"} {
			t.Run(as+", "+name, func(t *testing.T) { run(t, versions, mode) })
		}
	}
}

// TestExchangedTokens_C090 holds that each caller is called for with a token that was exchanged for its own, of the same person,
// and that no server sees the token which was shown to the gateway.
func TestExchangedTokens_C090(t *testing.T) {
	for _, kind := range []string{"exchange", "enterprise"} {
		onBothEras(t, func(t *testing.T, versions []string, mode client.Mode) {
			o := openOffice(t, versions)
			o.people = map[string]string{annsToken: "Ann at the office", bobsToken: "Bob at the office"}
			entry := twoCallers(o.address, exchanging(o, kind))
			if kind == "enterprise" { // the client of the server's own authorization server
				entry = strings.Replace(entry, `{"url": `, `{"oauth": {"clientId": "gateway", "clientSecret": "secret-of-the-gateway"}, "url": `, 1)
			}
			f := follow(t, entry)
			f.err.wait(t, "office: each caller is called for with credentials of its own")
			ann, bob := caller(t, f, annsToken, mode, client.Options{}), caller(t, f, bobsToken, mode, client.Options{})
			for range 2 {
				if got := whoami(t, ann) + ", " + whoami(t, bob); got != "Ann at the office, Bob at the office" {
					t.Errorf("they are %s", got)
				}
			}
			if got := toolsOf(t, ann); got != "whoami" {
				t.Errorf("ann sees %s", got)
			}
			f.end(t)
			for _, token := range o.shown() {
				if strings.Contains(token, annsToken) || strings.Contains(token, bobsToken) {
					t.Errorf("the server was shown %q", token)
				}
			}
			asked := 0
			for _, form := range o.forms {
				if form.Get("subject_token") == annsToken {
					asked++
				}
			}
			if asked != 1 {
				t.Errorf("ann's token was exchanged %d times", asked)
			}
		})
	}
}

// TestExchangeThatFails holds that an authorization server which refuses one caller, or answers nonsense, costs that caller alone,
// and that no answer and no line shows a secret.
func TestExchangeThatFails(t *testing.T) {
	for name, refuse := range map[string]func(url.Values) (int, any){
		"refused": func(form url.Values) (int, any) {
			return 400, map[string]any{"error": "invalid_grant", "error_description": form.Get("subject_token")}
		},
		"the same token": func(form url.Values) (int, any) {
			return 200, map[string]any{"access_token": form.Get("subject_token"), "token_type": "Bearer"}
		},
		"no token":     func(url.Values) (int, any) { return 200, map[string]any{} },
		"a list":       func(url.Values) (int, any) { return 200, []string{"token"} },
		"out of order": func(url.Values) (int, any) { return 503, map[string]any{} },
		"a token for none": func(url.Values) (int, any) {
			return 200, map[string]any{"access_token": "nobody-knows-it", "token_type": "Bearer"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := openOffice(t, mcp.ModernVersions())
			o.people = map[string]string{bobsToken: "Bob"}
			o.refuse = func(form url.Values) (int, any) {
				if form.Get("subject_token") == annsToken {
					return refuse(form)
				}
				return 0, nil
			}
			f := follow(t, twoCallers(o.address, exchanging(o, "exchange")))
			ann, bob := caller(t, f, annsToken, client.Modern, client.Options{}), caller(t, f, bobsToken, client.Modern, client.Options{})
			if got := whoami(t, bob); got != "Bob" {
				t.Errorf("bob is %q", got)
			}
			if got := toolsOf(t, ann); got != "" {
				t.Errorf("ann sees %s", got)
			}
			_, err := ann.CallTool(t.Context(), "whoami", nil)
			if err == nil {
				t.Error("ann is let in")
			}
			f.end(t)
			for _, text := range []string{fmt.Sprint(err), f.err.String()} {
				for _, secret := range []string{annsToken, "secret-of-the-gateway", "token-of-the-office"} {
					if strings.Contains(text, secret) {
						t.Errorf("%q shows a secret", text)
					}
				}
			}
			for _, token := range o.shown() {
				if strings.Contains(token, annsToken) {
					t.Error("the server was shown ann's token")
				}
			}
		})
	}
}
