package stdio

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// newSource picks the way to read from r.
func newSource(r io.Reader) source {
	if d, ok := r.(interface{ SetReadDeadline(time.Time) error }); ok && d.SetReadDeadline(time.Time{}) == nil {
		return &timedSource{r: r, raw: rawOf(r), gate: deadline{set: d.SetReadDeadline}}
	}
	return &pumpSource{r: r, chunks: make(chan chunk), taken: make(chan struct{}), closed: make(chan struct{}), gone: make(chan struct{})}
}

// newSink picks the way to write to w.
func newSink(w io.Writer) sink {
	if d, ok := w.(interface{ SetWriteDeadline(time.Time) error }); ok && d.SetWriteDeadline(time.Time{}) == nil {
		return &timedSink{w: w, raw: rawOf(w), gate: deadline{set: d.SetWriteDeadline}}
	}
	return plainSink{w: w}
}

// pumpSource reads from something that cannot be interrupted, on a goroutine of its own. The goroutine starts with the
// first read and ends at the end of the input, or with the first read that returns after interrupt.
type pumpSource struct {
	r      io.Reader
	chunks chan chunk
	taken  chan struct{} // the reader is done with the last chunk
	closed chan struct{}
	gone   chan struct{} // the goroutine has ended
	once   sync.Once

	mu      sync.Mutex
	started bool

	rest chunk // what of the last chunk has not been read; the reader's own
}

// chunk is one result of the inner reader.
type chunk struct {
	bytes []byte
	err   error
}

func (s *pumpSource) read(ctx context.Context, p []byte) (int, error) {
	if !s.start() {
		return 0, transport.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(s.rest.bytes) == 0 && s.rest.err == nil {
		select {
		case s.rest = <-s.chunks:
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-s.closed:
			return 0, transport.ErrClosed
		}
	}
	n := copy(p, s.rest.bytes)
	s.rest.bytes = s.rest.bytes[n:]
	if len(s.rest.bytes) > 0 {
		return n, nil
	}
	if s.rest.err != nil {
		return n, s.rest.err
	}
	select {
	case s.taken <- struct{}{}:
	case <-s.closed:
	}
	return n, nil
}

// start runs the goroutine once. It reports false after interrupt.
func (s *pumpSource) start() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.closed:
		return false
	default:
	}
	if !s.started {
		s.started = true
		go s.pump() // ends with the input; the package comment says when that may be late
	}
	return true
}

func (s *pumpSource) pump() {
	defer close(s.gone)
	buf := make([]byte, maxBuffer)
	for {
		n, err := s.r.Read(buf)
		select {
		case s.chunks <- chunk{buf[:n], err}:
		case <-s.closed:
			return
		}
		if err != nil {
			return
		}
		select {
		case <-s.taken:
		case <-s.closed:
			return
		}
	}
}

func (s *pumpSource) interrupt() { s.once.Do(func() { close(s.closed) }) }

// end has nothing to do: the job object of a child ends whatever could hold the pipe open.
func (s *pumpSource) end() {}

// wait gives the goroutine up to limit to end.
func (s *pumpSource) wait(limit time.Duration) {
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if !started {
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.gone:
	case <-timer.C:
	}
}

// plainSink writes to something that cannot be interrupted, save by closing it.
type plainSink struct{ w io.Writer }

func (s plainSink) write(_ context.Context, p []byte) (int, error) { return s.w.Write(p) }
func (s plainSink) interruptible() bool                            { return false }

func (s plainSink) interrupt() {
	if c, ok := s.w.(io.Closer); ok && !isStandard(s.w) {
		c.Close() // Close of the connection reports what matters
	}
}
