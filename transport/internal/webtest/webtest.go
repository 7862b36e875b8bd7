// Package webtest is what the tests of the wires over HTTP have in common: connections without an HTTP client between,
// and waiting for what bytes on the way bring about.
package webtest

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// patience bounds what is read from a connection and waited for, so that a server that stays silent does not hang a test.
const patience = 20 * time.Second

// Dial opens a connection that is closed when the test ends.
func Dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// Ask writes a request as it stands to a connection of its own and reads the head of the response.
func Ask(t testing.TB, addr, request string) *http.Response {
	t.Helper()
	return AskOn(t, Dial(t, addr), request)
}

// AskOn is Ask on a connection that is open.
func AskOn(t testing.TB, conn net.Conn, request string) *http.Response {
	t.Helper()
	go func() { _, _ = io.WriteString(conn, request) }() // the server may answer before it has read all; ends with the connection
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// OnStream sends a request of a server's on the stream of the call it belongs to.
type OnStream struct{ X transport.Exchange }

// Exchange sends the request.
func (s OnStream) Exchange(ctx context.Context, out transport.Outbound) (bool, error) {
	return true, s.X.Send(ctx, out.Frame)
}

// Shared tells that answers come another way.
func (s OnStream) Shared() bool { return true }

// Close does nothing: the stream is the call's.
func (s OnStream) Close() error { return nil }

// Eventually waits for a condition that bytes on the way bring about.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not within %s: %s", patience, what)
}

// NoneLeft waits until no goroutine runs methods of any of the types given, such as "httpsse.(*Handler)".
func NoneLeft(t testing.TB, types ...string) {
	t.Helper()
	Eventually(t, "no goroutine of "+strings.Join(types, " or ")+" is left", func() bool {
		buf := make([]byte, 1<<20)
		stacks := string(buf[:runtime.Stack(buf, true)])
		for _, one := range types {
			if strings.Contains(stacks, one) {
				return false
			}
		}
		return true
	})
}
