package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Peer is what is kept of one process, session or connection: the calls in both directions and, on the legacy era, what
// the handshake said. Its methods may be called concurrently.
type Peer struct {
	engine    *Engine
	outlet    transport.Outlet
	SessionID string
	Principal *mcp.Principal

	ready   atomic.Bool  // the handshake is complete: unsolicited messages may go out
	level   atomic.Value // mcp.Level that the peer has set
	notices notices
	box     mailbox // changes on their way to a legacy peer

	mu        sync.Mutex
	opened    era.Codec    // what the peer was opened with
	codec     era.Codec    // of the handshake; nil before it
	envelope  era.Envelope // what the handshake said
	incoming  map[jsonrpc.ID]*Incoming
	active    int // requests that have a place among the running ones
	queue     []*Incoming
	pending   map[jsonrpc.ID]*pending
	resources map[string]bool // legacy subscriptions, by URI
	lastID    int64
	abandoned []jsonrpc.ID // of calls that nobody waits for any more, the newest last
	closed    error
	tasks     int           // goroutines that work for the peer now
	stir      chan struct{} // closed when a task or a request ends; nil while nobody waits for that
}

var _ transport.Peer = (*Peer)(nil)

func newPeer(e *Engine, spec transport.PeerSpec) *Peer {
	p := &Peer{
		engine: e, outlet: spec.Outlet, opened: spec.Codec, codec: spec.Codec, SessionID: spec.SessionID, Principal: spec.Principal,
		incoming: make(map[jsonrpc.ID]*Incoming), pending: make(map[jsonrpc.ID]*pending),
	}
	p.notices.start = p.start
	p.box.start, p.box.deliver = p.start, p.Notify
	p.box.failed = func(err error) { e.opts.OnError(fmt.Errorf("announce a change: %w", err)) }
	return p
}

// Codec returns the codec of the handshake, or nil while there was none.
func (p *Peer) Codec() era.Codec {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codec
}

// SetCodec settles the revision of a connection that this side has opened.
func (p *Peer) SetCodec(c era.Codec) {
	p.mu.Lock()
	p.codec = c
	p.mu.Unlock()
}

// Ready tells whether the handshake is complete.
func (p *Peer) Ready() bool { return p.ready.Load() }

// SetLevel sets the least level of the log messages this peer wants.
func (p *Peer) SetLevel(l mcp.Level) { p.level.Store(l) }

// Level returns the level the peer has set, and whether it has set one.
func (p *Peer) Level() (mcp.Level, bool) {
	l, ok := p.level.Load().(mcp.Level)
	return l, ok
}

// register enters a request into the in-flight table, and the first time takes up what a handshake says. It returns a
// refusal for an id in use and for a second handshake.
func (p *Peer) register(in *Incoming) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return &era.Refusal{Err: mcp.Errorf(mcp.CodeInternal, "the session has ended")}
	}
	if _, taken := p.incoming[in.ID()]; taken {
		return &era.Refusal{Row: 2, Err: mcp.Errorf(mcp.CodeInvalidRequest, "id %s is in use by a request that still runs", in.ID())}
	}
	if in.Method() == methodInitialize {
		if p.envelope.ClientInfo != nil {
			return &era.Refusal{Row: 2, Err: mcp.Errorf(mcp.CodeInvalidRequest, "the session is initialized already; close it to begin anew")}
		}
		p.codec = in.Codec
		p.greeted(in.Call.Params())
	}
	if in.Codec.Traits().Handshake {
		in.Envelope = p.envelope
	}
	p.incoming[in.ID()] = in
	return nil
}

// greeted keeps what an initialize request says of the client.
func (p *Peer) greeted(params json.RawMessage) {
	p.envelope.ClientInfo, _ = jsonrpc.Member(params, "clientInfo")
	p.envelope.ClientCapabilities, _ = jsonrpc.Member(params, "capabilities")
	if p.envelope.ClientInfo == nil {
		p.envelope.ClientInfo = json.RawMessage("{}")
	}
}

// ungreet forgets a handshake that was refused, so that the client may try again.
func (p *Peer) ungreet() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.codec, p.envelope = p.opened, era.Envelope{}
	p.ready.Store(false)
}

