package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Handler is what stands above the engine: a server's or a client's own logic. It is called concurrently.
type Handler interface {
	// Call answers one request. Nil means that the handler has parked the call and will call Incoming.Finish later.
	Call(ctx context.Context, in *Incoming) *era.Outcome

	// Notice takes one notification. Those of one peer come one at a time and in order.
	Notice(ctx context.Context, n *era.Notice, x transport.Exchange)
}

// Options configures an Engine. The zero value is ready to use.
type Options struct {
	MaxInFlight  int           // requests running at once for one peer; 0 means 256, negative no limit
	MaxQueued    int           // further ones a pipe may queue; 0 means 1,024, negative no limit
	MaxAnonymous int           // stateless requests without a principal running at once; 0 means 4,096, negative no limit
	MaxListens   int           // listen streams open at once; 0 means 10,000, negative no limit
	MaxListensOf int           // those of one principal; 0 means 1,000, negative no limit
	AskTimeout   time.Duration // how long the client of a call may think about a question; 0 means 10 min, negative no limit
	CloseGrace   time.Duration // how long Close waits for running handlers; 0 means 5 s
	AskGrace     time.Duration // how long a question stays open while no stream of its session is; 0 means 1 min, negative no limit
	IDPrefix     string        // put before the ids of requests of this side; "" gives integers
	OnOpen       func(*Peer)   // a peer has begun; nothing has been received from it yet. Nil for no interest
	OnClose      func(*Peer)   // a peer has ended, and what ran for it. Nil for no interest
	OnError      func(error)   // stray frames and other faults that no caller sees; called concurrently; nil drops them

	// OnInterest is called when the answer of Wanted may have changed. It must not block. It may be called concurrently. Nil
	// for no interest.
	OnInterest func()

	// Task returns the parameters of the notification that a task has changed: the task as it is now; nil when there is none
	// any more. It is called concurrently. Nil means that there are no tasks.
	Task func(ctx context.Context, id string) json.RawMessage

	// Tell tells other processes of a change made in this one: the method of the notification, and the URI of a resource
	// that was updated, or the id of a task. What they tell goes to Engine.Hear. Changes are told one at a time, from Engine.Begin on.
	// Nil means that there are none.
	Tell func(ctx context.Context, method, uri string) error
}

func (o Options) withDefaults() Options {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&o.MaxInFlight, 256)
	set(&o.MaxQueued, 1024)
	set(&o.MaxAnonymous, 4096)
	set(&o.MaxListens, 10000)
	set(&o.MaxListensOf, 1000)
	if o.AskTimeout == 0 {
		o.AskTimeout = 10 * time.Minute
	}
	if o.AskGrace == 0 {
		o.AskGrace = time.Minute
	}
	if o.CloseGrace == 0 {
		o.CloseGrace = 5 * time.Second
	}
	if o.OnError == nil {
		o.OnError = func(error) {}
	}
	return o
}

// Engine serves the exchanges of one server or client. Its methods may be called concurrently.
type Engine struct {
	opts    Options
	handler Handler
	hub     hub
	gates   gates
	telling mailbox     // changes on their way to other processes
	tells   atomic.Bool // what changes is told to them

	mu     sync.Mutex
	peers  map[*Peer]struct{}
	closed atomic.Bool // no new peers and requests; for peers set with mu held
}

var _ transport.Receiver = (*Engine)(nil)

// New makes an engine for a handler.
func New(handler Handler, opts Options) *Engine {
	e := &Engine{opts: opts.withDefaults(), handler: handler, peers: make(map[*Peer]struct{})}
	e.hub.limit, e.hub.limitOf = e.opts.MaxListens, e.opts.MaxListensOf
	e.gates.seed = maphash.MakeSeed()
	e.newTelling()
	return e
}

// ErrShutdown is what a peer gets that comes after the engine was shut down.
var ErrShutdown = errors.New("the server is shutting down")

// Open begins a peer.
func (e *Engine) Open(spec transport.PeerSpec) (transport.Peer, error) {
	p := newPeer(e, spec)
	if !e.remember(p) {
		return nil, ErrShutdown
	}
	if e.opts.OnOpen != nil {
		e.opts.OnOpen(p)
	}
	return p, nil
}

func (e *Engine) remember(p *Peer) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed.Load() {
		return false
	}
	e.peers[p] = struct{}{}
	return true
}

func (e *Engine) forget(p *Peer) {
	e.mu.Lock()
	delete(e.peers, p)
	e.mu.Unlock()
}

// Peers returns the peers that are open now, in no order.
func (e *Engine) Peers() []*Peer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Keys(e.peers))
}

// Receive serves one exchange and returns when it has been answered, dropped or parked.
func (e *Engine) Receive(ctx context.Context, x transport.Exchange) {
	if x.Message().Kind() != jsonrpc.KindRequest {
		e.Deliver(ctx, x)
		return
	}
	in, err := e.admit(ctx, x)
	if err != nil {
		e.refuse(ctx, x, err)
		return
	}
	if in.enter(false) != entered {
		in.Finish(busy(era.RowBusy))
		return
	}
	in.runHere()
}

