package streamhttp

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// post takes one message or one array of them; limited as in Bodies.take.
func (h *Handler) post(w http.ResponseWriter, r *http.Request, limited bool) {
	takes, ok := h.mediaTypes(w, r)
	if !ok {
		return
	}
	frame, ok := h.bodies.take(w, r, limited)
	if !ok {
		return
	}
	if jsonrpc.IsBatch(frame) {
		h.postBatch(w, r, frame, takes)
		return
	}
	m, err := jsonrpc.Decode(frame, negotiate.Lift)
	if err != nil {
		bad := &jsonrpc.FrameError{Code: jsonrpc.CodeParse}
		errors.As(err, &bad)
		refuse(w, http.StatusBadRequest, bad.ID, mcp.Errorf(mcp.Code(bad.Code), "%v", err))
		return
	}
	if m.Kind() == jsonrpc.KindRequest && h.isClosed() { // answers to our own requests are still taken: calls wait for them
		refuse(w, http.StatusServiceUnavailable, m.ID, stopping())
		return
	}
	x := &exchange{}
	x.message, x.remote, x.principal = m, r.RemoteAddr, h.opts.Principal(r)
	x.request.Store(r)
	x.h, x.w, x.r, x.takes = h, w, r, takes
	if h.route(w, r, x) {
		h.hand(w, r, x)
	}
}

// route finds codec and session of a message, or answers why not.
func (h *Handler) route(w http.ResponseWriter, r *http.Request, x *exchange) bool {
	m := x.message
	if !negotiate.IsModern(m, x) && !h.findSession(w, r, &x.origin) {
		return false
	}
	var settled era.Codec
	if x.session != nil {
		settled = x.session.codec
	}
	route := h.set.Classify(m, x, settled)
	x.codec = route.Codec
	switch {
	case route.Refusal != nil:
		var id jsonrpc.ID
		if m.Kind() == jsonrpc.KindRequest {
			id = m.ID
		}
		refuse(w, status(nil, route.Refusal.Row, int64(route.Refusal.Err.Code)), id, route.Refusal.Err)
		return false
	case route.Kind == negotiate.Drop:
		w.WriteHeader(http.StatusAccepted)
		return false
	case route.Kind == negotiate.Legacy && !route.Opening && x.session == nil && h.sessionful():
		h.noSession(w, m.ID)
		return false
	case !transport.Allows(w, r, func() []transport.Operation { return transport.Operations(route.Codec, m) }):
		return false
	case route.Opening && h.sessionful():
		return h.open(w, x)
	}
	return true
}

// noSession refuses a legacy message outside any session; only a request that stands alone has an id to name.
func (h *Handler) noSession(w http.ResponseWriter, id jsonrpc.ID) {
	refuse(w, http.StatusBadRequest, id, mcp.Errorf(mcp.CodeInvalidRequest,
		"the header Mcp-Session-Id is missing; send initialize first, then its session id with every request"))
}

// findSession looks up the session that a legacy message names, or answers 404. No id is no fault here.
func (h *Handler) findSession(w http.ResponseWriter, r *http.Request, o *origin) bool {
	missing := h.seekSession(w, r, o)
	if missing != nil {
		missing()
	}
	return missing == nil
}

// seekSession is findSession for who has something else to say first: what it returns answers that there is no such
// session, and is nil where there is one or none is named.
func (h *Handler) seekSession(w http.ResponseWriter, r *http.Request, o *origin) (missing func()) {
	id, named := o.Header(headerSession)
	if !named || id == "" || !h.sessionful() {
		return nil
	}
	if h.shared != nil {
		var err error
		if o.session, err = h.shared.find(r.Context(), id, o.principal); err != nil {
			return func() { h.refuseSession(w, jsonrpc.ID{}, err) }
		}
	} else if o.session = h.sessions.Find(id, o.principal); o.session == nil {
		return func() { unknownSession(w) }
	}
	o.session.touch()
	w.Header()[headerSession] = o.session.header[:]
	return nil
}

func unknownSession(w http.ResponseWriter) {
	refuse(w, http.StatusNotFound, jsonrpc.ID{}, mcp.Errorf(mcp.CodeInvalidRequest,
		"there is no such session, or it has ended; send initialize without Mcp-Session-Id to open a new one"))
}

// open prepares the session that an initialize request asks for. Nothing has been allocated for it before.
func (h *Handler) open(w http.ResponseWriter, x *exchange) bool {
	err := h.sessions.Reserve()
	if err == nil {
		if x.session, err = h.newSession(x.codec, x.principal, rand.Text(), nil); err != nil {
			h.sessions.GiveBack()
		}
	}
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, x.message.ID, mcp.Errorf(mcp.CodeInternal, "no session can be opened now: %v", err))
		return false
	}
	x.opening = x.session
	if s := x.session.shared; s != nil {
		s.id, s.opening = x.message.ID, s.record(x.message.Params)
	}
	return true
}

// hand gives a message to the receiver and sees its response to the end.
func (h *Handler) hand(w http.ResponseWriter, r *http.Request, x *exchange) {
	opening := x.opening
	if x.message.Kind() != jsonrpc.KindRequest {
		x.over, x.w, x.r = true, nil, nil // a notification or an answer has no response but this one
		here := true
		if h.shared != nil && x.session != nil {
			var err error
			if here, err = h.shared.pass(r.Context(), x.session, x.message); err != nil {
				h.refuseSession(w, jsonrpc.ID{}, err)
				return
			}
		}
		if here {
			h.recv.Deliver(h.contextOf(r, x.session, &x.ctx), x)
			x.ctx.leave()
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	ctx := h.contextOf(r, x.session, &x.ctx)
	defer x.ctx.leave()
	if row, _ := x.codec.Look(x.message.Method, false, era.ServerSide); row != nil && row.Long {
		x.long = true
		ctx, x.cancel = context.WithCancel(r.Context()) // it ends with its stream, and is no call that anybody waits for
	}
	if opening == nil { // before its answer a session cannot be named, nor a stream of it be gone on with
		x.resumes = keeper(x.session)
	}
	defer x.leave() // also when the receiver panics: nothing may touch w afterwards
	x.begin()
	h.recv.Receive(ctx, x)
	if x.session != nil {
		x.session.touch()
	}
	if opening != nil {
		h.settle(opening)
	}
}

// contextOf is what a call runs under: a stateless one ends with its connection, or when the handler has waited for it long
// enough; one of a session ends with that. own is where the former may live.
func (h *Handler) contextOf(r *http.Request, s *session, own *callContext) context.Context {
	if s != nil {
		return context.WithoutCancel(r.Context())
	}
	own.Context, own.of = r.Context(), &h.calls
	return own
}
