package streamhttp

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const cancelThree = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`

// A client that cancels its call gets no answer to it. An empty 200 is read as a fault by client libraries, which look for
// a content type; with 202 they wait for nothing more.
func TestCancelledCall(t *testing.T) {
	for name, accept := range map[string]string{"either": "application/json, text/event-stream", "JSON": "application/json"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, Options{})
			session := w.open(t)
			call := w.dial(t, "POST", legacyCall("wait"), session, [2]string{"Accept", accept})
			<-w.desk.waiting
			if a := w.ask(t, "POST", cancelThree, session); a.status != 202 {
				t.Fatalf("the cancellation: %d", a.status)
			}
			resp := call.read(t)
			if resp.StatusCode != 202 || resp.ContentLength != 0 || resp.Header.Get("Content-Type") != "" {
				t.Errorf("got %d, %d bytes, %v", resp.StatusCode, resp.ContentLength, resp.Header)
			}
		})
	}
	t.Run("on a stream", func(t *testing.T) {
		w := newWorld(t, Options{})
		session := w.open(t)
		call := w.stepping(t, session)
		w.ask(t, "POST", cancelThree, session)
		w.step(0)
		call.expect("end")
	})
}

// Every request of an array that shutdown cancels is answered: its client waits for that.
func TestBatchAtShutdown(t *testing.T) {
	w := newWorld(t, Options{})
	session := [2]string{"Mcp-Session-Id", w.ask(t, "POST", older).header.Get("Mcp-Session-Id")}
	second := strings.Replace(legacyCall("wait"), `"id":3`, `"id":4`, 1)
	call := w.dial(t, "POST", "["+legacyCall("wait")+","+second+","+legacyList+"]", session)
	<-w.desk.waiting
	<-w.desk.waiting
	if err := w.handler.Close(); err != nil {
		t.Fatal(err)
	}
	resp := call.read(t)
	body := new(strings.Builder)
	if err := resp.Write(body); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"id":3,"error"`, `"id":4,"error"`, `"id":2,"result"`, "shutting down"} {
		if !strings.Contains(body.String(), want) {
			t.Errorf("%s is missing in %d %s", want, resp.StatusCode, body)
		}
	}
}

// Requests that stand alone are answered while Shutdown has time, and cancelled then.
func TestShutdownOfStatelessCalls(t *testing.T) {
	modernBody, modernHeaders := modern("tools/call", "sleep", "")
	modernWait, waitHeaders := modern("tools/call", "wait", "")
	for _, c := range []struct {
		name    string
		opts    Options
		body    string
		headers [][2]string
		within  time.Duration
		took    time.Duration
		late    error
		status  int
		want    string
	}{
		{"modern, in time", Options{}, modernBody, modernHeaders, time.Hour, time.Minute, nil, 200, "slept"},
		{"modern, late", Options{}, modernWait, waitHeaders, 10 * time.Second, 10 * time.Second, context.DeadlineExceeded, 200, "shutting down, so the call was given up"},
		{"sessionless, in time", Options{Sessionless: true}, legacyCall("sleep"), nil, time.Hour, time.Minute, nil, 200, "slept"},
		{"sessionless, late", Options{Sessionless: true}, legacyCall("wait"), nil, 10 * time.Second, 10 * time.Second, context.DeadlineExceeded, 200, "shutting down, so the call was given up"},
		{"array, late", Options{Sessionless: true}, "[" + legacyCall("wait") + "]", nil, 10 * time.Second, 10 * time.Second, context.DeadlineExceeded, 200, "shutting down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.opts.UpgradeAfter = -1
				w := newHandler(t, c.opts)
				answered := make(chan *httptest.ResponseRecorder)
				go func() { answered <- w.record("POST", c.body, c.headers...) }()
				synctest.Wait()
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), c.within)
				defer cancel()
				stopped := make(chan error, 1)
				go func() { stopped <- w.handler.Shutdown(ctx) }()
				out := <-answered
				if err := <-stopped; !errors.Is(err, c.late) {
					t.Errorf("Shutdown: %v", err)
				}
				if took := time.Since(began).Truncate(time.Second); took != c.took || out.Code != c.status || !strings.Contains(out.Body.String(), c.want) {
					t.Errorf("after %s: %d %s", took, out.Code, out.Body)
				}
				if n := len(w.handler.calls.waiting); n != 0 {
					t.Errorf("%d contexts are kept", n)
				}
			})
		})
	}
}
