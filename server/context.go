package server

import (
	"context"
	"time"
)

// callContext is the context of a request's handler: that of the call, and the way back to the request. It is the request
// itself, so that it costs nothing.
type callContext Request

var _ context.Context = (*callContext)(nil)

// requestKey finds the request in a context.
type requestKey struct{}

// RequestFrom returns the request that a context belongs to: that of a handler or a middleware, and those derived from it.
// It answers nil for others.
func RequestFrom(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}

// under puts a request into the context it is served under. It is done once, before anybody else sees the request.
func (r *Request) under(ctx context.Context) context.Context {
	r.ctx = ctx
	return (*callContext)(r)
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) { return c.ctx.Deadline() }

// Done implements context.Context.
func (c *callContext) Done() <-chan struct{} {
	if r := (*Request)(c); r.server.around == nil && r.mayEnd() {
		return r.living().Done()
	}
	return c.ctx.Done()
}

// Err implements context.Context.
func (c *callContext) Err() error { return c.whole().Err() }

// Value implements context.Context.
func (c *callContext) Value(key any) any {
	if key == (requestKey{}) {
		return (*Request)(c)
	}
	return c.whole().Value(key)
}

// whole is what the context adds to: with middleware the run has a context of its own inside.
func (c *callContext) whole() context.Context {
	if r := (*Request)(c); r.server.around == nil {
		return r.running()
	}
	return c.ctx
}
