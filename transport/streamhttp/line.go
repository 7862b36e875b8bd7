package streamhttp

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/transport"
)

// line is one stream of a session as its client sees it: a GET stream, or that of one call. It outlives the connections
// that carry it. Where the session has a log, an event is stored first and then written to who is connected, so that the
// client can go on with another connection after the last event it has seen.
//
// Locks are taken in this order: line, stream, session.
type line struct {
	s    *session
	name string                 // in the log; "" for a line that is not kept
	to   atomic.Pointer[stream] // the connection that carries it now; nil while none does. Changed with mu held.

	away  atomic.Int64 // until when the client is taken to follow it at another handler, as of h.epoch
	given atomic.Bool  // the client has got an id, and so can come back
	mu    sync.Mutex   // held from the storing of an event to its writing, and while a connection is being opened
	far   string       // who goes on with it at another handler; "" for nobody. Guarded by mu.
	over  bool         // the last event has been stored; guarded by mu
	open  bool         // has a connection, or gets one; guarded by the session
}

// The kinds of lines, which their names begin with.
const (
	getLine  = 'g'
	callLine = 'c'
)

// newLine begins a line. Its name is random: other processes begin lines of the same session.
func (s *session) newLine(kind byte) *line {
	l := &line{s: s}
	if s.kept() {
		l.name = string(kind) + rand.Text()[:13]
		if s.shared != nil {
			l.name = string(kind) + s.shared.r.name + "." + l.name[1:]
		}
	}
	return l
}

// ofCall tells whether the line is the stream of a call.
func (l *line) ofCall() bool { return l.name != "" && l.name[0] == callLine }

// kept tells whether the session's events are logged.
func (s *session) kept() bool { return s.h.log != nil && s.codec.Traits().Resumable }

// keeper is the session whose log keeps the stream of a call, or nil.
func keeper(s *session) *session {
	if s == nil || !s.kept() {
		return nil
	}
	return s
}

// prime returns the event that gives the client an id before anything else has one, as far as its revision has it; l.mu is
// held. A retry that is not positive is left out.
func (l *line) prime(retry time.Duration) []byte {
	if l.name == "" || !l.s.codec.Traits().PrimesStreams {
		return nil
	}
	id := l.store(context.Background(), nil)
	if id == "" {
		return nil
	}
	l.given.Store(true)
	return sse.AppendEvent(nil, sse.Event{ID: id, HasID: true, Retry: retry, HasRetry: retry > 0})
}

// store appends an event to the log and returns its id, or "" when it is not kept; l.mu is held.
func (l *line) store(ctx context.Context, frame []byte) string {
	if l.name == "" || l.s.over.Load() {
		return ""
	}
	ctx = context.WithoutCancel(ctx)
	if l.s.h.ownLog == nil { // a log elsewhere may hang
		var cancel context.CancelFunc
		ctx, cancel = bounded(ctx)
		defer cancel()
	}
	id, err := l.s.h.log.Append(ctx, l.s.id(), l.name, frame)
	if err != nil { // it may be sent, but not by an id that might bring it twice, or not again
		l.s.h.opts.OnError(err)
		return ""
	}
	if l.s.over.Load() { // the session ended meanwhile, and its log may have been dropped just before
		l.s.dropLog()
	}
	return id
}

// send stores an event and writes it to who is connected. It fails with ErrUndeliverable when the client gets it neither
// now nor when it comes back.
func (l *line) send(ctx context.Context, frame []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.put(ctx, frame)
}

// put is send; l.mu is held.
func (l *line) put(ctx context.Context, frame []byte) error {
	to := l.to.Load()
	if to == nil && !l.given.Load() {
		return transport.ErrUndeliverable
	}
	id := l.store(ctx, frame)
	if to != nil && to.eventAs(id, frame) == nil {
		if id != "" {
			l.given.Store(true)
		}
		return nil
	}
	if l.given.Load() && id != "" {
		return nil // for when it comes back
	}
	return transport.ErrUndeliverable
}

// finish stores the last event, writes it and ends the connection, or only that where frame is nil.
func (l *line) finish(ctx context.Context, frame []byte) (err error) {
	l.mu.Lock()
	if frame != nil {
		err = l.put(ctx, frame)
	}
	if frame == nil && l.s.shared != nil && l.given.Load() && !l.over {
		l.store(ctx, overMark)
	}
	l.over = true
	to := l.to.Swap(nil)
	l.mu.Unlock()
	l.s.forgetCall(l)
	if to != nil {
		to.close()
	}
	return err
}

// shut ends the connection.
func (l *line) shut() {
	if to := l.to.Load(); to != nil {
		to.unblock()
	}
	l.mu.Lock() // a connection that is being opened is there then
	to := l.to.Load()
	l.mu.Unlock()
	if to != nil {
		to.close()
	}
}

// vacate returns with l.mu held and no connection: one that looks alive ends for the one that comes.
func (l *line) vacate() {
	for {
		if to := l.to.Load(); to != nil {
			to.unblock()
			to.cut(nil) // one that cannot be ended gets nothing any more
			to.close()
			l.leave(to)
		}
		l.mu.Lock()
		if l.to.Load() == nil {
			return
		}
		l.mu.Unlock() // another has come for the same line at the same time: the later one has it
	}
}

// connected tells whether the client follows the line, here or elsewhere.
func (l *line) connected() bool {
	if until := l.away.Load(); until > 0 && time.Since(l.s.h.epoch) < time.Duration(until) {
		return true
	}
	to := l.to.Load()
	return to != nil && to.alive()
}

// leave takes a connection that has ended from the line, and tells whether it was still the line's.
func (l *line) leave(from *stream) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.to.CompareAndSwap(from, nil) {
		return false
	}
	l.s.left(l)
	return true
}

// pauseFor ends the connection after telling the client when to come back, and tells whether that could be done.
func (l *line) pauseFor(retry time.Duration) bool {
	to := l.to.Load()
	if to == nil { // it has gone already, and comes back where it can
		return l.given.Load()
	}
	var last []byte
	if retry > 0 {
		last = sse.AppendEvent(nil, sse.Event{Kind: sse.Setting, Retry: retry, HasRetry: true})
	}
	if !to.cut(last) {
		return false
	}
	l.leave(to)
	return true
}
