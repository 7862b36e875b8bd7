package app

import (
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// TestLoginsAreOfOneBrowser holds that the browser in which a person has said yes, and no other, ends a login, once; that a yes comes
// from the page itself; and that pages of one caller are of no use to another.
func TestLoginsAreOfOneBrowser(t *testing.T) {
	o := openOffice(t, mcp.ModernVersions())
	o.browser = "Ann at the office"
	f := launchWith(t, twoCallers(o.address, `{"auth": {"type": "login"}}`), filepath.Join(t.TempDir(), "tokens"))
	ann, bob := caller(t, f, annsToken, client.Modern, client.Options{}), caller(t, f, bobsToken, client.Modern, client.Options{})
	page, bobs := pageFor(t, ann), pageFor(t, bob)
	if again := pageFor(t, ann); again != page || bobs == page {
		t.Errorf("ann has the pages %s and %s, and bob %s", page, again, bobs)
	}
	person, stranger := newBrowser(t), newBrowser(t)
	says := func(what string, status int, text, wantText string, want int) {
		t.Helper()
		if status != want || !strings.Contains(text, wantText) {
			t.Errorf("%s: %d %s", what, status, text)
		}
	}
	post := func(b *browser, form url.Values) (int, string) {
		resp, err := b.PostForm(page, form)
		check(t, err)
		body, err := io.ReadAll(resp.Body)
		check(t, err)
		check(t, resp.Body.Close())
		return resp.StatusCode, string(body)
	}
	status, text := person.open(t, page)
	says("the page", status, text, "for the caller <strong>ann</strong>", 200)
	token := formToken.FindStringSubmatch(text)[1]
	status, text = post(stranger, url.Values{"token": {token}})
	says("a yes from elsewhere", status, text, "That did not work", 403)
	status, text = post(person, url.Values{"token": {"guess"}})
	says("a yes without the page", status, text, "That did not work", 403)
	if o.logins != 0 {
		t.Errorf("%d logins", o.logins)
	}

	var back string // where the authorization server sends the browser
	person.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if strings.Contains(r.URL.Path, "/callback") {
			back = r.URL.String()
			return http.ErrUseLastResponse
		}
		return nil
	}
	person.agree(t, page)
	person.CheckRedirect = nil
	u, err := url.Parse(back)
	check(t, err)
	forged := *u
	forged.RawQuery = url.Values{"code": {u.Query().Get("code")}, "state": {"guess"}, "iss": {o.issuer}}.Encode()
	for what, visit := range map[string]func() (int, string){
		"the way back in another browser": func() (int, string) { return stranger.open(t, back) },
		"another state":                   func() (int, string) { return person.open(t, forged.String()) },
		"no state":                        func() (int, string) { return person.open(t, strings.Split(back, "?")[0]) },
		"an unknown page":                 func() (int, string) { return person.open(t, page+"x") },
	} {
		status, text := visit()
		says(what, status, text, "This login is over", 404)
	}
	if got := toolsOf(t, ann); got != "sign_in" {
		t.Errorf("ann sees %s", got)
	}
	status, text = person.open(t, back)
	says("the way back", status, text, "You are signed in", 200)
	for what, at := range map[string]string{"the way back again": back, "the page again": page} {
		status, text := person.open(t, at)
		says(what, status, text, "This login is over", 404)
	}
	status, text = person.open(t, bobs)
	says("the page of bob", status, text, "for the caller <strong>bob</strong>", 200)
	if got := toolsOf(t, bob); got != "sign_in" {
		t.Errorf("bob sees %s", got)
	}
	f.end(t) // while bob's login is open
}

// TestTwoLoginsInOneBrowser holds that a person may be at the logins of two callers at once, whichever page comes first.
func TestTwoLoginsInOneBrowser(t *testing.T) {
	o := openOffice(t, mcp.ModernVersions())
	o.browser = "Ann at the office"
	f := launchWith(t, twoCallers(o.address, `{"auth": {"type": "login"}}`), filepath.Join(t.TempDir(), "tokens"))
	ann, bob := caller(t, f, annsToken, client.Modern, client.Options{}), caller(t, f, bobsToken, client.Modern, client.Options{})
	anns, bobs := pageFor(t, ann), pageFor(t, bob)
	person := newBrowser(t)
	_, asked := person.open(t, anns)
	token := formToken.FindStringSubmatch(asked)[1]
	person.open(t, bobs) // before she says yes on the first
	resp, err := person.PostForm(anns, url.Values{"token": {token}})
	check(t, err)
	check(t, resp.Body.Close())
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the first login: %s", resp.Status)
	}
	if status, text := person.agree(t, bobs); status != http.StatusOK {
		t.Errorf("the second login: %d %s", status, text)
	}
	if got := toolsOf(t, ann) + " " + toolsOf(t, bob); got != "whoami whoami" {
		t.Errorf("they see %s", got)
	}
	f.end(t)
}

// TestEndpointWhereLoginsAre holds that a gateway whose endpoint has the paths of the pages for logins serves its endpoint, and sends
// nobody to pages that are not there.
func TestEndpointWhereLoginsAre(t *testing.T) {
	for _, path := range []string{"/signin", "/signin/mcp"} {
		o := openOffice(t, mcp.ModernVersions())
		text := strings.Replace(twoCallers(o.address, `{"auth": {"type": "login"}}`), `{"gateway": {`, `{"gateway": {"path": "`+path+`", `, 1)
		f := launchWith(t, text, filepath.Join(t.TempDir(), "tokens"))
		_, err := caller(t, f, annsToken, client.Modern, client.Options{}).CallTool(t.Context(), "sign_in", nil)
		if err == nil || !strings.Contains(err.Error(), "the gateway knows no address of its own that browsers can come back to") {
			t.Errorf("%s: %v", path, err)
		}
		f.end(t)
	}
}
