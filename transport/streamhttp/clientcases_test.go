package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/transport"
)

// watched is a legacy server whose GET streams a test answers; n counts them from 1.
func watched(t *testing.T, stream func(w http.ResponseWriter, r *http.Request, n int)) (string, *arrivals) {
	t.Helper()
	a := &arrivals{}
	return script(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			answerPost(w, r)
			return
		}
		w.Header().Set("Content-Type", typeEvents)
		stream(w, r, a.note(r.Header.Get("Last-Event-ID")))
	}), a
}

// arrivals are the GETs that have come.
type arrivals struct {
	mu    sync.Mutex
	times []time.Time
	after []string // their Last-Event-ID
}

func (a *arrivals) note(after string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.times, a.after = append(a.times, time.Now()), append(a.after, after)
	return len(a.times)
}

func (a *arrivals) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.times)
}

const changed = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"

// TestC018LossOfTheGetStreamHarmsNoCall: it is reset ten times, calls go on, and Listening tells which is which.
func TestC018LossOfTheGetStreamHarmsNoCall(t *testing.T) {
	checkLeaks(t)
	stays := make(chan struct{})
	url, got := watched(t, func(w http.ResponseWriter, r *http.Request, n int) {
		w.(http.Flusher).Flush()
		if n > 10 {
			close(stays)
			<-r.Context().Done()
			return
		}
		panic(http.ErrAbortHandler)
	})
	c := dial(t, url, ClientOptions{Reconnect: time.Millisecond, MaxReconnect: 5 * time.Millisecond}).greet(t, "2025-11-25")
	for got.count() < 10 {
		if _, err := c.call(t.Context(), "echo", engine.CallOptions{}); err != nil {
			t.Error(err)
		}
	}
	<-stays
	eventually(t, "it is open", c.Listening)
	if len(c.faults) < 9 {
		t.Errorf("reported %q", c.faults)
	}
}

// TestC032ResumingInVain: a server that answers each resumption with a stream that ends at once is asked ever more seldom,
// then without the place, and then no more. Seen to fail with the count of empty streams taken out: it went on for ever.
func TestC032ResumingInVain(t *testing.T) {
	checkLeaks(t)
	url, got := watched(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if n == 1 {
			fmt.Fprint(w, "id: unknown-1\n"+changed)
		}
	})
	c := dial(t, url, ClientOptions{Reconnect: time.Millisecond, MaxReconnect: 5 * time.Millisecond}).greet(t, "2025-11-25")
	c.started.Wait()
	got.mu.Lock()
	defer got.mu.Unlock()
	if n := len(got.after); n != 1+3*mostEmpty || got.after[0] != "" || got.after[1] != "unknown-1" || got.after[mostEmpty] != "unknown-1" || got.after[mostEmpty+1] != "" {
		t.Errorf("%d streams after %q", n, got.after)
	}
	if len(c.faults) != 2 || !strings.Contains(c.faults[0], "begins anew") || !strings.Contains(c.faults[1], "ends it at once") {
		t.Errorf("reported %q", c.faults)
	}
}

// TestC034CleanCloseOfAnIdleStream: it is opened again with and without ids, as late as the server says, and ever later
// while it brings nothing.
func TestC034CleanCloseOfAnIdleStream(t *testing.T) {
	for name, tc := range map[string]struct {
		event   string
		first   time.Duration // at least
		growing bool
	}{
		"nothing":       {": hello\n\n", 5 * time.Millisecond, true},
		"id, no data":   {"id: {n}\ndata:\n\n", 5 * time.Millisecond, true},
		"retry":         {"retry: 20\n\n", 20 * time.Millisecond, true},
		"data, no id":   {changed, 5 * time.Millisecond, false},
		"data and id":   {"id: {n}\n" + changed, 5 * time.Millisecond, false},
		"data and wait": {"retry: 20\nid: {n}\n" + changed, 20 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, got := watched(t, func(w http.ResponseWriter, r *http.Request, n int) {
				fmt.Fprint(w, strings.ReplaceAll(tc.event, "{n}", fmt.Sprint(n)))
			})
			c := dial(t, url, ClientOptions{Reconnect: 5 * time.Millisecond, MaxReconnect: time.Second}).greet(t, "2025-06-18")
			const streams = 6
			eventually(t, "the streams", func() bool { return got.count() >= streams })
			c.Close()
			got.mu.Lock()
			defer got.mu.Unlock()
			for i := 1; i < streams; i++ {
				if wait := got.times[i].Sub(got.times[i-1]); wait < tc.first {
					t.Errorf("stream %d came after %s", i+1, wait)
				}
			}
			last := got.times[streams-1].Sub(got.times[streams-2])
			if least := 5 * time.Millisecond * 81 / 16; tc.growing && last < least { // by half with each of four failures
				t.Errorf("the waits do not grow: the last was %s", last)
			}
			if followed := got.after[2] != ""; followed != strings.Contains(tc.event, "id:") {
				t.Errorf("Last-Event-ID %q", got.after)
			}
		})
	}
}

