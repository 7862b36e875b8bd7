package streamhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
)

// faultyLog is a log that can fail.
type faultyLog struct {
	state.EventLog

	mu             sync.Mutex
	append, replay error
}

func (l *faultyLog) set(onAppend, onReplay error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.append, l.replay = onAppend, onReplay
}

func (l *faultyLog) Append(ctx context.Context, session, stream string, data []byte) (string, error) {
	l.mu.Lock()
	err := l.append
	l.mu.Unlock()
	if err != nil {
		return "", err
	}
	return l.EventLog.Append(ctx, session, stream, data)
}

// Replay fails late, as a log does whose connection breaks.
func (l *faultyLog) Replay(ctx context.Context, session, after string) (string, iter.Seq2[state.Event, error], error) {
	name, later, err := l.EventLog.Replay(ctx, session, after)
	l.mu.Lock()
	defer l.mu.Unlock()
	if failure := l.replay; failure != nil && err == nil {
		later = func(yield func(state.Event, error) bool) { yield(state.Event{}, failure) }
	}
	return name, later, err
}

func TestResumeRefusals(t *testing.T) {
	checkLeaks(t)
	log := &faultyLog{EventLog: state.NewMemoryLog(state.LogLimits{MaxEvents: 2})}
	w := newWorld(t, Options{EventLog: log, MaxStreams: 1})
	session, other := w.open(t), w.open(t)
	stream := w.connect(t, "GET", "", session)
	stream.expect("prime")
	mine := stream.last
	foreign := w.connect(t, "GET", "", other)
	foreign.expect("prime")
	if a := w.ask(t, "GET", "", other, after(foreign.last+"0")); a.status != 400 {
		t.Errorf("an id that is none: %d", a.status)
	}
	refused := func(name string, status int, part, id string) {
		t.Helper()
		if a := w.ask(t, "GET", "", session, after(id)); a.status != status || !strings.Contains(a.body, part) {
			t.Errorf("%s: got %d %s", name, a.status, a.body)
		}
	}
	refused("unknown", 400, "has no event", "unknown-1")
	refused("of another session", 400, "has no event", foreign.last)
	if a := w.ask(t, "GET", "", session); a.status != 409 {
		t.Errorf("a further stream: %d", a.status)
	}
	log.set(nil, errors.New("disk on fire"))
	refused("failing", 500, "try again", mine)
	log.set(nil, state.ErrGone)
	refused("dropped meanwhile", 400, "dropped", mine)
	log.set(nil, nil)
	again := w.connect(t, "GET", "", session, after(mine)) // in the place that the refused ones have given back
	w.engine.Announce(engine.ToolsChanged, "")
	again.expect("tools/list_changed")
	w.engine.Announce(engine.PromptsChanged, "")
	again.expect("prompts/list_changed")
	refused("dropped", 400, "send again", mine)
	w.ask(t, "DELETE", "", session)
	refused("of a session that has ended", 404, "no such session", again.last)
}

