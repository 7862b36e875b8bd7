package httpsse

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// A whole session as a strict client of 2024-11-05 holds it, and as newer clients do.
func TestSession(t *testing.T) {
	for _, revision := range mcp.LegacyVersions() {
		t.Run(revision, func(t *testing.T) {
			w := newWorld(t, Options{})
			c := w.greet(t, revision)
			c.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			c.want(t, `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)
			c.send(t, call(2, "progress"))
			c.want(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}`)
			c.want(t, answer(2, "sent: <nil>"))
			c.send(t, call(3, "ask"))
			name, question := c.next(t)
			m, err := jsonrpc.Decode([]byte(question), nil)
			if err != nil || name != "message" || m.Method != "ping" {
				t.Fatalf("%s %s", name, question)
			}
			c.send(t, `{"jsonrpc":"2.0","id":`+m.ID.String()+`,"result":{}}`)
			c.want(t, answer(3, "asked: true <nil>"))
			c.send(t, `{"jsonrpc":"2.0","id":4,"method":"no/such"}`)
			if _, data := c.next(t); !strings.Contains(data, `"code":-32601`) {
				t.Errorf("unknown method: %s", data)
			}
		})
	}
}

// A cancellation finds the call it is for, and the call has no answer.
func TestCancel(t *testing.T) {
	w := newWorld(t, Options{})
	c := w.greet(t, "2024-11-05")
	c.send(t, call(1, "wait"))
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-w.desk.ended
	c.send(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	c.want(t, `{"jsonrpc":"2.0","id":2,"result":{}}`)
}

// A request that has been read is answered on the stream, refusals included.
func TestRefusedOnTheStream(t *testing.T) {
	const claim = `"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`
	w := newWorld(t, Options{})
	c := w.connect(t, "")
	for _, row := range []struct{ name, body, want string }{
		{"before the handshake", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"id":1,"error":{"code":-32600`},
		{"a modern claim", `{"jsonrpc":"2.0","id":2,"method":"tools/list",` + claim + `}`, `"id":2,"error":{"code":-32022`},
		{"a modern method", `{"jsonrpc":"2.0","id":3,"method":"server/discover",` + claim + `}`, `"id":3,"error":{"code":-32022`},
		{"a broken handshake", `{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":7}}`, `"id":4,"error":{"code":-32602`},
	} {
		c.send(t, row.body)
		if name, data := c.next(t); name != "message" || !strings.Contains(data, row.want) {
			t.Errorf("%s: %s %s", row.name, name, data)
		}
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`) // belongs to no handshake: dropped
	c.send(t, `{"jsonrpc":"2.0","id":5,"result":{}}`)
	if len(w.desk.heard) != 0 {
		t.Errorf("heard %q", w.desk.heard)
	}
}

// Arrays are answered by one array, on the revisions that have them.
func TestBatches(t *testing.T) {
	const array = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/roots/list_changed"},` +
		`{"jsonrpc":"2.0","id":"b","method":"tools/list"},{"jsonrpc":"2.0","id":3,"method":"no/such"}]`
	w := newWorld(t, Options{MaxBatch: 4})
	for _, revision := range []string{"2024-11-05", "2025-03-26"} {
		c := w.greet(t, revision)
		c.send(t, array)
		name, data := c.next(t)
		answers, err := jsonrpc.SplitBatch([]byte(data), 10)
		if err != nil || name != "message" || len(answers) != 3 {
			t.Fatalf("%s: %s %s (%v)", revision, name, data, err)
		}
		for _, want := range []string{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"b","result":{"tools":[]}}`} {
			if !slices.ContainsFunc(answers, func(one json.RawMessage) bool { return string(one) == want }) {
				t.Errorf("%s: %s misses %s", revision, data, want)
			}
		}
		c.send(t, `[{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}]`) // has no answer
		c.send(t, call(4, "progress"))
		c.want(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}`)
		c.want(t, answer(4, "sent: <nil>"))
		for _, bad := range []string{
			`[` + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"ping"},`, 4) + `{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
			`[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]`,
		} {
			if status, body := c.post(t, bad); status != 400 || !strings.Contains(body, `"code":-32600`) {
				t.Errorf("%s: %d %s", bad, status, body)
			}
		}
	}
	c := w.greet(t, "2025-06-18")
	if status, body := c.post(t, array); status != 400 || !strings.Contains(body, "2025-06-18") {
		t.Errorf("2025-06-18: %d %s", status, body)
	}
}

// A session belongs to who opened it; for anybody else it does not exist. What HTTP tells of a message reaches its handler.
func TestPrincipal(t *testing.T) {
	w := newWorld(t, Options{Principal: func(r *http.Request) *mcp.Principal {
		return &mcp.Principal{Subject: r.Header.Get("X-User")}
	}})
	c := w.connect(t, "X-User: ada\r\nX-Colour: red\r\n")
	for _, headers := range []string{"X-User: bob\r\n", ""} {
		other := *c
		other.headers = headers
		if status, body := other.post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); status != 404 {
			t.Errorf("%q: %d %s", headers, status, body)
		}
	}
	c.send(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	c.next(t)
	c.send(t, call(1, "who"))
	c.want(t, answer(1, "red ada true"))
}

// Sessions do not hear each other.
func TestSeveralClients(t *testing.T) {
	w := newWorld(t, Options{})
	var clients []*client
	for range 5 {
		clients = append(clients, w.greet(t, "2024-11-05"))
	}
	for i, c := range clients {
		c.send(t, call(i, "hello"))
	}
	for i, c := range clients {
		c.want(t, answer(i, "hello"))
	}
}

func FuzzPost(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `[]`, `{`, `{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`,
	} {
		f.Add([]byte(seed))
	}
	_, h := newHandler(f, Options{})
	f.Cleanup(func() { h.Close() })
	f.Fuzz(func(t *testing.T, body []byte) {
		s, err := h.newSession(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.end(errGone)
		if err := s.attach(nil); err != nil { // a session without a stream: its answers go nowhere
			t.Fatal(err)
		}
		w := &recorder{header: http.Header{}}
		r, err := http.NewRequest(http.MethodPost, "/message?sessionId="+s.id, strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		r.Host = "localhost"
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(w, r)
		if w.status != 202 && w.status != 400 {
			t.Errorf("status %d for %q", w.status, body)
		}
	})
}

// recorder keeps the status alone.
type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return len(p), nil }
