package app

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/transport"
)

// bothModes runs a test for clients of each era.
func bothModes(t *testing.T, run func(t *testing.T, mode client.Mode)) {
	for name, mode := range map[string]client.Mode{"legacy": client.Legacy, "modern": client.Modern} {
		t.Run(name, func(t *testing.T) { run(t, mode) })
	}
}

// followAt starts a gateway that listens where its file says, and follows that.
func followAt(t *testing.T, text string, change ...func(*Options)) *followed {
	t.Helper()
	return followBy(t, text, func(opts Options) *running {
		for _, c := range change {
			c(&opts)
		}
		return launchAsIs(t, opts)
	})
}

var ports atomic.Uint32 // that freePort has tried

// freePort is a port that nothing has. The system gives none of these to those who ask for any, and two runs of these tests at one
// time seldom the same, so that nobody else has it when it is looked at again.
func freePort(t *testing.T) string {
	t.Helper()
	for range 100 {
		port := fmt.Sprint(15_000 + os.Getpid()%100*100 + int(ports.Add(1)%100))
		if l, err := net.Listen("tcp", "0.0.0.0:"+port); err == nil {
			check(t, l.Close())
			return port
		}
	}
	t.Fatal("no port is free")
	return ""
}

// listenAt is a section with an address, and more.
func listenAt(address string, more ...string) string {
	return strings.Join(append([]string{`"listen": "` + address + `"`}, more...), ", ")
}

// closed holds that nobody listens at an address.
func closed(t *testing.T, address string) {
	t.Helper()
	if c, err := net.Dial("tcp", address); err == nil {
		t.Errorf("%s takes a connection", address)
		check(t, c.Close())
	}
}

// serves holds that clients of both eras are served at a URL.
func serves(t *testing.T, url, tool string) {
	t.Helper()
	for _, mode := range []client.Mode{client.Legacy, client.Modern} {
		c, err := client.DialHTTP(t.Context(), url, client.Options{Mode: mode})
		check(t, err)
		if got, err := c.CallTool(t.Context(), tool, nil); err != nil || got.Text() != tool {
			t.Errorf("%s, %v: %+v, %v", url, mode, got, err)
		}
		_ = c.Close() // how a session ends on a busy machine is another matter
	}
}

// working calls a tool that waits for its release; what becomes of it comes later.
func working(l *client.Client, tool string, entered chan struct{}) (result chan string) {
	result = make(chan string, 1)
	go func() { // ends with the release
		got, err := l.CallTool(context.Background(), tool, nil)
		if err != nil {
			result <- err.Error()
			return
		}
		result <- got.Text()
	}()
	<-entered
	return result
}

func heard(t *testing.T, l *listener) {
	t.Helper()
	select {
	case <-l.heard:
	case <-time.After(10 * time.Second):
		t.Error("no news come")
	}
}

// TestReloadMovesTheAddress holds that another address is served at once, with the sessions that there are, while a call and a
// stream at the old one, where nothing is accepted any more, go on; and that the gateway can come back meanwhile.
func TestReloadMovesTheAddress(t *testing.T) {
	bothModes(t, func(t *testing.T, mode client.Mode) {
		a, entered, release := gated(t, "a")
		c, _, _ := gated(t, "c")
		one, two := "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
		f := followAt(t, file(listenAt(one), "a", a))
		f.err.wait(t, "a: ready")
		l := listen(t, f.url, mode)
		session := []string{"Mcp-Session-Id", ask(t, "POST", f.url, helloLegacy).header.Get("Mcp-Session-Id")}
		if got := ask(t, "POST", f.url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session...); got.status != 202 {
			t.Errorf("initialized: %v", got)
		}
		stream := openStream(t, f.url, session...)
		result := working(l.Client, "a_wait", entered)

		save(t, f.file, file(listenAt(two), "a", a))
		f.err.wait(t, "was read anew: settings listen")
		f.err.wait(t, "rialto: now listening on http://"+two+"/mcp")
		f.err.wait(t, one+" is not listened on any more; what is under way there has 30s to end")
		closed(t, one)
		serves(t, "http://"+two+"/mcp", "a")
		const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
		if got := ask(t, "POST", "http://"+two+"/mcp", list, session...); got.status != 200 || !strings.Contains(got.body, "a_wait") {
			t.Errorf("the session at the new address: %v", got)
		}

		save(t, f.file, file(listenAt(two), "a", a, "c", c))
		heard(t, l)
		if got := stream.next(); !strings.Contains(got, "tools/list_changed") {
			t.Errorf("the stream of the session brings %q", got)
		}

		save(t, f.file, file(listenAt(one), "a", a, "c", c))
		f.err.wait(t, "rialto: now listening on http://"+one+"/mcp")
		closed(t, two)
		serves(t, f.url, "c")
		close(release)
		if got := <-result; got != "done" {
			t.Errorf("the call that was under way ends with %q", got)
		}
		f.end(t)
		closed(t, one)
	})
}

