package streamhttp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/transport/internal/webtest"
)

// wireStream is an event stream on a connection of its own, read byte by byte.
type wireStream struct {
	t      *testing.T
	conn   net.Conn
	status int
	events *sse.Reader
	last   string // the id that came last
}

// connect sends a request on a new connection and reads the head of the answer.
func (w *world) connect(t *testing.T, method, body string, headers ...[2]string) *wireStream {
	t.Helper()
	s := w.dial(t, method, body, headers...)
	resp, err := http.ReadResponse(bufio.NewReader(s.conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.status, s.events = resp.StatusCode, sse.NewReader(resp.Body, 0)
	return s
}

// dial sends a request on a new connection.
func (w *world) dial(t *testing.T, method, body string, headers ...[2]string) *wireStream {
	t.Helper()
	conn := webtest.Dial(t, w.addr)
	req, err := http.NewRequest(method, w.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req, headers)
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
	return &wireStream{t: t, conn: conn}
}

// cut ends the connection as a network does that is gone.
func (s *wireStream) cut() {
	s.t.Helper()
	if err := s.conn.(*net.TCPConn).SetLinger(0); err != nil {
		s.t.Error(err)
	}
	s.conn.Close()
}

// next returns the next event in short: "prime", the progress, the text of a result, the method of another message; "end"
// where the stream ends well, and "cut" where not.
func (s *wireStream) next() string {
	s.t.Helper()
	for {
		e, err := s.events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return "end"
		case err != nil:
			return "cut"
		case e.Kind == sse.Comment:
			continue
		}
		out := string(e.Data)
		for _, known := range []string{"tools/list_changed", "prompts/list_changed", `"progress":1`, `"progress":2`, `"progress":3`, `"hello"`, "paused: true true <nil>"} {
			if strings.Contains(out, known) {
				out = known
			}
		}
		if e.HasID {
			s.last = e.ID
			if len(e.Data) == 0 {
				out = "prime"
			}
		}
		if e.HasRetry {
			out += fmt.Sprint(" retry ", e.Retry)
		}
		return out
	}
}

// expect reads events and compares them.
func (s *wireStream) expect(want ...string) {
	s.t.Helper()
	for i, one := range want {
		if got := s.next(); got != one {
			s.t.Fatalf("event %d is %s, want %s", i, got, one)
		}
	}
}

const progress1, progress2, progress3, hello = `"progress":1`, `"progress":2`, `"progress":3`, `"hello"`

func after(id string) [2]string { return [2]string{"Last-Event-ID", id} }

// openAs begins a session of one revision.
func (w *world) openAs(t testing.TB, revision string) [2]string {
	t.Helper()
	a := w.ask(t, "POST", strings.Replace(initialize, "2025-11-25", revision, 1))
	session := [2]string{"Mcp-Session-Id", a.header.Get("Mcp-Session-Id")}
	if a := w.ask(t, "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session); a.status != 202 {
		t.Fatalf("initialized: %d %s", a.status, a.body)
	}
	return session
}

// step lets the call report progress, or end with 0.
func (w *world) step(numbers ...int) {
	for _, n := range numbers {
		w.desk.steps <- n
	}
}

// TestResumeCall cuts the stream of a call at each point, in revisions with and without priming events.
func TestResumeCall(t *testing.T) {
	for _, c := range []struct {
		name      string
		before    []int    // steps while the first connection is there
		seen      []string // on it, after the priming event
		meanwhile []int    // steps while none is
		replayed  []string
		live      []int // steps on the second
		then      []string
	}{
		{"after priming", nil, nil, []int{1, 2, 0}, []string{progress1, progress2, hello, "end"}, nil, nil},
		{"mid progress", []int{1, 2}, []string{progress1, progress2}, []int{3}, []string{progress3}, []int{1, 0}, []string{progress1, hello, "end"}},
		{"nothing missed", []int{1}, []string{progress1}, nil, nil, []int{2, 0}, []string{progress2, hello, "end"}},
		{"after the answer", []int{1}, []string{progress1}, []int{2, 0}, []string{progress2, hello, "end"}, nil, nil},
	} {
		for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
			primes := revision == "2025-11-25"
			if !primes && c.before == nil {
				continue // the client has no id
			}
			for name, opts := range carriers {
				t.Run(c.name+"/"+revision+"/"+name, func(t *testing.T) {
					checkLeaks(t)
					opts.UpgradeAfter = 20 * time.Millisecond
					w := newWorld(t, opts)
					session := w.openAs(t, revision)
					first := w.connect(t, "POST", legacyCall("step"), session)
					if primes {
						first.expect("prime")
					}
					w.step(c.before...)
					first.expect(c.seen...)
					first.cut()
					w.step(c.meanwhile...)
					second := w.connect(t, "GET", "", session, after(first.last))
					second.expect(c.replayed...)
					w.step(c.live...)
					second.expect(c.then...)
					w.overAndDone(t, session, second.last)
				})
			}
		}
	}
}

