package streamhttp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

func TestSessionLife(t *testing.T) {
	w := newWorld(t, Options{})
	session := w.open(t)
	for i := range len(session[1]) {
		if c := session[1][i]; c < 0x21 || c > 0x7E {
			t.Errorf("the id holds %q", c)
		}
	}
	if a := w.ask(t, "POST", legacyList, session); a.header.Get("Mcp-Session-Id") != session[1] {
		t.Errorf("an answer names the session: %q", a.header)
	}
	eventually(t, "the notification is handed over", func() bool { return len(w.desk.noticed()) == 1 })
	if a := w.ask(t, "DELETE", "", session); a.status != 200 {
		t.Errorf("DELETE: %d", a.status)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		if a := w.ask(t, method, legacyList, session); a.status != 404 {
			t.Errorf("%s of a session that has ended: %d", method, a.status)
		}
	}
	if w.handler.Sessions() != 0 || len(w.engine.Peers()) != 0 || w.handler.sessions.Places() != 0 {
		t.Error("the session is still there")
	}
}

// TestNothingStays: modern requests, refusals and ended sessions leave nothing.
func TestNothingStays(t *testing.T) {
	w := newWorld(t, Options{})
	discover, headers := modern("server/discover", "", "")
	http.DefaultClient.CloseIdleConnections()
	before := runtime.NumGoroutine()
	for range 50 {
		if a := w.ask(t, "POST", discover, headers...); a.status != 200 || a.header.Get("Mcp-Session-Id") != "" {
			t.Fatalf("discover: %d %q", a.status, a.header)
		}
		w.ask(t, "GET", "")
		w.ask(t, "DELETE", "")
		w.ask(t, "POST", initialize, [2]string{"Accept", "image/png"})
		w.ask(t, "POST", initialize, [2]string{"Host", "evil.example"})
		w.ask(t, "POST", "{")
		w.ask(t, "POST", strings.Replace(initialize, `"2025-11-25"`, "7", 1))
		w.ask(t, "DELETE", "", w.open(t))
	}
	if w.handler.Sessions() != 0 || len(w.engine.Peers()) != 0 || w.handler.sessions.Places() != 0 {
		t.Errorf("%d sessions, %d peers", w.handler.Sessions(), len(w.engine.Peers()))
	}
	eventually(t, "no goroutine more than before", func() bool {
		http.DefaultClient.CloseIdleConnections()
		return runtime.NumGoroutine() <= before
	})
}

func TestForeignSession(t *testing.T) {
	w := newWorld(t, Options{Principal: func(r *http.Request) *mcp.Principal {
		if name := r.Header.Get("X-User"); name != "" {
			return &mcp.Principal{Subject: name}
		}
		return nil
	}})
	ann := [2]string{"X-User", "ann"}
	session := [2]string{"Mcp-Session-Id", w.ask(t, "POST", initialize, ann).header.Get("Mcp-Session-Id")}
	if a := w.ask(t, "POST", legacyList, session, ann); a.status != 200 {
		t.Errorf("her own: %d", a.status)
	}
	for _, method := range []string{"POST", "GET", "DELETE"} {
		for _, who := range []string{"bob", ""} {
			if a := w.ask(t, method, legacyList, session, [2]string{"X-User", who}); a.status != 404 {
				t.Errorf("%s by %q: %d", method, who, a.status)
			}
		}
	}
}

func TestSessionLimit(t *testing.T) {
	w := newWorld(t, Options{MaxSessions: 2})
	first := w.open(t)
	w.open(t)
	if a := w.ask(t, "POST", initialize); a.status != 503 || a.header.Get("Retry-After") != "1" || a.code() != -32603 {
		t.Errorf("the third: %d %q %s", a.status, a.header, a.body)
	}
	w.ask(t, "DELETE", "", first)
	w.open(t)
}

// TestServerAsks is a request of the server's on the stream of a call: the client answers it by a POST of its own.
func TestServerAsks(t *testing.T) {
	w := newWorld(t, Options{})
	session := w.open(t)
	resp := w.start(t.Context(), t, "POST", legacyCall("ask"), session)
	defer resp.Body.Close()
	stream := readEvents(resp.Body)
	var question struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.Unmarshal([]byte(stream.next()), &question); err != nil || question.Method != "ping" {
		t.Fatalf("got %v, %v", question, err)
	}
	if a := w.ask(t, "POST", `{"jsonrpc":"2.0","id":`+string(question.ID)+`,"result":{}}`, session); a.status != 202 || a.body != "" {
		t.Errorf("the response: %d %s", a.status, a.body)
	}
	if got := stream.next(); !strings.Contains(got, "asked: true") {
		t.Errorf("got %s", got)
	}
}

// TestLostConnection: on the legacy era it cancels nothing, on the modern one it is the cancellation.
func TestLostConnection(t *testing.T) {
	w := newWorld(t, Options{})
	session := w.open(t)
	legacyWait := legacyCall("wait")
	w.hangUp(t, legacyWait, session)
	select {
	case err := <-w.desk.ended:
		t.Fatalf("the call of a session ended: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`
	if a := w.ask(t, "POST", cancelled, session); a.status != 202 {
		t.Errorf("the cancellation: %d", a.status)
	}
	<-w.desk.ended
	body, headers := modern("tools/call", "wait", "")
	w.hangUp(t, body, headers...)
	<-w.desk.ended
}

// hangUp begins a call of "wait" and drops the connection.
func (w *world) hangUp(t *testing.T, body string, headers ...[2]string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-w.desk.waiting
		cancel()
	}()
	req, err := http.NewRequestWithContext(ctx, "POST", w.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req, headers)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		resp.Body.Close()
		t.Fatal("there was an answer")
	}
}

// record sends a request to a handler without any network.
func (w *world) record(method, body string, headers ...[2]string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", strings.NewReader(body))
	setHeaders(r, headers)
	out := httptest.NewRecorder()
	w.handler.ServeHTTP(out, r)
	return out
}

func TestIdleSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHandler(t, Options{IdleTimeout: 10 * time.Minute})
		defer w.handler.Close()
		session := [2]string{"Mcp-Session-Id", w.record("POST", initialize).Header().Get("Mcp-Session-Id")}
		for range 3 { // each use begins the time anew
			time.Sleep(9 * time.Minute)
			if got := w.record("POST", legacyList, session); got.Code != 200 {
				t.Fatalf("after 9 minutes: %d", got.Code)
			}
		}
		go w.record("POST", legacyCall("wait"), session)
		time.Sleep(time.Hour)
		if w.handler.Sessions() != 1 {
			t.Error("it ended while a call ran")
		}
		w.record("POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`, session)
		time.Sleep(21 * time.Minute)
		if w.handler.Sessions() != 0 || len(w.engine.Peers()) != 0 {
			t.Error("an idle session is still there")
		}
		if got := w.record("POST", legacyList, session); got.Code != 404 {
			t.Errorf("after its end: %d", got.Code)
		}
	})
}
