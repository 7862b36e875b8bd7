package bridge

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// parking holds the calls that may be asked about: while they are under way, and those that have ended until their client
// has taken that up. Its lock is taken inside that of a call, never around it.
type parking struct {
	calls sync.WaitGroup // under way

	mu     sync.Mutex
	byID   map[string]*parked
	away   shares // of those that no request waits for
	closed bool
}

// add makes room for a call that a request waits for; false after close.
func (k *parking) add(p *parked) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return false
	}
	if k.byID == nil {
		k.byID = make(map[string]*parked)
	}
	p.id = rand.Text()
	k.byID[p.id] = p
	return true
}

// remove forgets a call that a request waits for.
func (k *parking) remove(p *parked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, p.id)
}

// leave lets the request go that waits for a call, with the questions that are open. It answers nil where there are none, and
// where the client cannot be asked: then the call ends.
func (k *parking) leave(p *parked) json.RawMessage {
	p.telling.Lock() // what is being told reaches the request before it ends
	defer p.telling.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done: // nobody wants to know any more
		return nil
	default:
	}
	switch {
	case len(p.open) == 0:
		return nil
	case p.rounds == mostRounds: // the client comes back without answers, again and again
		p.cancel(mcp.Errorf(mcp.CodeInternal, "the client was asked %d times and has not answered everything", mostRounds))
		return nil
	}
	if err := k.park(p.owner); err != nil {
		p.cancel(err)
		return nil
	}
	p.rounds++
	p.ctx, p.req = nil, nil
	p.expires = time.AfterFunc(parkedFor, func() {
		k.expire(p, mcp.Errorf(mcp.CodeRequestTimeout, "the client has not answered within %s", parkedFor))
	})
	return p.asking()
}

// park counts a call that no request waits for; an error where there are too many.
func (k *parking) park(who owner) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return errStopping
	}
	return k.away.add(who)
}

// find is the call of an id; nil where it is over, or about something else than the request.
func (k *parking) find(id string, req *server.Request) *parked {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.byID[id]
	if p == nil || p.method != req.Method() || p.name != req.Name() {
		return nil
	}
	return p
}

// take gives a call to the request that goes on with it; false where it is over, or another request waits for it.
func (k *parking) take(ctx context.Context, p *parked, req *server.Request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.req != nil || !p.expires.Stop() {
		return false
	}
	p.ctx, p.req = ctx, req
	k.mu.Lock()
	defer k.mu.Unlock()
	k.away.remove(p.owner)
	return true
}

// abandon is expire before its time.
func (k *parking) abandon(p *parked, why error) {
	p.mu.Lock()
	early := p.expires.Stop()
	p.mu.Unlock()
	if early {
		k.expire(p, why)
	}
}

// expire ends and forgets a call whose client has not come back, or cannot.
func (k *parking) expire(p *parked, why error) {
	p.cancel(why)
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, p.id)
	k.away.remove(p.owner)
}

// dismiss gives up the calls that wait for clients whom gone says yes to.
func (k *parking) dismiss(gone func(*mcp.Principal) bool) {
	k.mu.Lock()
	all := slices.Collect(maps.Values(k.byID))
	k.mu.Unlock()
	for _, p := range all {
		if !gone(p.who) {
			continue
		}
		p.mu.Lock()
		waits := p.req == nil && p.expires != nil && p.expires.Stop()
		p.mu.Unlock()
		if waits {
			k.expire(p, mcp.Errorf(mcp.CodeInternal, "the client may not call any more"))
		}
	}
}

// close ends all calls and waits for their ends.
func (k *parking) close() {
	k.mu.Lock()
	k.closed = true
	all := slices.Collect(maps.Values(k.byID))
	k.mu.Unlock()
	for _, p := range all {
		p.cancel(transport.ErrClosed)
		p.mu.Lock()
		if p.expires != nil {
			p.expires.Stop()
		}
		p.mu.Unlock()
	}
	k.calls.Wait()
}
