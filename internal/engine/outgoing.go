package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// CallOptions says how long a call may take and who hears of it meanwhile.
type CallOptions struct {
	Timeout         time.Duration // from sending, or from the last progress where ResetOnProgress is set; 0 means none
	Total           time.Duration // hard limit that nothing resets; 0 means none
	ResetOnProgress bool
	WantProgress    bool                         // ask for progress even where neither of the callbacks above and below is set
	OnProgress      func(params json.RawMessage) // on the caller's goroutine, in order, before the answer
	OnNotice        func(n *era.Notice) bool     // see [Peer.offer]
	Tag             any                          // what Peer.Tag answers for the id of this call
	Headers         [][2]string                  // further HTTP headers
	Codec           era.Codec                    // nil means the peer's
	Opening         bool                         // opens the connection: never cancelled on the wire, and an HTTP status stays an error
}

// pending is one request of this side that waits for its answer.
type pending struct {
	out   *era.Outgoing
	codec era.Codec
	opts  *CallOptions
	wake  chan struct{} // one place; filled when something was put in

	mu       sync.Mutex
	timer    *time.Timer
	progress []json.RawMessage
	answer   *jsonrpc.Message
	err      error
	mark     uint64 // notifications that came before the answer
	cancel   context.CancelCauseFunc
	inline   bool // the caller's own goroutine reads the stream
}

// mostProgress bounds the progress notifications that wait for a slow callback; the older ones go first.
const mostProgress = 1000

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
	w := &pending{out: out, codec: codec, opts: &o, wake: make(chan struct{}, 1), inline: !via.Shared()}
	if err := p.expect(w); err != nil {
		return nil, err
	}
	callCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w.reach(cancel)
	stop := w.bound(cancel)
	defer stop()
	outcome, err := p.exchange(callCtx, via, w)
	if failure := w.failure(); err != nil && failure != nil {
		err = failure // the peer was closed; there is nobody to be told
	}
	abandoned := err != nil && callCtx.Err() != nil && w.unanswered() && w.failure() == nil
	if abandoned {
		p.giveUp(w.out.ID) // first, so that no late answer falls between
	}
	p.forgetPending(w)
	if abandoned {
		err = context.Cause(callCtx)
		p.abandon(ctx, via, w, err)
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
		if prefix := p.engine.opts.IDPrefix; prefix != "" {
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
	p.pending[w.out.ID] = w
	return nil
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
	if errors.As(err, &status) && status.Message != nil && !w.opts.Opening && !status.Refused() && w.unanswered() {
		return w.codec.DecodeOutcome(w.out, status.Message)
	}
	if err != nil && w.unanswered() {
		return nil, err
	}
	return p.await(ctx, w, elsewhere)
}

// headers are those of the codec and those of the caller. The codec's may be shared and are not appended to.
func (w *pending) headers() [][2]string {
	own := w.codec.CallHeaders(w.out)
	if len(w.opts.Headers) == 0 {
		return own
	}
	return slices.Concat(own, w.opts.Headers)
}

// await runs callbacks until the answer is there.
func (p *Peer) await(ctx context.Context, w *pending, elsewhere bool) (*era.Outcome, error) {
	for {
		w.runProgress()
		w.mu.Lock()
		answer, err, mark, more := w.answer, w.err, w.mark, len(w.progress) > 0
		w.mu.Unlock()
		switch {
		case more:
			continue
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

// runProgress hands over the progress that has come, in order.
func (w *pending) runProgress() {
	w.mu.Lock()
	items := w.progress
	w.progress = nil
	w.mu.Unlock()
	for _, params := range items {
		w.opts.OnProgress(params)
	}
}

func (w *pending) unanswered() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.answer == nil
}

// fail ends the wait with an error of this side.
func (w *pending) fail(err error) {
	w.mu.Lock()
	if w.answer == nil && w.err == nil {
		w.err = err
	}
	cancel := w.cancel
	w.mu.Unlock()
	w.signal()
	if cancel != nil {
		cancel(err) // an exchange with a stream of its own ends with its context
	}
}

// reach sets how fail ends the exchange; one that has failed already ends at once.
func (w *pending) reach(cancel context.CancelCauseFunc) {
	w.mu.Lock()
	w.cancel = cancel
	err := w.err
	w.mu.Unlock()
	if err != nil {
		cancel(err)
	}
}

func (w *pending) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.answer != nil {
		return nil
	}
	return w.err
}

func (w *pending) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// settle gives an answer to the call that waits for it.
func (p *Peer) settle(m *jsonrpc.Message, x transport.Exchange) {
	id := m.ID
	if id.IsZero() {
		id = x.Related() // an error without id on the stream of one request is about that request
	}
	p.mu.Lock()
	w := p.pending[id]
	delete(p.pending, id)
	p.mu.Unlock()
	if w == nil {
		if !p.late(id) {
			p.engine.opts.OnError(stray(m))
		}
		return
	}
	w.mu.Lock()
	w.answer, w.mark = m, p.notices.mark()
	w.mu.Unlock()
	w.signal()
}

// stray describes an answer that belongs to no call. An error without id tells what the peer thinks of a frame of ours.
func stray(m *jsonrpc.Message) error {
	if m.ID.IsZero() && m.Error != nil {
		return fmt.Errorf("the peer reports error %d without naming a request: %s", m.Error.Code, m.Error.Message)
	}
	return fmt.Errorf("an answer came for id %s, which no call waits for", m.ID)
}

// progress hands a progress notification to its call, and tells whether there is one.
func (p *Peer) progress(n *era.Notice, x transport.Exchange) bool {
	token, _ := n.Message.Lifted(era.LiftProgressToken)
	p.mu.Lock()
	var w *pending
	if id, err := jsonrpc.ParseID(token); err == nil {
		w = p.pending[id] // a token of ours is the id
	}
	if w == nil || string(w.out.Token) != string(token) {
		w = p.byToken(token)
	}
	p.mu.Unlock()
	if w == nil {
		id, err := jsonrpc.ParseID(token)
		return err == nil && p.late(id)
	}
	w.mu.Lock()
	if w.timer != nil && w.opts.ResetOnProgress {
		w.timer.Reset(w.opts.Timeout)
	}
	if w.opts.OnNotice != nil {
		w.mu.Unlock()
		w.opts.OnNotice(n)
		return true
	}
	own := w.inline && x.Related() == w.out.ID
	if w.opts.OnProgress != nil && !own {
		if len(w.progress) >= mostProgress {
			w.progress = w.progress[1:]
		}
		w.progress = append(w.progress, n.Params)
	}
	w.mu.Unlock()
	switch {
	case w.opts.OnProgress == nil:
	case own:
		w.opts.OnProgress(n.Params)
	default:
		w.signal()
	}
	return true
}

// offer hands a notification to the call that it belongs to: by the subscription it names, or by the stream it came on.
// It answers whether the call's OnNotice has taken it; the handler gets what is left. OnNotice is called on the reader's
// goroutine, in the order of arrival and before the answer, and must not block. Progress of the call and a cancellation
// of it go there too, and nowhere else.
func (p *Peer) offer(n *era.Notice, x transport.Exchange) bool {
	id := x.Related()
	if n.Subscription != nil {
		id, _ = jsonrpc.ParseID(n.Subscription) // one that is no id finds nothing
	}
	if id.IsZero() {
		return false
	}
	p.mu.Lock()
	w := p.pending[id]
	p.mu.Unlock()
	return w != nil && w.opts.OnNotice != nil && w.opts.OnNotice(n)
}

// Tag answers what the caller has put into CallOptions.Tag of the call that runs under an id, nil when there is none.
func (p *Peer) Tag(id jsonrpc.ID) any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.pending[id]; w != nil {
		return w.opts.Tag
	}
	return nil
}

// mostLate bounds how many calls are remembered that nobody waits for any more.
const mostLate = 256

// giveUp remembers the id of a call that nobody waits for any more, so that its answer may still come without a word.
func (p *Peer) giveUp(id jsonrpc.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.abandoned) >= mostLate {
		p.abandoned = p.abandoned[1:]
	}
	p.abandoned = append(p.abandoned, id)
}

