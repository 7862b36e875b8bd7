package streamhttp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
)

// sharedSession is what a session has beside the rest where its record is kept for several handlers: what this one knows of
// the record. It is the outlet of the session's peer.
type sharedSession struct {
	s       *session
	r       *replicas
	who     *mcp.Principal
	opening state.Session // the record to create; until then
	id      jsonrpc.ID    // of the initialize; until then

	holds   atomic.Bool  // this handler may be the owner by the record
	touched atomic.Int64 // when the use was last noted in the store, as of h.epoch

	mu        sync.Mutex // guards the rest
	version   uint64     // of the record that the peer has been given
	stream    string     // of that record
	followers []*follower
}

var (
	_ transport.Outlet = (*sharedSession)(nil)
	_ transport.Keeper = (*sharedSession)(nil)
)

// record is what the store gets of a session whose handshake has these parameters.
func (h *sharedSession) record(params json.RawMessage) state.Session {
	rec := state.Session{ID: h.s.id(), Revision: h.s.codec.Revision(), Principal: h.s.owner}
	rec.ClientInfo, _ = jsonrpc.Member(params, "clientInfo")
	rec.Capabilities, _ = jsonrpc.Member(params, "capabilities")
	if rec.ClientInfo == nil { // it says too that there was a handshake
		rec.ClientInfo = json.RawMessage("{}")
	}
	return rec
}

// stateOf is what a record says of a peer.
func stateOf(rec *state.Session) transport.PeerState {
	return transport.PeerState{
		ClientInfo: rec.ClientInfo, Capabilities: rec.Capabilities, Ready: rec.Ready, Level: rec.LogLevel, Resources: rec.Subscriptions,
	}
}

// change changes the record, gives the peer what it says then, and lets the other handlers know.
func (h *sharedSession) change(ctx context.Context, edit func(*state.Session) error) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	rec, err := state.Change(ctx, h.r.store, h.s.id(), edit)
	if err != nil {
		return err
	}
	h.renew(&rec)
	h.r.h.report(h.r.tell(ctx, wordNews, h.s.id(), nil)) // they look for themselves with the next request
	return nil
}

// Keep implements transport.Keeper.
func (h *sharedSession) Keep(ctx context.Context, edit func(*transport.PeerState)) error {
	var unchanged state.Session
	err := h.change(ctx, func(rec *state.Session) error {
		p := stateOf(rec)
		p.Resources = slices.Clone(p.Resources)
		edit(&p)
		if p.Ready == rec.Ready && p.Level == rec.LogLevel && slices.Equal(p.Resources, rec.Subscriptions) {
			unchanged = *rec
			return errUnchanged // a client that repeats itself is no load for the others
		}
		rec.Ready, rec.LogLevel, rec.Subscriptions = p.Ready, p.Level, p.Resources
		return nil
	})
	if errors.Is(err, errUnchanged) {
		h.renew(&unchanged)
		return nil
	}
	return err
}

// look reads the record, and ends the session here when it has ended.
func (h *sharedSession) look(ctx context.Context) (state.Session, error) {
	rec, err := h.r.store.Get(ctx, h.s.id())
	switch {
	case errors.Is(err, state.ErrNotFound):
		h.r.ended(h.s)
	case err == nil:
		h.renew(&rec)
	}
	return rec, err
}

// renew gives the peer what the record says, unless it knows something newer. A stream that somebody else goes on with by the
// record ends here, also where word of that was lost.
func (h *sharedSession) renew(rec *state.Session) {
	if h.restore(rec) && rec.Owner != h.r.name {
		h.yield(func(f *follower) bool { return f.name == rec.Stream && f.version < rec.Version })
	}
}

// restore is renew for the peer, and tells whether the record was news.
func (h *sharedSession) restore(rec *state.Session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if rec.Version <= h.version {
		return false
	}
	h.version, h.stream = rec.Version, rec.Stream
	h.holds.Store(rec.Owner == h.r.name)
	h.s.peer.Restore(stateOf(rec))
	return true
}

// Holds implements transport.Keeper.
func (h *sharedSession) Holds() bool { return h.holds.Load() }

// Refresh implements transport.Keeper.
func (h *sharedSession) Refresh(ctx context.Context) (bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err := h.look(ctx)
	if errors.Is(err, state.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Send stores a message that belongs to no call for the stream that the client opened last, wherever it is open.
func (h *sharedSession) Send(ctx context.Context, frame []byte) error {
	if !h.s.kept() {
		return h.s.Send(ctx, frame)
	}
	h.mu.Lock()
	stream := h.stream
	h.mu.Unlock()
	if stream == "" || h.s.over.Load() {
		return transport.ErrUndeliverable
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	if _, err := h.r.h.log.Append(ctx, h.s.id(), stream, frame); err != nil {
		h.r.h.opts.OnError(err)
		return transport.ErrUndeliverable
	}
	return nil
}

// use notes a use of the session in the store, which takes one for a tenth of the idle limit.
func (h *sharedSession) use(ctx context.Context) error {
	now := int64(time.Since(h.r.h.epoch))
	last := h.touched.Load()
	if now-last < int64(h.r.tick()) && last != 0 || !h.touched.CompareAndSwap(last, max(now, 1)) {
		return nil
	}
	return h.r.store.Touch(ctx, h.s.id())
}

// tick is how often a session that is used is touched, and one that is not is looked at.
func (r *replicas) tick() time.Duration {
	const parts = 10
	return r.idle() / parts
}

// idle is how long a session stays here without use. That it lives on elsewhere is up to the store.
func (r *replicas) idle() time.Duration {
	if r.h.opts.IdleTimeout > 0 {
		return r.h.opts.IdleTimeout
	}
	return 30 * time.Minute
}

// watch looks after the session from time to time: while it is used here the store is told so, when it has ended it ends
// here too, and when it is used elsewhere alone this handler lets it go.
func (h *sharedSession) watch() {
	s := h.s
	now := time.Since(h.r.h.epoch)
	used := time.Duration(s.used.Load())
	ctx, cancel := bounded(h.r.ctx)
	defer cancel()
	var err error
	switch {
	case s.busy() || used > time.Duration(h.touched.Load()): // since the store was told last
		h.touched.Store(int64(now))
		if err = h.r.store.Touch(ctx, s.id()); errors.Is(err, state.ErrNotFound) {
			h.r.ended(s)
		}
	case now-used >= h.r.idle():
		var rec state.Session
		if rec, err = h.look(ctx); err == nil && rec.Owner != h.r.name {
			s.finish(errIdle, false)
		}
	}
	if err != nil && !errors.Is(err, state.ErrNotFound) {
		h.r.h.opts.OnError(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.timer.Reset(h.r.tick())
	}
}
