package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/mcp"
)

// browser is one of a person. It follows redirects, keeps cookies, and remembers where it has been.
type browser struct {
	*http.Client
	been []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	check(t, err)
	b := &browser{Client: &http.Client{Jar: jar}}
	b.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		b.been = append(b.been, r.URL.String())
		return nil
	}
	return b
}

// open opens a page and gives what it says.
func (b *browser) open(t *testing.T, page string) (status int, text string) {
	t.Helper()
	resp, err := b.Get(page)
	check(t, err)
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	check(t, resp.Body.Close())
	return resp.StatusCode, string(body)
}

var formToken = regexp.MustCompile(`name="token" value="([^"]+)"`)

// agree opens a page, presses its button, and gives what is said in the end.
func (b *browser) agree(t *testing.T, page string) (status int, text string) {
	t.Helper()
	_, asked := b.open(t, page)
	token := formToken.FindStringSubmatch(asked)
	if token == nil {
		t.Errorf("no form on %s", asked)
		return 0, asked
	}
	resp, err := b.PostForm(page, url.Values{"token": {token[1]}})
	check(t, err)
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	check(t, resp.Body.Close())
	return resp.StatusCode, string(body)
}

// launchWith is follow with tokens of logins in a folder.
func launchWith(t *testing.T, text, folder string) *followed {
	t.Helper()
	none := func(string) (string, bool) { return "", false }
	return launchFrom(t, text, Tokens{Open: func() (oauth.Store, error) { return signon.OpenStore(folder, none) }, Folder: folder})
}

func launchFrom(t *testing.T, text string, tokens Tokens) *followed {
	t.Helper()
	return &followed{running: launch(t, Options{Config: read(t, text), Tokens: tokens})}
}

// TestCallersSignIn holds that a caller of either era is sent to the page of its own login, finds the tools of the server afterwards,
// and that nobody else is signed in by it.
func TestCallersSignIn(t *testing.T) {
	onBothEras(t, func(t *testing.T, versions []string, mode client.Mode) {
		o := openOffice(t, versions)
		folder := filepath.Join(t.TempDir(), "tokens")
		f := launchWith(t, twoCallers(o.address, `{"auth": {"type": "login"}}`), folder)
		var mu sync.Mutex
		var pages []string
		person := newBrowser(t)
		visiting := client.Options{ElicitURL: func(_ context.Context, req *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			mu.Lock()
			defer mu.Unlock()
			pages = append(pages, req.URL)
			o.with(func() { o.browser = "Ann at the office" })
			if status, text := person.agree(t, req.URL); status != 200 || !strings.Contains(text, "You are signed in") {
				t.Errorf("the page says %d %s", status, text)
			}
			return &mcp.ElicitResult{Action: mcp.ElicitAccept}, nil
		}}
		ann := caller(t, f, annsToken, mode, visiting)
		if got := toolsOf(t, ann); got != "sign_in" {
			t.Fatalf("before she has signed in ann sees %q", got)
		}
		result, err := ann.CallTool(t.Context(), "sign_in", nil)
		if err != nil || !strings.Contains(result.Text(), "ist the tools again") && !strings.Contains(result.Text(), "signed in at office now") {
			t.Fatalf("got %v, %v", result, err)
		}
		if got := toolsOf(t, ann) + " " + whoami(t, ann); got != "whoami Ann at the office" {
			t.Errorf("then she sees and is %q", got)
		}
		if len(pages) != 1 || o.logins != 1 {
			t.Errorf("%d pages and %d logins", len(pages), o.logins)
		}

		bob := caller(t, f, bobsToken, mode, client.Options{})
		if got := toolsOf(t, bob); got != "sign_in" {
			t.Errorf("bob sees %q", got)
		}
		_, err = bob.CallTool(t.Context(), "sign_in", nil)
		if err == nil || !strings.Contains(err.Error(), "Open this page in a browser, and call again then: http://127.0.0.1:") {
			t.Errorf("bob, who cannot be asked, gets %v", err)
		}
		f.end(t)

		again := launchWith(t, twoCallers(o.address, `{"auth": {"type": "login"}}`), folder)
		if got := whoami(t, caller(t, again, annsToken, mode, client.Options{})); got != "Ann at the office" {
			t.Errorf("after a restart ann is %q", got)
		}
		again.end(t)

		// Whoever is gone for good leaves nothing behind: what rialto logout office --caller ann does.
		text := twoCallers(o.address, `{"auth": {"type": "login"}}`)
		store, err := signon.OpenStore(folder, func(string) (string, bool) { return "", false })
		check(t, err)
		for range 2 { // the second time there is nothing
			check(t, signon.SignOut(t.Context(), read(t, text).Servers[0], store, &mcp.Principal{Subject: "ann"}))
		}
		last := launchWith(t, text, folder)
		if got := toolsOf(t, caller(t, last, annsToken, mode, client.Options{})); got != "sign_in" {
			t.Errorf("after her logout ann sees %q", got)
		}
		last.end(t)
	})
}

// pageFor is the address that a client is told which cannot send its user to pages.
func pageFor(t *testing.T, c *client.Client) string {
	t.Helper()
	_, err := c.CallTool(t.Context(), "sign_in", nil)
	if err == nil {
		t.Fatal("there is no page")
	}
	_, page, ok := strings.Cut(err.Error(), "call again then: ")
	if !ok {
		t.Fatalf("got %v", err)
	}
	return page
}

