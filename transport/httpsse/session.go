package httpsse

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/streamhttp"
)

// session is one client: its stream and what runs for it. It belongs to the principal that opened the stream.
type session struct {
	h     *Handler
	id    string
	owner string // key of the principal
	peer  transport.Peer

	mu     sync.Mutex
	stream *streamhttp.Stream // nil until the client can know of it
	ended  bool
}

var (
	_ transport.Outlet = (*session)(nil)
	_ transport.Ender  = (*session)(nil)
)

// newSession makes a session that nobody can find yet. It takes a place in the table.
func (h *Handler) newSession(who *mcp.Principal) (*session, error) {
	if err := h.sessions.reserve(); err != nil {
		return nil, err
	}
	s := &session{h: h, id: rand.Text(), owner: key(who)}
	peer, err := h.recv.Open(transport.PeerSpec{Outlet: s, SessionID: s.id, Principal: who})
	if err != nil {
		h.sessions.giveBack()
		return nil, err
	}
	s.peer = peer
	return s, nil
}

// attach gives the session its stream, and makes it known before the client learns its id.
func (s *session) attach(to *streamhttp.Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return transport.ErrClosed
	}
	s.stream = to
	return s.h.sessions.publish(s)
}

// Send delivers a message.
func (s *session) Send(_ context.Context, frame []byte) error {
	if to := s.open(); to != nil {
		return to.Event(frame)
	}
	return transport.ErrUndeliverable
}

// open returns the stream while there is one.
func (s *session) open() *streamhttp.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return nil
	}
	return s.stream
}

func (s *session) answer(ctx context.Context, frame []byte) error { return s.Send(ctx, frame) }
func (s *session) drop()                                          {}

// errGone is what the calls of a client get that has closed its stream.
var errGone = errors.New("the client has closed its stream")

// end closes the stream and the peer, and returns when what ran for the client has ended. It may be called twice.
func (s *session) end(why error) {
	s.End()
	s.peer.Close(why)
}

// End closes the stream: the receiver has closed the peer.
func (s *session) End() {
	s.mu.Lock()
	first, to := !s.ended, s.stream
	s.ended = true
	s.mu.Unlock()
	if !first {
		return
	}
	s.h.sessions.remove(s)
	if to != nil {
		to.End()
	}
}

func key(who *mcp.Principal) string {
	if who == nil {
		return ""
	}
	return who.Key()
}

// sessions is the table of a handler's sessions.
type sessions struct {
	most int // negative means no bound

	mu     sync.RWMutex
	byID   map[string]*session
	opened int // in the table or being opened
	closed bool
}

var errSessions = errors.New("too many streams are open; try again later")

// reserve takes a place for a session that is being opened, which remove or giveBack gives back.
func (t *sessions) reserve() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return transport.ErrClosed
	case t.most >= 0 && t.opened >= t.most:
		return errSessions
	}
	t.opened++
	return nil
}

func (t *sessions) giveBack() {
	t.mu.Lock()
	t.opened--
	t.mu.Unlock()
}

func (t *sessions) publish(s *session) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return transport.ErrClosed
	}
	t.byID[s.id] = s
	return nil
}

// remove takes a session out, whether or not it has been published.
func (t *sessions) remove(s *session) {
	t.mu.Lock()
	delete(t.byID, s.id)
	t.opened--
	t.mu.Unlock()
}

// find returns a session of its owner. Those of others do not exist for who asks.
func (t *sessions) find(id string, who *mcp.Principal) *session {
	t.mu.RLock()
	s := t.byID[id]
	t.mu.RUnlock()
	if s == nil || s.owner != key(who) {
		return nil
	}
	return s
}

func (t *sessions) count() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID)
}

func (t *sessions) all() []*session {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]*session, 0, len(t.byID))
	for _, s := range t.byID {
		out = append(out, s)
	}
	return out
}

// close takes no more sessions and returns those there are.
func (t *sessions) close() []*session {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.all()
}