// Deliver serves one exchange without waiting for its answer. Notifications and answers are taken in the order of the
// calls, and a request is known to a cancellation that is delivered after it.
func (e *Engine) Deliver(ctx context.Context, x transport.Exchange) {
	switch m := x.Message(); m.Kind() {
	case jsonrpc.KindRequest:
		e.deliver(ctx, x)
	case jsonrpc.KindNotification:
		e.notice(ctx, x)
		x.Drop()
	default:
		if p := peerOf(x); p != nil {
			p.settle(m, x)
		} else {
			e.opts.OnError(fmt.Errorf("an answer to %s came outside any session", m.ID))
		}
		x.Drop()
	}
}

// deliver serves a request of a reader. Where the answer is written at once, that is done aside.
func (e *Engine) deliver(ctx context.Context, x transport.Exchange) {
	in, err := e.admit(ctx, x)
	if err != nil {
		aside(x)
		e.refuse(ctx, x, err)
		return
	}
	switch in.enter(true) {
	case entered:
		in.start()
	case refused:
		aside(x)
		in.Finish(busy(0))
	}
}

// aside lets the reading go on elsewhere, where the wire can do that.
func aside(x transport.Exchange) {
	if reader, ok := x.(transport.Inline); ok {
		reader.Inline()
	}
}

func peerOf(x transport.Exchange) *Peer {
	p, _ := x.Peer().(*Peer)
	return p
}

// refuseNew takes no more peers and requests.
func (e *Engine) refuseNew() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed.Store(true)
}

// Drain refuses new peers and requests from now on, ends every listen with its final result, and waits until all other
// requests have been answered, or ctx ends. What a client answers or cancels meanwhile is taken as ever.
func (e *Engine) Drain(ctx context.Context) {
	e.refuseNew()
	await(ctx, func() { e.hub.endAll(ctx) }) // bounded by answerTime
	var wg sync.WaitGroup
	for _, p := range e.Peers() {
		wg.Go(func() { p.Drain(ctx) })
	}
	wg.Wait()
	transport.AwaitRunning(ctx, e)
}

// Shutdown refuses new peers and requests, ends every listen with its final result, and closes every peer. It returns when
// all have ended, or with the context's error when that ends first.
func (e *Engine) Shutdown(ctx context.Context) error {
	e.refuseNew()
	e.telling.close()
	await(ctx, func() { e.hub.endAll(ctx) }) // bounded by answerTime
	closed := await(ctx, func() {            // bounded by CloseGrace
		var wg sync.WaitGroup
		for _, p := range e.Peers() {
			wg.Go(func() { p.Close(&transport.EndError{Why: ErrShutdown.Error(), Err: ErrShutdown}) })
		}
		wg.Wait()
	})
	if !closed {
		return context.Cause(ctx)
	}
	return nil
}

// await runs a function that ends by itself, and tells whether it has ended before ctx. If not, the function goes on alone.
func await(ctx context.Context, run func()) bool {
	done := make(chan struct{})
	go func() { defer close(done); run() }()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// notice handles the notifications that are the engine's own and hands the others to the handler in order.
func (e *Engine) notice(ctx context.Context, x transport.Exchange) {
	n, ok := x.Codec().DecodeNotice(x.Message())
	if !ok {
		return
	}
	p := peerOf(x)
	switch n.Method {
	case mcp.NotifyCancelled:
		if p != nil && p.cancelled(n) {
			return
		}
	case mcp.NotifyProgress:
		if p != nil && p.progress(n, x) {
			return
		}
		e.opts.OnError(fmt.Errorf("progress came for an unknown token"))
		return
	case mcp.NotifyInitialized:
		if p != nil {
			p.initialized()
		}
	default:
		if p != nil && p.offer(n, x) {
			return
		}
	}
	if p == nil {
		e.guardNotice(ctx, n, x)
		return
	}
	if !p.notices.put(len(x.Message().Frame()), func(ctx context.Context) { e.guardNotice(ctx, n, x) }) {
		e.opts.OnError(fmt.Errorf("dropped %.100s: the peer is closed, or %d notifications wait for their handler, or %d MiB of them", n.Method, mostNotices, mostNoticeBytes>>20))
	}
}

func (e *Engine) guardNotice(ctx context.Context, n *era.Notice, x transport.Exchange) {
	returned := false
	defer func() {
		if !returned {
			e.opts.OnError(panicError{n.Method, recover(), stack()})
		}
	}()
	e.handler.Notice(ctx, n, x)
	returned = true
}

// internalError is the answer that gives nothing away; the detail goes to OnError.
func internalError() *era.Outcome {
	return &era.Outcome{Err: mcp.Errorf(mcp.CodeInternal, "Internal error")}
}
