package stdio

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// source is where bytes come from. read is called by one goroutine, the rest from anywhere.
type source interface {
	// read works like io.Reader, and ends with ctx. After interrupt it fails with transport.ErrClosed.
	read(ctx context.Context, p []byte) (int, error)

	// interrupt ends a read under way and all later ones.
	interrupt()

	// end says that the peer's process is gone: what has arrived may still be read, then follows io.EOF, even where
	// another process holds the far end open.
	end()
}

// sink is where bytes go.
type sink interface {
	// write works like io.Writer. An interruptible sink ends it with ctx: it then returns ctx.Err() and the number of
	// bytes that left.
	write(ctx context.Context, p []byte) (int, error)
	interruptible() bool

	// interrupt ends a write under way and all later ones, where the sink can.
	interrupt()
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// deadline interrupts one direction of a file or socket by moving its deadline.
type deadline struct {
	set func(time.Time) error

	mu   sync.Mutex
	dead bool // for good
}

// kick interrupts what is under way.
func (d *deadline) kick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dead { // what follows kill is not to be disturbed by a context that ends late
		_ = d.set(longAgo) // fails only on a closed file, where nothing is under way
	}
}

// kill interrupts for good.
func (d *deadline) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
	_ = d.set(longAgo)
}

// clear takes a kick back. It reports false after kill.
func (d *deadline) clear() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.dead {
		_ = d.set(time.Time{})
	}
	return !d.dead
}

func (d *deadline) isDead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// timedSource reads from something with deadlines, on the goroutine that asks.
type timedSource struct {
	r    io.Reader
	raw  syscall.RawConn // nil where there is none
	gate deadline

	mu    sync.Mutex
	done  <-chan struct{} // what the current watch is on
	stop  func() bool     // ends it
	ended bool
}

func (s *timedSource) read(ctx context.Context, p []byte) (int, error) {
	for {
		if s.gate.isDead() {
			return 0, transport.ErrClosed
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if s.watch(ctx) {
			return s.readArrived(p)
		}
		n, err := s.r.Read(p)
		switch {
		case n > 0 || err == nil:
			return n, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.gate.clear() // a kick of this context is seen above, a stale one costs a turn
		case errors.Is(err, os.ErrClosed) || errors.Is(err, net.ErrClosed):
			return 0, transport.ErrClosed
		default:
			return 0, err
		}
	}
}

// watch lets the end of ctx interrupt the read. The registration stays for the next read with the same context, which
// spares most reads the cost; interrupt takes it back. It reports whether the peer is gone.
func (s *timedSource) watch(ctx context.Context) (ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if done := ctx.Done(); done != s.done {
		s.unwatch()
		if done != nil {
			s.done, s.stop = done, context.AfterFunc(ctx, s.gate.kick)
		}
	}
	return s.ended
}

func (s *timedSource) unwatch() {
	if s.stop != nil {
		s.stop()
	}
	s.done, s.stop = nil, nil
}

// readArrived reads what is in the pipe without waiting.
func (s *timedSource) readArrived(p []byte) (int, error) {
	if s.raw == nil || !s.gate.clear() {
		return 0, io.EOF
	}
	n, err := tryRead(s.raw, p)
	if n > 0 {
		return n, nil
	}
	if err == nil || errors.Is(err, syscall.EAGAIN) {
		return 0, io.EOF
	}
	return 0, err
}

func (s *timedSource) interrupt() {
	s.gate.kill()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unwatch()
}

func (s *timedSource) end() {
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.gate.kick()
}

// timedSink writes to something with deadlines, on the goroutine that asks.
type timedSink struct {
	w    io.Writer
	raw  syscall.RawConn // nil where there is none
	gate deadline
}

func (s *timedSink) interruptible() bool { return true }
func (s *timedSink) interrupt()          { s.gate.kill() }

// write first tries without waiting, which is nearly always enough and needs no watch on the context.
func (s *timedSink) write(ctx context.Context, p []byte) (int, error) {
	n, err := 0, error(nil)
	if s.raw != nil {
		if n, err = tryWrite(s.raw, p); n == len(p) || (err != nil && !errors.Is(err, syscall.EAGAIN)) {
			return n, closedAs(err)
		}
	}
	for {
		var m int
		m, err = s.writeWatched(ctx, p[n:])
		n += m
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, closedAs(err)
		}
		if s.gate.isDead() {
			return n, transport.ErrClosed
		}
		if ctx.Err() != nil {
			return n, ctx.Err()
		}
	}
}

// writeWatched writes until done or until ctx interrupts it, and leaves the deadline cleared.
func (s *timedSink) writeWatched(ctx context.Context, p []byte) (int, error) {
	if ctx.Done() == nil {
		return s.w.Write(p)
	}
	kicked := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		s.gate.kick()
		close(kicked)
	})
	n, err := s.w.Write(p)
	if !stop() {
		<-kicked
		s.gate.clear()
	}
	return n, err
}

func closedAs(err error) error {
	if errors.Is(err, os.ErrClosed) || errors.Is(err, net.ErrClosed) {
		return transport.ErrClosed
	}
	return err
}

// rawOf gives access to the descriptor of a file or socket. Not having it only costs speed.
func rawOf(v any) syscall.RawConn {
	conn, ok := v.(syscall.Conn)
	if !ok || !canTry {
		return nil
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	return raw
}
