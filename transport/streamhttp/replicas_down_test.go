package streamhttp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestStoreDown: what cannot be found out is never "unknown session", and nothing hangs.
func TestStoreDown(t *testing.T) {
	h, a, b, session := two(t, Options{})
	down := errors.New("connection refused")
	h.fail(down, nil, false)
	for _, one := range []*world{a, b} {
		for _, request := range [][2]string{{"POST", legacyList}, {"POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`}, {"GET", ""}, {"DELETE", ""}} {
			r := one.ask(t, request[0], request[1], session)
			if r.status != 503 || r.header.Get("Retry-After") == "" || strings.Contains(r.body, "refused") {
				t.Errorf("%s: %d %s", request[0], r.status, r.body)
			}
		}
	}
	r := a.ask(t, "POST", initialize)
	if r.status != 503 || r.header.Get("Mcp-Session-Id") != "" || r.code() != -32603 || idOf(t, r.body) != "1" {
		t.Errorf("initialize: %d %s", r.status, r.body)
	}
	if n := a.handler.Sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	h.fail(nil, nil, false)
	for _, one := range []*world{a, b} {
		if r := one.ask(t, "POST", legacyList, session); r.status != 200 {
			t.Errorf("afterwards: %d %s", r.status, r.body)
		}
	}
}

// TestBusDown: what needs the other handler fails and says so; all else goes on.
func TestBusDown(t *testing.T) {
	h, a, b, session := two(t, Options{})
	call := b.connect(t, "POST", legacyCall("ask"), session)
	call.expect("prime")
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(t, call.next()))
	h.fail(nil, errors.New("no route"), false)
	for _, body := range []string{answer, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}`} {
		if r := a.ask(t, "POST", body, session); r.status != 503 || strings.Contains(r.body, "route") {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if r := a.ask(t, "POST", legacyList, session); r.status != 200 {
		t.Errorf("%d %s", r.status, r.body)
	}
	h.fail(nil, nil, false)
	if r := a.ask(t, "POST", answer, session); r.status != 202 {
		t.Errorf("%d %s", r.status, r.body)
	}
	if got := call.next(); !strings.Contains(got, "asked: true <nil>") {
		t.Errorf("the call: %s", got)
	}
	h.fail(nil, errors.New("no route"), false)
	if r := a.ask(t, "DELETE", "", session); r.status != 200 {
		t.Errorf("DELETE: %d %s", r.status, r.body)
	}
	if r := b.ask(t, "POST", legacyList, session); r.status != 404 {
		t.Errorf("after it: %d %s", r.status, r.body)
	}
	eventually(t, "nothing is left", func() bool { return a.handler.Sessions()+b.handler.Sessions() == 0 })
}

// A session whose end was not heard of ends with the next look: a call, or the look that is taken now and then.
func TestEndNotHeard(t *testing.T) {
	h, a, b, session := two(t, Options{IdleTimeout: time.Second})
	b.dial(t, "POST", legacyCall("wait"), session)
	<-b.desk.waiting
	h.fail(nil, nil, true)
	if r := a.ask(t, "DELETE", "", session); r.status != 200 {
		t.Fatal(r.status)
	}
	select {
	case <-b.desk.ended:
	case <-time.After(5 * time.Second):
		t.Fatal("the call runs on")
	}
	eventually(t, "nothing is left", func() bool { return b.handler.Sessions() == 0 })
}

// A handler that closes leaves its sessions to the others; the calls that ran on it are answered.
func TestReplicaCloses(t *testing.T) {
	h, a, b, session := two(t, Options{})
	call := a.stepping(t, session)
	ended := make(chan error, 1)
	go func() { ended <- a.handler.Close() }()
	eventually(t, "it closes", a.handler.isClosed)
	a.step(0)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	rest := b.connect(t, "GET", "", session, after(call.last))
	if got := rest.next(); got != hello && !strings.Contains(got, "shutting down") { // as the call or its end comes first
		t.Errorf("the call: %s", got)
	}
	if r := b.ask(t, "POST", legacyList, session); r.status != 200 || h.sessions.Len() != 1 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A replica that was killed answers nothing any more: who comes back for its call is told, and nobody waits for ever.
func TestReplicaKilled(t *testing.T) {
	_, a, b, session := two(t, Options{})
	call := b.stepping(t, session)
	call.cut()
	asks := b.connect(t, "POST", strings.Replace(legacyCall("ask"), `"id":3`, `"id":4`, 1), session)
	asks.expect("prime")
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, idOf(t, asks.next()))
	b.handler.shared.stop()
	b.handler.shared.tasks.Wait()
	if r := a.ask(t, "GET", "", session, after(call.last)); r.status != 400 || !strings.Contains(r.body, "is over") {
		t.Errorf("its call: %d %s", r.status, r.body)
	}
	if r := a.ask(t, "POST", answer, session); r.status != 202 {
		t.Errorf("an answer to it: %d %s", r.status, r.body)
	}
	if r := a.ask(t, "POST", legacyList, session); r.status != 200 {
		t.Errorf("the session: %d %s", r.status, r.body)
	}
	b.step(0)
}

// A log that fails is told as such, and streams that cannot be had take no place.
func TestLogDown(t *testing.T) {
	h, a, _, session := two(t, Options{MaxStreams: 1})
	if err := h.log.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, headers := range [][][2]string{{session}, {session, after("1-1")}} {
			if r := a.ask(t, "GET", "", headers...); r.status != 500 {
				t.Errorf("GET: %d %s", r.status, r.body)
			}
		}
	}
	if r := a.ask(t, "POST", legacyCall("progress"), session); r.status != 200 || !strings.Contains(r.body, "sent: <nil>") {
		t.Errorf("a call: %d %s", r.status, r.body)
	}
}
