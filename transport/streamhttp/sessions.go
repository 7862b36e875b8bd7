package streamhttp

import (
	"errors"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

var errSessions = errors.New("there are too many sessions; try again later")

// newSession makes a session that nobody can find yet: the table gets it with a good answer to its initialize, or at once
// where from says what is known of one that was opened elsewhere. Its place has been reserved.
func (h *Handler) newSession(codec era.Codec, who *mcp.Principal, id string, from *transport.PeerState) (*session, error) {
	s := &session{h: h, header: [1]string{id}, owner: web.Owner(who), codec: codec}
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

// publish makes the session one that can be found, so that its id is known from its answer on. It answers false when the
// handler has been closed.
func (s *session) publish() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.h.sessions.Publish(s.id(), s.owner, s) {
		return false
	}
	s.live = true
	s.watchIdle()
	return true
}

// settle is called when the initialize of a new session is over: one that was refused leaves nothing.
func (h *Handler) settle(s *session) {
	s.mu.Lock()
	live := s.live
	s.mu.Unlock()
	if !live {
		h.sessions.GiveBack()
		s.peer.Close(transport.ErrClosed)
	}
}
