package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// CallOptions says how long a call may take and who hears of it meanwhile.
type CallOptions struct {
	Timeout         time.Duration                // from sending, or from the last progress where ResetOnProgress is set; 0 means none
	Total           time.Duration                // hard limit that nothing resets; 0 means none
	ResetOnProgress bool                         // each progress notification starts Timeout anew
	WantProgress    bool                         // ask for progress, as ResetOnProgress and OnProgress do by themselves
	OnProgress      func(params json.RawMessage) // one at a time, in order, before Call returns; see [pending.takeProgress]
	OnTaskProgress  func(params json.RawMessage) // that comes after the answer, where that is a task; for as long as this side remembers the call
	OnNotice        func(n *era.Notice) bool     // see [Peer.offer]
	Tag             any                          // what Peer.Tag answers for the id of this call
	Headers         [][2]string                  // further HTTP headers
	Codec           era.Codec                    // nil means the peer's
	TellFirst       bool                         // a cancellation is written before Call returns
	Opening         bool                         // opens the connection: never cancelled on the wire, and an HTTP status stays an error
}

// Call sends a request and waits for its answer. Errors are those of the wire, of the context, or a local time limit; an
// error that the peer answers is part of the outcome.
func (p *Peer) Call(ctx context.Context, via transport.Exchanger, out *era.Outgoing, o CallOptions) (*era.Outcome, error) {
	codec := o.Codec
	if codec == nil {
		if codec = p.Codec(); codec == nil {
			return nil, mcp.CodeNotConnected
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	w := &pending{out: out, via: via, codec: codec, opts: &o, wake: make(chan struct{}, 1), inline: !via.Shared()}
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if o.OnProgress != nil && o.OnNotice == nil {
		w.hears = newHearing(callCtx, o.OnProgress, p.engine.opts.OnError)
		defer p.hush(w)
	}
	if err := p.expect(w); err != nil {
		return nil, err
	}
	w.reach(cancel)
	stop := w.bound(cancel)
	defer stop()
	outcome, err := p.exchange(callCtx, via, w)
	if failure := w.failure(); err != nil && failure != nil {
		err = failure // the peer was closed; there is nobody to be told
	}
	abandoned := err != nil && callCtx.Err() != nil && w.unanswered() && w.failure() == nil
	switch { // first, so that no late answer falls between
	case abandoned:
		p.giveUp(lateCall{id: w.out.ID})
	case outcome != nil && outcome.ResultType != "": // of a task progress may come still
		p.giveUp(lateCall{w.out.ID, o.OnTaskProgress})
	}
	p.forgetPending(w)
	if abandoned {
		err = context.Cause(callCtx)
		p.abandon(ctx, w, err)
	}
	return outcome, err
}

// expect gives the request its id and enters it into the table of those that wait.
func (p *Peer) expect(w *pending) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return p.closed
	}
	if w.out.ID.IsZero() {
		p.lastID++
		if prefix := p.prefix; prefix != "" {
			w.out.ID = jsonrpc.StringID(fmt.Sprintf("%s%d", prefix, p.lastID))
		} else {
			w.out.ID = jsonrpc.IntID(p.lastID)
		}
	}
	if _, taken := p.pending[w.out.ID]; taken {
		return fmt.Errorf("id %s is in use by another call", w.out.ID)
	}
	if w.out.Token == nil && (w.opts.OnProgress != nil || w.opts.ResetOnProgress || w.opts.WantProgress) {
		w.out.Token = w.out.ID.Raw()
	}
	if p.pending == nil {
		p.pending = make(map[jsonrpc.ID]*pending)
	}
	p.pending[w.out.ID] = w
	return nil
}

// hush ends the progress of a call that returns.
func (p *Peer) hush(w *pending) {
	p.forgetPending(w)
	w.hears.finish()
}

func (p *Peer) forgetPending(w *pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pending[w.out.ID] == w {
		delete(p.pending, w.out.ID)
	}
}

