package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Close fails what waits for the peer and cancels what runs for it. It returns when all of it has ended, but waits for
// handlers that ignore their context no longer than CloseGrace.
func (p *Peer) Close(err error) {
	if err == nil {
		err = transport.ErrClosed
	}
	p.mu.Lock()
	first := p.closed == nil
	if first {
		p.closed = err
	}
	p.mu.Unlock()
	if first {
		p.end(err)
	}
	p.wait()
	if ender, ok := p.outlet.(transport.Ender); ok && first {
		ender.End()
	}
	if first && p.engine.opts.OnClose != nil {
		p.engine.opts.OnClose(p)
	}
}

// end settles and cancels everything. Nothing is added to the tables any more, since the peer is marked as closed.
func (p *Peer) end(err error) {
	p.mu.Lock()
	incoming, waiting, queue := slices.Collect(maps.Values(p.incoming)), p.pending, p.queue
	p.pending, p.queue = make(map[jsonrpc.ID]*pending), nil
	p.mu.Unlock()
	var told *transport.EndError
	errors.As(err, &told)
	for _, in := range incoming {
		if told == nil {
			in.stop(err)
		} else {
			p.giveUpIncoming(in, told)
		}
	}
	if told == nil {
		for _, in := range queue {
			in.Finish(nil)
		}
	}
	for _, w := range waiting {
		w.fail(err)
	}
	p.box.close()
	p.notices.close()
	p.engine.forget(p)
	p.engine.interest()
}

// giveUpIncoming ends a request and tells its sender why. A handler that does not heed the end of its context holds that up only
// where the wire answers in the body of the handler's own response.
func (p *Peer) giveUpIncoming(in *Incoming, told *transport.EndError) {
	answered := make(chan struct{})
	in.told.Store(&answered)
	if !in.state.CompareAndSwap(stateRunning, stateFinished) {
		close(answered)
		return
	}
	in.cancel(told)
	p.mu.Lock()
	p.tasks++
	p.mu.Unlock()
	go func() { // wait waits for it; a write that hangs holds up no other
		defer p.done()
		in.forget(nil)
		_ = in.engine.answer(in.ctx, in.X, in.Row, &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "%v", told)}) // it fails where nobody can be told any more
		in.over(false)
		close(answered)
	}()
	if gone := in.gone.Swap(nil); gone != nil {
		(*gone)()
	}
}

// start runs a function on a goroutine that Close waits for, and answers false when the peer is closed already.
func (p *Peer) start(run func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return false
	}
	p.tasks++
	go func() { defer p.done(); run() }() // Close waits for it
	return true
}

// done notes the end of a task.
func (p *Peer) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tasks--
	p.stirred()
}

// stirred wakes those who wait in until; p.mu is held.
func (p *Peer) stirred() {
	if p.stir != nil {
		close(p.stir)
		p.stir = nil
	}
}

// until waits for a state of the peer, which is looked at with p.mu held, and answers false when ctx ends first.
func (p *Peer) until(ctx context.Context, reached func() bool) bool {
	for {
		p.mu.Lock()
		if reached() {
			p.mu.Unlock()
			return true
		}
		if p.stir == nil {
			p.stir = make(chan struct{})
		}
		stir := p.stir
		p.mu.Unlock()
		select {
		case <-stir:
		case <-ctx.Done():
			return false
		}
	}
}

// wait waits for the tasks of a closed peer.
func (p *Peer) wait() {
	ctx, cancel := context.WithTimeout(context.Background(), p.engine.opts.CloseGrace)
	defer cancel()
	if !p.until(ctx, func() bool { return p.tasks == 0 }) {
		p.engine.opts.OnError(fmt.Errorf("a handler, or the writing of an answer, still runs %s after its context ended", p.engine.opts.CloseGrace))
	}
}

// Drain ends the peer's listens gracefully and waits until its other requests have been answered, or ctx ends.
func (p *Peer) Drain(ctx context.Context) {
	p.engine.hub.endOf(ctx, p)
	p.until(ctx, func() bool { return len(p.incoming) == 0 && p.tasks == 0 }) // ids are free before answers are written
}

// Idle tells whether nothing runs for the peer and nothing waits for it.
func (p *Peer) Idle() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.incoming) == 0 && len(p.pending) == 0
}
