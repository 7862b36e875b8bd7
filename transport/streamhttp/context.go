package streamhttp

import (
	"context"
	"sync"
	"sync/atomic"
)

// callContext is the context of a request that stands alone: that of its connection, which the handler can end too. Most
// requests never ask when it ends, so what that takes is made with the first who does.
type callContext struct {
	context.Context // of the connection
	of              *callContexts
	own             atomic.Pointer[endable]
	left            atomic.Bool // the request is over
}

// endable is a context that the handler can end.
type endable struct {
	context.Context
	end context.CancelFunc
}

// callContexts knows the contexts that somebody waits for.
type callContexts struct {
	over atomic.Bool // all end

	mu      sync.Mutex
	waiting map[*callContext]*endable
}

// Done makes the context one that can be ended.
func (c *callContext) Done() <-chan struct{} {
	if own := c.own.Load(); own != nil {
		return own.Done()
	}
	return c.make().Done()
}

func (c *callContext) make() *endable {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if own := c.own.Load(); own != nil {
		return own
	}
	ctx, end := context.WithCancel(c.Context)
	own := &endable{ctx, end}
	c.own.Store(own)
	if c.of.over.Load() || c.left.Load() {
		end()
		return own
	}
	if c.of.waiting == nil {
		c.of.waiting = make(map[*callContext]*endable)
	}
	c.of.waiting[c] = own
	return own
}

// Err tells whether the connection has gone or the handler has ended the request.
func (c *callContext) Err() error {
	if own := c.own.Load(); own != nil {
		return own.Err()
	}
	if c.of.over.Load() {
		return context.Canceled
	}
	return c.Context.Err()
}

// Value is that of the connection's context, but for what package context looks for: a context below it then hears of the
// end without a goroutine of its own.
func (c *callContext) Value(key any) any {
	if own := c.own.Load(); own != nil {
		return own.Value(key)
	}
	return c.Context.Value(key)
}

// leave lets go of what Done has made: the request is over.
func (c *callContext) leave() {
	c.left.Store(true)
	own := c.own.Load()
	if own == nil {
		return
	}
	c.of.mu.Lock()
	delete(c.of.waiting, c)
	c.of.mu.Unlock()
	own.end()
}

// endAll ends the contexts of all requests that stand alone, and of those to come.
func (l *callContexts) endAll() {
	l.over.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, own := range l.waiting {
		own.end()
	}
}
