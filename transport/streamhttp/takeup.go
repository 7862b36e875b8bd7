package streamhttp

import (
	"context"
	"errors"
	"net/http"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// errUnknown says that there is no such session for who asks.
var errUnknown = errors.New("there is no such session")

// find asks the store for a session, and takes it up here when it is not yet.
func (r *replicas) find(ctx context.Context, id string, who *mcp.Principal) (*session, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rec, err := r.store.Get(ctx, id)
	switch {
	case errors.Is(err, state.ErrNotFound), errors.Is(err, state.ErrInvalid):
		if s := r.h.sessions.Get(id); s != nil {
			r.ended(s)
		}
		return nil, errUnknown
	case err != nil:
		return nil, err
	case rec.Principal != web.Owner(who):
		return nil, errUnknown
	}
	s := r.h.sessions.Get(id)
	if s == nil {
		if s, err = r.takeUp(ctx, rec, who); err != nil {
			return nil, err
		}
	}
	s.shared.renew(&rec)
	s.touch()
	if err := s.shared.use(ctx); errors.Is(err, state.ErrNotFound) {
		r.ended(s)
		return nil, errUnknown
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// takeUp makes a session that was opened elsewhere one of this handler too, once.
func (r *replicas) takeUp(ctx context.Context, rec state.Session, who *mcp.Principal) (*session, error) {
	codec, ok := r.h.set.Codec(rec.Revision)
	if !ok || !codec.Traits().Sessions {
		return nil, errUnknown // another version of the server, perhaps: the client begins anew
	}
	done, err := r.turn(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	defer done()
	if s := r.h.sessions.Get(rec.ID); s != nil {
		return s, nil // somebody else was first
	}
	if err := r.h.sessions.Reserve(); err != nil {
		return nil, err
	}
	from := stateOf(&rec)
	s, err := r.h.newSession(codec, who, rec.ID, &from)
	if err != nil {
		r.h.sessions.GiveBack()
		return nil, err
	}
	s.shared.version, s.shared.stream = rec.Version, rec.Stream
	s.shared.holds.Store(rec.Owner == r.name)
	if !s.publish() {
		r.h.sessions.GiveBack()
		s.peer.Close(transport.ErrClosed)
		return nil, transport.ErrClosed
	}
	// The session may have ended before it stood in the table, where word of that is looked for.
	if _, err := s.shared.look(ctx); errors.Is(err, state.ErrNotFound) {
		return nil, errUnknown
	} else if err != nil {
		return nil, err
	}
	return s, nil
}

// turn waits until nobody else takes a session up; done lets the next one do it.
func (r *replicas) turn(ctx context.Context, id string) (done func(), err error) {
	for {
		r.mu.Lock()
		wait := r.taking[id]
		if wait == nil {
			mine := make(chan struct{})
			r.taking[id] = mine
			r.mu.Unlock()
			return func() {
				r.mu.Lock()
				delete(r.taking, id)
				r.mu.Unlock()
				close(mine)
			}, nil
		}
		r.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// ended ends a session here that has ended everywhere. It does not wait.
func (r *replicas) ended(s *session) {
	go s.end(errElsewhere) // ends by itself: a peer waits a bounded time. Until then Handler.Close finds the session.
}

// create adds the record of a session whose handshake was good. The client does not know of it yet.
func (r *replicas) create(ctx context.Context, s *session) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rec, err := r.store.Create(ctx, s.shared.opening)
	if err != nil {
		return err
	}
	s.shared.opening = state.Session{}
	s.shared.mu.Lock()
	s.shared.version = rec.Version
	s.shared.mu.Unlock()
	return nil
}

// delete ends a session everywhere. Of several at once one does it; the others fail with errUnknown.
func (r *replicas) delete(ctx context.Context, s *session, why error) error {
	bound, cancel := bounded(context.WithoutCancel(ctx))
	defer cancel()
	err := r.store.Delete(bound, s.id())
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		return err
	}
	if err == nil {
		r.h.report(r.tell(bound, wordEnd, s.id(), nil)) // without it they find out by themselves, later
	}
	s.end(why)
	if err != nil {
		return errUnknown
	}
	return nil
}

// refuseSession answers a request whose session could not be had. A store that cannot be reached says nothing about the
// session, so the client must not be told that it has ended.
func (h *Handler) refuseSession(w http.ResponseWriter, id jsonrpc.ID, err error) {
	switch {
	case errors.Is(err, errUnknown), errors.Is(err, state.ErrNotFound):
		unknownSession(w)
	case errors.Is(err, errSessions):
		refuse(w, http.StatusServiceUnavailable, id, mcp.Errorf(mcp.CodeInternal, "the session cannot be served here now: %v", err))
	case h.isClosed():
		refuse(w, http.StatusServiceUnavailable, id, stopping())
	default:
		h.opts.OnError(err)
		refuse(w, http.StatusServiceUnavailable, id, mcp.Errorf(mcp.CodeInternal, "what keeps the sessions cannot be reached now; try again in a moment"))
	}
}
