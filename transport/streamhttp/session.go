package streamhttp

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/transport"
)

const headerSession = "Mcp-Session-Id"

// session is what the legacy era keeps between requests. It belongs to the principal that opened it.
type session struct {
	h      *Handler
	header [1]string // the id, as the values of a header
	owner  string    // key of the principal
	codec  era.Codec
	peer   transport.Peer
	shared *sharedSession // nil where the session is this handler's alone
	used   atomic.Int64   // time of the last use, as of h.epoch

	over   atomic.Bool // set with ended, for who stores events
	places int32       // taken by GET streams that are open or being opened, those of calls included; guarded by mu

	mu    sync.Mutex
	live  bool // in the table
	ended bool
	timer *time.Timer
	lines []*line          // GET streams that are open, the newest last, and at most one whose client may come back
	calls map[string]*line // of calls that run and have a stream, by name; nil while there are none
}

var _ transport.Outlet = (*session)(nil)

func (s *session) id() string { return s.header[0] }

// Send delivers a message that belongs to no call: on one stream, the newest that works. Where none is open it waits in the
// log for the client of the one that was there last.
func (s *session) Send(ctx context.Context, frame []byte) error {
	s.mu.Lock()
	order := make([]*line, 0, len(s.lines))
	for _, open := range []bool{false, true} {
		for _, l := range s.lines {
			if l.open == open {
				order = append(order, l)
			}
		}
	}
	s.mu.Unlock()
	for _, l := range slices.Backward(order) {
		if l.send(ctx, frame) == nil {
			return nil
		}
	}
	return transport.ErrUndeliverable
}

// errStreams says that a session has as many GET streams as it may have.
var errStreams = errors.New("this session has too many open streams; close one first")

// reserve takes a place for a stream that is being opened, which detach gives back; false means that there is none.
func (s *session) reserve() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if most := s.h.opts.MaxStreams; most >= 0 && int(s.places) >= most {
		return false
	}
	s.places++
	return true
}

// attach makes a GET stream the one that gets the messages of no call. Streams of calls get none.
func (s *session) attach(l *line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return transport.ErrClosed
	}
	if !l.ofCall() {
		l.open = true
		s.lines = append(s.without(l), l)
	}
	return nil
}

// giveBack gives back a place that nothing came of.
func (s *session) giveBack() {
	s.mu.Lock()
	s.places--
	s.mu.Unlock()
}

// detach gives back the place of a connection that has ended, or of nil for one that never was.
func (s *session) detach(l *line, from *stream) {
	l.leave(from)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places--
	s.touch()
}

// left notes that a line has no connection any more. Of those whose clients may come back the last one is kept, to get what
// has no other way: any other begins anew from the log.
func (s *session) left(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.open = false
	if s.ended || !slices.Contains(s.lines, l) {
		return
	}
	s.lines = slices.DeleteFunc(s.lines, func(one *line) bool { return !one.open && (one != l || !one.given.Load()) })
}

// without is the lines but one; s.mu is held.
func (s *session) without(l *line) []*line {
	return slices.DeleteFunc(s.lines, func(one *line) bool { return one == l })
}

// lineOf returns the line of a name in the log: that of a call which runs, one that is over, or a GET stream.
func (s *session) lineOf(name string) *line {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.calls[name]; l != nil {
		return l
	}
	for _, l := range s.lines {
		if l.name == name {
			return l
		}
	}
	l := &line{s: s, name: name}
	l.over = l.ofCall()
	if !l.over && !s.ended {
		s.lines = append([]*line{l}, s.lines...) // so that two that come back for it at once find the same
	}
	return l
}

// beginCall makes the line of a call one that can be found.
func (s *session) beginCall(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = make(map[string]*line)
	}
	s.calls[l.name] = l
}

func (s *session) forgetCall(l *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, l.name)
	if len(s.calls) == 0 {
		s.calls = nil
	}
}

