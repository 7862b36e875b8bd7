package client_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Many servers ask on the stream for what belongs to no call, and forget a question for which that is not open yet. So a
// client that may be asked opens it first, and one that may not does not wait for it.
func TestCallsWaitForTheStreamOfQuestions(t *testing.T) {
	for name, tc := range map[string]struct {
		opts  client.Options
		call  client.CallOptions
		never bool // the server leaves the GET unanswered
		want  string
	}{
		"may be asked":    {client.Options{Roots: []mcp.Root{}}, client.CallOptions{}, false, "open"},
		"cannot be asked": {client.Options{}, client.CallOptions{}, true, "closed"},
		"none comes":      {client.Options{Roots: []mcp.Root{}}, client.CallOptions{Timeout: 500 * time.Millisecond}, true, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var open atomic.Bool
			called := make(chan struct{}, 1)
			back := serve(t, reactions{
				"initialize": answer(200, jsonType, initializOK),
				"tools/call": func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
					called <- struct{}{}
					state := map[bool]string{true: "open", false: "closed"}[open.Load()]
					answer(200, jsonType, `{"jsonrpc":"2.0","id":{id},"result":{"content":[{"type":"text","text":"`+state+`"}]}}`)(w, r, m)
				},
			})
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet {
					back.Config.Handler.ServeHTTP(w, r)
					return
				}
				if !tc.never {
					select {
					case <-called: // too early
					case <-time.After(100 * time.Millisecond):
						open.Store(true)
					}
					w.Header().Set("Content-Type", "text/event-stream")
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			}))
			defer front.Close()
			tc.opts.Mode = client.Legacy
			c, err := client.DialHTTP(t.Context(), front.URL, tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			began := time.Now()
			result, err := c.CallTool(t.Context(), "x", nil, tc.call)
			if err != nil || text(result) != tc.want {
				t.Errorf("the stream is %q, expected %q; %v", text(result), tc.want, err)
			}
			if took := time.Since(began); tc.call.Timeout != 0 && took < tc.call.Timeout {
				t.Errorf("it was waited for %s only", took)
			}
		})
	}
}
