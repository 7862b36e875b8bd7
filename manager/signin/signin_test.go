package signin_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/manager/signin"
)

// desk is a manager and the tokens that it signs in with.
type desk struct {
	*manager.Manager
	tokens *signin.Tokens
	moved  chan struct{}
}

func open(t *testing.T, entries string, opts signin.Options) (*desk, []manager.Server) {
	t.Helper()
	env := func(name string) (string, bool) { return "hush-hush", name == "SECRET" }
	f, err := manager.Read(strings.NewReader(`{"mcpServers": `+entries+`}`), "f", manager.ReadOptions{Lookup: env})
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{tokens: signin.New(opts), moved: make(chan struct{}, 1)}
	d.Manager, err = manager.Open(f.Servers, manager.Options{Configure: d.tokens.Configure})
	if err != nil {
		t.Fatal(err)
	}
	d.OnEvent(func(manager.Event) {
		select {
		case d.moved <- struct{}{}:
		default:
		}
	})
	t.Cleanup(func() { d.close(t) })
	return d, f.Servers
}

func (d *desk) close(t *testing.T) {
	t.Helper()
	d.Close()
	if err := d.tokens.Close(); err != nil {
		t.Error(err)
	}
}

// until waits for the state of a server.
func (d *desk) until(t *testing.T, name string, state manager.State) manager.ServerStatus {
	t.Helper()
	for {
		for _, s := range d.Status() {
			if s.Name == name && s.State == state {
				return s
			}
		}
		select {
		case <-d.moved:
		case <-t.Context().Done():
			t.Fatalf("%+v, want %s", d.Status(), state)
		}
	}
}

func (d *desk) whoami(t *testing.T, name string) {
	t.Helper()
	result, err := d.CallTool(t.Context(), name, "whoami", nil)
	if err != nil || result.Text() != "Ada" {
		t.Errorf("%s: %v, %v", name, result, err)
	}
}

