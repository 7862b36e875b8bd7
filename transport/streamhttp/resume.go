package streamhttp

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

const headerLastEvent = "Last-Event-Id"

// resume goes on with a stream after an event that the client has seen: first what was stored since, then what comes. A
// connection that the stream still seems to have ends for this one. The stream of a call ends with its answer.
//
// An event that is unknown, or was dropped, is refused: a stream that begins anew in its place would let the client of a
// call wait for ever. So is one after which nothing comes any more.
func (h *Handler) resume(w http.ResponseWriter, r *http.Request, s *session, after string) {
	name, _, err := h.log.Replay(r.Context(), s.id(), after)
	if err != nil {
		h.refuseResume(w, err)
		return
	}
	l := s.lineOf(name)
	// Events of a stream are stored with its line held, so what is replayed with the line held is all there is, and what is
	// stored afterwards is written. Where other processes store events too, a follower takes the place of this.
	h.carry(w, r, l, func() ([]byte, error) {
		first, err := h.replay(r.Context(), s, after)
		if err == nil && len(first) == 0 && l.over {
			err = errOver
		}
		l.given.Store(true)
		return first, err
	})
}

// replay returns the later events of a stream, as they are written.
func (h *Handler) replay(ctx context.Context, s *session, after string) (out []byte, err error) {
	_, later, err := h.log.Replay(ctx, s.id(), after)
	if err != nil {
		return nil, err
	}
	for e, err := range later {
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(e.Data, overMark) {
			out = appendStored(out, e)
		}
	}
	return out, nil
}

// appendStored writes an event of the log.
func appendStored(out []byte, e state.Event) []byte {
	event := sse.Event{ID: e.ID, HasID: true, Data: e.Data}
	if len(e.Data) > 0 {
		event.Name = sse.DefaultName
	}
	return sse.AppendEvent(out, event)
}

// errOver says that a stream has ended and that the client has seen all of it.
var errOver = errors.New("nothing comes after this event")

// refuseResume says why a stream cannot be gone on with.
func (h *Handler) refuseResume(w http.ResponseWriter, err error) {
	code, text := http.StatusBadRequest, ""
	switch {
	case errors.Is(err, state.ErrNotFound):
		text = "this session has no event of the id in Last-Event-ID; open a stream without that header"
	case errors.Is(err, state.ErrGone):
		text = "what followed the event in Last-Event-ID was dropped to make room for newer events; open a stream without that header, and send again what has not been answered"
	case errors.Is(err, errOver):
		text = "the stream of the event in Last-Event-ID is over, and nothing follows that event"
	default:
		h.opts.OnError(err)
		code, text = http.StatusInternalServerError, "the stream cannot be gone on with now; try again in a moment"
	}
	reason := mcp.CodeInvalidRequest
	if code == http.StatusInternalServerError {
		reason = mcp.CodeInternal
	}
	refuse(w, code, jsonrpc.ID{}, mcp.Errorf(reason, "%s", text))
}

// carry answers a GET with a line. first says what comes before all else, with the line held; its error is for refuseResume.
func (h *Handler) carry(w http.ResponseWriter, r *http.Request, l *line, first func() ([]byte, error)) {
	s := l.s
	l.vacate() // before a place is taken: a connection that ends here gives its own back
	to, err := h.connect(w, r, l, first)
	over := err == nil && l.over
	l.mu.Unlock()
	var refused refusal
	switch {
	case errors.Is(err, errStreams):
		l.leave(nil)
		web.Plain(w, http.StatusConflict, err.Error())
	case errors.As(err, &refused):
		l.leave(nil)
		h.refuseResume(w, refused.error)
	case errors.Is(err, transport.ErrClosed):
		s.detach(l, nil)
		unknownSession(w) // it has ended meanwhile
	case err != nil:
		s.detach(l, nil)
		h.opts.OnError(err)
	case over:
		s.detach(l, nil)
		to.end()
	case to.conn != nil:
		to.onGone(func() { l.s.detach(l, to) }) // which holds no more than it needs, for as long as the stream is open
	default:
		defer s.detach(l, to)
		to.hold(r)
	}
}

// refusal is an error before anything was written.
type refusal struct{ error }

// connect gives a line its connection; l.mu is held. That of one that is over ends at once.
func (h *Handler) connect(w http.ResponseWriter, r *http.Request, l *line, first func() ([]byte, error)) (*stream, error) {
	if !l.s.reserve() {
		return nil, errStreams
	}
	block, err := first()
	if err != nil {
		l.s.giveBack()
		return nil, refusal{err}
	}
	to, err := h.streams.begin(w, r, !l.over, block, func(*stream) error { return l.s.attach(l) })
	if err == nil && !l.over {
		l.to.Store(to)
	}
	return to, err
}
