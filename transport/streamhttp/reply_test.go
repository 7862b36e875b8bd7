package streamhttp

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

func pipe(t *testing.T) (client, server net.Conn) {
	t.Helper()
	client, server = net.Pipe()
	return client, server
}

func TestUpgrade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHandler(t, Options{})
		defer w.handler.Close()
		body, headers := modern("tools/call", "sleep", "") // a minute
		got := w.record("POST", body, headers...)
		comments := strings.Count(got.Body.String(), ": keepalive\n\n")
		if got.Header().Get("Content-Type") != typeEvents || comments < 3 || !strings.Contains(got.Body.String(), "slept") {
			t.Errorf("got %q %s", got.Header(), got.Body)
		}
		for name, want := range map[string]string{"Cache-Control": "no-cache, no-transform", "Connection": "keep-alive", "X-Accel-Buffering": "no"} {
			if got.Header().Get(name) != want {
				t.Errorf("%s: %q", name, got.Header().Get(name))
			}
		}
		if got.Header().Get("Mcp-Session-Id") != "" || strings.Contains(got.Body.String(), "id: ") {
			t.Error("a modern stream has neither session nor event ids")
		}
		got = w.record("POST", body, append(headers, [2]string{"Accept", "application/json"})...)
		if got.Header().Get("Content-Type") != typeJSON || !strings.HasPrefix(got.Body.String(), "{") {
			t.Errorf("for JSON alone: %q %s", got.Header(), got.Body)
		}
	})
}

func TestUpgradeOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHandler(t, Options{UpgradeAfter: -1, KeepAlive: -1})
		defer w.handler.Close()
		body, headers := modern("tools/call", "sleep", "")
		if got := w.record("POST", body, headers...); got.Header().Get("Content-Type") != typeJSON {
			t.Errorf("got %q", got.Header())
		}
		got := w.record("POST", body, append(headers, [2]string{"Accept", "text/event-stream"})...)
		if got.Header().Get("Content-Type") != typeEvents || strings.Contains(got.Body.String(), "keepalive") {
			t.Errorf("got %q %s", got.Header(), got.Body)
		}
	})
}

func TestProgressMakesAStream(t *testing.T) {
	w := newWorld(t, Options{})
	body, headers := modern("tools/call", "progress", "")
	body = strings.Replace(body, `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	a := w.ask(t, "POST", body, headers...)
	want := "event: message\ndata: {"
	if a.status != 200 || a.header.Get("Content-Type") != typeEvents || strings.Count(a.body, want) != 2 || !strings.Contains(a.body, `"progressToken":"p"`) {
		t.Errorf("got %d %q\n%s", a.status, a.header, a.body)
	}
}

// TestAfterTheHandler: nothing touches the response once its handler has returned.
func TestAfterTheHandler(t *testing.T) {
	w := newHandler(t, Options{KeepAlive: -1})
	defer w.handler.Close()
	x := &exchange{}
	x.h, x.w, x.r, x.takes = w.handler, httptest.NewRecorder(), httptest.NewRequest("POST", "/", nil), either
	x.codec, _ = w.handler.set.Codec("2026-07-28")
	if err := x.Send(t.Context(), []byte("{}")); err != nil {
		t.Error(err)
	}
	x.leave()
	if err := x.Send(t.Context(), []byte("{}")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Send: %v", err)
	}
	if err := x.Answer(t.Context(), []byte("{}"), 0, 0); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Answer: %v", err)
	}
	x.Drop()
	if x.Park(func() {}) {
		t.Error("parked after the end")
	}
}

// TestClientThatDoesNotRead: a write has its time.
func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHandler(t, Options{KeepAlive: -1})
		defer w.handler.Close()
		_, server := pipe(t)
		s := &stream{of: &w.handler.streams, conn: server}
		w.handler.streams.readers.Go(s.watch)
		x := &exchange{}
		x.h, x.takes, x.stream = w.handler, either, s
		gone := make(chan struct{})
		if !x.Park(func() { x.Drop(); close(gone) }) { // as the receiver does
			t.Fatal("not parked")
		}
		began := time.Now()
		if err := x.Send(t.Context(), []byte("{}")); err == nil {
			t.Error("written to nobody")
		}
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("gave up after %s", took)
		}
		<-gone
		s.onGone(func() { gone = nil })
		if gone != nil {
			t.Error("onGone is told at once what has happened already")
		}
	})
}

func TestKeepAliveOnEveryStream(t *testing.T) {
	for name, opts := range carriers {
		t.Run(name, func(t *testing.T) {
			opts.KeepAlive, opts.NoResume = 10*time.Millisecond, true
			w := newWorld(t, opts)
			session := w.open(t)
			resp := w.start(t.Context(), t, "GET", "", session)
			defer resp.Body.Close()
			buf := make([]byte, len(": keepalive\n\n")*2)
			if _, err := io.ReadFull(resp.Body, buf); err != nil || string(buf) != ": keepalive\n\n: keepalive\n\n" {
				t.Errorf("got %q, %v", buf, err)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	w := newHandler(t, Options{})
	modern, _ := w.handler.set.Codec("2026-07-28")
	legacy, _ := w.handler.set.Codec("2025-11-25")
	cases := []struct {
		row            int
		code           int64
		modern, legacy int
	}{
		{0, 0, 200, 200}, {0, -32021, 400, 200}, {0, -32601, 404, 200}, {0, -32602, 200, 200}, {0, -32603, 200, 200},
		{1, -32700, 400, 400}, {2, -32600, 400, 400}, {3, -32020, 400, 400}, {4, -32022, 400, 400}, {5, -32020, 400, 200},
		{6, -32601, 404, 200}, {7, -32602, 400, 200}, {7, -32021, 400, 200}, {8, -32020, 400, 200}, {9, -32602, 200, 200},
		{10, -32020, 400, 200}, {11, -32021, 400, 200}, {12, -32602, 200, 200}, {-1, -32603, 503, 503}, {-2, -32603, 406, 406},
		{99, -1, 200, 200},
	}
	for _, c := range cases {
		if got := status(modern.Traits(), c.row, c.code); got != c.modern {
			t.Errorf("modern, row %d, %d: %d", c.row, c.code, got)
		}
		if got := status(legacy.Traits(), c.row, c.code); got != c.legacy {
			t.Errorf("legacy, row %d, %d: %d", c.row, c.code, got)
		}
	}
}

func TestBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHandler(t, Options{})
		defer w.handler.Close()
		session := [2]string{"Mcp-Session-Id", w.record("POST", initialize).Header().Get("Mcp-Session-Id")}
		s := w.handler.sessions.Find(session[1], nil)
		defer s.end(nil)
		for i := range 256 {
			go w.record("POST", strings.Replace(legacyCall("wait"), `"id":3`, `"id":"`+strings.Repeat("x", i+1)+`"`, 1), session)
		}
		synctest.Wait()
		got := w.record("POST", legacyCall("echo"), session)
		if got.Code != http.StatusServiceUnavailable || got.Header().Get("Retry-After") != "1" || !strings.Contains(got.Body.String(), `"id":3`) {
			t.Errorf("got %d %q %s", got.Code, got.Header(), got.Body)
		}
	})
}
