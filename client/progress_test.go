package client_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Some legacy servers send part of a call's progress on the GET stream of the session. It is handed over when it comes, as
// that on the call's own stream is.
func TestProgressOnTheGetStream(t *testing.T) {
	noLeak(t)
	listening, aside := make(chan struct{}), make(chan string)
	seen := make(chan float64, 10)
	wait := func(want float64) {
		if got := <-seen; got != want { // before the call goes on
			t.Errorf("got progress %v, want %v", got, want)
		}
	}
	s := serve(t, reactions{
		"initialize": func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
			w.Header().Set("Mcp-Session-Id", "s-1")
			answer(200, jsonType, initializOK)(w, r, m)
		},
		"GET": func(w http.ResponseWriter, r *http.Request, _ *jsonrpc.Message) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			close(listening)
			for {
				select {
				case frame := <-aside:
					fmt.Fprintf(w, "data: %s\n\n", frame)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		},
		"tools/call": func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
			meta, _ := jsonrpc.Member(m.Params, "_meta")
			token, _ := jsonrpc.Member(meta, "progressToken")
			progress := func(n int) string {
				return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, token, n)
			}
			aside <- progress(1) // while the answer has not even begun
			wait(1)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", progress(2))
			w.(http.Flusher).Flush()
			wait(2)
			aside <- progress(3)
			wait(3)
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}\n\n", m.ID)
		},
	})
	c, err := client.DialHTTP(t.Context(), s.URL, client.Options{Mode: client.Legacy})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	<-listening
	var all []float64
	_, err = c.CallTool(t.Context(), "x", nil, client.CallOptions{OnProgress: func(p mcp.ProgressParams) {
		all = append(all, p.Progress) // no lock: one callback runs at a time, and none after the call
		seen <- p.Progress
	}})
	if err != nil || !slices.Equal(all, []float64{1, 2, 3}) {
		t.Errorf("got %v, %v", all, err)
	}
}
