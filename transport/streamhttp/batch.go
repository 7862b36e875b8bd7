package streamhttp

import (
	"context"
	"net/http"
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/transport"
)

// batch is one posted array and the response its answers go into, as one array.
type batch struct {
	reply
	answers *jsonrpc.Answers
	done    chan struct{} // closed with the last answer
}

// element is one message of an array.
type element struct {
	origin
	batch *batch
}

var (
	_ transport.Exchange = (*element)(nil)
	_ transport.Reacher  = (*element)(nil)
)

// Send puts a message ahead of the answers.
func (x *element) Send(ctx context.Context, frame []byte) error { return x.batch.send(ctx, frame) }

// Answer adds an answer to the array. It has no status of its own.
func (x *element) Answer(ctx context.Context, frame []byte, _ int, _ int64) error {
	return x.batch.add(ctx, frame)
}

// Drop leaves the element without an answer, unless the server stops: its client waits for one.
func (x *element) Drop() {
	if x.message.Kind() != jsonrpc.KindRequest {
		return
	}
	var frame []byte
	if x.batch.h.isClosed() {
		frame = givenUp(x.message.ID)
	}
	x.batch.h.report(x.batch.add(context.Background(), frame))
}

// Reachable tells whether the client has a stream open: this one, or another of its session.
func (x *element) Reachable(ctx context.Context) bool {
	open, own := x.batch.connected()
	return open || x.session != nil && x.session.reachable(ctx, own)
}

// postBatch takes an array, on the legacy revisions that have them.
func (h *Handler) postBatch(w http.ResponseWriter, r *http.Request, frame []byte, takes form) {
	from := &origin{principal: h.opts.Principal(r)}
	from.request.Store(r)
	missing := h.seekSession(w, r, from)
	var settled era.Codec
	if from.session != nil {
		settled = from.session.codec
	}
	messages, route := h.set.ClassifyBatch(frame, from, settled, h.opts.MaxBatch)
	switch {
	case route.Refusal != nil:
		refuse(w, status(nil, route.Refusal.Row, int64(route.Refusal.Err.Code)), jsonrpc.ID{}, route.Refusal.Err)
		return
	case h.isClosed() && slices.ContainsFunc(messages, func(m *jsonrpc.Message) bool { return m.Kind() == jsonrpc.KindRequest }):
		refuse(w, http.StatusServiceUnavailable, jsonrpc.ID{}, stopping())
		return
	case missing != nil: // after JSON and shape, as with a single message
		missing()
		return
	case from.session == nil && h.sessionful():
		h.noSession(w, jsonrpc.ID{})
		return
	case !transport.Allows(w, r, func() []transport.Operation { return transport.Operations(route.Codec, messages...) }):
		return
	}
	b := &batch{done: make(chan struct{})}
	b.h, b.w, b.r, b.takes, b.resumes = h, w, r, takes, keeper(from.session)
	calls := 0
	for _, m := range messages {
		if m.Kind() == jsonrpc.KindRequest {
			calls++
		}
	}
	b.answers = jsonrpc.NewAnswers(calls)
	b.hand(messages, calls, from, route.Codec)
}

// hand delivers every element and waits for the answers to those that are calls.
func (b *batch) hand(messages []*jsonrpc.Message, calls int, from *origin, codec era.Codec) {
	w, r := b.w, b.r
	if calls > 0 {
		defer b.leave()
		b.begin()
	}
	var own callContext
	ctx := b.h.contextOf(r, from.session, &own)
	defer own.leave()
	var failed error // of what other replicas should have been told
	for _, m := range messages {
		x := &element{batch: b}
		x.message, x.codec, x.session, x.principal, x.remote = m, codec, from.session, from.principal, r.RemoteAddr
		x.request.Store(r)
		here := true
		if b.h.shared != nil && x.session != nil && m.Kind() != jsonrpc.KindRequest {
			var err error
			if here, err = b.h.shared.pass(r.Context(), x.session, m); err != nil && failed == nil {
				failed = err
			}
		}
		if here {
			b.h.recv.Deliver(ctx, x)
		}
	}
	switch {
	case failed != nil && calls == 0:
		b.h.refuseSession(w, jsonrpc.ID{}, failed)
		return
	case failed != nil:
		b.h.opts.OnError(failed)
	}
	if calls == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	<-b.done
	if from.session != nil {
		from.session.touch()
	}
}

// add takes one answer, or nil for a request that gets none, and answers the array with the last.
func (b *batch) add(ctx context.Context, frame []byte) error {
	array, last := b.answers.End(frame)
	if !last {
		return nil
	}
	defer close(b.done)
	if array == nil {
		b.accepted()
		return nil
	}
	return b.answer(ctx, array, http.StatusOK, true)
}

// accepted answers an array all of whose requests were cancelled.
func (b *batch) accepted() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over && b.stream == nil {
		b.w.WriteHeader(http.StatusAccepted)
	}
}

func (h *Handler) report(err error) {
	if err != nil {
		h.opts.OnError(err)
	}
}