// TestTwoStreams: each brings its own events alone.
func TestTwoStreams(t *testing.T) {
	checkLeaks(t)
	w := newWorld(t, Options{})
	session := w.open(t)
	get := w.connect(t, "GET", "", session)
	get.expect("prime")
	go w.step(1)
	post := w.connect(t, "POST", legacyCall("step"), session)
	post.expect("prime", progress1)
	w.engine.Announce(engine.ToolsChanged, "")
	get.expect("tools/list_changed")
	getID, postID := get.last, post.last
	get.cut()
	post.cut()
	eventually(t, "the stream is gone", func() bool {
		s := w.handler.sessions.Find(session[1], nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.places == 0
	})
	w.engine.Announce(engine.PromptsChanged, "")
	w.step(2)
	post = w.connect(t, "GET", "", session, after(postID))
	get = w.connect(t, "GET", "", session, after(getID))
	w.step(0)
	post.expect(progress2, hello, "end")
	get.expect("prompts/list_changed")
}

// TestEarlyClose: a handler ends the connection, twice, and its client comes back for the rest.
func TestEarlyClose(t *testing.T) {
	checkLeaks(t)
	w := newWorld(t, Options{})
	session := w.open(t)
	s := w.connect(t, "POST", legacyCall("poll"), session)
	s.expect("prime retry 20ms", "end") // the end is that of a whole response, not of a broken one
	<-w.desk.waiting
	s = w.connect(t, "GET", "", session, after(s.last))
	s.expect(progress1, "paused: true true <nil>", "end")
	w.overAndDone(t, session, s.last)
}

// TestNoEarlyClose: where a client cannot come back the call goes on as if nothing had been said.
func TestNoEarlyClose(t *testing.T) {
	w, off, sessionless := newWorld(t, Options{}), newWorld(t, Options{NoResume: true}), newWorld(t, Options{Sessionless: true})
	modernBody, modernHeaders := modern("tools/call", "poll", "")
	alone := [2]string{"Accept", "application/json"}
	for name, c := range map[string]struct {
		world   *world
		body    string
		headers [][2]string
	}{
		"older revision": {w, legacyCall("poll"), [][2]string{w.openAs(t, "2025-06-18")}},
		"JSON alone":     {w, legacyCall("poll"), [][2]string{w.open(t), alone}},
		"modern":         {w, modernBody, modernHeaders},
		"no log":         {off, legacyCall("poll"), [][2]string{off.open(t)}},
		"no session":     {sessionless, legacyCall("poll"), nil},
	} {
		if a := c.world.ask(t, "POST", c.body, c.headers...); a.status != 200 || !strings.Contains(a.body, "paused: false false") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

// TestNoResume: without a log there are no ids, and Last-Event-ID means nothing.
func TestNoResume(t *testing.T) {
	w := newWorld(t, Options{NoResume: true})
	session := w.open(t)
	get := w.connect(t, "GET", "", session, after("any"))
	w.engine.Announce(engine.ToolsChanged, "")
	get.expect("tools/list_changed")
	if get.status != 200 || get.last != "" {
		t.Errorf("status %d, id %q", get.status, get.last)
	}
}

// TestEarlyCloseElsewhere: on HTTP/2 the stream is reset; behind what cannot end a connection it goes on.
func TestEarlyCloseElsewhere(t *testing.T) {
	opaque := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(struct{ flusher }{w.(flusher)}, r) })
	}
	for name, c := range map[string]struct {
		http2  bool
		wrap   func(http.Handler) http.Handler
		closes bool
	}{"HTTP/2": {true, nil, true}, "TLS": {false, nil, true}, "opaque": {false, opaque, false}} {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			w := newHandler(t, Options{})
			srv := w.overTLS(t, c.http2, c.wrap)
			session := [2]string{"Mcp-Session-Id", w.record("POST", initialize).Header().Get("Mcp-Session-Id")}
			post := fetch(t, srv, "POST", legacyCall("poll"), session)
			all, err := io.ReadAll(post.Body)
			e, _ := sse.NewReader(bytes.NewReader(all), 0).Next()
			if e.ID == "" || e.Retry != 20*time.Millisecond || (err != nil) != (c.http2 && c.closes) {
				t.Fatalf("got %s, %v", all, err)
			}
			rest := string(all)
			if c.closes {
				if strings.Count(rest, "data:") != 1 {
					t.Errorf("before the end came %s", rest)
				}
				<-w.desk.waiting
				next, err := io.ReadAll(fetch(t, srv, "GET", "", session, after(e.ID)).Body)
				if err != nil {
					t.Error(err)
				}
				rest = string(next)
			}
			if !strings.Contains(rest, "progress") || !strings.Contains(rest, fmt.Sprintf("paused: %v %v", c.closes, c.closes)) {
				t.Errorf("got %s", rest)
			}
		})
	}
}

func fetch(t *testing.T, srv *httptest.Server, method, body string, headers ...[2]string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, srv.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req, headers)
	resp, err := srv.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestLogFails: what cannot be stored goes out all the same, without an id; to nobody it cannot go.
func TestLogFails(t *testing.T) {
	log := &faultyLog{EventLog: state.NewMemoryLog(state.LogLimits{})}
	w := newWorld(t, Options{EventLog: log})
	session := w.open(t)
	get := w.connect(t, "GET", "", session)
	get.expect("prime")
	id := get.last
	log.set(state.ErrTooLarge, nil)
	w.engine.Announce(engine.ToolsChanged, "")
	get.expect("tools/list_changed")
	if get.last != id {
		t.Error("it has an id")
	}
	get.cut()
	eventually(t, "the stream is gone", func() bool { return w.handler.Streams() == 0 })
	s := w.handler.sessions.Find(session[1], nil)
	if err := s.Send(t.Context(), []byte("{}")); !errors.Is(err, transport.ErrUndeliverable) {
		t.Errorf("got %v", err)
	}
	log.set(nil, nil)
	if err := s.Send(t.Context(), []byte("{}")); err != nil {
		t.Errorf("got %v", err)
	}
}