// TestLoginThatIsDenied holds what a caller learns whose login the authorization server denies, or whose user says no.
func TestLoginThatIsDenied(t *testing.T) {
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		o := openOffice(t, mcp.ModernVersions())
		f := launchWith(t, twoCallers(o.address, `{"auth": {"type": "login"}}`), filepath.Join(t.TempDir(), "tokens"))
		no := client.Options{ElicitURL: func(context.Context, *client.ElicitURLRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitDecline}, nil
		}}
		_, err := caller(t, f, annsToken, mode, no).CallTool(t.Context(), "sign_in", nil)
		if err == nil || !strings.Contains(err.Error(), `the user does not want to sign in at server "office"`) {
			t.Errorf("a user who says no: %v", err)
		}
		o.with(func() { o.deny = "access_denied" })
		status, text := newBrowser(t).agree(t, pageFor(t, caller(t, f, bobsToken, mode, client.Options{})))
		if status != 502 || !strings.Contains(text, "That did not work") {
			t.Errorf("a server that says no: %d %s", status, text)
		}
		f.end(t)
	}
}

// aged is a store whose logins were all made an hour ago: one that its server refuses at once is not made anew. Their tokens may
// have been over for a while.
type aged struct {
	oauth.Store
	over bool
}

func (a aged) Get(ctx context.Context, key string) ([]byte, error) {
	raw, err := a.Store.Get(ctx, key)
	if err != nil || !strings.HasPrefix(key, "token ") || raw == nil {
		return raw, err
	}
	record := make(map[string]any)
	if err := json.Unmarshal(raw, &record); err != nil {
		return nil, err
	}
	record["logged_in"] = time.Now().Add(-time.Hour)
	if a.over {
		record["obtained"], record["expires"] = time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)
	}
	return json.Marshal(record)
}

// TestLoginThatIsOver_C094 holds that a caller whose tokens are worth nothing any more learns with its next call where to sign in
// again. What the server lists stays as it was: sign_in is for who has not signed in, and every call leads to the page.
func TestLoginThatIsOver_C094(t *testing.T) {
	onBothEras(t, func(t *testing.T, versions []string, mode client.Mode) {
		o := openOffice(t, versions)
		folder := filepath.Join(t.TempDir(), "tokens")
		f := launchFrom(t, twoCallers(o.address, `{"auth": {"type": "login"}}`), Tokens{Open: func() (oauth.Store, error) {
			store, err := signon.OpenStore(folder, func(string) (string, bool) { return "", false })
			return aged{Store: store}, err
		}})
		ann := caller(t, f, annsToken, mode, client.Options{})
		o.with(func() { o.browser = "Ann" })
		newBrowser(t).agree(t, pageFor(t, ann))
		if got := whoami(t, ann); got != "Ann" {
			t.Fatalf("she is %q", got)
		}
		before := toolsOf(t, ann)
		o.revoke()
		said := whoami(t, ann)
		_, page, ok := strings.Cut(said, "The server office wants you to sign in. Open this page in a browser, and call again then: ")
		if !ok || strings.Contains(said, o.address) {
			t.Fatalf("she gets %q", said)
		}
		if got := toolsOf(t, ann); got != before {
			t.Errorf("she sees %q, and saw %q", got, before)
		}
		newBrowser(t).agree(t, page)
		if got := whoami(t, ann); got != "Ann" {
			t.Errorf("after another login she is %q", got)
		}
		f.end(t)
	})
}

// TestLoginThatHasExpired holds that a token whose time was over before the gateway began is like none: sign_in is all there is,
// it leads to the page, and the server is not shown the token any more.
func TestLoginThatHasExpired(t *testing.T) {
	onBothEras(t, func(t *testing.T, versions []string, mode client.Mode) {
		o := openOffice(t, versions)
		folder := filepath.Join(t.TempDir(), "tokens")
		gateway := func(over bool) *followed {
			return launchFrom(t, twoCallers(o.address, `{"auth": {"type": "login"}}`), Tokens{Open: func() (oauth.Store, error) {
				store, err := signon.OpenStore(folder, func(string) (string, bool) { return "", false })
				return aged{store, over}, err
			}})
		}
		f := gateway(false)
		ann := caller(t, f, annsToken, mode, client.Options{})
		o.with(func() { o.browser = "Ann" })
		newBrowser(t).agree(t, pageFor(t, ann))
		if got := whoami(t, ann); got != "Ann" {
			t.Fatalf("she is %q", got)
		}
		f.end(t)
		old := o.shown()
		f = gateway(true)
		ann = caller(t, f, annsToken, mode, client.Options{})
		if got := toolsOf(t, ann); got != "sign_in" {
			t.Errorf("she sees %q", got)
		}
		if page := pageFor(t, ann); !strings.HasPrefix(page, "http") {
			t.Errorf("she gets %q", page)
		}
		for _, token := range o.shown()[len(old):] {
			if token != "" && slices.Contains(old, token) {
				t.Errorf("the server was shown %q again", token)
			}
		}
		f.end(t)
	})
}
