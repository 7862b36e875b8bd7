package server_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// TestCallsOfASessionThatEndsAreAnswered holds that the client of a call is told when the session ends in which it runs, on whatever
// wire, with a JSON body or on the stream of the call.
//
// Seen to fail: over Streamable HTTP the client got 202, or the end of its stream, and over HTTP+SSE the end of the stream; a client
// that takes 202 for an answer on its way waited for its time limit.
func TestCallsOfASessionThatEndsAreAnswered(t *testing.T) {
	const wait = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","arguments":{}}}`
	dismiss := func(_ *testing.T, s *server.Server, _ string, _ http.Header) {
		s.Dismiss(func(who *mcp.Principal) bool { return who == nil })
	}
	remove := func(t *testing.T, _ *server.Server, url string, session http.Header) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, http.NoBody)
		if err != nil {
			t.Error(err)
			return
		}
		req.Header = session
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		res.Body.Close()
	}
	for _, c := range []struct {
		name  string
		after time.Duration // until the answer becomes a stream
		old   bool          // over HTTP+SSE
		end   func(t *testing.T, s *server.Server, url string, session http.Header)
		why   string
	}{
		{"dismissed, JSON", -1, false, dismiss, "this caller may not call any more"},
		{"dismissed, stream", time.Millisecond, false, dismiss, "this caller may not call any more"},
		{"dismissed, HTTP+SSE", 0, true, dismiss, "this caller may not call any more"},
		{"deleted, JSON", -1, false, remove, "the client has ended the session"},
		{"deleted, stream", time.Millisecond, false, remove, "the client has ended the session"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(server.Options{HTTP: server.HTTPOptions{UpgradeAfter: c.after}})
			running := make(chan struct{})
			rawTool(t, s, "wait", func(ctx context.Context, _ *server.Request) (*mcp.CallToolResult, error) {
				close(running)
				<-ctx.Done()
				return mcp.TextResult("done"), nil // which nobody may get any more
			})
			answered := make(chan string, 1)
			var url string
			var session http.Header
			if c.old {
				url = serve(t, s.SSEHandler())
				client := dialSSE(t, url, "/sse")
				client.post(t, greet2024)
				client.next()
				client.post(t, wait)
				go func() { // ends with the stream
					_, data := client.next()
					answered <- data
				}()
			} else {
				url = serve(t, s.Handler())
				hello, _ := postRaw(t, url, shutdownHello, nil)
				session = http.Header{"Mcp-Session-Id": {hello.Header.Get("Mcp-Session-Id")}}
				go func() { // ends with the call
					_, body := postRaw(t, url, wait, session)
					answered <- body
				}()
			}
			<-running
			c.end(t, s, url, session)
			got := <-answered
			if want := `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"` + c.why + `, so the call was given up; whether it was done is not known"}}`; !strings.Contains(got, want) || strings.Contains(got, "done\"") {
				t.Errorf("got %q, want %s", got, want)
			}
		})
	}
}
