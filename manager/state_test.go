package manager_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// TestNotTaken is about what the errors of calls say: that the call was certainly not begun, and that the connection is of no
// use any more.
func TestNotTaken(t *testing.T) {
	header := func(name string) string { return map[string]string{"Retry-After": "7"}[name] }
	for _, tc := range []struct {
		name            string
		err             error
		untaken, isLoss bool
	}{
		{"the server says no", &mcp.Error{Code: mcp.CodeInternal, Remote: true}, false, false},
		{"it speaks the revision no longer", &mcp.Error{Code: mcp.CodeUnsupportedVersion, Remote: true}, true, true},
		{"we do not speak it", &mcp.Error{Code: mcp.CodeUnsupportedVersion}, false, false},
		{"the session is forgotten", &transport.StatusError{Status: http.StatusNotFound, SessionGone: true}, true, true},
		{"too many requests", &transport.StatusError{Status: http.StatusTooManyRequests}, true, false},
		{"come back later", &transport.StatusError{Status: http.StatusServiceUnavailable, Header: header}, true, false},
		{"it fails", &transport.StatusError{Status: http.StatusInternalServerError}, false, false},
		{"nobody listens", &net.OpError{Op: "dial", Err: errors.New("refused")}, true, true},
		{"the answer broke off", &net.OpError{Op: "read", Err: errors.New("reset")}, false, false},
		{"not connected", mcp.CodeNotConnected, true, false},
		{"the connection was closed", mcp.CodeConnectionClosed, false, false},
		{"no time left", context.DeadlineExceeded, false, false},
	} {
		if untaken, loss := manager.NotTaken(tc.err), manager.IsLoss(tc.err); untaken != tc.untaken || loss != tc.isLoss {
			t.Errorf("%s: not taken %v, a loss %v", tc.name, untaken, loss)
		}
	}
}

// TestNewsWhileToolsAreListed holds that changes which come while a listener is at work on one make one more call, and not one
// for each.
func TestNewsWhileToolsAreListed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, "a")
		m := w.open(manager.Options{}, servers("a")...)
		calls := 0
		m.OnToolsChange(func() { calls++; time.Sleep(time.Hour) })
		for range 10 {
			time.Sleep(5 * time.Minute)
			server.AddTool(w.host("a").s, mcp.Tool{Name: "x"}, func(context.Context, *server.Request, noInput) (string, error) { return "", nil })
			time.Sleep(time.Minute)
			w.host("a").s.RemoveTool("x")
		}
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if calls != 2 {
			t.Errorf("%d calls", calls)
		}
	})
}
