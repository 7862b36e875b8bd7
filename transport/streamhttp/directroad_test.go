package streamhttp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// road is a server that notes which way requests have come: net/http asks for gzip.
func road(t *testing.T, start func(http.Handler) *httptest.Server) (*httptest.Server, func() string) {
	t.Helper()
	var roads []string
	srv := start(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		way := "net/http"
		if r.Header.Get("Accept-Encoding") == "identity" {
			way = "direct"
		}
		roads = append(roads, way)
		io.Copy(io.Discard, r.Body)
		say("application/json", answered)(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv, func() string { return strings.Join(roads, " ") }
}

// TestDirectRoads tells which requests go which way.
func TestDirectRoads(t *testing.T) {
	elsewhere := func(*http.Request) (*url.URL, error) { return url.Parse("http://proxy.example:3128") }
	cases := []struct {
		name, address string
		base          http.Header
		own           *http.Transport
		headers       [][2]string
		size          int
		trace         bool
		want          bool
	}{
		{name: "plain", want: true},
		{name: "copy of the default", own: http.DefaultTransport.(*http.Transport).Clone(), want: true},
		{name: "own headers", base: http.Header{"Authorization": {"Bearer x"}, "User-Agent": {"me"}}, headers: [][2]string{{"Mcp-Method", "ping"}}, want: true},
		{name: "IPv6", address: "http://[::1]:8080/mcp?a=b", want: true},
		{name: "64 KiB", size: mostDirect},
		{name: "a little less", size: mostDirect - 1000, want: true},
		{name: "https", address: "https://example.com/"},
		{name: "user in the address", address: "http://me:secret@example.com/"},
		{name: "name beyond ASCII", address: "http://bücher.example/"},
		{name: "zone", address: "http://[fe80::1%25eth0]/"},
		{name: "proxy", own: &http.Transport{Proxy: elsewhere}},
		{name: "proxy cannot be read", own: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New("no") }}},
		{name: "no keep-alive", own: &http.Transport{DisableKeepAlives: true}},
		{name: "limit of waiting", own: &http.Transport{ResponseHeaderTimeout: time.Second}},
		{name: "limit of connections", own: &http.Transport{MaxConnsPerHost: 1}},
		{name: "own dialer of the old kind", own: &http.Transport{Dial: net.Dial}}, //nolint:staticcheck // deprecated, but net/http honours it
		{name: "traced", trace: true},
		{name: "Expect", base: http.Header{"Expect": {"100-continue"}}},
		{name: "Expect of a call", headers: [][2]string{{"Expect", "100-continue"}}},
		{name: "header of all calls again", base: http.Header{"X-A": {"1"}}, headers: [][2]string{{"X-A", "2"}}},
		{name: "header for all breaks the line", base: http.Header{"X-A": {"1\r\nX-B: 2"}}},
		{name: "header breaks the line", headers: [][2]string{{"X-A", "1\r\nX-B: 2"}}},
		{name: "header with NUL", headers: [][2]string{{"X-A", "\x00"}}},
		{name: "no name", headers: [][2]string{{"", "1"}}},
		{name: "odd name", headers: [][2]string{{"X A", "1"}}},
		{name: "host breaks the line", base: http.Header{"Host": {"a\r\nX: y"}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if c.address == "" {
				c.address = "http://example.com/mcp"
			}
			if c.own == nil {
				c.own = &http.Transport{}
			}
			ctx := t.Context()
			if c.trace {
				ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{})
			}
			d := newDirect(parse(t, c.address), c.base, c.own)
			if got := d != nil && d.takes(ctx, c.headers, make([]byte, c.size)); got != c.want {
				t.Errorf("direct: %t", got)
			}
		})
	}
}

func post(t *testing.T, c *Client, frame string, headers ...[2]string) error {
	t.Helper()
	_, err := c.Exchange(t.Context(), transport.Outbound{Frame: []byte(frame), Kind: jsonrpc.KindRequest, ID: jsonrpc.IntID(1), Method: "ping", Headers: headers})
	return err
}

