package httpsse

import (
	"strings"
	"testing"
)

// An event reaches every stream, with or without a handshake, and calls go on beside it.
func TestBroadcast(t *testing.T) {
	w := newWorld(t, Options{})
	clients := []*client{w.connect(t, ""), w.greet(t, "2024-11-05"), w.connect(t, "")}
	for _, c := range []struct{ event, data, want string }{
		{"score", `{"home":1}`, `{"home":1}`},
		{"two lines", "one\ntwo", "one\ntwo"},
		{"all line ends", "one\r\ntwo\rthree\n", "one\ntwo\nthree\n"},
		{"not a field", "event: message\ndata: x\n\nid: 7", "event: message\ndata: x\n\nid: 7"},
		{"nothing", "", ""},
		{"größe: 1", "ü", "ü"},
		{"message", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`},
	} {
		n, err := w.handler.Broadcast(c.event, []byte(c.data))
		if n != len(clients) || err != nil {
			t.Errorf("%s: reached %d, %v", c.event, n, err)
		}
		for i, to := range clients {
			if name, data := to.next(t); name != c.event || data != c.want {
				t.Errorf("client %d: want %q %q, got %q %q", i, c.event, c.want, name, data)
			}
		}
	}
	clients[1].send(t, call(1, "hello"))
	clients[1].want(t, answer(1, "hello"))
}

func TestBroadcastRefuses(t *testing.T) {
	w := newWorld(t, Options{})
	c := w.connect(t, "")
	for _, row := range []struct{ name, event, data, want string }{
		{"no name", "", "x", "no name"},
		{"line feed", "a\ndata: x", "x", "line break"},
		{"carriage return", "a\rb", "x", "line break"},
		{"NUL", "a\x00", "x", "NUL"},
		{"no UTF-8 in the name", "a\xff", "x", "UTF-8"},
		{"no UTF-8 in the data", "a", "\xff", "UTF-8"},
		{"the protocol's endpoint", "endpoint", "/elsewhere", "endpoint"},
		{"a message that is none", "message", "hello", "notification"},
		{"a request", "message", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "notification"},
	} {
		if n, err := w.handler.Broadcast(row.event, []byte(row.data)); n != 0 || err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: reached %d, %v", row.name, n, err)
		}
	}
	if n, err := w.handler.Broadcast("end", nil); n != 1 || err != nil {
		t.Errorf("reached %d, %v", n, err)
	}
	if name, _ := c.next(t); name != "end" {
		t.Errorf("got the event %q", name)
	}
}
