package streamhttp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/webtest"
)

// carriers are the two ways in which a stream can stay open.
var carriers = map[string]Options{"taken over": {}, "held": {NoHijack: true}}

func TestGetStream(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			w := newWorld(t, opts)
			session := w.open(t)
			older := w.start(t.Context(), t, "GET", "", session) // returns with the headers, before any event
			defer older.Body.Close()
			newer := w.start(t.Context(), t, "GET", "", session)
			for header, want := range map[string]string{
				"Content-Type": typeEvents, "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no", "Mcp-Session-Id": session[1],
			} {
				if got := newer.Header.Get(header); got != want {
					t.Errorf("%s is %q, want %q", header, got, want)
				}
			}
			w.engine.Announce(engine.ToolsChanged, "")
			if got := readEvents(newer.Body).next(); !strings.Contains(got, "tools/list_changed") {
				t.Errorf("the newest stream got %q", got)
			}
			newer.Body.Close()
			eventually(t, "the stream is gone", func() bool { return w.handler.Streams() == 1 })
			w.engine.Announce(engine.PromptsChanged, "")
			if got := readEvents(older.Body).next(); !strings.Contains(got, "prompts/list_changed") {
				t.Errorf("the older stream got %q", got)
			}
			if a := w.ask(t, "DELETE", "", session); a.status != 200 {
				t.Errorf("DELETE: %d", a.status)
			}
			if got := readEvents(older.Body).next(); got != "" {
				t.Errorf("after DELETE came %q", got)
			}
		})
	}
}

func TestGetLimit(t *testing.T) {
	w := newWorld(t, Options{MaxStreams: 2})
	session := w.open(t)
	for range 2 {
		resp := w.start(t.Context(), t, "GET", "", session)
		defer resp.Body.Close()
	}
	if a := w.ask(t, "GET", "", session); a.status != 409 {
		t.Errorf("the third stream: %d", a.status)
	}
	if a := w.ask(t, "POST", legacyList, session); a.status != 200 {
		t.Errorf("the session goes on: %d", a.status)
	}
}

func TestNoStreamNoDelivery(t *testing.T) {
	w := newWorld(t, Options{})
	session := w.open(t)
	err := w.handler.sessions.Find(session[1], nil).Send(t.Context(), []byte("{}"))
	if !errors.Is(err, transport.ErrUndeliverable) {
		t.Errorf("got %v", err)
	}
}

func TestListen(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			w := newWorld(t, opts)
			ctx, cancel := context.WithCancel(t.Context())
			gone := w.listen(ctx, t)
			stays := w.listen(t.Context(), t)
			eventually(t, "both listen", func() bool { return w.engine.Listens() == 2 })
			w.engine.Announce(engine.ToolsChanged, "")
			for _, stream := range []*events{gone, stays} {
				if got := stream.next(); !strings.Contains(got, "tools/list_changed") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":7`) {
					t.Errorf("got %s", got)
				}
			}
			cancel()
			eventually(t, "the listen of a client that has gone ends", func() bool { return w.engine.Listens() == 1 && w.handler.Streams() == 1 })
			if err := w.engine.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
			if got := stays.next(); !strings.Contains(got, `"result"`) {
				t.Errorf("the final result: %s", got)
			}
			if got := stays.next(); got != "" {
				t.Errorf("after it came %s", got)
			}
			eventually(t, "no stream is open", func() bool { return w.handler.Streams() == 0 })
		})
	}
}

// listen opens a listen stream and reads its acknowledgement.
func (w *world) listen(ctx context.Context, t *testing.T) *events {
	t.Helper()
	body, headers := modern("subscriptions/listen", "", `,"notifications":{"toolsListChanged":true}`)
	resp := w.start(ctx, t, "POST", body, headers...)
	t.Cleanup(func() { resp.Body.Close() })
	stream := readEvents(resp.Body)
	if got := stream.next(); !strings.Contains(got, "subscriptions/acknowledged") {
		t.Fatalf("got %d %s", resp.StatusCode, got)
	}
	return stream
}

