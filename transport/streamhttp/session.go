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
	id     string
	header []string // the id, as a header value
	owner  string   // key of the principal
	codec  era.Codec
	peer   transport.Peer
	used   atomic.Int64 // time of the last use, as of h.sessions.now

	mu      sync.Mutex
	live    bool // in the table
	ended   bool
	timer   *time.Timer
	streams []*stream // open GET streams, the newest last
	places  int       // taken by streams that are open or being opened
}

var _ transport.Outlet = (*session)(nil)

// Send delivers a message that belongs to no call: on one stream, the newest that works.
func (s *session) Send(_ context.Context, frame []byte) error {
	s.mu.Lock()
	open := slices.Clone(s.streams)
	s.mu.Unlock()
	for _, to := range slices.Backward(open) {
		if to.event(frame) == nil {
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
	if most := s.h.opts.MaxStreams; most >= 0 && s.places >= most {
		return false
	}
	s.places++
	return true
}

// attach makes a stream the one that gets the messages of no call.
func (s *session) attach(to *stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return transport.ErrClosed
	}
	s.streams = append(s.streams, to)
	return nil
}

// detach gives back the place of a stream that has ended, or of nil for one that never was.
func (s *session) detach(from *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places--
	s.streams = slices.DeleteFunc(s.streams, func(one *stream) bool { return one == from })
	s.touch()
}

// touch notes a use.
func (s *session) touch() { s.used.Store(int64(time.Since(s.h.sessions.epoch))) }

// watchIdle starts the idle limit; s.mu is held.
func (s *session) watchIdle() {
	s.touch()
	if s.h.opts.IdleTimeout > 0 {
		s.timer = time.AfterFunc(s.h.opts.IdleTimeout, s.expire)
	}
}

// expire ends the session when it has not been used for the idle limit. A call that runs, a question that waits and an
// open stream are uses; a stream whose client is dead ends by the writes that fail.
func (s *session) expire() {
	rest := s.h.opts.IdleTimeout - (time.Since(s.h.sessions.epoch) - time.Duration(s.used.Load()))
	s.mu.Lock()
	busy := s.places > 0 || !s.peer.Idle()
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

var errIdle = errors.New("the session was not used for too long")

// end takes the session out of the table, closes its streams and its peer, and returns when what ran for it has ended.
func (s *session) end(why error) {
	s.mu.Lock()
	open := s.streams
	s.ended, s.streams = true, nil
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.h.sessions.remove(s)
	for _, one := range open {
		one.close()
	}
	s.peer.Close(why)
}
