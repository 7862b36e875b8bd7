package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// Options configures an end. The zero value is ready to use.
type Options struct {
	MaxBatch int           // messages in one array; 0 means jsonrpc.MaxBatch, negative no bound
	Drain    time.Duration // how long Serve waits at the end of input for what runs; 0 means 5 s
	OnError  func(error)   // stray frames; nil drops them

	// Explain turns the end of the stream into an error for the calls that wait (a child's exit and its last words, say).
	Explain func(error) error
}

func (o Options) withDefaults() Options {
	if o.MaxBatch == 0 {
		o.MaxBatch = jsonrpc.MaxBatch
	}
	if o.Drain == 0 {
		o.Drain = 5 * time.Second
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	if o.Explain == nil {
		o.Explain = func(err error) error { return err }
	}
	return o
}

// server is the server's end of one Conn.
type server struct {
	conn transport.Conn
	held transport.Gatherer // the same, where it can hold answers back; else nil
	recv transport.Receiver
	set  *negotiate.Set
	peer transport.Peer
	opts Options

	leaders *leadership
	ended   chan error              // one place; why the reading has ended
	cancel  context.CancelCauseFunc // ends Serve
}

var _ transport.Ender = (*server)(nil)

// errEnded is the cause of an end that is none of anybody's faults: the peer was closed from above.
var errEnded = errors.New("the peer has been closed")

// Serve reads frames until the input ends, ctx does, or the receiver closes the peer, and closes conn. At the end of input
// it first answers what it has read, for as long as Options.Drain. It returns nil when the other side or the receiver has
// ended the connection, the context's cause at the end of ctx, and the wire's error otherwise. When it returns, no
// goroutine of the connection is left but those of handlers that ignore the end of their context.
func Serve(ctx context.Context, conn transport.Conn, recv transport.Receiver, set *negotiate.Set, opts Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &server{conn: conn, recv: recv, set: set, opts: opts.withDefaults(), ended: make(chan error, 1), cancel: cancel}
	s.held, _ = conn.(transport.Gatherer)
	peer, err := recv.Open(transport.PeerSpec{Outlet: s})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	s.peer = peer
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // unblocks Read on wires that know no context; its error comes again below
	defer stop()
	s.leaders = startLeading(func(t *turn) { s.lead(ctx, t) })
	err = s.verdict(ctx, <-s.ended)
	peer.Close(transport.ErrClosed)
	if closing := conn.Close(); closing != nil && err == nil && !hungUp(closing) {
		err = closing
	}
	s.awaitLeaders()
	return err
}

// verdict is what Serve returns for the error that has ended the reading.
func (s *server) verdict(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, io.EOF):
		s.drain(ctx)
		return nil
	}
	if errors.Is(err, errEnded) || hungUp(err) {
		return nil
	}
	return err
}

// hungUp tells whether an error says no more than that the other side has closed.
func hungUp(err error) bool {
	return errors.Is(err, io.ErrClosedPipe) || errors.Is(err, syscall.EPIPE)
}

// awaitLeaders waits for the goroutines that read and run. All but those stuck in a handler end at once: closing the peer
// has waited for them.
func (s *server) awaitLeaders() {
	const stuck = time.Second
	timer := time.NewTimer(stuck)
	defer timer.Stop()
	select {
	case <-s.leaders.done:
	case <-timer.C:
	}
}

// lead reads frames and runs what may run here, until the input ends or another goroutine has taken over.
func (s *server) lead(ctx context.Context, t *turn) {
	for fresh := true; s.flush(ctx, t, fresh); fresh = false {
		frame, err := s.conn.Read(ctx)
		switch {
		case err != nil:
			if !s.pardon(ctx, err, t) {
				s.ended <- err
				return
			}
		case jsonrpc.IsBatch(frame):
			s.takeBatch(ctx, frame, t)
		default:
			s.take(ctx, frame, t)
		}
		if !t.back() {
			return
		}
	}
}

// pardon refuses a single frame that could not be taken. It reports false for an error that has ended the stream.
func (s *server) pardon(ctx context.Context, err error, t *turn) bool {
	var bad *transport.FrameError
	if !errors.As(err, &bad) {
		return false
	}
	s.refuse(ctx, &jsonrpc.FrameError{Code: jsonrpc.CodeInvalidRequest, Offset: -1, Text: bad.Text}, t)
	return true
}

