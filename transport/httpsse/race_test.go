package httpsse

import (
	"bufio"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
)

// early is a response whose connection is taken over while something else is done.
type early struct {
	http.ResponseWriter
	meanwhile func()
}

func (e *early) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	go e.meanwhile() // the test waits for its end
	return e.ResponseWriter.(http.Hijacker).Hijack()
}

// TestDismissedWhileItOpens holds, with the race detector, that a stream may be ended at the moment at which it is opened: its session
// is known before it has its connection.
func TestDismissedWhileItOpens(t *testing.T) {
	for range 50 {
		_, h := newHandler(t, Options{})
		done := make(chan struct{})
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(&early{w, func() {
				defer close(done)
				h.Dismiss(func(*mcp.Principal) bool { return true })
			}}, r)
		}))
		resp, err := http.Get(srv.URL + "/sse")
		if err == nil {
			_ = resp.Body.Close()
		}
		<-done
		_ = h.Close()
		srv.Close()
	}
}
