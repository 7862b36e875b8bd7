package streamhttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// odd is a server that answers on its connections as a test says.
type odd struct {
	url         string
	connections atomic.Int64
	requests    atomic.Int64
	closed      atomic.Int64 // connections that the client has closed
}

// serveOdd runs answer for each request; a connection is closed when it returns false.
func serveOdd(t *testing.T, answer func(conn *net.TCPConn, r *http.Request) bool) *odd {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := &odd{url: "http://" + listener.Addr().String() + "/mcp"}
	var (
		serving sync.WaitGroup
		mu      sync.Mutex
		open    []net.Conn
	)
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			o.connections.Add(1)
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			serving.Go(func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						o.closed.Add(1)
						return
					}
					o.requests.Add(1)
					if !answer(conn.(*net.TCPConn), r) {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, conn := range open {
			conn.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	return o
}

// straight is the direct of a client with default options.
func straight(t *testing.T, address string) *direct {
	t.Helper()
	d := newDirect(parse(t, address), nil, &http.Transport{})
	if d == nil {
		t.Fatalf("%s: no direct", address)
	}
	t.Cleanup(d.pool.close)
	return d
}

func parse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// ask posts a body and reads the whole answer.
func (d *direct) ask(ctx context.Context, body string) (string, error) {
	resp, err := d.post(ctx, nil, []byte(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(text)), err
}

const okay = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

// TestDirectOddServers is what comes of answers of all kinds, and whether the connection is used for the next request.
func TestDirectOddServers(t *testing.T) {
	long := "X: " + strings.Repeat("x", 64<<10) + "\r\n"
	cases := []struct {
		name, answer string
		stays        bool // the server leaves the connection open
		want         string
		fails        string // in the error
		reused       bool
	}{
		{name: "length", answer: okay, stays: true, want: "200 hi", reused: true},
		{name: "no content", answer: "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", stays: true, want: "202 ", reused: true},
		{name: "204", answer: "HTTP/1.1 204 No Content\r\n\r\n", stays: true, want: "204 ", reused: true},
		{name: "chunks", answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nh\r\n1;x=y\r\ni\r\n0\r\nT: r\r\n\r\n", stays: true, want: "200 hi", reused: true},
		{name: "1xx before", answer: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + okay, stays: true, want: "200 hi", reused: true},
		{name: "closes after the answer", answer: okay, want: "200 hi"},
		{name: "says that it closes", answer: strings.Replace(okay, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1), stays: true, want: "200 hi"},
		{name: "until the end", answer: "HTTP/1.1 200 OK\r\n\r\nhi", want: "200 hi"},
		{name: "1.0", answer: strings.Replace(okay, "1.1", "1.0", 1), stays: true, want: "200 hi"},
		{name: "1.0 that stays", answer: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", stays: true, want: "200 hi"},
		{name: "bytes left over", answer: okay + okay, stays: true, want: "200 hi"},
		{name: "error status", answer: "HTTP/1.1 500 Oh\r\nContent-Length: 2\r\n\r\nno", stays: true, want: "500 no", reused: true},
		{name: "garbage", answer: "SSH-2.0-x\r\n\r\n", stays: true, fails: "malformed"},
		{name: "two lengths", answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nhi!", stays: true, fails: "Content-Length"},
		{name: "nothing", fails: "without an answer"},
		{name: "half a head", answer: "HTTP/1.1 200 OK\r\nX: y\r\n", fails: "unexpected EOF"},
		{name: "half a body", answer: "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhi", want: "200 hi", fails: "unexpected EOF"},
		{name: "another protocol", answer: "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", stays: true, fails: "another protocol"},
		{name: "large head", answer: "HTTP/1.1 200 OK\r\n" + strings.Repeat(long, 20) + "\r\n", stays: true, fails: "larger than 1048576 bytes"},
		{name: "1xx without end", answer: strings.Repeat("HTTP/1.1 103 Early Hints\r\n"+long+"\r\n", 20), stays: true, fails: "larger than 1048576 bytes"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := serveOdd(t, func(conn *net.TCPConn, r *http.Request) bool {
				io.Copy(io.Discard, r.Body)
				if r.ContentLength == 0 {
					io.WriteString(conn, okay)
					return true
				}
				io.WriteString(conn, c.answer)
				return c.stays
			})
			d := straight(t, o.url)
			got, err := d.ask(t.Context(), "first")
			if got != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Fatalf("got %q, %v", got, err)
			}
			if n := o.requests.Load(); n != 1 {
				t.Errorf("sent %d times", n)
			}
			if !c.stays && c.fails == "" { // its end must have arrived
				eventually(t, "the connection is gone", func() bool { return d.pool.peek() == nil || !d.pool.peek().alive() })
			}
			if got, err := d.ask(t.Context(), ""); got != "200 hi" || err != nil {
				t.Errorf("the next request: %q, %v", got, err)
			}
			if reused := o.connections.Load() == 1; reused != c.reused {
				t.Errorf("reused: %t", reused)
			}
		})
	}
}

// peek returns the connection that take would look at first.
func (p *pool) peek() *wire {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	return p.idle[len(p.idle)-1]
}

// TestDirectAsksOnce is about connections that break under a request: a server may have acted on what it has read.
func TestDirectAsksOnce(t *testing.T) {
	breaks := func(conn *net.TCPConn, r *http.Request) bool {
		body, _ := io.ReadAll(r.Body)
		if string(body) == "break" {
			return false
		}
		io.WriteString(conn, okay)
		return string(body) != "half"
	}
	t.Run("read and closed", func(t *testing.T) {
		o := serveOdd(t, breaks)
		d := straight(t, o.url)
		if _, err := d.ask(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		_, err := d.ask(t.Context(), "break")
		if !errors.Is(err, io.ErrUnexpectedEOF) || o.requests.Load() != 2 || o.connections.Load() != 1 {
			t.Errorf("%v; %d requests, %d connections", err, o.requests.Load(), o.connections.Load())
		}
	})
	t.Run("nothing written", func(t *testing.T) {
		o := serveOdd(t, breaks)
		d := straight(t, o.url)
		if _, err := d.ask(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		w := d.pool.peek()
		w.alive = func() bool { return true } // it dies between the look and the write
		w.conn.Close()
		if got, err := d.ask(t.Context(), "x"); got != "200 hi" || err != nil || o.requests.Load() != 2 {
			t.Errorf("%q, %v; %d requests", got, err, o.requests.Load())
		}
	})
	t.Run("half closed", func(t *testing.T) {
		o := serveOdd(t, func(conn *net.TCPConn, r *http.Request) bool {
			io.Copy(io.Discard, r.Body)
			io.WriteString(conn, okay)
			conn.CloseWrite()
			return true
		})
		d := straight(t, o.url)
		for range 2 {
			if got, err := d.ask(t.Context(), "x"); got != "200 hi" || err != nil {
				t.Fatal(got, err)
			}
			eventually(t, "the end has arrived", func() bool { w := d.pool.peek(); return w == nil || !w.alive() })
		}
		if o.connections.Load() != 2 {
			t.Errorf("%d connections", o.connections.Load())
		}
	})
}

// TestDirectEarlyAnswer is a server that refuses a request and never reads the rest of it. It closes once its answer has been
// read: the reset that comes of unread bytes may overtake an answer that is still on its way.
func TestDirectEarlyAnswer(t *testing.T) {
	read := make(chan struct{})
	o := serveOdd(t, func(conn *net.TCPConn, r *http.Request) bool {
		io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
		conn.CloseWrite()
		<-read
		return false
	})
	d := straight(t, o.url)
	for range 5 {
		got, err := d.ask(t.Context(), strings.Repeat("x", 60<<10))
		read <- struct{}{}
		if got != "413 no" || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
}

// torn takes some bytes of a request, and none of the rest.
type torn struct{ given }

func (torn) Write(p []byte) (int, error) { return 10, io.ErrClosedPipe }

// TestDirectTornWrite is a connection that breaks under a request: the answer counts where there is one, and nothing is
// sent again.
func TestDirectTornWrite(t *testing.T) {
	for answer, want := range map[string]string{okay: "200 hi", "": "", "HTTP": ""} {
		d := straight(t, "http://example.com/")
		dials := 0
		d.dial = func(context.Context, string, string) (net.Conn, error) {
			dials++
			return torn{given{in: strings.NewReader(answer)}}, nil
		}
		got, err := d.ask(t.Context(), "x")
		if got != want || want == "" && !errors.Is(err, io.ErrClosedPipe) || dials != 1 || d.pool.peek() != nil {
			t.Errorf("%q: got %q, %v, %d dials", answer, got, err, dials)
		}
		if d.takes(t.Context(), nil, nil) {
			t.Error("a connection that cannot be probed is for net/http")
		}
	}
}
