package server

import (
	"context"
	"log/slog"

	"github.com/rialto-mcp/rialto/internal/replay"
)

// life is the context of a run that may end before its request does: with a question to a modern client. It is made when
// somebody waits for its end, or when that comes.
type life struct {
	context.Context
	end context.CancelCauseFunc
}

// mayEnd tells whether the run can end with a question.
func (r *Request) mayEnd() bool {
	return r.in.Row != nil && r.in.Row.MultiRound && !r.waits()
}

func (r *Request) living() *life {
	if l := r.life.Load(); l != nil {
		return l
	}
	l := &life{}
	l.Context, l.end = context.WithCancelCause(r.beneath())
	if !r.life.CompareAndSwap(nil, l) {
		l.end(nil)
		return r.life.Load()
	}
	return l
}

// running is the context that the run goes on under.
func (r *Request) running() context.Context {
	if l := r.life.Load(); l != nil {
		return l
	}
	return r.beneath()
}

// beneath is what the run's own context adds to: that of the innermost middleware, or of the request.
func (r *Request) beneath() context.Context {
	if r.inner != nil {
		return r.inner
	}
	return r.ctx
}

// within is a context of a handler that ends with its request as well, whatever the handler has made it from.
func (r *Request) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	whole := r.running()
	if r.mayEnd() {
		whole = r.living()
	}
	stop := context.AfterFunc(whole, func() { cancel(context.Cause(whole)) })
	return ctx, func() { stop(); cancel(nil) }
}

// runContext is the context of a run inside middleware. It may end before that of the middleware does, which has work to do
// when its request ends with a question.
type runContext struct {
	context.Context // of the innermost middleware
	r               *Request
}

// pass begins a run inside middleware; there may have been one before it.
func (r *Request) pass(ctx context.Context) context.Context {
	if r.round.Load() != nil {
		return ctx
	}
	if a := r.asks.Load(); a != nil {
		a.again()
	}
	r.inner = ctx
	if before := r.life.Swap(nil); before != nil {
		before.end(nil)
	}
	if !r.mayEnd() {
		return ctx
	}
	return &runContext{ctx, r}
}

// Done implements context.Context.
func (c *runContext) Done() <-chan struct{} { return c.r.living().Done() }

// Err implements context.Context.
func (c *runContext) Err() error { return c.r.running().Err() }

// Value implements context.Context.
func (c *runContext) Value(key any) any { return c.r.running().Value(key) }

// late writes down that a handler goes on after its run has ended, once in a run, and lets a test hear of all it does.
func (r *Request) late(what string) {
	if !r.warned.Swap(true) {
		r.server.logger().LogAttrs(r.in.Context(), slog.LevelWarn, "mcp: a handler goes on after its question; it should return the error, and ask for several things at once with Request.Ask",
			slog.String("method", r.Method()), slog.String("name", r.Name()), slog.String("does", what))
	}
	if ear := replay.From(r.beneath()); ear != nil {
		ear.Late(what)
	}
}

// changed lets a test hear that a run has asked something else than the one before.
func (r *Request) changed(what string) {
	if ear := replay.From(r.beneath()); ear != nil {
		ear.Changed(what)
	}
}