// TestDirectInUse is which way the requests of whole clients go.
func TestDirectInUse(t *testing.T) {
	big := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", 64<<10) + `"}}`
	t.Run("sizes", func(t *testing.T) {
		srv, roads := road(t, httptest.NewServer)
		c := dial(t, srv.URL, ClientOptions{}).use("2026-07-28")
		if err := errors.Join(post(t, c.Client, `{}`), post(t, c.Client, big), post(t, c.Client, `{}`)); err != nil {
			t.Error(err)
		}
		if got := roads(); got != "direct net/http direct" {
			t.Errorf("went by %s", got)
		}
	})
	t.Run("client of the user", func(t *testing.T) {
		srv, roads := road(t, httptest.NewServer)
		c := dial(t, srv.URL, ClientOptions{HTTPClient: &http.Client{}}).use("2026-07-28")
		if err := post(t, c.Client, `{}`); err != nil || roads() != "net/http" {
			t.Errorf("went by %s: %v", roads(), err)
		}
	})
	t.Run("TLS", func(t *testing.T) {
		srv, roads := road(t, httptest.NewTLSServer)
		c := dial(t, srv.URL, ClientOptions{HTTPClient: srv.Client()}).use("2026-07-28")
		if err := post(t, c.Client, `{}`); err != nil || roads() != "net/http" {
			t.Errorf("went by %s: %v", roads(), err)
		}
	})
	t.Run("injection", func(t *testing.T) {
		srv, roads := road(t, httptest.NewServer)
		c := dial(t, srv.URL, ClientOptions{}).use("2026-07-28")
		if err := post(t, c.Client, `{}`, [2]string{"X-A", "1\r\nX-B: 2"}); err == nil || roads() != "" {
			t.Errorf("went by %q: %v", roads(), err)
		}
	})
}

// TestDirectRequest holds the bytes of a request.
func TestDirectRequest(t *testing.T) {
	base := http.Header{"X-B": {" 2 ", "3"}, "Authorization": {"Bearer x"}, "User-Agent": {""}, "Host": {"other.example"}}
	d := newDirect(parse(t, "http://example.com/a%20b?c=d#e"), base, &http.Transport{})
	got := string(d.request(nil, [][2]string{{"Mcp-Name", " é"}}, []byte("{}")))
	want := "POST /a%20b?c=d HTTP/1.1\r\nHost: other.example\r\nAccept: application/json, text/event-stream\r\n" +
		"Accept-Encoding: identity\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nX-B: 2\r\nX-B: 3\r\n" +
		"Mcp-Name: é\r\nContent-Length: 2\r\n\r\n{}"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if d.address != "example.com:80" {
		t.Errorf("dials %s", d.address)
	}
}

// ended is one end of a pipe that notes its closing.
type ended struct {
	net.Conn
	name string
	log  *closings
}

type closings struct {
	mu    sync.Mutex
	names []string
}

func (c *closings) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.names
}

func (e ended) Close() error {
	e.log.mu.Lock()
	defer e.log.mu.Unlock()
	e.log.names = append(e.log.names, e.name)
	return e.Conn.Close()
}

// TestPool is how many connections lie idle, for how long, and in which order they are used.
func TestPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &closings{}
		idle := func(name string) *wire {
			conn, _ := net.Pipe()
			w := newWire(ended{conn, name, log})
			w.alive = func() bool { return name != "dead" }
			return w
		}
		p := &pool{most: 3, life: time.Minute}
		for _, name := range []string{"a", "b", "dead", "d"} {
			p.put(idle(name))
			time.Sleep(10 * time.Second)
		}
		time.Sleep(35 * time.Second) // 75 s after a, 65 s after b
		synctest.Wait()
		if closed := log.all(); !slices.Equal(closed, []string{"d", "a", "b"}) {
			t.Errorf("closed %q", closed)
		}
		p.put(idle("e"))
		if w := p.take(); w.conn.(ended).name != "e" {
			t.Errorf("took %s, not the one used last", w.conn.(ended).name)
		}
		if w := p.take(); w != nil || len(log.all()) != 4 || log.all()[3] != "dead" {
			t.Errorf("took %v, closed %q", w, log.all())
		}
		blind := idle("blind")
		blind.alive = nil
		p.put(blind)
		p.put(idle("f"))
		p.close()
		p.put(idle("g"))
		if closed := log.all(); !slices.Equal(closed[4:], []string{"blind", "f", "g"}) {
			t.Errorf("closed %q", closed)
		}
	})
}

// given is a connection on which some bytes come, and then the end.
type given struct {
	net.Conn
	in io.Reader
}

func (g given) Read(p []byte) (int, error)    { return g.in.Read(p) }
func (given) Write(p []byte) (int, error)     { return len(p), nil }
func (given) Close() error                    { return nil }
func (given) SetDeadline(time.Time) error     { return nil }
func (given) SetReadDeadline(time.Time) error { return nil }

// FuzzDirectAnswer reads answers of any bytes: one that is read to its end leaves the connection closed or clean.
func FuzzDirectAnswer(f *testing.F) {
	f.Add(okay)
	f.Add(okay + okay)
	f.Add("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
	f.Add("HTTP/1.1 204 No Content\r\n\r\n")
	f.Add("HTTP/1.0 200 OK\r\n\r\nhi")
	f.Fuzz(func(t *testing.T, bytes string) {
		d := &direct{head: []byte("POST / HTTP/1.1\r\n"), pool: pool{most: 1, life: time.Hour}}
		d.dial = func(context.Context, string, string) (net.Conn, error) {
			return given{in: strings.NewReader(bytes)}, nil
		}
		defer d.pool.close()
		resp, err := d.post(t.Context(), nil, nil)
		if (resp == nil) == (err == nil) {
			t.Fatal(resp, err)
		}
		if err != nil {
			return
		}
		if resp.StatusCode < 200 {
			t.Errorf("status %d", resp.StatusCode)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if n > int64(len(bytes)) {
			t.Errorf("%d bytes of %d", n, len(bytes))
		}
		if err == nil && resp.Body != http.NoBody && !resp.Body.(*answerBody).over.Load() {
			t.Error("the connection is still held")
		}
	})
}
