package streamhttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/transport"
)

// TestAnswerThatWasToComeElsewhere holds that a call which the server answers on the GET stream of the session (202, and nothing more)
// fails when that stream has ended and is not opened again, with what the server said to that. It had begun, so the status is not one
// of its own: who reads it would send the call again.
//
// Seen to fail: the call waited for its time limit.
func TestAnswerThatWasToComeElsewhere(t *testing.T) {
	for _, status := range []int{401, 403, 404, 405} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			checkLeaks(t)
			end := make(chan struct{})
			over := sync.OnceFunc(func() { close(end) })
			defer over()
			url := script(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body) // what is not whole is no call
				switch {
				case strings.Contains(string(body), "tools/call"):
					w.WriteHeader(http.StatusAccepted)
				case r.Method == http.MethodPost:
					r.Body = io.NopCloser(strings.NewReader(string(body)))
					answerPost(w, r)
				case r.Header.Get("Last-Event-ID") != "":
					w.WriteHeader(status)
				default:
					w.Header().Set("Content-Type", typeEvents)
					fmt.Fprint(w, "id: 1\n"+changed)
					w.(http.Flusher).Flush()
					<-end
				}
			})
			c := dial(t, url, ClientOptions{Reconnect: time.Millisecond, MaxReconnect: time.Millisecond}).greet(t, "2025-11-25")
			eventually(t, "it listens", c.Listening)
			waiting := func() int {
				c.Client.mu.Lock()
				defer c.Client.mu.Unlock()
				return len(c.strays)
			}
			failed := make(chan error, 1)
			go func() { // ends with the call
				_, err := c.call(t.Context(), "echo", engine.CallOptions{Timeout: time.Minute})
				failed <- err
			}()
			eventually(t, "the call waits", func() bool { return waiting() == 1 })
			over()
			err := <-failed
			var cut *transport.CutError
			var own *transport.StatusError
			if !errors.As(err, &cut) || errors.As(err, &own) || !errors.Is(err, transport.ErrCut) || !strings.Contains(err.Error(), fmt.Sprint(status)) {
				t.Errorf("got %v", err)
			}
			if n := waiting(); n != 0 {
				t.Errorf("%d calls are kept", n)
			}
		})
	}
}
