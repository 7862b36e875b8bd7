package app

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/server"
)

// TestStrangersHoldNoConnections holds that somebody who may not call cannot keep connections for ever: not with bodies that never
// come, at any address, and not with requests that never come.
//
// Seen to fail: no page was answered before its body had come, and idle connections stayed.
func TestStrangersHoldNoConnections(t *testing.T) {
	r := launch(t, Options{Config: read(t, protected(own, "http://127.0.0.1:1/")), body: 50 * time.Millisecond, idle: 50 * time.Millisecond})
	defer r.end(t)
	for _, c := range []struct {
		request string
		status  int
	}{
		{"POST /nowhere", 401}, {"POST /", 401}, {"GET /healthz", 200}, {"POST //mcp", 307}, {"GET /.well-known/oauth-protected-resource", 404},
	} {
		for name, length := range map[string]string{"a body that stops": "Content-Length: 200", "one without a length": "Transfer-Encoding: chunked"} {
			conn := connect(t, r, c.request+" HTTP/1.1\r\nHost: localhost\r\n"+length+"\r\n\r\n")
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || res.StatusCode != c.status || !res.Close {
				t.Errorf("%s, %s: %+v, %v", c.request, name, res, err)
			}
		}
	}
	idle := connect(t, r, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if raw, err := io.ReadAll(idle); err != nil || !strings.HasPrefix(string(raw), "HTTP/1.1 200") {
		t.Errorf("an idle connection: %s, %v", raw, err)
	}
}

// connect sends the beginning of something and fails the test when nothing comes of it.
func connect(t *testing.T, r *running, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base(), "http://"))
	check(t, err)
	t.Cleanup(func() { _ = conn.Close() }) // it may be closed
	check(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	_, err = fmt.Fprint(conn, request)
	check(t, err)
	return conn
}

// TestPagesOfStrangers holds that what is no endpoint tells nothing to a page that comes through the browser of whoever runs the
// gateway, under a name that leads to this machine.
//
// Seen to fail: /healthz named the servers, and the root the bundles.
func TestPagesOfStrangers(t *testing.T) {
	for _, c := range []struct {
		auth, path, host, origin string
		status                   int
		servers                  bool
	}{
		{"null", "/healthz", "localhost", "", 200, true},
		{"null", "/healthz", "evil.example", "", 200, false}, // a probe may use any name
		{"null", "/healthz", "localhost", "https://evil.example", 200, false},
		{"null", "/readyz", "evil.example", "", 0, false},
		{"null", "/", "localhost", "", 200, false},
		{"null", "/", "evil.example", "", 403, false},
		{"null", "/nothing", "evil.example", "", 403, false},
		{own, "/", "evil.example", "", 403, false}, // before the token, as at the endpoint
		{strings.TrimSuffix(own, "}") + `, "public": ["/healthz"]}`, "/healthz", "evil.example", "", 200, true},
	} {
		r := start(t, read(t, protected(c.auth, "http://127.0.0.1:1/")))
		headers := []string{"Host", c.host}
		if c.origin != "" {
			headers = append(headers, "Origin", c.origin)
		}
		got := ask(t, "GET", r.base()+c.path, "", headers...)
		if c.status != 0 && got.status != c.status || strings.Contains(got.body, "watched") != c.servers {
			t.Errorf("%+v: %v", c, got)
		}
		r.end(t)
	}
}

// TestMetadataOfBundlesThatWent holds that a bundle which was taken out has no metadata any more, and one that comes back has.
//
// Seen to fail: those of a bundle stayed.
func TestMetadataOfBundlesThatWent(t *testing.T) {
	up := startWatched(t, server.Options{})
	with := strings.Replace(protected(`{"resource": "`+resource+`", "jwt": {"issuer": "http://127.0.0.1:1"}}`, up.url), `"auth"`, `"bundles": {"team": {"tools": ["greet"]}}, "auth"`, 1)
	f := follow(t, with)
	defer f.end(t)
	f.err.wait(t, "watched: ready")
	for _, c := range []struct {
		conf, told string
		status     int
	}{
		{"", "", 200},
		{strings.Replace(with, `{"team": {"tools": ["greet"]}}`, "{}", 1), "settings bundles", 404},
		{strings.Replace(with, `"bundles"`, `"pageSize": 7, "bundles"`, 1), "pageSize", 200},
	} {
		if c.conf != "" {
			save(t, f.file, c.conf)
			f.err.wait(t, c.told)
		}
		for _, path := range []string{"/x/mcp/team", "/x/mcp/team/sse"} {
			if got := ask(t, "GET", f.base()+"/.well-known/oauth-protected-resource"+path, ""); got.status != c.status {
				t.Errorf("after %q, %s: %v", c.told, path, got)
			}
		}
	}
}