// TestC034RetryIsOfOneStream: what the server says on the stream of a call does not slow the GET stream down.
func TestC034RetryIsOfOneStream(t *testing.T) {
	var gets atomic.Int32
	url := script(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Method") == "" && r.Header.Get(headerSession) != "" && r.ContentLength > 90 {
			say(typeEvents, "retry: 3600000\n\ndata: "+strings.Replace(answered, `"id":1`, `"id":2`, 1)+"\n\n")(w, r)
			return
		}
		if r.Method == http.MethodPost {
			answerPost(w, r)
			return
		}
		gets.Add(1)
		say(typeEvents, changed)(w, r)
	})
	c := dial(t, url, ClientOptions{Reconnect: time.Millisecond, MaxReconnect: 5 * time.Millisecond}).greet(t, "2025-06-18")
	if _, err := c.call(t.Context(), "echo-with-a-long-name-so-that-the-server-tells-it-from-the-other-messages", engine.CallOptions{}); err != nil {
		t.Fatal(err)
	}
	before := gets.Load()
	eventually(t, "further streams", func() bool { return gets.Load() > before+5 })
}

// TestC035ManyReconnects: 500 of them leave nothing behind.
func TestC035ManyReconnects(t *testing.T) {
	checkLeaks(t)
	url, got := watched(t, func(w http.ResponseWriter, r *http.Request, n int) {
		fmt.Fprintf(w, "id: %d\n%s", n, changed)
	})
	c := dial(t, url, ClientOptions{Reconnect: time.Millisecond, MaxReconnect: time.Millisecond}).greet(t, "2025-11-25")
	measure := func() (heap uint64, goroutines int) {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc, runtime.NumGoroutine()
	}
	eventually(t, "the first", func() bool { return got.count() >= 50 })
	heap, goroutines := measure()
	eventually(t, "all of them", func() bool { return got.count() >= 550 })
	if after, now := measure(); now > goroutines+5 || after > heap+4<<20 {
		t.Errorf("%d bytes and %d goroutines, then %d and %d", heap, goroutines, after, now)
	}
	c.Close()
}

// TestInsist holds what is sent again: only what the server has certainly not begun.
func TestInsist(t *testing.T) {
	status := func(code int, after string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if after != "" {
				w.Header().Set("Retry-After", after)
			}
			w.WriteHeader(code)
		}
	}
	for _, tc := range []struct {
		name    string
		refuse  http.HandlerFunc
		times   int32 // how often it refuses
		retries int
		sent    int32
		good    bool
	}{
		{"429", status(429, ""), 1, 0, 2, true},
		{"429 twice", status(429, "0"), 2, 0, 3, true},
		{"429 for ever", status(429, ""), 99, 0, 3, false},
		{"429, none wanted", status(429, ""), 1, -1, 1, false},
		{"429, too long", status(429, "3600"), 1, 0, 1, false},
		{"429, a date that is over", status(429, "Mon, 02 Jan 2006 15:04:05 GMT"), 1, 0, 2, true},
		{"503 with Retry-After", status(503, "0"), 1, 0, 2, true},
		{"503", status(503, ""), 1, 0, 1, false},
		{"503, nonsense", status(503, "soon"), 1, 0, 1, false},
		{"500", status(500, "0"), 1, 0, 1, false},
		{"502", status(502, "0"), 1, 0, 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int32
			url := script(t, func(w http.ResponseWriter, r *http.Request) {
				if sent.Add(1) <= tc.times {
					tc.refuse(w, r)
					return
				}
				say("application/json", answered)(w, r)
			})
			c := dial(t, url, ClientOptions{Retries: tc.retries}).use("2026-07-28")
			_, err := c.call(t.Context(), "echo", engine.CallOptions{})
			if (err == nil) != tc.good || sent.Load() != tc.sent {
				t.Errorf("%v after %d", err, sent.Load())
			}
			var refused *transport.StatusError
			if err != nil && !errors.As(err, &refused) {
				t.Errorf("the refusal is lost: %v", err)
			}
		})
	}
}

// TestInsistUnreached: a server that is just being started again is reached at the second attempt, by either road. What opens
// a connection is sent once.
func TestInsistUnreached(t *testing.T) {
	for _, road := range []string{"direct", "net/http"} {
		t.Run(road, func(t *testing.T) {
			checkLeaks(t)
			address := script(t, say("application/json", answered))
			refused := func(times int32) (c *caller, dials *atomic.Int32) {
				dials = new(atomic.Int32)
				own := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					if dials.Add(1) <= times {
						address = "127.0.0.1:1" // where nobody listens
					}
					return new(net.Dialer).DialContext(ctx, network, address)
				}}
				t.Cleanup(own.CloseIdleConnections)
				c = dial(t, address, ClientOptions{HTTPClient: &http.Client{Transport: own}}).use("2026-07-28")
				if road == "direct" {
					c.quick = newDirect(c.url, c.base, own)
					t.Cleanup(c.quick.pool.close)
				}
				return c, dials
			}
			c, dials := refused(1)
			if _, err := c.call(t.Context(), "echo", engine.CallOptions{}); err != nil || dials.Load() != 2 {
				t.Errorf("%v after %d attempts", err, dials.Load())
			}
			once, dials := refused(99)
			out := &era.Outgoing{Method: "server/discover"}
			if _, err := once.peer.Call(t.Context(), once.Client, out, engine.CallOptions{Codec: once.peer.Codec(), Opening: true}); err == nil || dials.Load() != 1 {
				t.Errorf("what opens a connection: %v after %d attempts", err, dials.Load())
			}
		})
	}
}
