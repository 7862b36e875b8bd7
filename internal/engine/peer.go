package engine

import (
	"context"
	"encoding/json"
	"fmt"
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
	keeper    transport.Keeper // the outlet, where other processes serve the peer too; else nil
	prefix    string           // of the ids of requests to it
	SessionID string
	Principal *mcp.Principal

	ready   atomic.Bool  // the handshake is complete: unsolicited messages may go out
	level   atomic.Value // mcp.Level that the peer has set
	notices notices
	box     mailbox // changes on their way to a legacy peer

	mu        sync.Mutex
	opened    era.Codec                // what the peer was opened with
	codec     era.Codec                // of the handshake; nil before it
	envelope  era.Envelope             // what the handshake said
	incoming  map[jsonrpc.ID]*Incoming // nil until a request comes, and again after the handshake
	active    int                      // requests that have a place among the running ones
	queue     []*Incoming
	pending   map[jsonrpc.ID]*pending // nil as long as the peer was asked nothing: there may be very many peers
	resources map[string]bool         // legacy subscriptions, by URI
	lastID    int64
	abandoned []lateCall // calls that nobody waits for any more, the newest last
	closed    error
	opening   int           // how far the answer to the handshake is
	answered  chan struct{} // closed when it has gone out; nil when none is awaited
	tasks     int           // goroutines that work for the peer now
	farewells int           // of those: cancellations on their way to it
	stir      chan struct{} // closed when a task or a request ends; nil while nobody waits for that
}

var (
	_ transport.Peer  = (*Peer)(nil)
	_ transport.Loser = (*Peer)(nil)
)

func newPeer(e *Engine, spec transport.PeerSpec) *Peer {
	p := &Peer{
		engine: e, outlet: spec.Outlet, prefix: spec.IDPrefix, opened: spec.Codec, codec: spec.Codec,
		SessionID: spec.SessionID, Principal: spec.Principal,
	}
	p.keeper, _ = spec.Outlet.(transport.Keeper)
	if p.prefix == "" {
		p.prefix = e.opts.IDPrefix
	}
	if spec.State != nil {
		p.Restore(*spec.State)
	}
	p.notices.start = p.start
	p.box.start, p.box.deliver = p.start, p.announce
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

// Level returns the level the peer has set, and whether it has set one.
func (p *Peer) Level() (mcp.Level, bool) {
	l, _ := p.level.Load().(mcp.Level)
	return l, l != ""
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

// Notify sends an unsolicited notification: never before the handshake is complete, and only what the revision has.
func (p *Peer) Notify(ctx context.Context, n *era.Notice) error {
	codec := p.Codec()
	if codec == nil || !codec.Traits().Unsolicited || !p.Ready() {
		return transport.ErrUndeliverable
	}
	return sendNotice(ctx, p.outlet, codec, n)
}