// TestParkedHead reads what a connection taken over says, byte by byte.
func TestParkedHead(t *testing.T) {
	w := newWorld(t, Options{AllowedOrigins: []string{"https://app.example"}})
	session := w.open(t)
	resp := webtest.Ask(t, w.addr, "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nOrigin: https://app.example\r\nMcp-Session-Id: "+session[1]+"\r\n\r\n")
	if resp.StatusCode != 200 || !resp.Close || resp.Header.Get("Date") == "" || resp.Header.Get("Access-Control-Allow-Origin") == "" || len(resp.TransferEncoding) != 0 {
		t.Errorf("got %d %q %q", resp.StatusCode, resp.Header, resp.TransferEncoding)
	}
	resp = webtest.Ask(t, w.addr, "GET / HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+session[1]+"\r\n\r\n")
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != typeEvents {
		t.Errorf("HTTP/1.0: got %d %q", resp.StatusCode, resp.Header)
	}
}

// TestHeaderAfterPark: a parked exchange has let its request go.
func TestHeaderAfterPark(t *testing.T) {
	x := &exchange{}
	x.request.Store(&http.Request{Header: http.Header{"X-One": {"1"}, "X-Two": {"a", "b"}, "X-None": {}}})
	for name, want := range map[string]string{"X-One": "1", "x-one": "1", "X-Two": "a, b", "X-None": "", "X-Other": ""} {
		if got, ok := x.Header(name); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	client, server := pipe(t)
	defer client.Close()
	x.h = New(nil, newHandler(t, Options{}).handler.set, Options{KeepAlive: -1})
	x.stream = &stream{of: &x.h.streams, conn: server}
	if !x.Park(func() {}) {
		t.Fatal("not parked")
	}
	if got, ok := x.Header("X-One"); ok {
		t.Errorf("after parking: %q", got)
	}
}

func TestCloseWithManyStreams(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			checkLeaks(t)
			w := newWorld(t, opts)
			for range 25 {
				w.listen(t.Context(), t)
				session := w.open(t)
				resp := w.start(t.Context(), t, "GET", "", session)
				t.Cleanup(func() { resp.Body.Close() })
			}
			if n := w.handler.Streams(); n != 50 {
				t.Fatalf("%d streams", n)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			if err := w.handler.Shutdown(ctx); err != nil {
				t.Error(err)
			}
			if err := w.handler.Close(); err != nil {
				t.Error(err)
			}
			if w.handler.Streams() != 0 || w.handler.Sessions() != 0 {
				t.Errorf("%d streams, %d sessions are left", w.handler.Streams(), w.handler.Sessions())
			}
			eventually(t, "the listens have ended", func() bool { return w.engine.Listens() == 0 })
			if a := w.ask(t, "POST", initialize); a.status != 503 {
				t.Errorf("after Close: %d", a.status)
			}
		})
	}
}

// TestShutdownWaits: what runs in a session is answered first.
func TestShutdownWaits(t *testing.T) {
	w := newWorld(t, Options{})
	session := w.open(t)
	done := make(chan *answer)
	go func() { done <- w.ask(t, "POST", legacyCall("wait"), session) }()
	<-w.desk.waiting
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := w.handler.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := <-w.desk.ended; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("the call ended with %v", err)
	}
	if a := <-done; a.status != 200 || a.code() != -32603 || !strings.Contains(a.body, `"id":3`) {
		t.Errorf("its client is told %d %s", a.status, a.body)
	}
}

// TestShutdownIsBounded: a handler that ignores its context holds Shutdown no longer than its own context does.
func TestShutdownIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHandler(t, Options{})
		session := [2]string{"Mcp-Session-Id", w.record("POST", initialize).Header().Get("Mcp-Session-Id")}
		answered := make(chan *httptest.ResponseRecorder)
		go func() { answered <- w.record("POST", legacyCall("stubborn"), session) }()
		<-w.desk.waiting
		const limit = 50 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		began := time.Now()
		if err := w.handler.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took > limit {
			t.Errorf("it took %s", took)
		}
		w.desk.ended <- nil
		<-answered
	})
}
