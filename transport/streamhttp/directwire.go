package streamhttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"
)

// wire is one connection of a direct. It belongs to one exchange or lies in the pool.
type wire struct {
	conn      net.Conn
	in        *bufio.Reader
	out       []byte      // scratch space of requests
	alive     func() bool // tells whether the connection is open and silent; nil where that cannot be found out
	interrupt func()      // ends reading and writing, now and later
	left      int64       // what the head of an answer may still take; negative for no bound
	got       bool        // something has come since the last request
	since     time.Time   // in the pool
}

func newWire(conn net.Conn) *wire {
	w := &wire{conn: conn, interrupt: func() {
		// It fails on a closed connection only, which is as good.
		_ = conn.SetDeadline(time.Unix(1, 0))
	}}
	w.in = bufio.NewReader(w)
	if own, ok := conn.(syscall.Conn); ok {
		if raw, err := own.SyscallConn(); err == nil {
			w.alive = prober(raw)
		}
	}
	return w
}

// errHead says that the head of an answer goes on for too long.
var errHead = fmt.Errorf("the head of the answer is larger than %d bytes", mostHead)

// Read reads from the connection, within the limit of a head while one is read.
func (w *wire) Read(p []byte) (int, error) {
	switch {
	case w.left == 0:
		return 0, errHead
	case w.left > 0 && w.left < int64(len(p)):
		p = p[:w.left]
	}
	n, err := w.conn.Read(p)
	if w.left > 0 {
		w.left -= int64(n)
	}
	w.got = w.got || n > 0
	return n, err
}

// roundTrip writes a request and reads the head of the answer.
func (w *wire) roundTrip(request []byte) (*http.Response, error) {
	w.keepScratch(request)
	w.got, w.left = false, mostHead
	n, failure := w.conn.Write(request)
	switch {
	case failure != nil && n == 0:
		return nil, fmt.Errorf("%w: %w", errUntouched, failure)
	case failure != nil: // there may be an answer that was given before the server closed
		if err := w.conn.SetReadDeadline(time.Now().Add(earlyEnd)); err != nil {
			return nil, failure
		}
	}
	resp, err := w.readHead()
	w.left = -1
	switch {
	case err == nil:
		resp.Close = resp.Close || failure != nil
		return resp, nil
	case failure != nil:
		return nil, failure
	case !w.got && errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("the server closed the connection without an answer: %w", err)
	}
	return nil, err
}

var errSwitched = errors.New("the server changes to another protocol, which nobody asked for")

// readHead reads the head of an answer and what comes before it. An answer with status 101 is none to what was asked.
func (w *wire) readHead() (*http.Response, error) {
	for {
		resp, err := http.ReadResponse(w.in, nil)
		switch {
		case err != nil && w.left == 0:
			return nil, errHead
		case err != nil:
			return nil, err
		case resp.StatusCode == http.StatusSwitchingProtocols:
			return nil, errSwitched
		case resp.StatusCode >= 200:
			return resp, nil
		}
	}
}

// keepScratch keeps the space of a request for the next one, unless a rare large one would stay in memory with it.
func (w *wire) keepScratch(request []byte) {
	const most = 8 << 10
	if w.out = request; cap(request) > most {
		w.out = nil
	}
}

// answerBody is the body of an answer. Close may be called while another goroutine reads.
type answerBody struct {
	src  io.Reader
	ctx  context.Context // of the call, which the body belongs to
	stop func() bool
	wire *wire
	pool *pool
	last bool // nothing more comes on this connection
	over atomic.Bool
	err  error // of the reader
}

func (b *answerBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.over.Load() {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := b.src.Read(p)
	if err == nil {
		return n, nil
	}
	if closed := !b.end(err == io.EOF) && err != io.EOF; closed {
		err = http.ErrBodyReadAfterClose
	} else if err != io.EOF && b.ctx.Err() != nil {
		err = context.Cause(b.ctx)
	}
	b.err = err
	return n, err
}

// Close gives up what has not been read, and the connection with it.
func (b *answerBody) Close() error {
	b.end(false)
	return nil
}

// end lets go of the connection, once: back to the pool where the answer was read to its end and another may follow.
func (b *answerBody) end(whole bool) bool {
	if !b.over.CompareAndSwap(false, true) {
		return false
	}
	untouched := b.stop() // otherwise its deadline has passed, or is about to
	if whole && untouched && !b.last && b.wire.in.Buffered() == 0 {
		b.pool.put(b.wire)
	} else {
		b.wire.conn.Close()
	}
	return true
}
