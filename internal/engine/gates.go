package engine

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/mcp"
)

// gates counts the stateless requests that run: together for those without a principal, and for each principal. The
// counts of principals lie in shards, so that unrelated callers do not wait for each other, and go when they reach zero.
type gates struct {
	anonymous atomic.Int64
	seed      maphash.Seed
	shards    [16]gateShard
}

type gateShard struct {
	mu      sync.Mutex
	running map[caller]int
}

type caller struct{ issuer, subject, client string }

// callerOf names a principal; false for nobody.
func callerOf(who *mcp.Principal) (caller, bool) {
	if who == nil {
		return caller{}, false
	}
	return caller{who.Issuer, who.Subject, who.ClientID}, true
}

// gate is one place taken; the zero gate is none.
type gate struct {
	anonymous *atomic.Int64
	shard     *gateShard
	key       caller
}

// enter takes a place, and answers false when there is none left.
func (g *gates) enter(who *mcp.Principal, o Options) (gate, bool) {
	key, known := callerOf(who)
	if !known {
		if g.anonymous.Add(1) > int64(o.MaxAnonymous) && o.MaxAnonymous > 0 {
			g.anonymous.Add(-1)
			return gate{}, false
		}
		return gate{anonymous: &g.anonymous}, true
	}
	shard := &g.shards[maphash.Comparable(g.seed, key)%uint64(len(g.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if o.MaxInFlight > 0 && shard.running[key] >= o.MaxInFlight {
		return gate{}, false
	}
	if shard.running == nil {
		shard.running = make(map[caller]int)
	}
	shard.running[key]++
	return gate{shard: shard, key: key}, true
}

// leave gives the place back.
func (g gate) leave() {
	switch {
	case g.anonymous != nil:
		g.anonymous.Add(-1)
	case g.shard != nil:
		g.shard.mu.Lock()
		defer g.shard.mu.Unlock()
		if g.shard.running[g.key]--; g.shard.running[g.key] == 0 {
			delete(g.shard.running, g.key)
		}
	}
}

// Running implements transport.Counter.
func (e *Engine) Running() int {
	n := int(e.gates.anonymous.Load())
	for i := range e.gates.shards {
		shard := &e.gates.shards[i]
		shard.mu.Lock()
		for _, running := range shard.running {
			n += running
		}
		shard.mu.Unlock()
	}
	return n
}
