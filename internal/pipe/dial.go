package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Link is the client's end of one Conn.
type Link struct {
	conn transport.Conn
	recv transport.Receiver
	peer transport.Peer
	opts Options

	cancel context.CancelFunc
	done   chan struct{} // closed when the reader has ended
	once   sync.Once
	err    error // of Close
}

var _ transport.Exchanger = (*Link)(nil)

// Dial begins to read from a Conn. The peer is the one that the calls on this link belong to; it is closed when the
// stream ends, with the error that the stream ended with.
func Dial(conn transport.Conn, recv transport.Receiver, opts Options) (*Link, transport.Peer, error) {
	l := &Link{conn: conn, recv: recv, opts: opts.withDefaults(), done: make(chan struct{})}
	peer, err := recv.Open(transport.PeerSpec{Outlet: l})
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	l.peer = peer
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	go l.read(ctx) // ends with the stream; Close waits for it
	return l, peer, nil
}

// Done is closed when the stream has ended.
func (l *Link) Done() <-chan struct{} { return l.done }

// WriteError is a message that the Conn did not take. Its text is that of the Conn's own error.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// Exchange writes one message; an answer comes on the shared stream. It fails with *WriteError.
func (l *Link) Exchange(ctx context.Context, out transport.Outbound) (bool, error) {
	if err := l.conn.Write(ctx, out.Frame); err != nil {
		return true, &WriteError{err}
	}
	return true, nil
}

// Send writes what belongs to no exchange.
func (l *Link) Send(ctx context.Context, frame []byte) error { return l.conn.Write(ctx, frame) }

// Shared tells that all calls share the stream.
func (l *Link) Shared() bool { return true }

// Close closes the Conn and waits for the reader.
func (l *Link) Close() error {
	l.once.Do(func() {
		l.cancel()
		l.err = l.conn.Close()
	})
	<-l.done
	return l.err
}

func (l *Link) read(ctx context.Context) {
	var err error
	for err == nil {
		var frame []byte
		frame, err = l.conn.Read(ctx)
		switch {
		case err != nil:
			err = l.pardon(err)
		case jsonrpc.IsBatch(frame):
			l.takeBatch(ctx, frame)
		default:
			l.take(ctx, frame)
		}
	}
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		err = transport.ErrClosed
	}
	l.peer.Close(l.opts.Explain(err))
	close(l.done)
}

// pardon reports a single frame that could not be taken. It returns an error that has ended the stream.
func (l *Link) pardon(err error) error {
	var bad *transport.FrameError
	if !errors.As(err, &bad) {
		return err
	}
	transport.Lose(l.peer, bad) // where it is not the answer to a call, nobody waits for it
	l.opts.OnError(bad)
	return nil
}

func (l *Link) takeBatch(ctx context.Context, frame []byte) {
	elements, err := jsonrpc.SplitBatch(frame, l.opts.MaxBatch)
	if err != nil {
		l.opts.OnError(fmt.Errorf("skipped an array from the server: %w", err))
		return
	}
	for _, raw := range elements {
		l.take(ctx, raw)
	}
}

func (l *Link) take(ctx context.Context, frame []byte) {
	m, err := jsonrpc.Decode(frame, negotiate.Lift)
	if err != nil {
		const most = 120
		transport.LoseBroken(l.peer, frame, err)
		l.opts.OnError(fmt.Errorf("skipped a line from the server that is no message (%w): %.*q", err, most, frame))
		return
	}
	codec := l.peer.Codec()
	if codec == nil && (m.Kind() == jsonrpc.KindRequest || m.Kind() == jsonrpc.KindNotification) {
		l.opts.OnError(fmt.Errorf("dropped %.100s, which came before the connection was open", m.Method))
		return
	}
	if m.Kind() == jsonrpc.KindRequest && !codec.Traits().ServerMayCall {
		l.opts.OnError(fmt.Errorf("dropped the request %.100s: a server of revision %s asks nothing, and a client sends no answers", m.Method, codec.Revision()))
		return
	}
	l.recv.Deliver(ctx, &arrival{message: m, codec: codec, link: l})
}

// arrival is one message on the client's end.
type arrival struct {
	message *jsonrpc.Message
	codec   era.Codec
	link    *Link
}

var _ transport.Exchange = (*arrival)(nil)

func (x *arrival) Message() *jsonrpc.Message    { return x.message }
func (x *arrival) Codec() era.Codec             { return x.codec }
func (x *arrival) Peer() transport.Peer         { return x.link.peer }
func (x *arrival) OverHTTP() bool               { return false }
func (x *arrival) Principal() *mcp.Principal    { return nil }
func (x *arrival) RemoteAddr() string           { return "" }
func (x *arrival) Related() jsonrpc.ID          { return jsonrpc.ID{} }
func (x *arrival) Header(string) (string, bool) { return "", false }
func (x *arrival) Drop()                        {}

// Send writes a message that goes ahead of the answer.
func (x *arrival) Send(ctx context.Context, frame []byte) error { return x.link.conn.Write(ctx, frame) }

// Answer writes the answer to a request of the server's.
func (x *arrival) Answer(ctx context.Context, frame []byte, _ int, _ int64) error {
	return x.link.conn.Write(ctx, frame)
}
