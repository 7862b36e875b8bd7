package webtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// Line is a listener whose connections are pairs in memory, so that HTTP works inside a bubble of testing/synctest, where time
// is exact however busy the machine is.
type Line struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Serve serves a handler on a line until the test ends, HTTP/1.1 and HTTP/2 alike.
func Serve(t testing.TB, handler http.Handler) *Line {
	t.Helper()
	line := &Line{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: handler, Protocols: new(http.Protocols)}
	srv.Protocols.SetHTTP1(true)
	srv.Protocols.SetUnencryptedHTTP2(true)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(line) }() // ends with Close
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return line
}

// HTTP2 is a client that speaks HTTP/2 alone to the server.
func (l *Line) HTTP2(t testing.TB) *http.Client {
	t.Helper()
	road := &http.Transport{Protocols: new(http.Protocols)}
	road.Protocols.SetUnencryptedHTTP2(true)
	road.DialContext = func(context.Context, string, string) (net.Conn, error) { return l.dial() }
	t.Cleanup(road.CloseIdleConnections)
	return &http.Client{Transport: road}
}

// Accept waits for the next connection.
func (l *Line) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (l *Line) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr is that of a local server.
func (l *Line) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Dial opens a connection that is closed when the test ends.
func (l *Line) Dial(t testing.TB) *End {
	t.Helper()
	conn, err := l.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func (l *Line) dial() (*End, error) {
	in, theirOut := net.Pipe()
	theirIn, out := net.Pipe()
	select {
	case l.conns <- &End{theirIn, theirOut}:
		return &End{in, out}, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// End is one end of a connection in memory that can, like one of TCP, say that nothing more comes and still be read.
type End struct {
	net.Conn          // what is read
	out      net.Conn // what is written
}

// Write waits until the other side has read all.
func (e *End) Write(p []byte) (int, error) { return e.out.Write(p) }

// CloseWrite ends what the other side reads.
func (e *End) CloseWrite() error { return e.out.Close() }

// Close ends both directions.
func (e *End) Close() error { return errors.Join(e.Conn.Close(), e.out.Close()) }

// SetDeadline sets both deadlines.
func (e *End) SetDeadline(at time.Time) error {
	return errors.Join(e.Conn.SetDeadline(at), e.out.SetDeadline(at))
}

// SetWriteDeadline sets the deadline of Write.
func (e *End) SetWriteDeadline(at time.Time) error { return e.out.SetWriteDeadline(at) }