// TestReloadLeavesAnAddressInTime holds that calls and streams which do not end at an address that was left are cut when their time
// is over, and not before.
func TestReloadLeavesAnAddressInTime(t *testing.T) {
	a, entered, release := gated(t, "a")
	defer close(release)
	one, two := "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
	const drain = 300 * time.Millisecond
	f := followAt(t, file(listenAt(one), "a", a), func(o *Options) { o.drain = drain })
	f.err.wait(t, "a: ready")
	session := []string{"Mcp-Session-Id", ask(t, "POST", f.url, helloLegacy).header.Get("Mcp-Session-Id")}
	streams := []io.Reader{
		send(t, "GET", f.url, "", append(session, "Accept", "text/event-stream")...),
		send(t, "GET", "http://"+one+"/sse", "", "Accept", "text/event-stream"),
		send(t, "POST", f.url, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`,
			"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen"),
	}
	calls := []string{
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a_wait","arguments":{},` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a_wait","arguments":{}}}`,
	}
	headers := [][]string{{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "a_wait"}, session}
	over := make(chan time.Time, len(calls)+len(streams))
	for i, call := range calls {
		req := request(t, "POST", f.url, call, headers[i]...)
		go func() { // ends with the drain
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				_, err = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close() // read to its end
			}
			if err == nil {
				t.Errorf("call %d was answered", i)
			}
			over <- time.Now()
		}()
		<-entered
	}
	for _, s := range streams {
		go func() { // likewise
			_, _ = io.Copy(io.Discard, s) // however it ends
			over <- time.Now()
		}()
	}
	begun := time.Now()
	save(t, f.file, file(listenAt(two), "a", a))
	for i := range cap(over) {
		select {
		case at := <-over:
			if at.Sub(begun) < drain {
				t.Errorf("one is over after %s", at.Sub(begun))
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("only %d are over:\n%s", i, f.err)
		}
	}
	serves(t, "http://"+two+"/mcp", "a")
	f.end(t)
}

// request makes one as ask does.
func request(t *testing.T, method, url, body string, headers ...string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	check(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return req
}

// send sends a request and gives the stream of its answer, which has begun.
func send(t *testing.T, method, url, body string, headers ...string) io.Reader {
	t.Helper()
	res, err := http.DefaultClient.Do(request(t, method, url, body, headers...))
	check(t, err)
	t.Cleanup(func() { _ = res.Body.Close() }) // it may have broken off
	read := bufio.NewReader(res.Body)
	if line, err := read.ReadString('\n'); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %d %q, %v", method, url, res.StatusCode, line, err)
	}
	return read
}

// TestReloadStopsWithWhatIsLeft holds that the gateway stops in time while a call and a stream are under way at an address that it
// has left.
func TestReloadStopsWithWhatIsLeft(t *testing.T) {
	bothModes(t, func(t *testing.T, mode client.Mode) {
		a, entered, release := gated(t, "a")
		defer close(release)
		two := "127.0.0.1:" + freePort(t)
		f := followAt(t, file(listenAt("127.0.0.1:0"), "a", a))
		f.err.wait(t, "a: ready")
		l := listen(t, f.url, mode)
		result := working(l.Client, "a_wait", entered)
		save(t, f.file, file(listenAt(two), "a", a))
		f.err.wait(t, "now listening on http://"+two)
		f.end(t)
		if got := <-result; got == "done" {
			t.Errorf("the call ends with %q", got)
		}
	})
}

// TestReloadWhileStopping moves the gateway at the moment when it stops.
func TestReloadWhileStopping(t *testing.T) {
	a, _, _ := gated(t, "a")
	for i := range 10 {
		one, two := "127.0.0.1:"+freePort(t), "127.0.0.1:"+freePort(t)
		f := followAt(t, file(listenAt(one), "a", a))
		save(t, f.file, file(listenAt(two), "a", a))
		if i%2 == 0 {
			f.again <- struct{}{}
		}
		f.end(t)
		closed(t, one)
		closed(t, two)
	}
}

// TestReloadOfAnAddressThatCannotBe holds that a file is refused whole whose address cannot be listened on.
func TestReloadOfAnAddressThatCannotBe(t *testing.T) {
	a, _, _ := gated(t, "a")
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer func() { check(t, taken.Close()) }()
	for name, c := range map[string]struct{ address, want string }{
		"taken":   {taken.Addr().String(), "address already in use; choose an address of this machine that nothing else has"},
		"foreign": {"192.0.2.1:8421", "gateway.listen: cannot listen on 192.0.2.1:8421: "},
		"unknown": {"not..a.name:8421", "gateway.listen: cannot listen on not..a.name:8421: lookup not..a.name"},
	} {
		t.Run(name, func(t *testing.T) {
			f := followAt(t, file(listenAt("127.0.0.1:0"), "a", a))
			f.err.wait(t, "a: ready")
			save(t, f.file, file(listenAt(c.address, `"path": "/other", "insecure": true`), "b", a))
			f.err.wait(t, f.file+" was not taken into use: gateway.listen: cannot listen on ")
			f.err.wait(t, c.want)
			serves(t, f.url, "a")
			if n := strings.Count(f.err.String(), "now listening"); n != 0 {
				t.Errorf("it has moved %d times:\n%s", n, f.err)
			}
			save(t, f.file, file(listenAt("127.0.0.1:0", `"path": "/other"`), "a", a))
			f.err.wait(t, "now listening on "+strings.TrimSuffix(f.url, "/mcp")+"/other")
			f.end(t)
		})
	}
}

// TestReloadInOtherWords holds that nothing is opened or closed where a file says the same address in other words.
func TestReloadInOtherWords(t *testing.T) {
	a, _, _ := gated(t, "a")
	f := followAt(t, file(listenAt("127.0.0.1:0"), "a", a))
	f.err.wait(t, "a: ready")
	at := strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), "/mcp")
	_, port, err := net.SplitHostPort(at)
	check(t, err)
	for i, address := range []string{"localhost:0", "127.0.0.1:0", at, "localhost:" + port, at} {
		save(t, f.file, file(listenAt(address, fmt.Sprintf(`"pageSize": %d`, i+1)), "a", a))
		for end := time.Now().Add(10 * time.Second); f.anew() != i+1; time.Sleep(5 * time.Millisecond) { // the lines look alike
			if time.Now().After(end) {
				t.Fatalf("%s is not taken:\n%s", address, f.err)
			}
		}
		serves(t, f.url, "a")
	}
	if strings.Contains(f.err.String(), "now listening") {
		t.Errorf("it has moved:\n%s", f.err)
	}
	save(t, f.file, file(listenAt("127.0.0.1:0"), "a", a)) // any port is another matter than this one
	_, url, _ := strings.Cut(f.err.wait(t, "now listening on "), "now listening on ")
	serves(t, url, "a")
	closed(t, at)
	f.end(t)
}

