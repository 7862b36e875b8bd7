package client

import (
	"context"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
)

// gate is open from some moment on.
type gate struct {
	once sync.Once
	way  chan struct{}
}

func newGate() *gate { return &gate{way: make(chan struct{})} }

func (g *gate) open() { g.once.Do(func() { close(g.way) }) }

// How long is waited for the stream on which a legacy server over HTTP sends what belongs to no call, before something that
// needs it. One that comes later is as good, but for what was sent until then.
const (
	streamTime = 2 * time.Second // by a subscription, whose news come on it
	askTime    = time.Second     // by the first call on a connection, for which the server may ask there
)

// hear waits for the stream for what belongs to no call. Once it has been waited for in vain, nobody waits again.
func (w *wire) hear(ctx context.Context, most time.Duration) error {
	if w.outside == nil {
		return nil
	}
	select {
	case <-w.outside.way:
		return nil
	default:
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-w.outside.way:
	case <-timer.C:
		w.outside.open()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// hearQuestions waits, before a request that may make the server ask, until it can be heard. Many servers of the legacy era
// ask on the stream for what belongs to no call, and where that is not open yet they drop the question and wait for its
// answer for ever.
func (c *Client) hearQuestions(ctx context.Context, l *live, method string, limit time.Duration) error {
	switch method {
	case mcp.MethodCallTool, mcp.MethodGetPrompt, mcp.MethodReadResource:
	default:
		return nil
	}
	if l.wire == nil || l.wire.outside == nil || !l.codec.Traits().Sessions || !c.opts.mayBeAsked() {
		return nil
	}
	most := askTime
	if limit > 0 {
		most = min(most, limit)
	}
	return l.wire.hear(ctx, most)
}

// mayBeAsked tells whether a server may ask anything of this client.
func (o *Options) mayBeAsked() bool {
	own := &o.Capabilities
	return o.Elicit != nil || o.ElicitURL != nil || o.CreateMessage != nil || o.Roots != nil ||
		own.Elicitation != nil || own.Sampling != nil || own.Roots != nil
}
