package cases

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// counts is what a server holds at one moment.
type counts struct {
	goroutines               int
	sessions, peers, listens int
	streams, sockets         int
}

func (w *world) counts() counts {
	s := w.Stats()
	return counts{
		runtime.NumGoroutine(), w.handler.Sessions(), s.Peers, s.Listens, w.handler.Streams(), int(w.sockets.Load()),
	}
}

// rest lets the server serve one request of each era, and returns what it holds with nobody there.
func (w *world) rest(t testing.TB) counts {
	t.Helper()
	c := w.dial(t)
	id := c.session(t)
	c.do(t, ask{method: "DELETE", head: []string{sessionHeader + ": " + id}})
	c.do(t, modern("tools/call", "echo", "")).is(t, 200, 0, "hello")
	c.close()
	eventually(t, "the server is alone", func() bool { return w.sockets.Load() == 0 })
	var now counts
	steady := 0
	eventually(t, "the number of goroutines is steady", func() bool { // those of connections end just after their sockets
		before := now.goroutines
		now = w.counts()
		if steady++; now.goroutines != before {
			steady = 0
		}
		return steady > 20
	})
	return now
}

// back waits until the server holds no more than it did.
func (w *world) back(t testing.TB, before counts) {
	t.Helper()
	var now counts
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		now = w.counts()
		fewer := now.goroutines <= before.goroutines
		now.goroutines = before.goroutines
		if fewer && now == before {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	stacks := make([]byte, 64<<10)
	t.Fatalf("before: %+v\nnow: %+v\n%s", before, w.counts(), stacks[:runtime.Stack(stacks, true)])
}

// inBatches runs clients of which only a batch is there at any time: the process has a limit of sockets.
func inBatches(clients int, one func(i int) (end func())) {
	const batch = 250
	for i := 0; i < clients; {
		var ends []func()
		for range min(batch, clients-i) {
			ends = append(ends, one(i))
			i++
		}
		for _, end := range ends {
			end()
		}
	}
}

// heap is what lives after a collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // pools keep what they hold through one
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Probes of an endpoint with sessions each left one that nobody could delete.
func TestC001ProbesLeaveNothing(t *testing.T) {
	w := start(t, server.Options{})
	before := w.rest(t)
	c := w.dial(t)
	for range 1000 {
		probe := c.do(t, modern("server/discover", "", ""))
		if probe.is(t, 200, 0, "supportedVersions"); probe.header[sessionHeader] != nil {
			t.Fatalf("a probe has got the session %q", probe.header[sessionHeader])
		}
		a := c.do(t, initialize("2025-11-25"))
		if got := c.do(t, ask{method: "DELETE", head: []string{sessionHeader + ": " + a.header.Get(sessionHeader)}}); got.status != 200 {
			t.Fatalf("DELETE: %s", got)
		}
	}
	c.close()
	w.back(t, before)
}

// Clients that vanished left a session each for the life of the process.
//
// Seen to fail: with an expire that ends nothing "sessions:2000 peers:2000" of a server that had none.
func TestC019VanishedClients(t *testing.T) {
	bothWays(t, func(t *testing.T, opts server.Options) {
		for _, streams := range []bool{true, false} {
			t.Run(fmt.Sprintf("streams=%v", streams), func(t *testing.T) {
				opts.HTTP.IdleTimeout, opts.HTTP.KeepAlive = 2*time.Second, 50*time.Millisecond // a busy machine opens a stream in less
				w := start(t, opts)
				before, memory := w.rest(t), heap()
				inBatches(2000, func(int) func() {
					c := w.dial(t)
					a := c.do(t, initialize("2025-11-25"))
					if !streams {
						return c.vanish
					}
					stream := w.get(t, a.header.Get(sessionHeader))
					return func() { c.vanish(); stream.vanish() }
				})
				if n := w.handler.Sessions(); n == 0 {
					t.Log("all sessions were over before the last client had gone") // on a slow machine
				}
				w.back(t, before)
				if more := heap() - memory; more > 4<<20 {
					t.Errorf("%d KiB are left of 2000 clients", more>>10)
				}
			})
		}
	})
}

// Subscriptions whose clients vanish leave nothing either, nor do calls that run for them.
func TestC111DroppedRequests(t *testing.T) {
	bothWays(t, func(t *testing.T, opts server.Options) {
		w := start(t, opts)
		before := w.rest(t)
		inBatches(2000, func(i int) func() {
			stream := w.stream(t, modern("subscriptions/listen", "", changesWanted))
			stream.wants(t, "acknowledged")
			if i%2 == 0 {
				return stream.close
			}
			return stream.vanish
		})
		w.back(t, before)
		inBatches(1000, func(int) func() {
			c := w.dial(t)
			c.write(t, w.text(modern("tools/call", "wait", "")))
			w.began(t)
			return c.vanish
		})
		for range 1000 {
			w.hasEnded(t)
		}
		w.back(t, before)
	})
}

// Sockets that the client had closed one half of piled up, and sessions were kept alive by the comments on dead streams.
func TestC111HalfClosedSockets(t *testing.T) {
	for _, keepAlive := range []time.Duration{20 * time.Millisecond, -1} {
		t.Run(fmt.Sprint("keep-alive ", keepAlive), func(t *testing.T) {
			bothWays(t, func(t *testing.T, opts server.Options) {
				opts.HTTP.KeepAlive, opts.HTTP.IdleTimeout = keepAlive, 500*time.Millisecond
				w := start(t, opts)
				before := w.rest(t)
				inBatches(500, func(int) func() {
					c := w.dial(t)
					a := c.do(t, initialize("2025-11-25"))
					id := a.header.Get(sessionHeader)
					c.do(t, legacy(id, "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello")
					half(c)
					half(w.get(t, id).wire)
					return func() {}
				})
				w.back(t, before) // though the clients' ends are still open
			})
		})
	}
	w := start(t, server.Options{})
	c := w.dial(t)
	id := c.session(t)
	half(w.get(t, id).wire)
	eventually(t, "the stream is over", func() bool { return w.handler.Streams() == 0 })
	c.do(t, legacy(id, "tools/call", `{"name":"echo"}`)).is(t, 200, 0, "hello") // its end is not the session's
}

// half closes the way to the server and leaves the way back open.
func half(c *wire) {
	if tcp, ok := c.conn.(interface{ CloseWrite() error }); ok {
		tcp.CloseWrite()
	}
}

// Requests that were refused had made a session before, for anybody who asked.
//
// Seen to fail: with a session begun at the top of Handler.post "sessions:0 peers:1003" where there had been 3, for each kind of POST.
func TestC021RefusedRequestsMakeNoSession(t *testing.T) {
	var opened int
	w := start(t, server.Options{HTTP: server.HTTPOptions{Principal: principal}, Hooks: server.Hooks{SessionOpened: func(server.Session) { opened++ }}})
	handshake := func(params string) ask {
		return ask{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + params + `}`}
	}
	w.rest(t)
	opened = 0
	for _, c := range []struct {
		name   string
		ask    ask
		status int
	}{
		{"GET without a session", ask{method: "GET"}, 400},
		{"DELETE without a session", ask{method: "DELETE"}, 400},
		{"GET in an unknown session", ask{method: "GET", head: []string{sessionHeader + ": nope"}}, 404},
		{"POST in an unknown session", legacy("nope", "tools/list", ""), 404},
		{"POST without a session", legacy("", "tools/list", ""), 400},
		{"wrong Accept", initialize("2025-11-25", "Accept: image/png"), 406},
		{"wrong Content-Type", initialize("2025-11-25", "Content-Type: text/plain"), 415},
		{"wrong Host", initialize("2025-11-25", "Host: evil.example"), 403},
		{"wrong Origin", initialize("2025-11-25", "Origin: https://evil.example"), 403},
		{"bad JSON", ask{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`}, 400},
		{"bad UTF-8", ask{body: strings.Replace(initialize("2025-11-25").body, `"t"`, "\"\xff\"", 1)}, 400},
		{"no JSON-RPC", ask{body: `{"id":1,"method":"initialize"}`}, 400},
		{"handshake in an array", ask{body: "[" + initialize("2025-03-26").body + "]"}, 400},
		{"handshake without an id", ask{body: `{"jsonrpc":"2.0","method":"initialize","params":{}}`}, 0},
		{"version is a number", handshake(`{"protocolVersion":20251125,"capabilities":{},"clientInfo":{"name":"t","version":"1"}}`), 0},
		{"version is missing", handshake(`{"capabilities":{},"clientInfo":{"name":"t","version":"1"}}`), 0},
		{"parameters are an array", handshake(`[]`), 0},
		{"capabilities are a string", handshake(`{"protocolVersion":"2025-11-25","capabilities":"x","clientInfo":{"name":"t","version":"1"}}`), 0},
		{"modern, headers differ", modern("tools/list", "", "", "Mcp-Method: tools/call"), 400},
		{"modern, unknown method", modern("no/such", "", ""), 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, memory := w.counts(), heap()
			conn := w.dial(t)
			for range 1000 {
				got := conn.do(t, c.ask)
				if got.status != c.status && (c.status != 0 || strings.Contains(got.body, `"result"`)) {
					t.Fatalf("want %d, got %s", c.status, got)
				}
				if got.header[sessionHeader] != nil {
					t.Fatalf("a refused request has got the session %q", got.header[sessionHeader])
				}
			}
			conn.close()
			w.back(t, before)
			if more := heap() - memory; more > 1<<20 {
				t.Errorf("%d KiB are left of 1000 requests", more>>10)
			}
		})
	}
	if opened != 0 {
		t.Errorf("sessions were begun %d times for requests that were refused", opened)
	}
}

// What is refused only when the session has been prepared leaves none either.
//
// Seen to fail: without the Close in settle "peers:1000" of a server that had none.
func TestC021HandshakesRefusedLate(t *testing.T) {
	w := start(t, server.Options{Middleware: []server.Middleware{func(next server.Call) server.Call {
		return func(ctx context.Context, req *server.Request) (*server.Result, error) {
			if req.Method() == mcp.MethodInitialize && req.Header("X-Late") != "" {
				return nil, mcp.Errorf(mcp.CodeInvalidRequest, "not you")
			}
			return next(ctx, req)
		}
	}}})
	before, memory := w.rest(t), heap()
	c := w.dial(t)
	for range 1000 {
		got := c.do(t, initialize("2025-11-25", "X-Late: yes"))
		if got.is(t, 200, -32600, "not you"); got.header[sessionHeader] != nil {
			t.Fatalf("a refused handshake has got the session %q", got.header[sessionHeader])
		}
	}
	c.close()
	w.back(t, before)
	if more := heap() - memory; more > 1<<20 {
		t.Errorf("%d KiB are left of 1000 handshakes", more>>10)
	}
}

// Sessions that were ended in good order stayed in the table.
//
// Seen to fail: without the delete in sessions.remove "2 sessions are left".
func TestC022EndedSessionsAreGone(t *testing.T) {
	w := start(t, server.Options{})
	before, memory := w.rest(t), heap()
	c := w.dial(t)
	var id string
	for range 1000 {
		id = c.session(t)
		if got := c.do(t, ask{method: "DELETE", head: []string{sessionHeader + ": " + id}}); got.status != http.StatusOK {
			t.Fatalf("DELETE: %s", got)
		}
		if n := w.handler.Sessions(); n != 0 {
			t.Fatalf("%d sessions are left", n)
		}
		c.do(t, legacy(id, "tools/list", "")).is(t, 404, -32600, "")
	}
	c.close()
	w.back(t, before)
	if more := heap() - memory; more > 1<<20 {
		t.Errorf("%d KiB are left of 1000 sessions", more>>10)
	}
}

// Each time a client came back for its stream a little stayed behind.
func TestC035ManyReconnects(t *testing.T) {
	bothWays(t, func(t *testing.T, opts server.Options) {
		w := start(t, opts)
		before := w.rest(t)
		c := w.dial(t)
		id := c.session(t)
		first := w.get(t, id)
		begin, err := first.read()
		if err != nil {
			t.Fatal(err)
		}
		first.close()
		var memory int64
		for i := range 600 {
			if i == 100 { // what a session and its log take at most is there
				memory = heap()
			}
			head := []string{}
			if i%2 == 0 {
				head = append(head, "Last-Event-ID: "+begin.id)
			}
			stream := w.get(t, id, head...)
			if i%3 == 0 {
				stream.vanish()
			} else {
				stream.close()
			}
			if i%10 == 9 {
				eventually(t, "the streams are over", func() bool { return w.handler.Streams() <= 1 })
			}
		}
		if more := heap() - memory; more > 2<<20 {
			t.Errorf("%d KiB are left of 500 streams", more>>10)
		}
		c.do(t, ask{method: "DELETE", head: []string{sessionHeader + ": " + id}})
		c.close()
		w.back(t, before)
	})
}