// TestLogsEnd: whatever ends a session takes its events along, and what comes later leaves none.
func TestLogsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHandler(t, Options{KeepAlive: -1})
		w.desk.steps = make(chan int) // of this bubble
		session := [2]string{"Mcp-Session-Id", w.record("POST", initialize).Header().Get("Mcp-Session-Id")}
		sse := [2]string{"Accept", typeEvents}
		if got := w.record("POST", legacyCall("echo"), session, sse); !strings.HasPrefix(got.Body.String(), "id: ") {
			t.Fatalf("got %s", got.Body)
		}
		if n := w.handler.ownLog.Len(); n != 1 {
			t.Errorf("%d logs", n)
		}
		s := w.handler.sessions.Find(session[1], nil)
		l := s.newLine(getLine)
		l.given.Store(true)
		time.Sleep(time.Hour)
		if n := w.handler.ownLog.Len(); n != 0 || w.handler.Sessions() != 0 {
			t.Errorf("%d logs, %d sessions after the idle limit", n, w.handler.Sessions())
		}
		if err := l.send(t.Context(), []byte("{}")); !errors.Is(err, transport.ErrUndeliverable) || w.handler.ownLog.Len() != 0 {
			t.Errorf("a late event: %v, %d logs", err, w.handler.ownLog.Len())
		}
		if err := w.handler.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestLeftLines: a client that comes and goes leaves no more than one line, and one whose log is bounded.
func TestLeftLines(t *testing.T) {
	checkLeaks(t)
	w := newWorld(t, Options{})
	session := w.open(t)
	s := w.handler.sessions.Find(session[1], nil)
	var ids []string
	for range 20 {
		get := w.connect(t, "GET", "", session)
		get.expect("prime")
		ids = append(ids, get.last)
		get.cut()
	}
	for _, id := range ids[:10] {
		w.connect(t, "GET", "", session, after(id)).cut()
	}
	eventually(t, "one line is left", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.places == 0 && len(s.lines) == 1
	})
	for i := range 2000 {
		if err := s.Send(t.Context(), []byte(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	if a := w.ask(t, "GET", "", session, after(ids[0])); a.status != 400 || !strings.Contains(a.body, "dropped") {
		t.Errorf("the oldest events: %d %s", a.status, a.body)
	}
}

// TestOwnClientResumes: the client of this package against this server, with a connection that is cut in the middle and
// with one that the server closes.
func TestOwnClientResumes(t *testing.T) {
	checkLeaks(t)
	w := newHandler(t, Options{})
	srv := httptest.NewServer(w.handler)
	defer srv.Close()
	defer w.handler.Close()
	c := dial(t, srv.URL, ClientOptions{Reconnect: time.Millisecond, NoStream: true}).greet(t, "2025-11-25")
	if got, err := c.call(t.Context(), "poll", engine.CallOptions{WantProgress: true}); err != nil || !strings.Contains(got, "paused: true true") {
		t.Errorf("closed by the server: %s, %v", got, err)
	}
	seen := make(chan json.RawMessage, 3)
	go func() {
		w.step(1)
		<-seen // the client has an id to come back with
		srv.CloseClientConnections()
		w.step(2, 0)
	}()
	o := engine.CallOptions{OnProgress: func(params json.RawMessage) { seen <- params }}
	if got, err := c.call(t.Context(), "step", o); err != nil || !strings.Contains(got, "hello") {
		t.Errorf("cut: %s, %v", got, err)
	}
	if got := <-seen; !strings.Contains(string(got), `"progress":2`) || len(seen) > 0 {
		t.Errorf("got %s, and %d more", got, len(seen))
	}
}

// TestOwnClientBeginsAnew: the events that the client's GET stream would go on after are gone.
func TestOwnClientBeginsAnew(t *testing.T) {
	checkLeaks(t)
	w := newHandler(t, Options{EventLog: state.NewMemoryLog(state.LogLimits{MaxEvents: 1})})
	srv := httptest.NewServer(w.handler)
	defer srv.Close()
	defer w.handler.Close()
	c := dial(t, srv.URL, ClientOptions{Reconnect: 50 * time.Millisecond}).greet(t, "2025-11-25")
	eventually(t, "the client listens", c.Listening)
	s := w.handler.sessions.All()[0]
	for _, one := range w.handler.streams.all() {
		one.close()
	}
	for range 3 { // while the client waits before it comes back
		if err := s.Send(t.Context(), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "it listens again", func() bool { return w.handler.Streams() == 1 })
	w.engine.Announce(engine.ToolsChanged, "")
	eventually(t, "it hears of what changes", func() bool { return len(c.desk.noticed()) == 1 })
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.faults) == 0 || !strings.Contains(strings.Join(c.faults, "\n"), "begins anew") {
		t.Errorf("it was told %q", c.faults)
	}
}
