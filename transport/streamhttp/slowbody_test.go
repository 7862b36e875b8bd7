package streamhttp

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/transport/internal/webtest"
)

// opaque hides all of a writer but what every writer has, as middleware without Unwrap does.
type opaque struct{ http.ResponseWriter }

// behind puts a layer around a handler that admits requests first, as authorization does.
func behind(h *Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.Admit(w, r) {
			h.ServeHTTP(w, r)
		}
	})
}

// TestSlowBodies sends bodies piece by piece. The time is for the whole of a body, however often something of it comes, and
// it is over with the body.
func TestSlowBodies(t *testing.T) {
	const limit, pause = 150 * time.Millisecond, 40 * time.Millisecond
	body, headers := modern("tools/list", "", "")
	half := len(body) / 2
	cases := []struct {
		name   string
		pieces []string // with a pause after each
		status int      // of the answer, and of one to the same again on the same connection where that is 200
		bare   int      // the same where deadlines cannot be set
	}{
		{"whole", []string{body}, 200, 200},
		{"halves", []string{body[:half], body[half:]}, 200, 200},
		{"later than its head", []string{"", body}, 200, 200},
		{"a byte at a time", strings.Split(body[:8], ""), 408, 0},
		{"too late", []string{"", "", "", "", "", body}, 408, 200},
		{"cut", []string{body[:20], "cut"}, 400, 400},
	}
	servers := map[string]func(h *Handler) http.Handler{
		"direct":  func(h *Handler) http.Handler { return h },
		"layered": behind,
		"bare": func(h *Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(opaque{w}, r) })
		},
	}
	for name, around := range servers {
		for _, c := range cases {
			want := c.status
			if name == "bare" {
				want = c.bare
			}
			if want == 0 {
				continue // it would wait for ever: nothing can be set against it
			}
			t.Run(name+"/"+c.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newHandler(t, Options{BodyTimeout: limit})
					t.Cleanup(func() { w.handler.Close() })
					var sending sync.WaitGroup
					t.Cleanup(sending.Wait)
					conn := webtest.Serve(t, around(w.handler)).Dial(t)
					answers := bufio.NewReader(conn)
					for round := range 2 {
						sending.Go(func() { sendSlowly(conn, headers, len(body), c.pieces, pause) })
						resp, err := http.ReadResponse(answers, nil)
						if err != nil {
							t.Fatalf("round %d: %v", round, err)
						}
						if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != want {
							t.Errorf("round %d: status %d, %v; want %d", round, resp.StatusCode, err, want)
						}
						if want != 200 {
							return
						}
						time.Sleep(limit + pause) // the next body has a time of its own
					}
				})
			})
		}
	}
}

// sendSlowly sends one POST. The piece "cut" ends the sending, and so does a server that takes no more.
func sendSlowly(conn *webtest.End, headers [][2]string, length int, pieces []string, pause time.Duration) {
	head := fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", length)
	for _, h := range headers {
		head += h[0] + ": " + h[1] + "\r\n"
	}
	io.WriteString(conn, head+"\r\n")
	for _, piece := range pieces {
		if piece == "cut" {
			conn.CloseWrite()
			return
		}
		if _, err := io.WriteString(conn, piece); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// TestSlowBodyOnHTTP2: the time holds for one stream alone, and the connection goes on.
func TestSlowBodyOnHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newHandler(t, Options{BodyTimeout: 100 * time.Millisecond})
		t.Cleanup(func() { w.handler.Close() })
		web := webtest.Serve(t, w.handler).HTTP2(t)
		body, headers := modern("tools/list", "", "")
		ask := func(reader io.Reader) int {
			req, err := http.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/mcp", reader)
			if err != nil {
				t.Fatal(err)
			}
			setHeaders(req, headers)
			resp, err := web.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.ProtoMajor != 2 {
				t.Errorf("spoke %s", resp.Proto)
			}
			return resp.StatusCode
		}
		never, stop := io.Pipe()
		defer stop.Close()
		if got := ask(never); got != http.StatusRequestTimeout {
			t.Errorf("a body that never comes: status %d", got)
		}
		if got := ask(strings.NewReader(body)); got != http.StatusOK {
			t.Errorf("a body that comes: status %d", got)
		}
	})
}

// TestLayeredCallOutlivesTheBodyTime: a deadline that was set for a layer around is lifted with the body, too.
func TestLayeredCallOutlivesTheBodyTime(t *testing.T) {
	w := newHandler(t, Options{BodyTimeout: 30 * time.Millisecond})
	srv := httptest.NewServer(behind(w.handler))
	defer srv.Close()
	defer w.handler.Close()
	body, headers := modern("tools/call", "wait", "")
	req, err := http.NewRequestWithContext(t.Context(), "POST", srv.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	setHeaders(req, headers)
	done := make(chan error, 1)
	go func() {
		resp, err := srv.Client().Do(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	<-w.desk.waiting
	select {
	case <-w.desk.ended:
		t.Error("the call was cut off")
	case <-time.After(150 * time.Millisecond):
	}
	srv.CloseClientConnections()
	<-done
}
