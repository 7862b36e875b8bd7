package httpsse

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/rialto-mcp/rialto/internal/negotiate"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
	"github.com/rialto-mcp/rialto/transport/internal/web"
)

// post takes one message or one array of them. The session comes first: for those who have none no body is read.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	from := origin{principal: h.opts.Principal(r), remote: r.RemoteAddr, header: r.Header}
	from.session = h.named(w, r, from.principal)
	if from.session == nil {
		return
	}
	frame, ok := h.bodies.Read(w, r)
	if !ok {
		return
	}
	ctx := context.WithoutCancel(r.Context()) // what runs ends with the stream, not with this request
	if jsonrpc.IsBatch(frame) {
		ok = h.takeArray(ctx, w, r, frame, from)
	} else {
		ok = h.take(ctx, w, r, frame, from)
	}
	if ok {
		web.Plain(w, http.StatusAccepted, "Accepted")
	}
}

// named finds the session of a POST, or answers why not.
func (h *Handler) named(w http.ResponseWriter, r *http.Request, who *mcp.Principal) *session {
	id := r.URL.Query().Get(sessionParam)
	if id == "" {
		web.Plain(w, http.StatusBadRequest, "the address names no "+sessionParam+"; open the event stream at "+h.stream(r)+
			" with GET, and post to the address in its first event")
		return nil
	}
	s := h.sessions.Find(id, who)
	if s == nil {
		web.Plain(w, http.StatusNotFound, "there is no such session, or its event stream has ended; open a new one at "+h.stream(r))
	}
	return s
}

// take judges one message and hands it over, or answers why it is none.
func (h *Handler) take(ctx context.Context, w http.ResponseWriter, r *http.Request, frame []byte, from origin) bool {
	m, err := jsonrpc.Decode(frame, negotiate.Lift)
	if err != nil {
		bad := &jsonrpc.FrameError{Code: jsonrpc.CodeParse}
		errors.As(err, &bad)
		refuse(w, bad.ID, mcp.Errorf(mcp.Code(bad.Code), "%v", err))
		return false
	}
	routes := h.classify(from, m)
	if !h.allows(w, r, routes, m) {
		return false
	}
	h.hand(ctx, m, routes[0], from, from.session)
	return true
}

// takeArray judges an array as a whole, then each element by itself.
func (h *Handler) takeArray(ctx context.Context, w http.ResponseWriter, r *http.Request, frame []byte, from origin) bool {
	messages, route := h.set.ClassifyBatch(frame, nil, from.session.peer.Codec(), h.opts.MaxBatch)
	if route.Refusal != nil {
		refuse(w, jsonrpc.ID{}, route.Refusal.Err)
		return false
	}
	routes := h.classify(from, messages...)
	if !h.allows(w, r, routes, messages...) {
		return false
	}
	answers := jsonrpc.NewAnswers(len(messages) + 1) // one more, so that the array is not sent before all are registered
	b := &batch{session: from.session, answers: answers}
	for i, m := range messages {
		h.hand(ctx, m, routes[i], from, b)
	}
	b.drop()
	return true
}

// classify says where messages go, as on a pipe: the handshake of the stream counts and not the headers of a POST. Each is
// classified once, since the handshake may end meanwhile and what was allowed must be what is delivered.
func (h *Handler) classify(from origin, messages ...*jsonrpc.Message) []negotiate.Route {
	routes := make([]negotiate.Route, len(messages))
	settled := from.session.peer.Codec()
	for i, m := range messages {
		routes[i] = h.set.ClassifyFrame(m, settled)
	}
	return routes
}

// allows puts messages before an authorization layer. Those without a codec are refused or dropped anyway.
func (h *Handler) allows(w http.ResponseWriter, r *http.Request, routes []negotiate.Route, messages ...*jsonrpc.Message) bool {
	return transport.Allows(w, r, func() []transport.Operation {
		var asked []transport.Operation
		for i, m := range messages {
			if routes[i].Codec != nil {
				asked = append(asked, transport.Operations(routes[i].Codec, m)...)
			}
		}
		return asked
	})
}

// hand delivers a message, or answers why not.
func (h *Handler) hand(ctx context.Context, m *jsonrpc.Message, route negotiate.Route, from origin, to back) {
	switch {
	case m.Kind() == jsonrpc.KindRequest && h.isClosed(): // answers to our own requests are still taken: calls wait for them
		h.report(to.answer(ctx, jsonrpc.AppendError(nil, m.ID, &jsonrpc.Error{Code: int64(mcp.CodeInternal), Message: errShutdown.Error()})))
	case route.Refusal != nil && m.Kind() == jsonrpc.KindRequest:
		h.report(to.answer(ctx, refusalFrame(route, m.ID)))
	case route.Refusal != nil:
		to.drop()
	case route.Kind == negotiate.Drop:
		h.opts.OnError(fmt.Errorf("dropped a %s (%s) that belongs to no handshake", m.Kind(), m.Method))
		to.drop()
	default:
		from.message, from.codec = m, route.Codec
		h.recv.Deliver(ctx, &exchange{from, to})
	}
}

func refusalFrame(route negotiate.Route, id jsonrpc.ID) []byte {
	wire := &jsonrpc.Error{Code: int64(route.Refusal.Err.Code), Message: route.Refusal.Err.Message, Data: route.Refusal.Err.Data}
	if route.Codec != nil {
		wire = route.Codec.WireError(route.Refusal.Err)
	}
	return jsonrpc.AppendError(nil, id, wire)
}

func (h *Handler) report(err error) {
	if err != nil {
		h.opts.OnError(err)
	}
}