// dropLog forgets the events of a session that has ended.
func (s *session) dropLog() {
	if !s.kept() {
		return
	}
	ctx, cancel := bounded(context.Background())
	defer cancel()
	s.h.report(s.h.log.Drop(ctx, s.id()))
}

// touch notes a use.
func (s *session) touch() { s.used.Store(int64(time.Since(s.h.epoch))) }

// watchIdle starts the idle limit; s.mu is held.
func (s *session) watchIdle() {
	s.touch()
	switch {
	case s.shared != nil:
		s.timer = time.AfterFunc(s.h.shared.tick(), s.shared.watch)
	case s.h.opts.IdleTimeout > 0:
		s.timer = time.AfterFunc(s.h.opts.IdleTimeout, s.expire)
	}
}

// expire ends the session when it has not been used for the idle limit. A call that runs, a question that waits and an
// open stream are uses; a stream whose client is dead ends by the writes that fail.
func (s *session) expire() {
	rest := s.h.opts.IdleTimeout - (time.Since(s.h.epoch) - time.Duration(s.used.Load()))
	busy := s.busy()
	s.mu.Lock()
	switch {
	case s.ended:
	case rest > 0:
		s.timer.Reset(rest)
	case busy:
		s.timer.Reset(s.h.opts.IdleTimeout)
	default:
		s.mu.Unlock()
		s.end(errIdle)
		return
	}
	s.mu.Unlock()
}

// hasEnded tells whether the session has ended here.
func (s *session) hasEnded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// busy tells whether a stream is open, a call runs or a question waits.
func (s *session) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places > 0 || !s.peer.Idle()
}

var errIdle = errors.New("the session was not used for too long")

// end takes the session out of the table, closes its streams and its peer, and returns when what ran for it has ended. Its
// events go last: what ends may still have something to say.
func (s *session) end(why error) { s.finish(why, true) }

// finish is end; unless everywhere is true the session lives on in other handlers, and its events stay.
func (s *session) finish(why error, everywhere bool) {
	s.mu.Lock()
	lines := s.lines
	s.ended, s.lines = true, nil
	if everywhere {
		s.over.Store(true)
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.h.sessions.Remove(s.id(), s)
	for _, l := range lines {
		l.shut()
	}
	if s.shared != nil {
		s.shared.shut()
	}
	s.peer.Close(why)
	if everywhere {
		s.dropLog()
	}
}

// connected tells whether a stream of the session is open here, apart from that of one call.
func (s *session) connected(but *line) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.places > 0 {
		return true
	}
	for _, l := range s.calls {
		if l != but && l.connected() {
			return true
		}
	}
	return false
}

// reachable tells whether the client has a stream open, apart from that of one call.
func (s *session) reachable(ctx context.Context, but *line) bool {
	return s.connected(but) || s.shared != nil && s.shared.openElsewhere(ctx)
}

// yieldCall ends the connection of a call's stream, since its client goes on with it elsewhere, and tells whether the call
// runs. With anew false it only asks whether the stream is still that of who went on with it.
func (s *session) yieldCall(name, who string, anew bool) bool {
	s.mu.Lock()
	l := s.calls[name]
	s.mu.Unlock()
	switch {
	case l == nil:
		return false
	case anew:
		l.vacate()
	default:
		l.mu.Lock()
	}
	before := l.far
	mine := !l.over && (anew || before == who) // a client that has its answer may be back before the call is forgotten
	if mine {
		l.far = who
		l.away.Store(int64(time.Since(s.h.epoch) + 2*probes))
	}
	l.mu.Unlock()
	if mine && before != who { // a question alone, of one that has not heard, changes nothing for who came after it
		s.shared.overFor(name, before)
	}
	return mine
}

// takeBack lets a connection of this handler go on with the stream of a call.
func (s *session) takeBack(name string) {
	s.mu.Lock()
	l := s.calls[name]
	s.mu.Unlock()
	if l == nil {
		return
	}
	l.mu.Lock()
	before := l.far
	l.far = ""
	l.away.Store(0)
	l.mu.Unlock()
	s.shared.overFor(name, before)
}
