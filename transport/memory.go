package transport

import (
	"context"
	"io"
	"sync"
)

// defaultQueue is how many frames one direction of a Pair holds when it is told nothing else.
const defaultQueue = 64

// Pair returns two ends of a connection inside this process. What one end writes the other reads, in order.
//
// Each direction queues up to frames frames (zero or less means 64); a Write beyond that waits for the reader. Closing
// one end leaves what it wrote before for the other to read, followed by io.EOF; what was under way to the closed end
// is dropped, and writing to it fails with io.ErrClosedPipe. Only channels are used, so both ends work inside a
// testing/synctest bubble. The methods are safe for concurrent use as Conn says.
func Pair(frames int) (Conn, Conn) {
	if frames <= 0 {
		frames = defaultQueue
	}
	there, back := make(chan []byte, frames), make(chan []byte, frames)
	a := &memory{in: back, out: there, closed: make(chan struct{})}
	b := &memory{in: there, out: back, closed: make(chan struct{})}
	a.peerClosed, b.peerClosed = b.closed, a.closed
	return a, b
}

// memory is one end of a Pair.
type memory struct {
	in, out    chan []byte
	closed     chan struct{}
	peerClosed chan struct{}
	once       sync.Once
}

var _ Conn = (*memory)(nil)

// usable fails when this end is closed or ctx is over: select would pick at random between that and a frame.
func (m *memory) usable(ctx context.Context) error {
	select {
	case <-m.closed:
		return ErrClosed
	default:
		return ctx.Err()
	}
}

func (m *memory) Read(ctx context.Context) ([]byte, error) {
	if err := m.usable(ctx); err != nil {
		return nil, err
	}
	select {
	case frame := <-m.in:
		return frame, nil
	case <-m.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-m.peerClosed:
		return m.readRest()
	}
}

// readRest returns what the peer wrote before it closed.
func (m *memory) readRest() ([]byte, error) {
	select {
	case frame := <-m.in:
		return frame, nil
	default:
		return nil, io.EOF
	}
}

func (m *memory) Write(ctx context.Context, frame []byte) error {
	if err := m.usable(ctx); err != nil {
		return err
	}
	select {
	case <-m.peerClosed:
		return io.ErrClosedPipe
	default:
	}
	own := AppendFrame(make([]byte, 0, len(frame)), frame)
	if len(own) == 0 {
		return ErrEmptyFrame
	}
	select {
	case m.out <- own:
		return nil
	case <-m.closed:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	case <-m.peerClosed:
		return io.ErrClosedPipe
	}
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}
