package streamhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"
)

// TestDirectEnds is the end of a context at each stage: the error is its cause, and the connection is closed.
func TestDirectEnds(t *testing.T) {
	checkLeaks(t)
	cause := errors.New("enough")
	for name, begin := range map[string]string{
		"before the head": "", "in the head": "HTTP/1.1 200 OK\r\nX: ", "in the body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			o := serveOdd(t, func(conn *net.TCPConn, r *http.Request) bool {
				io.Copy(io.Discard, r.Body)
				io.WriteString(conn, begin)
				cancel(cause)
				return true
			})
			d := straight(t, o.url)
			if _, err := d.ask(ctx, "x"); err != cause {
				t.Errorf("got %v", err)
			}
			eventually(t, "the server sees the end", func() bool { return o.closed.Load() == 1 })
			if _, err := d.ask(ctx, "x"); err != cause || o.requests.Load() != 1 {
				t.Errorf("after the end: %v", err)
			}
		})
	}
	t.Run("by Close of the body", func(t *testing.T) {
		o := serveOdd(t, func(conn *net.TCPConn, r *http.Request) bool {
			io.Copy(io.Discard, r.Body)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi")
			return true
		})
		resp, err := straight(t, o.url).post(t.Context(), nil, []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := io.ReadAll(resp.Body)
			done <- err
		}()
		resp.Body.Close()
		if err := <-done; !errors.Is(err, http.ErrBodyReadAfterClose) {
			t.Errorf("got %v", err)
		}
		eventually(t, "the server sees the end", func() bool { return o.closed.Load() == 1 })
	})
}

// TestDirectSideBySide has many callers, who share connections and need no goroutine but their own.
func TestDirectSideBySide(t *testing.T) {
	checkLeaks(t)
	const callers, calls = 16, 50
	var waiting sync.WaitGroup
	waiting.Add(callers)
	hold := make(chan struct{})
	o := serveOdd(t, func(conn *net.TCPConn, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		if string(body) == "wait" {
			waiting.Done()
			<-hold
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		return true
	})
	d := straight(t, o.url)
	before := runtime.NumGoroutine()
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			if got, err := d.ask(t.Context(), "wait"); got != "200 wait" || err != nil {
				t.Error(got, err)
			}
			for n := range calls {
				body := fmt.Sprint(i, "/", n)
				if got, err := d.ask(t.Context(), body); got != "200 "+body || err != nil {
					t.Error(got, err)
				}
			}
		})
	}
	waiting.Wait()
	if now := runtime.NumGoroutine(); now > before+2*callers { // the callers, and one for each connection in the server
		t.Errorf("%d goroutines for %d calls", now-before, callers)
	}
	close(hold)
	wg.Wait()
	if got := o.connections.Load(); got != callers {
		t.Errorf("%d connections", got)
	}
}

// TestDirectClose closes what is idle; a call under way ends by itself.
func TestDirectClose(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	o := serveOdd(t, func(conn *net.TCPConn, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		if string(body) == "wait" {
			close(begun)
			<-finish
		}
		io.WriteString(conn, okay)
		return true
	})
	d := straight(t, o.url)
	done := make(chan error)
	go func() {
		_, err := d.ask(t.Context(), "wait")
		done <- err
	}()
	<-begun
	if _, err := d.ask(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	d.pool.close()
	eventually(t, "the idle one is closed", func() bool { return o.closed.Load() == 1 })
	close(finish)
	if err := <-done; err != nil {
		t.Error(err)
	}
	eventually(t, "nothing is kept after Close", func() bool { return o.closed.Load() == 2 })
}

// TestDirectSilentServer never reads: the write ends with the context.
func TestDirectSilentServer(t *testing.T) {
	here, there := net.Pipe() // without any buffer
	defer there.Close()
	d := straight(t, "http://example.com/")
	d.dial = func(context.Context, string, string) (net.Conn, error) { return here, nil }
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := d.ask(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
