package streamhttp

import (
	"net/http"
	"strings"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// named finds the session of a GET or DELETE, or answers why not.
func (h *Handler) named(w http.ResponseWriter, r *http.Request) *session {
	o := &origin{principal: h.opts.Principal(r)}
	o.request.Store(r)
	if id, ok := o.Header(headerSession); !ok || id == "" {
		web.Plain(w, http.StatusBadRequest, "the header Mcp-Session-Id is missing")
		return nil
	}
	if !h.findSession(w, r, o) {
		return nil
	}
	version, _ := o.Header(era.HeaderVersion)
	version = strings.Trim(version, " \t")
	if s := o.session; version != "" && version != s.codec.Revision() {
		refuse(w, http.StatusBadRequest, jsonrpc.ID{}, mcp.Errorf(mcp.CodeInvalidRequest,
			"the header MCP-Protocol-Version names %q but this session speaks %s; send that", version, s.codec.Revision()))
		return nil
	}
	return o.session
}

// get opens a stream for what belongs to no call, of which the newest of a session gets it, or goes on with a stream of the
// session that was cut.
func (h *Handler) get(w http.ResponseWriter, r *http.Request) {
	if accepted(r.Header["Accept"])&eventsBody == 0 {
		web.Plain(w, http.StatusNotAcceptable, "this is an event stream; name text/event-stream in Accept")
		return
	}
	s := h.named(w, r)
	if s == nil {
		return
	}
	after := r.Header.Get(headerLastEvent)
	switch {
	case !s.kept():
	case s.shared != nil:
		h.shared.get(w, r, s, after)
		return
	case after != "":
		h.resume(w, r, s, after)
		return
	}
	l := s.newLine(getLine)
	h.carry(w, r, l, func() ([]byte, error) { return l.prime(0), nil })
}

// hold waits until a stream that writes through net/http is over.
func (s *stream) hold(r *http.Request) {
	done := make(chan struct{})
	s.mu.Lock()
	if s.closed {
		close(done)
	}
	s.done = done
	s.mu.Unlock()
	select {
	case <-done:
	case <-r.Context().Done():
	}
	s.close()
}

// delete ends a session.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request) {
	s := h.named(w, r)
	if s == nil {
		return
	}
	delete(w.Header(), headerSession)
	if s.shared != nil {
		if err := h.shared.delete(r.Context(), s, errDeleted); err != nil {
			h.refuseSession(w, jsonrpc.ID{}, err)
			return
		}
	} else {
		s.end(errDeleted)
	}
	w.WriteHeader(http.StatusOK)
}