// late tells whether an id is that of a call given up.
func (p *Peer) late(id jsonrpc.ID) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Contains(p.abandoned, id)
}

// byToken finds a call whose caller chose the token; p.mu is held.
func (p *Peer) byToken(token []byte) *pending {
	for _, w := range p.pending {
		if w.out.Token != nil && string(w.out.Token) == string(token) {
			return w
		}
	}
	return nil
}

// bound starts the time limits of a call; stop ends them.
func (w *pending) bound(cancel context.CancelCauseFunc) (stop func()) {
	var total *time.Timer
	if d := w.opts.Timeout; d > 0 {
		w.mu.Lock()
		w.timer = time.AfterFunc(d, func() { cancel(timeoutError(w.out.Method, d)) })
		w.mu.Unlock()
	}
	if d := w.opts.Total; d > 0 && (w.opts.Timeout == 0 || d < w.opts.Timeout || w.opts.ResetOnProgress) {
		total = time.AfterFunc(d, func() { cancel(timeoutError(w.out.Method, d)) })
	}
	return func() {
		w.mu.Lock()
		if w.timer != nil {
			w.timer.Stop()
			w.timer = nil // progress that is just being handed over must not wind it up again
		}
		w.mu.Unlock()
		if total != nil {
			total.Stop()
		}
	}
}

// farewell bounds the sending of a cancellation.
const farewell = 5 * time.Second

// abandon tells the peer that nobody waits any more, in the form of the era and the wire. An initialize is never
// cancelled, and where each exchange has its own stream the end of the stream is the cancellation, if the era says so.
func (p *Peer) abandon(ctx context.Context, via transport.Exchanger, w *pending, cause error) {
	if w.opts.Opening || (w.codec.Traits().CancelsByClose && !via.Shared()) {
		return
	}
	params := append([]byte(`{"requestId":`), w.out.ID.Raw()...)
	params = append(params, `,"reason":`...)
	params = jsonrpc.AppendString(params, reason(cause))
	params = append(params, '}')
	p.start(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		if err := p.Send(ctx, via, w.codec, &era.Notice{Method: methodCancelled, Params: params}); err != nil {
			p.engine.opts.OnError(fmt.Errorf("cancel %s: %w", w.out.Method, err))
		}
	})
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

func timeoutError(method string, after time.Duration) error {
	return mcp.Errorf(mcp.CodeRequestTimeout, "no answer to %s within %s", method, after)
}
