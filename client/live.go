package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/engine"
	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// wire is a way to a server: an exchanger and the peer behind it.
type wire struct {
	name    string // for errors: an address, a command
	via     transport.Exchanger
	peer    *engine.Peer
	http    bool
	posts   bool            // each message is a request of HTTP, whose errors say enough, though the answers come by a pipe
	session func() string   // HTTP session id; nil where there is none
	listens func() bool     // tells whether the GET stream is open; nil where there is none
	forget  func()          // says that the HTTP session is gone already; nil where there is none
	kill    func()          // ends a process without mercy; nil where there is none
	agreed  func(era.Codec) // hears of the revision that initialize has settled; nil where the wire need not know

	outside *gate // opens when the stream for messages outside calls is open, or there is none; nil where they need none

	ending atomic.Bool // the wire is about to be gone: nothing comes by it any more
	once   sync.Once
	gone   chan struct{} // closed when the wire has ended by itself, before the calls on it fail
	why    error         // of that; read after gone
}

func newWire(name string) *wire { return &wire{name: name, gone: make(chan struct{})} }

// lose marks a wire as ended. The first reason counts.
func (w *wire) lose(why error) {
	w.once.Do(func() {
		w.why = why
		close(w.gone)
	})
}

func (w *wire) isGone() bool {
	select {
	case <-w.gone:
		return true
	default:
		return false
	}
}

func (w *wire) sessionID() string {
	if w == nil || w.session == nil {
		return ""
	}
	return w.session()
}

// partingTime bounds how long a closing client waits until the server has been told of the calls that nobody waits for any
// more: one that is told of none goes on with them until its own grace is over.
const partingTime = 500 * time.Millisecond

func (w *wire) close() error {
	if !w.isGone() {
		w.peer.GiveUp(transport.ErrClosed)
	}
	ctx, cancel := context.WithTimeout(context.Background(), partingTime)
	w.peer.AwaitFarewells(ctx)
	cancel()
	err := w.via.Close()
	w.peer.Close(transport.ErrClosed)
	return err
}

// live is one opened connection and what its opening has shown. None is changed: a restart or a new session puts another
// in its place.
type live struct {
	wire     *wire
	codec    era.Codec
	greeting *era.Greeting
	mirrors  *mirrors // nil where no headers repeat arguments
	verdict  Verdict
	since    time.Time

	believed atomic.Bool // rests on a stored verdict that no answer has confirmed yet
}

// explain gives a failure of the wire its local code.
func (l *live) explain(ctx context.Context, err error) error { return l.wire.explain(ctx, err) }

// now returns the connection that was opened last. It is never nil, but empty before the first is open.
func (c *Client) now() *live { return c.current.Load() }

// ready returns a connection to send on. While a lost one is being opened again it waits for the first attempt, no longer
// than limit (0 for no limit); once that has failed, it fails at once with the reason.
func (c *Client) ready(ctx context.Context, limit time.Duration) (*live, error) {
	l := c.now()
	f := c.flight.Load()
	if f == nil && !l.wire.ending.Load() && !l.wire.isGone() {
		return l, nil
	}
	if limit > 0 {
		var cancel context.CancelFunc
		cause := mcp.Errorf(mcp.CodeRequestTimeout, "the server is being connected again, which took more than %s", limit)
		ctx, cancel = context.WithTimeoutCause(ctx, limit, cause)
		defer cancel()
	}
	if f == nil {
		if err := l.wire.awaitEnd(ctx); err != nil {
			return nil, err
		}
		if f = c.lost(l); f == nil {
			if c.life.Err() != nil {
				return nil, c.overdue()
			}
			return c.now(), nil // there is another
		}
	}
	return f.wait(ctx)
}

// awaitEnd waits until a wire that is about to end has ended, which is soon.
func (w *wire) awaitEnd(ctx context.Context) error {
	select {
	case <-w.gone:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// flight is the opening of a connection in place of another: what several callers wait for.
type flight struct {
	failed chan struct{} // closed when the first attempt has failed
	done   chan struct{} // closed when there is a connection, or there will be none

	mu   sync.Mutex
	live *live
	err  error
}

func newFlight() *flight { return &flight{failed: make(chan struct{}), done: make(chan struct{})} }

func (f *flight) wait(ctx context.Context) (*live, error) {
	select {
	case <-f.done:
	case <-f.failed:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.live, f.err
}

// attempt notes that an attempt has failed and others will follow.
func (f *flight) attempt(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
	select {
	case <-f.failed:
	default:
		close(f.failed)
	}
}

// land ends a flight.
func (f *flight) land(l *live, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.live, f.err = l, err
	close(f.done)
}
