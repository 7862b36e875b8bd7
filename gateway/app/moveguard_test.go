package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/gateway/signon"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// TestReloadKeepsStrangersOut holds that a change of the address, of who may call and of both in one save lets nobody in whom the
// same file would keep out at the start.
func TestReloadKeepsStrangersOut(t *testing.T) {
	const (
		refused = "was not taken into use: others on the network could use every server here"
		moved   = "now listening on http://[::]:"
		anew    = "was read anew: settings "
		callers = `"auth": ` + own
		all     = `"listen": "0.0.0.0:0"`
		here    = `"listen": "127.0.0.1:0"`
	)
	for _, c := range []struct {
		name, before, after string
		flag                bool
		want                string
	}{
		{"to all, with nothing", here, all, false, refused},
		{"to all, with auth at once", here, all + ", " + callers, false, moved},
		{"to all, with auth before", here + ", " + callers, all + ", " + callers, false, moved},
		{"to all, without the auth before", here + ", " + callers, all, false, refused},
		{"to all, insecure at once", here, all + `, "insecure": true`, false, moved},
		{"to all, insecure before", here + `, "insecure": true`, all, false, refused},
		{"to all, insecure by flag", here, all, true, moved},
		{"here, and auth goes", all + ", " + callers, here, false, "now listening on http://127.0.0.1:"},
		{"here, and insecure goes", all + `, "insecure": true`, here, false, "now listening on http://127.0.0.1:"},
		{"all stay, and auth goes", all + ", " + callers, all, false, refused},
		{"all stay in other words, and insecure goes", all + `, "insecure": true`, `"listen": ":0"`, false, refused},
		{"all stay, insecure for auth", all + `, "insecure": true`, `"listen": ":0", ` + callers, false, anew + "listen, insecure, auth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _, _ := gated(t, "a")
			f := followAt(t, file(c.before, "a", a), func(o *Options) { o.Insecure = c.flag })
			save(t, f.file, file(c.after, "a", a))
			f.err.wait(t, c.want)
			if c.want == refused && strings.Contains(f.err.String(), "now listening") {
				t.Errorf("it has moved:\n%s", f.err)
			}
			f.end(t)
		})
	}
}

// TestDoorForConnectionsFromElsewhere holds that a connection which came in at an address that others can reach, and is left from a
// time when callers were asked for tokens, is no way in once they are not.
func TestDoorForConnectionsFromElsewhere(t *testing.T) {
	d := newDoor(streamhttp.NewGuard([]string{"gateway.example"}, nil), &refusals{line: t.Logf})
	defer d.log.close()
	here := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	for _, c := range []struct {
		name, local string
		auth, open  bool
		want        int
	}{
		{"from this machine", "127.0.0.1", false, false, 200},
		{"from this machine, IPv6", "::1", false, false, 200},
		{"from elsewhere", "192.0.2.1", false, false, 403},
		{"from elsewhere, insecure", "192.0.2.1", false, true, 200},
		{"from elsewhere, without a token", "192.0.2.1", true, false, 401},
	} {
		conf := config.Default()
		if c.auth {
			conf = read(t, protected(own, "http://127.0.0.1:1/"))
		}
		l, err := d.fit(conf, c.open)
		check(t, err)
		d.lock.Store(l)
		for what, h := range map[string]http.Handler{"the endpoint": d.guard(atEndpoint, here), "a page": d.page("/", here), "health": d.ajar(here)} {
			r := httptest.NewRequest(http.MethodGet, "http://gateway.example/", http.NoBody)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(c.local), Port: 8421}))
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if want := c.want; w.Code != want && (what != "health" || want != 401) {
				t.Errorf("%s, %s: %d, want %d", what, c.name, w.Code, want)
			}
		}
	}
}

// TestReloadWithARequestHalfSent holds the same over a real connection: the request began where a token was asked for, and ends
// where none is.
func TestReloadWithARequestHalfSent(t *testing.T) {
	ip := outside(t)
	a, _, _ := gated(t, "a")
	f := followAt(t, file(`"listen": "0.0.0.0:0", "auth": `+own, "a", a))
	_, port, _ := strings.Cut(strings.TrimSuffix(f.url, "/mcp"), "]:")
	c, err := net.Dial("tcp", net.JoinHostPort(ip, port))
	check(t, err)
	defer func() { check(t, c.Close()) }()
	_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", ip, len(helloLegacy))
	check(t, err)
	save(t, f.file, file(`"listen": "127.0.0.1:0"`, "a", a))
	f.err.wait(t, "now listening on http://127.0.0.1:")
	if _, err = io.WriteString(c, "\r\n"+helloLegacy); err == nil {
		var line string
		if line, err = bufio.NewReader(c).ReadString('\n'); err == nil && !strings.HasPrefix(line, "HTTP/1.1 403 ") {
			t.Errorf("it answers %s", line)
		}
	}
	if err != nil {
		t.Logf("the connection was cut: %v", err) // which is as good
	}
	f.end(t)
}

// outside is an address of this machine that others can reach.
func outside(t *testing.T) string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	check(t, err)
	for _, one := range all {
		if ip, ok := one.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			return ip.IP.String()
		}
	}
	t.Skip("this machine has no address that others can reach")
	return ""
}

// TestReloadMovesLogins holds that a login which is under way when the gateway moves is begun anew at the new address, where it works.
func TestReloadMovesLogins(t *testing.T) {
	o := openOffice(t, mcp.ModernVersions())
	o.browser = "Ann at the office"
	text := func(address string) string {
		return strings.Replace(twoCallers(o.address, `{"auth": {"type": "login"}}`), `{"gateway": {`, `{"gateway": {"listen": "`+address+`", `, 1)
	}
	folder := filepath.Join(t.TempDir(), "tokens")
	none := func(string) (string, bool) { return "", false }
	f := followAt(t, text("127.0.0.1:0"), func(opts *Options) {
		opts.Tokens = Tokens{Open: func() (oauth.Store, error) { return signon.OpenStore(folder, none) }, Folder: folder}
	})
	before := pageFor(t, caller(t, f, annsToken, client.Modern, client.Options{}))
	two := "127.0.0.1:" + freePort(t)
	save(t, f.file, text(two))
	f.err.wait(t, "now listening on http://"+two)
	f.url = "http://" + two + "/mcp"
	ann := caller(t, f, annsToken, client.Modern, client.Options{})
	page := pageFor(t, ann)
	if !strings.HasPrefix(page, "http://"+two+"/signin/") || page == before {
		t.Errorf("the page is %s, and was %s", page, before)
	}
	if status, text := newBrowser(t).agree(t, page); status != http.StatusOK {
		t.Errorf("the login: %d %s", status, text)
	}
	if got := whoami(t, ann); got != "Ann at the office" {
		t.Errorf("the office knows ann as %q", got)
	}
	f.end(t)
}
