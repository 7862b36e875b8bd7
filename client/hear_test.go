package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
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

// A server may answer a call as soon as it has read the answer to its question, and tell only then that it has: that is no
// fault, and the answer on its way is not cut off.
func TestAnswersOutliveTheirCalls(t *testing.T) {
	noLeak(t)
	read, over := make(chan struct{}), make(chan struct{})
	events := func(w http.ResponseWriter, frames string, id jsonrpc.ID) {
		fmt.Fprint(w, strings.ReplaceAll(frames, "{id}", id.String()))
		w.(http.Flusher).Flush()
	}
	s := serve(t, reactions{
		"initialize": answer(200, jsonType, initializOK),
		"tools/call": func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
			w.Header().Set("Content-Type", "text/event-stream")
			events(w, `data: {"jsonrpc":"2.0","id":"q","method":"roots/list"}`+"\n\n", m.ID)
			<-read
			events(w, `data: {"jsonrpc":"2.0","id":{id},"result":{"content":[]}}`+"\n\n", m.ID)
		},
		"": func(w http.ResponseWriter, r *http.Request, _ *jsonrpc.Message) { // an answer
			close(read)
			select {
			case <-over:
			case <-r.Context().Done():
			}
			w.WriteHeader(http.StatusAccepted)
		},
	})
	faults := make(chan error, 10)
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{Mode: client.Legacy, Roots: []mcp.Root{}, OnError: func(err error) { faults <- err }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CallTool(t.Context(), "x", nil); err != nil {
		t.Error(err)
	}
	select {
	case err := <-faults:
		t.Error(err)
	case <-time.After(100 * time.Millisecond): // the call has long been over
	}
	close(over)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
