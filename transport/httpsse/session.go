package httpsse

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
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
	if err := h.sessions.Reserve(); err != nil {
		return nil, err
	}
	s := &session{h: h, id: rand.Text(), owner: web.Owner(who)}
	peer, err := h.recv.Open(transport.PeerSpec{Outlet: s, SessionID: s.id, Principal: who})
	if err != nil {
		h.sessions.GiveBack()
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
	if !s.h.sessions.Publish(s.id, s.owner, s) {
		return transport.ErrClosed
	}
	return nil
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

// dismiss is end for a client that still listens: what runs for it is answered first.
func (s *session) dismiss(why *transport.EndError) {
	s.peer.Close(why)
	s.End()
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
	if !s.h.sessions.Remove(s.id, s) {
		s.h.sessions.GiveBack() // it was never attached
	}
	if to != nil {
		to.End()
	}
}

var errSessions = errors.New("too many streams are open; try again later")