// TestReloadToAllAddresses holds that one address and all of the machine can follow each other on the same port, while a call is
// under way; and that the one is back where the other cannot be.
func TestReloadToAllAddresses(t *testing.T) {
	bothModes(t, func(t *testing.T, mode client.Mode) {
		a, entered, release := gated(t, "a")
		port := freePort(t)
		f := followAt(t, file(listenAt("127.0.0.1:"+port, `"insecure": true`), "a", a))
		f.err.wait(t, "a: ready")
		l := listen(t, f.url, mode)
		result := working(l.Client, "a_wait", entered)
		if other, err := net.Listen("tcp", "127.0.0.2:"+port); err != nil {
			t.Logf("this machine has no 127.0.0.2 (%v): an address that is taken is left out", err)
		} else {
			save(t, f.file, file(listenAt("0.0.0.0:"+port, `"insecure": true, "pageSize": 7`), "a", a))
			f.err.wait(t, "was not taken into use: gateway.listen: cannot listen on 0.0.0.0:"+port)
			serves(t, f.url, "a")
			check(t, other.Close())
		}
		save(t, f.file, file(listenAt(":"+port, `"insecure": true`), "a", a))
		f.err.wait(t, "now listening on http://[::]:"+port)
		f.err.wait(t, "warning: others on the network can reach this address, and everybody may call")
		serves(t, f.url, "a")
		save(t, f.file, file(listenAt("127.0.0.1:"+port), "a", a))
		f.err.wait(t, "now listening on http://127.0.0.1:"+port)
		serves(t, f.url, "a")
		close(release)
		if got := <-result; got != "done" {
			t.Errorf("the call that was under way ends with %q", got)
		}
		f.end(t)
	})
}