// overAndDone checks that nothing of a call is left but its events.
func (w *world) overAndDone(t *testing.T, session [2]string, last string) {
	t.Helper()
	s := w.handler.sessions.Find(session[1], nil)
	eventually(t, "the places are given back", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.places == 0 && s.calls == nil && len(s.lines) == 0
	})
	if a := w.ask(t, "GET", "", session, after(last)); a.status != 400 || !strings.Contains(a.body, "is over") {
		t.Errorf("after the answer: %d %s", a.status, a.body)
	}
	if a := w.ask(t, "DELETE", "", session); a.status != 200 || w.handler.ownLog.Len() != 0 {
		t.Errorf("DELETE: %d, %d logs", a.status, w.handler.ownLog.Len())
	}
}

// TestCutBeforePriming: a client that has no id cannot come back. By the specification no other stream may bring it the
// answer.
func TestCutBeforePriming(t *testing.T) {
	checkLeaks(t)
	w := newWorld(t, Options{UpgradeAfter: 100 * time.Millisecond})
	session := w.open(t)
	post := w.dial(t, "POST", legacyCall("step"), session)
	<-w.desk.waiting
	post.cut()
	time.Sleep(200 * time.Millisecond) // the time at which the answer would have become a stream
	w.step(0)
	get := w.connect(t, "GET", "", session)
	get.expect("prime")
	w.engine.Announce(engine.ToolsChanged, "")
	get.expect("tools/list_changed")
}

// TestResumeGet: what belongs to no call waits for the client that was there last.
func TestResumeGet(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			w := newWorld(t, opts)
			session := w.open(t)
			first := w.connect(t, "GET", "", session)
			first.expect("prime")
			first.cut()
			eventually(t, "the stream is gone", func() bool { return w.handler.Streams() == 0 })
			for _, change := range []engine.Change{engine.ToolsChanged, engine.PromptsChanged} {
				w.engine.Announce(change, "")
			}
			eventually(t, "both are stored", func() bool { // they may be stored in either order
				got, err := w.handler.replay(t.Context(), w.handler.sessions.Find(session[1], nil), first.last)
				return err == nil && strings.Count(string(got), "list_changed") == 2
			})
			second := w.connect(t, "GET", "", session, after(first.last))
			one, two := second.next(), second.next()
			if one == two || !strings.Contains(one, "list_changed") || !strings.Contains(two, "list_changed") {
				t.Errorf("got %s and %s", one, two)
			}
			w.engine.Announce(engine.ToolsChanged, "")
			second.expect("tools/list_changed")
			third := w.connect(t, "GET", "", session, after(first.last)) // from the start, though the second looks alive
			third.next()
			third.next()
			third.expect("tools/list_changed")
			if got := second.next(); got != "end" && got != "cut" {
				t.Errorf("the stream that was taken over goes on with %s", got)
			}
			w.engine.Announce(engine.PromptsChanged, "")
			third.expect("prompts/list_changed")
			s := w.handler.sessions.Find(session[1], nil)
			eventually(t, "one place is taken", func() bool {
				s.mu.Lock()
				defer s.mu.Unlock()
				return s.places == 1 && len(s.lines) == 1
			})
		})
	}
}

// TestTakeOverCall: a client that comes back before the server knows that the connection is dead.
func TestTakeOverCall(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			w := newWorld(t, opts)
			session := w.open(t)
			go w.step(1)
			first := w.connect(t, "POST", legacyCall("step"), session)
			first.expect("prime", progress1)
			second := w.connect(t, "GET", "", session, after(first.last))
			first.expect("end")
			w.step(2)
			second.expect(progress2)
			third := w.connect(t, "GET", "", session, after(first.last))
			third.expect(progress2)
			w.step(0)
			third.expect(hello, "end")
			w.overAndDone(t, session, third.last)
		})
	}
}

// TestManyNewcomers: clients that come back for the same stream at the same time, while it is written to. Each sees its
// events in their order and without a gap, however early it ends, and the last one sees the answer.
func TestManyNewcomers(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			opts.MaxStreams = -1
			w := newWorld(t, opts)
			session := w.open(t)
			go w.step(1)
			first := w.connect(t, "POST", legacyCall("step"), session)
			first.expect("prime", progress1)
			const many = 16
			var wg sync.WaitGroup
			var answered atomic.Int32
			for range many {
				s := w.dial(t, "GET", "", session, after(first.last))
				wg.Go(func() {
					resp, err := http.ReadResponse(bufio.NewReader(s.conn), nil)
					if err != nil {
						return // it was taken over before its head was out
					}
					s.events = sse.NewReader(resp.Body, 0)
					for n := 0; ; n++ {
						switch got := s.next(); got {
						case progress2:
							if n >= 20 {
								t.Errorf("event %d is progress", n)
							}
						case hello:
							if n != 20 {
								t.Errorf("the answer is event %d", n)
							}
							answered.Add(1)
						case "end", "cut":
							return
						default:
							t.Errorf("got %s", got)
						}
					}
				})
			}
			for range 20 {
				w.step(2)
			}
			w.step(0)
			wg.Wait()
			last := w.connect(t, "GET", "", session, after(first.last))
			for range 20 {
				last.expect(progress2)
			}
			last.expect(hello, "end")
			w.overAndDone(t, session, last.last)
			t.Logf("%d of %d saw the answer", answered.Load(), many)
		})
	}
}
