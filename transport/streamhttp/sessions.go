package streamhttp

import (
	"errors"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// sessions is the table of a handler's legacy sessions.
type sessions struct {
	epoch time.Time // what uses are counted from

	mu     sync.RWMutex
	byID   map[string]*session
	opened int // in the table or being opened
	closed bool
}

func (t *sessions) count() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID)
}

func (t *sessions) all() []*session {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make([]*session, 0, len(t.byID))
	for _, s := range t.byID {
		out = append(out, s)
	}
	return out
}

// find returns a live session of its owner. Those of others do not exist for who asks.
func (t *sessions) find(id string, who *mcp.Principal) *session {
	t.mu.RLock()
	s := t.byID[id]
	t.mu.RUnlock()
	if s == nil || s.owner != key(who) {
		return nil
	}
	return s
}

// get returns a session by its id alone: for what has asked the store about it, or asks next.
func (t *sessions) get(id string) *session {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}

func key(who *mcp.Principal) string {
	if who == nil {
		return ""
	}
	return who.Key()
}

var errSessions = errors.New("there are too many sessions; try again later")

// reserve takes a place for a session that is being opened.
func (t *sessions) reserve(most int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return transport.ErrClosed
	case most >= 0 && t.opened >= most:
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

// publish puts a session into the table, so that its id is known from its answer on.
func (t *sessions) publish(s *session) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.byID[s.id()] = s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = true
	s.watchIdle()
	return true
}

// remove takes a session out, once.
func (t *sessions) remove(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byID[s.id()] == s {
		delete(t.byID, s.id())
		t.opened--
	}
}

// isClosed tells whether close has been called.
func (t *sessions) isClosed() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.closed
}

// close takes no more sessions and returns those there are.
func (t *sessions) close() []*session {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.all()
}

// newSession makes a session that nobody can find yet: the table gets it with a good answer to its initialize, or at once
// where from says what is known of one that was opened elsewhere. Its place has been reserved.
func (h *Handler) newSession(codec era.Codec, who *mcp.Principal, id string, from *transport.PeerState) (*session, error) {
	s := &session{h: h, header: [1]string{id}, owner: key(who), codec: codec}
	spec := transport.PeerSpec{Codec: codec, Outlet: s, SessionID: id, Principal: who, State: from}
	if h.shared != nil {
		s.shared = &sharedSession{s: s, r: h.shared, who: who}
		spec.Outlet, spec.IDPrefix = s.shared, h.shared.idPrefix()
	}
	peer, err := h.recv.Open(spec)
	if err != nil {
		return nil, err
	}
	s.peer = peer
	return s, nil
}

// settle is called when the initialize of a new session is over: one that was refused leaves nothing.
func (h *Handler) settle(s *session) {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if !live {
		h.sessions.giveBack()
		s.peer.Close(transport.ErrClosed)
	}
}
