package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// pending is one request of this side that waits for its answer.
type pending struct {
	out   *era.Outgoing
	via   transport.Exchanger
	codec era.Codec
	opts  *CallOptions
	wake  chan struct{} // one place; filled when something was put in
	hears *hearing      // nil where nobody wants progress
	told  atomic.Bool   // the peer has been told that nobody waits any more

	mu      sync.Mutex
	timer   *time.Timer // of Timeout
	total   *time.Timer // of Total
	resting int         // how many questions of the peer are being answered meanwhile
	began   time.Time
	answer  *jsonrpc.Message
	err     error
	mark    uint64 // notifications that came before the answer
	cancel  context.CancelCauseFunc
	inline  bool // the caller's own goroutine reads the stream
}

// headers are those of the codec and those of the caller. The codec's may be shared and are not appended to.
func (w *pending) headers() [][2]string {
	own := w.codec.CallHeaders(w.out)
	if len(w.opts.Headers) == 0 {
		return own
	}
	return slices.Concat(own, w.opts.Headers)
}

// takeProgress takes one progress notification of the call. stream is the id of the request on whose stream it came.
// OnProgress runs on the caller's goroutine: at once where that is the one that reads the stream, in await where it waits.
// While it reads its own stream, progress that comes on another is handed over on a goroutine beside it.
func (w *pending) takeProgress(n *era.Notice, stream jsonrpc.ID) {
	w.mu.Lock()
	if w.timer != nil && w.opts.ResetOnProgress && w.resting == 0 {
		w.timer.Reset(w.opts.Timeout)
	}
	inline := w.inline
	w.mu.Unlock()
	if w.opts.OnNotice != nil {
		w.opts.OnNotice(n)
		return
	}
	if w.hears == nil {
		return
	}
	w.hears.put(n)
	switch {
	case inline && stream == w.out.ID:
		w.hears.run()
	case inline:
		w.hears.elsewhere()
	default:
		w.signal()
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

// bound starts the time limits of a call; stop ends them.
func (w *pending) bound(cancel context.CancelCauseFunc) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d := w.opts.Timeout; d > 0 {
		w.began = time.Now()
		w.timer = time.AfterFunc(d, func() { cancel(timeoutError(w.out.Method, d)) })
	}
	if d := w.opts.Total; d > 0 && (w.opts.Timeout == 0 || d < w.opts.Timeout || w.opts.ResetOnProgress) {
		w.total = time.AfterFunc(d, func() { cancel(timeoutError(w.out.Method, d)) })
	}
	return w.unbound
}

func (w *pending) unbound() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, timer := range []*time.Timer{w.timer, w.total} {
		if timer != nil {
			timer.Stop()
		}
	}
	w.timer, w.total = nil, nil // progress that is just being handed over must not wind one up again
}

// rest holds Timeout back, and lets Total count even where Timeout would have come first.
func (w *pending) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resting++
	if w.timer == nil {
		return
	}
	w.timer.Stop()
	if d := w.opts.Total; d > 0 && w.total == nil {
		cancel := w.cancel
		w.total = time.AfterFunc(d-time.Since(w.began), func() { cancel(timeoutError(w.out.Method, d)) })
	}
}

// resume lets Timeout begin anew.
func (w *pending) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.resting--; w.resting == 0 && w.timer != nil {
		w.timer.Reset(w.opts.Timeout)
	}
}

// Rest holds back the time limits of the call under an id while this side answers a question of the peer, and those of all
// calls when the id is zero, since nobody can tell then whose question it is. CallOptions.Total goes on. resume ends it and
// lets CallOptions.Timeout begin anew.
func (p *Peer) Rest(id jsonrpc.ID) (resume func()) {
	p.mu.Lock()
	var resting []*pending
	for each, w := range p.pending {
		if id.IsZero() || each == id {
			resting = append(resting, w)
		}
	}
	p.mu.Unlock()
	for _, w := range resting {
		w.rest()
	}
	return func() {
		for _, w := range resting {
			w.resume()
		}
	}
}

func timeoutError(method string, after time.Duration) error {
	return mcp.Errorf(mcp.CodeRequestTimeout, "no answer to %s within %s", method, after)
}