// TestLoginAndRestart signs in once: the server needs authorization, the user logs in, it is ready; and after a restart it is
// ready by itself, since the token is in the store.
func TestLoginAndRestart(t *testing.T) {
	o := openOffice()
	t.Cleanup(o.close)
	store, err := oauth.OpenFiles(filepath.Join(t.TempDir(), "tokens"))
	if err != nil {
		t.Fatal(err)
	}
	entries := fmt.Sprintf(`{"web": {"url": %q, "headers": {"X-Desk": "7"}, "oauth": {"scopes": ["more"]}}}`, o.address)
	opts := signin.Options{Store: store, Open: agree}

	d, servers := open(t, entries, opts)
	if s := d.until(t, "web", manager.NeedsAuthorization); !strings.Contains(s.Reason, "login is needed") || o.count() != 0 {
		t.Errorf("before: %+v, %d logins", s, o.count())
	}
	if err := d.tokens.Login(t.Context(), servers[0]); err != nil {
		t.Fatal(err)
	}
	if err := d.Hurry("web"); err != nil {
		t.Fatal(err)
	}
	d.until(t, "web", manager.Ready)
	d.whoami(t, "web")
	if q := o.last(); o.count() != 1 || !strings.Contains(q.Get("scope"), "more") || o.header("X-Desk") != "7" {
		t.Errorf("%d logins, the last with %v", o.count(), q)
	}
	if err := d.tokens.Login(t.Context(), servers[0]); err != nil || o.count() != 1 {
		t.Errorf("a login that is not needed: %v, %d", err, o.count())
	}
	d.close(t)

	d, servers = open(t, entries, opts)
	d.until(t, "web", manager.Ready)
	d.whoami(t, "web")
	if o.count() != 1 {
		t.Errorf("%d logins after a restart", o.count())
	}

	if err := d.tokens.Logout(t.Context(), servers[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := d.CallTool(t.Context(), "web", "whoami", nil); !errors.Is(err, client.ErrUnauthorized) || o.count() != 1 {
		t.Errorf("a call after the logout: %v, %d logins", err, o.count())
	}
	d.close(t)
	d, _ = open(t, entries, opts)
	d.until(t, "web", manager.NeedsAuthorization)
}

// TestKnownClient signs in as a client that was registered by hand, as entries of Claude Code and Cursor have them: at a fixed
// port of localhost, with a secret that is in no error.
func TestKnownClient(t *testing.T) {
	o := openOffice()
	t.Cleanup(o.close)
	o.known, o.secret = "desk", "hush-hush"
	port := freePort(t)
	d, servers := open(t, fmt.Sprintf(`{
		"code": {"url": %[1]q, "oauth": {"clientId": "desk", "clientSecret": "${SECRET}", "callbackPort": %[2]d, "authServerMetadataUrl": "%[3]s/.well-known/oauth-authorization-server"}},
		"cursor": {"url": %[1]q, "auth": {"CLIENT_ID": "desk", "CLIENT_SECRET": "${env:SECRET}"}},
		"wrong": {"url": %[1]q, "oauth": {"clientId": "desk", "clientSecret": "hush-wrong", "redirectUri": "http://127.0.0.1/back"}}}`,
		o.address, port, o.issuer), signin.Options{Open: agree})
	d.until(t, "code", manager.NeedsAuthorization)
	if err := d.tokens.Login(t.Context(), servers[2]); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("with the wrong secret: %v", err)
	} else if q := o.last(); !strings.HasPrefix(q.Get("redirect_uri"), "http://127.0.0.1:") || !strings.HasSuffix(q.Get("redirect_uri"), "/back") {
		t.Errorf("sent back to %s", q.Get("redirect_uri"))
	}
	if err := d.tokens.Login(t.Context(), servers[0]); err != nil {
		t.Fatal(err)
	}
	if got, want := o.last().Get("redirect_uri"), fmt.Sprintf("http://localhost:%d/callback", port); got != want {
		t.Errorf("sent back to %s, want %s", got, want)
	}
	for _, name := range []string{"code", "cursor"} { // of one server: one token serves both
		if err := d.Hurry(name); err != nil {
			t.Fatal(err)
		}
		d.until(t, name, manager.Ready)
		d.whoami(t, name)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// TestMachine works without any person.
func TestMachine(t *testing.T) {
	o := openOffice()
	t.Cleanup(o.close)
	o.known, o.secret = "desk", "hush-hush"
	d, _ := open(t, fmt.Sprintf(`{"web": {"url": %q, "oauth": {"clientId": "desk", "clientSecret": "${SECRET}"}}}`, o.address),
		signin.Options{Flow: func(manager.Server) oauth.Flow { return oauth.ClientCredentials{} }})
	d.until(t, "web", manager.Ready)
	d.whoami(t, "web")
}

// TestWhoIsHandled tells which entries are signed in at, and leaves the others as they are.
func TestWhoIsHandled(t *testing.T) {
	for _, tc := range []struct {
		entry     string
		some, all bool
	}{
		{`{"command": "x", "oauth": {}}`, false, false},
		{`{"url": "https://h/mcp"}`, false, true},
		{`{"url": "https://h/sse", "oauth": {}}`, true, true},
		{`{"url": "https://h/mcp", "oauth": false}`, false, false},
		{`{"url": "https://h/mcp", "oauth": {}, "headers": {"authorization": "Bearer x"}}`, false, false},
		{`{"url": "unix:///run/x.sock", "oauth": {}}`, false, false},
	} {
		f, err := manager.Read(strings.NewReader(`{"mcpServers": {"s": `+tc.entry+`}}`), "f", manager.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := f.Servers[0]
		some, all := signin.New(signin.Options{}), signin.New(signin.Options{All: true})
		if some.Handles(s) != tc.some || all.Handles(s) != tc.all {
			t.Errorf("%s: %v, %v; want %v, %v", tc.entry, some.Handles(s), all.Handles(s), tc.some, tc.all)
		}
		var o client.Options
		some.Configure(s, &o)
		if (o.HTTPClient != nil) != tc.some {
			t.Errorf("%s: configured %v", tc.entry, o.HTTPClient)
		}
		if err := errors.Join(some.Close(), all.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestEntriesThatCannotBeUsed are failures with a reason, and are not tried again.
func TestEntriesThatCannotBeUsed(t *testing.T) {
	d, servers := open(t, `{
		"plain": {"url": "http://office.example/mcp", "oauth": {}},
		"place": {"url": "https://office.example/mcp", "oauth": {"authServerMetadataUrl": "https://as.example/metadata"}}}`, signin.Options{Open: agree})
	for name, want := range map[string]string{"plain": "tokens are sent over https only", "place": "give the issuer instead"} {
		if s := d.until(t, name, manager.Failed); !strings.Contains(s.Reason, want) || s.Retry != 0 {
			t.Errorf("%s: %+v, want %q", name, s, want)
		}
	}
	if err := d.tokens.Login(t.Context(), servers[0]); err == nil || !strings.Contains(err.Error(), `sign in at "plain"`) {
		t.Errorf("login: %v", err)
	}
	if err := d.tokens.Login(t.Context(), manager.Server{Name: "s", Transport: manager.Stdio}); err == nil {
		t.Error("a login at a program")
	}
}

// TestStrangersAtThePort: requests that are not the answer to the login change nothing.
func TestStrangersAtThePort(t *testing.T) {
	o := openOffice()
	t.Cleanup(o.close)
	o.known = "desk"
	port := freePort(t)
	strange := func(ctx context.Context, page string) error {
		for _, path := range []string{"/callback?code=x&state=wrong", "/callback", "/", "/other?state=x"} {
			resp, err := http.Get(fmt.Sprintf("http://localhost:%d%s", port, path))
			if err != nil {
				return err
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound {
				t.Errorf("%s: HTTP status %d", path, resp.StatusCode)
			}
		}
		return agree(ctx, page)
	}
	d, servers := open(t, fmt.Sprintf(`{"web": {"url": %q, "oauth": {"clientId": "desk", "callbackPort": %d}}}`, o.address, port), signin.Options{Open: strange})
	if err := d.tokens.Login(t.Context(), servers[0]); err != nil {
		t.Error(err)
	}
}
