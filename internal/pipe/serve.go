package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// Options configures an end. The zero value is ready to use.
type Options struct {
	MaxBatch int           // messages in one array; 0 means jsonrpc.MaxBatch
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
	recv transport.Receiver
	set  *negotiate.Set
	peer transport.Peer
	opts Options
}

// Serve reads frames until the input ends or ctx does, and closes conn. At the end of input it first answers what it has
// read, for as long as Options.Drain. It returns nil at the end of input, the context's error at the end of ctx, and the
// wire's error otherwise.
func Serve(ctx context.Context, conn transport.Conn, recv transport.Receiver, set *negotiate.Set, opts Options) error {
	s := &server{conn: conn, recv: recv, set: set, opts: opts.withDefaults()}
	peer, err := recv.Open(transport.PeerSpec{Outlet: s})
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	s.peer = peer
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { conn.Close() }) // unblocks Read on wires that know no context
	defer stop()
	err = s.read(ctx)
	if errors.Is(err, io.EOF) && ctx.Err() == nil {
		s.drain(ctx)
		err = nil
	} else if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	peer.Close(transport.ErrClosed)
	return errors.Join(err, conn.Close())
}

// read reads until the input ends and returns why it ended. What runs at that moment goes on.
func (s *server) read(ctx context.Context) error {
	l := newLeadership()
	ended := make(chan error, 1)
	go l.run(ctx, func(ctx context.Context) { s.lead(ctx, l, ended) }) // Serve waits for it by closing the peer
	return <-ended
}

// lead reads frames and runs what may run here, until the input ends or another goroutine has taken over.
func (s *server) lead(ctx context.Context, l *leadership, ended chan<- error) {
	for {
		frame, err := s.conn.Read(ctx)
		term := l.leave()
		var bad *transport.FrameError
		switch {
		case errors.As(err, &bad):
			s.refuse(ctx, &jsonrpc.FrameError{Code: jsonrpc.CodeInvalidRequest, Offset: -1, Text: bad.Text})
		case err != nil:
			ended <- err
			return
		case jsonrpc.IsBatch(frame):
			s.takeBatch(ctx, frame)
		default:
			s.take(ctx, frame)
		}
		if !l.back(term) {
			return
		}
	}
}

// take judges one frame and hands it over, or answers why not.
func (s *server) take(ctx context.Context, frame []byte) {
	m, err := jsonrpc.Decode(frame, negotiate.Lift)
	if err != nil {
		s.refuse(ctx, err)
		return
	}
	s.hand(ctx, m, s)
}

// back is where the answer of a message goes: the pipe itself, or the array it came in.
type back interface {
	answer(ctx context.Context, frame []byte) error
	drop()
}

// hand classifies a message and delivers it.
func (s *server) hand(ctx context.Context, m *jsonrpc.Message, to back) {
	route := s.set.ClassifyFrame(m, s.peer.Codec())
	switch {
	case route.Refusal != nil:
		if m.Kind() == jsonrpc.KindRequest {
			s.report(to.answer(ctx, refusalFrame(route, m.ID)))
			return
		}
		to.drop()
	case route.Kind == negotiate.Drop:
		s.opts.OnError(fmt.Errorf("dropped a %s (%s) that belongs to no handshake", m.Kind(), m.Method))
		to.drop()
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
func (s *server) refuse(ctx context.Context, err error) {
	fe := &jsonrpc.FrameError{Code: jsonrpc.CodeParse, Text: err.Error(), Offset: -1}
	errors.As(err, &fe)
	s.report(s.answer(ctx, jsonrpc.AppendError(nil, fe.ID, &jsonrpc.Error{Code: fe.Code, Message: fe.Error()})))
}

func (s *server) report(err error) {
	if err != nil {
		s.opts.OnError(err)
	}
}

func (s *server) answer(ctx context.Context, frame []byte) error { return s.conn.Write(ctx, frame) }
func (s *server) drop()                                          {}

// Send carries what belongs to no exchange.
func (s *server) Send(ctx context.Context, frame []byte) error { return s.conn.Write(ctx, frame) }

// drain waits until what was read has been answered.
func (s *server) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Drain)
	defer cancel()
	s.peer.Drain(ctx)
}
