package stdio

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/transport"
)

// Options configures Open. The zero value is ready to use.
type Options struct {
	// MaxFrameBytes bounds one incoming frame. Zero means 10 MiB; negative means no bound.
	MaxFrameBytes int64

	// FlushTimeout is how long Close waits for the peer to take what was written. Zero means 2 s.
	FlushTimeout time.Duration
}

// Open returns a connection that reads lines from in and writes lines to out, which on a server are os.Stdin and
// os.Stdout.
//
// After in has ended, Read returns io.EOF and Write still works, so that what was read can be answered. Write returns
// when the frame has left or waits behind another write; a failure then answers a later Write. Close sends what waits
// first. It closes in and out where they have a Close method, save the process's own three descriptors. The package
// comment says what of a waiting Read can be interrupted.
func Open(in io.Reader, out io.Writer, opts Options) transport.Conn {
	if opts.FlushTimeout <= 0 {
		opts.FlushTimeout = 2 * time.Second
	}
	return open(ownReader(in), ownWriter(out), opts)
}

// pipe is a connection over two byte streams.
type pipe struct {
	in     io.Reader
	out    io.Writer
	src    source
	reader frameReader
	writer frameWriter
	grace  time.Duration

	reading sync.Mutex // held by Read
	ready   bool       // what the writer knows of the frames that have arrived; the reader's own
	closed  atomic.Bool
	once    sync.Once
	err     error // of Close
}

var _ transport.Gatherer = (*pipe)(nil)

func open(in io.Reader, out io.Writer, opts Options) *pipe {
	src := newSource(in)
	return &pipe{
		in: in, out: out, src: src,
		reader: newFrameReader(src, opts.MaxFrameBytes),
		writer: frameWriter{out: newSink(out)},
		grace:  opts.FlushTimeout,
	}
}

func (p *pipe) Read(ctx context.Context) ([]byte, error) {
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.closed.Load() {
		return nil, transport.ErrClosed
	}
	frame, err := p.reader.next(ctx)
	if ready := err == nil && p.reader.ready(); ready != p.ready {
		p.ready = ready
		p.writer.expect(ready)
	}
	return frame, err
}

func (p *pipe) Write(ctx context.Context, frame []byte) error {
	return p.writer.write(ctx, frame, false)
}

// Gather implements transport.Gatherer.
func (p *pipe) Gather(ctx context.Context, frame []byte) error {
	return p.writer.write(ctx, frame, true)
}

// Due implements transport.Gatherer.
func (p *pipe) Due() bool { return p.writer.due() }

// Flush implements transport.Gatherer.
func (p *pipe) Flush(ctx context.Context) error { return p.writer.flush(ctx) }

func (p *pipe) Close() error {
	p.once.Do(func() { p.err = p.shut() })
	return p.err
}

func (p *pipe) shut() error {
	p.stopReading()
	err := errors.Join(p.writer.close(p.grace), closeStream(p.out), closeStream(p.in))
	if pump, ok := p.src.(*pumpSource); ok && closeUnblocks(p.in) {
		pump.wait(p.grace)
	}
	return err
}

func (p *pipe) stopReading() {
	p.closed.Store(true)
	p.src.interrupt()
}

// canClose tells whether a stream is ours to close.
func canClose(stream any) bool {
	_, ok := stream.(io.Closer)
	return ok && !isStandard(stream)
}

// closeUnblocks tells whether closing a stream ends a read under way. On a file without deadlines it does not.
func closeUnblocks(stream any) bool {
	_, file := stream.(*os.File)
	return !file && canClose(stream)
}

// closeStream closes a stream that is ours. In and out may be one and the same.
func closeStream(stream any) error {
	if !canClose(stream) {
		return nil
	}
	err := stream.(io.Closer).Close()
	if errors.Is(err, os.ErrClosed) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
