package httpsse

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/webtest"
)

// A client that goes away ends what runs for it and its session at once, with and without keep-alive.
//
// Seen to fail: with a Follow that ends nothing the calls went on.
func TestC111ClientGone(t *testing.T) {
	run := func(t *testing.T, opts Options) {
		w := newWorld(t, opts)
		const clients = 20
		for range clients {
			c := w.greet(t, "2024-11-05")
			c.send(t, call(1, "wait"))
			<-w.desk.waiting
			c.conn.Close()
		}
		for range clients {
			select {
			case err := <-w.desk.ended:
				if !errors.Is(err, errGone) {
					t.Errorf("a call ended with %v", err)
				}
			case <-time.After(5 * time.Second):
				t.Fatal("a call goes on after its client has gone")
			}
		}
		eventually(t, "no session is left", func() bool { return w.handler.Sessions() == 0 })
		eventually(t, "no stream is left", func() bool { return w.handler.streams.Count() == 0 })
	}
	onBothWays(t, run)
	t.Run("keep-alive", func(t *testing.T) { run(t, Options{KeepAlive: 5 * time.Millisecond}) })
}

// A client that does not read is cut, and does not hold up the others.
func TestSlowReader(t *testing.T) {
	onBothWays(t, func(t *testing.T, opts Options) {
		synctest.Test(t, func(t *testing.T) {
			opts.WriteTimeout = 100 * time.Millisecond
			w := newWorldInBubble(t, opts)
			w.connect(t, "") // reads no more
			good := w.greet(t, "2024-11-05")
			reading := make(chan struct{})
			go func() { // ends with the connection
				defer close(reading)
				for {
					if _, err := good.events.Next(); err != nil {
						return
					}
				}
			}()
			began := time.Now()
			n, err := w.handler.Broadcast("noise", []byte(strings.Repeat("x", 1<<20)))
			if took := time.Since(began); err != nil || n != 1 || took != opts.WriteTimeout {
				t.Errorf("%d were told after %s, %v", n, took, err)
			}
			synctest.Wait()
			if n := w.handler.Sessions(); n != 1 {
				t.Errorf("%d sessions are left", n)
			}
			good.send(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			good.conn.Close()
			<-reading
		})
	})
}

// With many streams and calls that run, closing ends all of them, once or twice and from several sides.
func TestC038Close(t *testing.T) {
	onBothWays(t, func(t *testing.T, opts Options) {
		w := newWorld(t, opts)
		var clients []*client
		for i := range 50 {
			c := w.connect(t, "")
			if i < 5 {
				c = w.greet(t, "2024-11-05")
				c.send(t, call(1, "wait"))
				<-w.desk.waiting
			}
			clients = append(clients, c)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := w.handler.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Shutdown with calls that do not end by themselves: %v", err)
			}
		})
		wg.Go(func() {
			<-ctx.Done()
			if err := w.handler.Close(); err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		for range 5 {
			if err := <-w.desk.ended; !errors.Is(err, transport.ErrClosed) {
				t.Errorf("a call ended with %v", err)
			}
		}
		for _, c := range clients {
			for name, _ := c.next(t); name != ""; name, _ = c.next(t) {
				if name != "message" {
					t.Errorf("event %q at the end", name)
				}
			}
		}
		if status, body := w.raw(t, "GET /sse HTTP/1.1\r\nHost: "+w.addr+"\r\n\r\n"); status != 503 || !strings.Contains(body, "shutting down") {
			t.Errorf("%d %s", status, body)
		}
		if n := w.handler.Sessions(); n != 0 {
			t.Errorf("%d sessions are left", n)
		}
		if n, err := w.handler.Broadcast("late", nil); n != 0 || err != nil {
			t.Errorf("a broadcast reached %d, %v", n, err)
		}
		if err := w.handler.Close(); err != nil {
			t.Error(err)
		}
	})
}

// Calls that end in time are answered before a shutdown ends their streams.
//
// Seen to fail: where only streams are refused, a new request was served during the shutdown.
func TestShutdownWaits(t *testing.T) {
	w := newWorld(t, Options{})
	c := w.greet(t, "2024-11-05")
	c.send(t, call(1, "ask"))
	name, question := c.next(t)
	if name != "message" {
		t.Fatal(name)
	}
	id, _, _ := strings.Cut(strings.SplitAfter(question, `"id":`)[1], ",")
	done := make(chan error)
	go func() { done <- w.handler.Shutdown(t.Context()) }()
	eventually(t, "the handler takes no more", w.handler.isClosed)
	c.send(t, `{"jsonrpc":"2.0","id":9,"method":"ping"}`)
	if _, data := c.next(t); !strings.Contains(data, `"id":9,"error":{"code":-32603,"message":"the server is shutting down"`) {
		t.Errorf("a new request: %s", data)
	}
	if status, _ := c.post(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{}}`); status != 202 {
		t.Fatalf("the answer that a running call waits for got %d", status)
	}
	c.want(t, answer(1, "asked: true <nil>"))
	if err := <-done; err != nil {
		t.Error(err)
	}
	if name, data := c.next(t); name != "" {
		t.Errorf("after the end: %s %s", name, data)
	}
}

func TestServe(t *testing.T) {
	_, h := newHandler(t, Options{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- h.Serve(ctx, listener) }()
	w := &world{handler: h, addr: listener.Addr().String()}
	w.open = func(t testing.TB) net.Conn { return webtest.Dial(t, w.addr) }
	c := w.greet(t, "2024-11-05")
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if name, _ := c.next(t); name != "" {
		t.Errorf("the stream goes on with %q", name)
	}
	if conn, err := net.Dial("tcp", w.addr); err == nil {
		conn.Close()
		t.Error("the address is still listened on")
	}
}

// An address without a host is this machine's alone; one that is taken is an error; one for all comes with a warning.
func TestListenAndServe(t *testing.T) {
	warnings := make(chan error, 1)
	_, h := newHandler(t, Options{OnError: func(err error) { warnings <- err }})
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.ListenAndServe(t.Context(), ":"+port); err == nil {
		t.Error("an address that is taken on loopback alone was listened on")
	}
	done := make(chan error)
	go func() { done <- h.ListenAndServe(t.Context(), "0.0.0.0:0") }()
	if err := <-warnings; !strings.Contains(err.Error(), "AllowedHosts") {
		t.Error(err)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Errorf("after Close: %v", err)
	}
}

// An idle stream is cheap: a few KiB, its goroutine included.
func TestMemory(t *testing.T) {
	const streams, most = 300, 12 << 10
	w := newWorld(t, Options{})
	w.connect(t, "")
	used := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc + m.StackInuse)
	}
	var conns [streams]net.Conn // without readers, whose memory would count
	before := used()
	for i := range conns {
		conns[i] = w.dial(t, "")
	}
	eventually(t, "all streams are open", func() bool { return w.handler.Sessions() == streams+1 })
	each := (used() - before) / streams
	t.Logf("%d bytes for each stream, the client's socket included", each)
	if each > most {
		t.Errorf("an idle stream takes %d bytes, want at most %d", each, most)
	}
	runtime.KeepAlive(conns)
}