// TestNoWayBackEndsTheRun holds that a gateway which has closed its address for another, and has neither in the end, does not go on
// where nobody can reach it.
func TestNoWayBackEndsTheRun(t *testing.T) {
	g := &gateway{say: &teller{w: io.Discard}, failed: make(chan error, 1)}
	to, err := resolve(t.Context(), "127.0.0.1:"+freePort(t))
	check(t, err)
	at, err := g.bind(t.Context(), to)
	check(t, err)
	g.serve(at)
	check(t, at.pause())
	other, err := net.Listen("tcp", to.asked)
	check(t, err)
	back := g.restore(t.Context(), at)
	if back == nil || !strings.Contains(back.Error(), "listen on "+to.asked+" again: ") || len(g.failed) != 1 {
		t.Errorf("it comes back with %v, and %d failures", back, len(g.failed))
	}
	check(t, other.Close())
	check(t, g.restore(t.Context(), at))
	check(t, at.pause())
}

// TestReloadOfAStormOfAddresses saves one address after the other, as fast as it can, and holds that the last one alone is served.
func TestReloadOfAStormOfAddresses(t *testing.T) {
	a, entered, release := gated(t, "a")
	addresses := []string{"127.0.0.1:" + freePort(t), "127.0.0.1:" + freePort(t), "127.0.0.1:" + freePort(t)}
	f := followAt(t, file(listenAt(addresses[0]), "a", a))
	f.err.wait(t, "a: ready")
	l := listen(t, f.url, client.Modern)
	result := working(l.Client, "a_wait", entered)
	for i := range 60 {
		save(t, f.file, file(listenAt(addresses[i%2], fmt.Sprintf(`"path": "/p%d"`, i)), "a", a))
		if i%3 == 0 {
			f.again <- struct{}{}
		}
	}
	save(t, f.file, file(listenAt(addresses[2], `"path": "/last"`), "a", a))
	f.err.wait(t, "now listening on http://"+addresses[2]+"/last")
	for _, address := range addresses[:2] {
		closed(t, address)
	}
	serves(t, "http://"+addresses[2]+"/last", "a")
	close(release)
	if got := <-result; got != "done" {
		t.Errorf("the call that was under way ends with %q", got)
	}
	f.end(t)
}

// TestReloadOnStdio holds that what a file says of HTTP is nothing to a gateway on standard input and output.
func TestReloadOnStdio(t *testing.T) {
	a, _, _ := gated(t, "a")
	near, far := transport.Pair(0)
	f := &followed{again: make(chan struct{})}
	by := followBy(t, file("", "a", a), func(opts Options) *running {
		r := &running{err: &lines{}, done: make(chan error, 1)}
		opts.Stdio, opts.Stderr, opts.Source.Watch, opts.Source.Again = far, r.err, -1, f.again
		go func() { r.done <- Run(context.Background(), opts) }() // ends with near
		return r
	})
	f.running, f.file = by.running, by.file
	f.err.wait(t, "a: ready")
	c, err := client.Connect(t.Context(), near, client.Options{})
	check(t, err)
	save(t, f.file, file(listenAt("0.0.0.0:1", `"path": "/other"`), "a", a))
	f.again <- struct{}{}
	f.err.wait(t, "was read anew: nothing that the gateway uses is different")
	if got, err := c.CallTool(t.Context(), "a", nil); err != nil || got.Text() != "a" {
		t.Errorf("got %+v, %v", got, err)
	}
	check(t, c.Close())
	check(t, <-f.done)
}