// Envelope returns what the handshake said of the client.
func (p *Peer) Envelope() era.Envelope {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.envelope
}

type entry uint8

const (
	entered entry = iota // it may run, and is a task of its peer until done is called
	queued
	refused
)

// enter gives a request a place among the running ones, or in the queue. What stays open by design needs no place.
func (p *Peer) enter(in *Incoming, mayQueue bool) entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.engine.opts
	switch {
	case p.closed != nil:
		return refused
	case in.long():
		p.tasks++
		return entered
	case o.MaxInFlight < 0 || p.active < o.MaxInFlight:
		p.seat(in)
		return entered
	case mayQueue && (o.MaxQueued < 0 || len(p.queue) < o.MaxQueued):
		p.queue = append(p.queue, in)
		return queued
	}
	return refused
}

// seat gives a request a place; p.mu is held.
func (p *Peer) seat(in *Incoming) {
	p.active++
	in.counted = true
	p.tasks++
}

// unregister gives the id of a request back.
func (p *Peer) unregister(in *Incoming) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.incoming[in.ID()] == in {
		delete(p.incoming, in.ID())
	}
	p.stirred()
}

// vacate gives the place of a request to the next one in the queue.
func (p *Peer) vacate(in *Incoming) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !in.counted {
		return
	}
	in.counted = false
	p.active--
	if len(p.queue) == 0 || p.closed != nil {
		return
	}
	next := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	p.seat(next)
	go next.runHere() // a task of the peer
}

// unqueue takes a request out of the queue, and tells whether it was there; p.mu is held.
func (p *Peer) unqueue(in *Incoming) bool {
	i := slices.Index(p.queue, in)
	if i < 0 {
		return false
	}
	p.queue = slices.Delete(p.queue, i, i+1)
	return true
}

// cancelled ends the request that a cancellation names, and tells whether there was one.
func (p *Peer) cancelled(n *era.Notice) bool {
	raw, ok := n.Message.Lifted(era.LiftRequestID)
	if !ok {
		return true // optional in one revision, and then there is nothing to find
	}
	id, err := jsonrpc.ParseID(raw)
	if err != nil {
		p.engine.opts.OnError(fmt.Errorf("a cancellation came with a requestId that is no id"))
		return true
	}
	p.mu.Lock()
	in := p.incoming[id]
	waiting := p.pending[id]
	waited := in != nil && p.unqueue(in)
	p.mu.Unlock()
	if in != nil {
		if in.Method() == methodInitialize {
			return true // by no revision a client may cancel it, and without its answer the connection would be of no use
		}
		in.stop(ErrCancelled)
		if waited {
			in.Finish(nil) // it never ran: nobody else would give its id back
		}
		return true
	}
	if waiting != nil && waiting.opts.OnNotice != nil {
		waiting.opts.OnNotice(n) // a listen that the server ends is the caller's to see
		return true
	}
	return waiting == nil
}

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
}

// end settles and cancels everything. Nothing is added to the tables any more, since the peer is marked as closed.
func (p *Peer) end(err error) {
	p.mu.Lock()
	incoming, waiting, queue := slices.Collect(maps.Values(p.incoming)), p.pending, p.queue
	p.pending, p.queue = make(map[jsonrpc.ID]*pending), nil
	p.mu.Unlock()
	for _, in := range incoming {
		in.stop(err)
	}
	for _, in := range queue {
		in.Finish(nil)
	}
	for _, w := range waiting {
		w.fail(err)
	}
	p.box.close()
	p.notices.close()
	p.engine.forget(p)
}

// start runs a function on a goroutine that Close waits for, and answers false when the peer is closed already.
func (p *Peer) start(run func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed != nil {
		return false
	}
	p.tasks++
	go func() { defer p.done(); run() }()
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
		p.engine.opts.OnError(fmt.Errorf("a handler still runs %s after its context ended", p.engine.opts.CloseGrace))
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

// Notify sends an unsolicited notification: never before the handshake is complete, and only what the revision has.
func (p *Peer) Notify(ctx context.Context, n *era.Notice) error {
	codec := p.Codec()
	if codec == nil || !codec.Traits().Unsolicited || !p.Ready() {
		return transport.ErrUndeliverable
	}
	return sendNotice(ctx, p.outlet, codec, n)
}
