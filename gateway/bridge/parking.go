package bridge

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/transport"
)

// parking holds the calls that may be asked about.
type parking struct {
	mu     sync.Mutex
	byID   map[string]*parked
	closed bool
	calls  sync.WaitGroup
}

// add makes room for a call; false where there is none.
func (k *parking) add(p *parked) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || len(k.byID) >= mostParked {
		return false
	}
	if k.byID == nil {
		k.byID = make(map[string]*parked)
	}
	p.id = rand.Text()
	k.byID[p.id] = p
	k.calls.Add(1)
	return true
}

func (k *parking) remove(p *parked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, p.id)
	k.calls.Done()
}

// take gives a call to the request that goes on with it; nil where the call has ended, another request waits for it, or it is
// about something else.
func (k *parking) take(id string, ctx context.Context, req *server.Request) *parked {
	k.mu.Lock()
	p := k.byID[id]
	k.mu.Unlock()
	if p == nil || p.method != req.Method() || p.name != req.Name() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.req != nil || !p.expires.Stop() {
		return nil
	}
	p.ctx, p.req = ctx, req
	return p
}

// close ends all calls and waits for their ends.
func (k *parking) close() {
	k.mu.Lock()
	k.closed = true
	for _, p := range k.byID {
		p.cancel(transport.ErrClosed)
	}
	k.mu.Unlock()
	k.calls.Wait()
}
