package streamhttp

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCallsAtTheEnd holds that a call is answered that runs when the handler is closed, also where a stream would have been opened for
// the answer: none is any more.
func TestCallsAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name, tool, accept string
		session            bool
	}{
		{"in a session, events only", "wait", "text/event-stream", true},
		{"stateless, events only", "wait", "text/event-stream", false},
		{"stateless, of a handler that heeds nothing", "stubborn", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newHandler(t, Options{UpgradeAfter: time.Second})
				body, headers := modern("tools/call", c.tool, "")
				if c.session {
					body, headers = legacyCall(c.tool), [][2]string{{"Mcp-Session-Id", w.record("POST", initialize).Header().Get("Mcp-Session-Id")}}
					w.record("POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers...)
				}
				if c.accept != "" {
					headers = append(headers, [2]string{"Accept", c.accept})
				}
				answered := make(chan *httptest.ResponseRecorder, 1)
				go func() { answered <- w.record("POST", body, headers...) }() // ends with the call
				<-w.desk.waiting
				_ = w.handler.Close()
				time.Sleep(2 * time.Second) // by then the stream of a long call would be opened
				w.desk.ended <- nil
				out := <-answered
				if got := out.Body.String(); out.Code != 200 || out.Header().Get("Content-Type") != "application/json" || !strings.Contains(got, `"error":{"code":-32603`) {
					t.Errorf("%d %v %s", out.Code, out.Header(), got)
				}
			})
		})
	}
}