// flush sends the answers that are held back for no reason any more: before the leader waits for input, and when it has
// taken over from one that is stuck. It may take long, and tells whether the goroutine still leads.
func (s *server) flush(ctx context.Context, t *turn, fresh bool) bool {
	if s.held == nil || !(fresh || s.held.Due()) {
		return true
	}
	t.leave()
	s.report(s.wrote(ctx, s.held.Flush(ctx)))
	return t.back()
}

// take judges one frame and hands it over, or answers why not.
func (s *server) take(ctx context.Context, frame []byte, t *turn) {
	m, err := jsonrpc.Decode(frame, negotiate.Lift)
	if err != nil {
		s.refuse(ctx, err, t)
		return
	}
	s.hand(ctx, m, s, t)
}

// back is where the answer of a message goes: the pipe itself, or the array it came in.
type back interface {
	answer(ctx context.Context, frame []byte) error
	drop()
}

// hand classifies a message and delivers it. The turn is nil for an element of an array.
func (s *server) hand(ctx context.Context, m *jsonrpc.Message, to back, t *turn) {
	route := s.set.ClassifyFrame(m, s.peer.Codec())
	switch {
	case route.Refusal != nil:
		if t != nil {
			t.leave()
		}
		if m.Kind() == jsonrpc.KindRequest {
			s.report(to.answer(ctx, refusalFrame(route, m.ID)))
			return
		}
		to.drop()
	case route.Kind == negotiate.Drop:
		s.opts.OnError(fmt.Errorf("dropped a %s (%s) that belongs to no handshake", m.Kind(), m.Method))
		to.drop()
	case t != nil:
		s.recv.Deliver(ctx, &single{exchange{message: m, codec: route.Codec, server: s, to: to}, t})
	default:
		s.recv.Deliver(ctx, &exchange{message: m, codec: route.Codec, server: s, to: to})
	}
}

func refusalFrame(route negotiate.Route, id jsonrpc.ID) []byte {
	wire := &jsonrpc.Error{Code: int64(route.Refusal.Err.Code), Message: route.Refusal.Err.Message, Data: route.Refusal.Err.Data}
	if route.Codec != nil {
		wire = route.Codec.WireError(route.Refusal.Err)
	}
	return jsonrpc.AppendError(nil, id, wire)
}

// refuse answers a frame that is no message. The next frame is read as usual.
func (s *server) refuse(ctx context.Context, err error, t *turn) {
	t.leave()
	fe := &jsonrpc.FrameError{Code: jsonrpc.CodeParse, Text: err.Error(), Offset: -1}
	errors.As(err, &fe)
	s.report(s.answer(ctx, jsonrpc.AppendError(nil, fe.ID, &jsonrpc.Error{Code: fe.Code, Message: fe.Error()})))
}

func (s *server) report(err error) {
	if err != nil {
		s.opts.OnError(err)
	}
}

func (s *server) answer(ctx context.Context, frame []byte) error { return s.write(ctx, frame) }
func (s *server) drop()                                          {}

// Send carries what belongs to no exchange.
func (s *server) Send(ctx context.Context, frame []byte) error { return s.write(ctx, frame) }

// End ends Serve: the receiver has closed the peer.
func (s *server) End() { s.cancel(errEnded) }

// write writes one frame.
func (s *server) write(ctx context.Context, frame []byte) error {
	return s.wrote(ctx, s.conn.Write(ctx, frame))
}

// gather writes an answer, or holds it back.
func (s *server) gather(ctx context.Context, frame []byte) error {
	if s.held == nil {
		return s.write(ctx, frame)
	}
	return s.wrote(ctx, s.held.Gather(ctx, frame))
}

// wrote looks at the end of a write. A wire that takes no more ends Serve: nobody would hear the answers to what is still read.
func (s *server) wrote(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && !errors.Is(err, transport.ErrEmptyFrame) {
		s.cancel(fmt.Errorf("write to the client: %w", err))
	}
	return err
}

// drain waits until what was read has been answered.
func (s *server) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Drain)
	defer cancel()
	s.peer.Drain(ctx)
}