// exchange sends the request, runs the callbacks and returns the decoded answer.
func (p *Peer) exchange(ctx context.Context, via transport.Exchanger, w *pending) (*era.Outcome, error) {
	buf := scratch.Get().(*[]byte)
	frame, err := w.codec.AppendCall((*buf)[:0], w.out)
	if err != nil {
		giveBack(buf)
		return nil, err
	}
	*buf = frame
	elsewhere, err := via.Exchange(ctx, transport.Outbound{
		Frame: frame, Kind: jsonrpc.KindRequest, ID: w.out.ID, Method: w.out.Method,
		Headers: w.headers(), Opening: w.opts.Opening,
	})
	giveBack(buf)
	w.mu.Lock()
	w.inline = false
	w.mu.Unlock()
	var status *transport.StatusError
	if errors.As(err, &status) && status.Message != nil && !w.opts.Opening && !status.Refused() && !status.SessionGone && w.unanswered() {
		return w.codec.DecodeOutcome(w.out, status.Message)
	}
	if err != nil && w.unanswered() {
		return nil, err
	}
	return p.await(ctx, w, elsewhere)
}

// await runs callbacks until the answer is there.
func (p *Peer) await(ctx context.Context, w *pending, elsewhere bool) (*era.Outcome, error) {
	for {
		if w.hears != nil {
			w.hears.run()
		}
		w.mu.Lock()
		answer, err, mark := w.answer, w.err, w.mark
		w.mu.Unlock()
		switch {
		case answer != nil:
			p.notices.await(ctx, mark)
			return w.codec.DecodeOutcome(w.out, answer)
		case err != nil:
			return nil, err
		case !elsewhere:
			return nil, transport.ErrCut
		}
		select {
		case <-w.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// farewell bounds the sending of a cancellation.
const farewell = 5 * time.Second

// abandon tells the peer that nobody waits any more, in the form of the era and the wire. An initialize is never
// cancelled, and where each exchange has its own stream the end of the stream is the cancellation, if the era says so.
func (p *Peer) abandon(ctx context.Context, w *pending, cause error) {
	via := w.via
	if w.opts.Opening || (w.codec.Traits().CancelsByClose && !via.Shared()) || w.told.Swap(true) {
		return
	}
	params := append([]byte(`{"requestId":`), w.out.ID.Raw()...)
	params = append(params, `,"reason":`...)
	params = jsonrpc.AppendString(params, reason(cause))
	params = append(params, '}')
	tell := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		if err := p.Send(ctx, via, w.codec, &era.Notice{Method: mcp.NotifyCancelled, Params: params}); err != nil && !errors.Is(err, transport.ErrClosed) {
			p.engine.opts.OnError(fmt.Errorf("cancel %s: %w", w.out.Method, err))
		}
	}
	if w.opts.TellFirst {
		tell()
		return
	}
	p.mu.Lock()
	p.farewells++
	p.mu.Unlock()
	said := func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.farewells--
		p.stirred()
	}
	if !p.start(func() { defer said(); tell() }) {
		said()
	}
}

// GiveUp ends every call that waits for the peer, with an error, and tells the peer that nobody does any more. Who closes the
// wire does this first, or the peer would go on with them for a while.
func (p *Peer) GiveUp(err error) {
	p.mu.Lock()
	waiting := slices.Collect(maps.Values(p.pending))
	p.mu.Unlock()
	for _, w := range waiting {
		p.abandon(context.Background(), w, err)
		w.fail(err)
	}
}

// AwaitFarewells returns when the peer has been told of every call that was given up, or ctx ends. Who closes the wire asks
// for it first: a peer that sees the end of its input but no cancellation goes on with such calls for a while.
func (p *Peer) AwaitFarewells(ctx context.Context) {
	p.until(ctx, func() bool { return p.farewells == 0 })
}

// reason is what the peer may know of the end of a wait: the cause that a caller gives a context is not for it.
func reason(cause error) string {
	var own *mcp.Error
	switch {
	case errors.As(cause, &own) && own.Code == mcp.CodeRequestTimeout:
		return own.Message
	case errors.Is(cause, context.DeadlineExceeded):
		return "the caller's time is up"
	}
	return "the caller has cancelled the request"
}

// Send sends a notification by an exchanger.
func (p *Peer) Send(ctx context.Context, via transport.Exchanger, codec era.Codec, n *era.Notice) error {
	buf := scratch.Get().(*[]byte)
	defer giveBack(buf)
	frame, err := codec.AppendNotice((*buf)[:0], n)
	if err != nil {
		return err
	}
	*buf = frame
	_, err = via.Exchange(ctx, transport.Outbound{Frame: frame, Kind: jsonrpc.KindNotification, Method: n.Method, Headers: codec.NoticeHeaders(n)})
	return err
}
