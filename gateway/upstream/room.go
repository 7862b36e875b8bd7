package upstream

import (
	"fmt"

	"github.com/rialto-mcp/rialto/manager"
)

// room makes a place for one more connection of an owner to a server: where there is none, the one goes that has been idle longest.
// A principal that has its share already, in sessions or with scopes that differ, makes room with one of its own, so that it leaves
// places for others. Sessions without a principal are not told apart by that. p.mu is held.
func (p *pool) room(server string, owner *Owner) error {
	limits, who := p.set.poolLimits.Load(), owner.Principal.Key()
	var all, here, own, ownHere crew
	for at, t := range p.tenants {
		ours, its := at.server == server, who != "" && t.whose.Principal.Key() == who
		all.count(t, true)
		here.count(t, ours)
		own.count(t, its)
		ownHere.count(t, ours && its)
	}
	for _, limit := range []struct {
		of   *crew
		most int
		full string
	}{
		{&ownHere, limits.of(limits.Each), "this caller has as many connections to it as one may have, and all are in use (%d)"},
		{&own, limits.of(limits.Most), "this caller has as many connections of the gateway as one may have, and all are in use (%d)"},
		{&here, limits.Each, "all connections that it has for single callers are in use (%d)"},
		{&all, limits.Most, "all connections that the gateway has for single callers are in use (%d)"},
	} {
		switch {
		case limit.of.n < limit.most:
		case limit.of.idle == nil:
			return &FullError{server, fmt.Sprintf(limit.full, limit.most)}
		default:
			return p.evict(limit.of.idle, limits)
		}
	}
	return nil
}

// crew are connections that one limit counts.
type crew struct {
	n    int
	idle *tenant // the one that has been idle longest; nil for none
}

// count takes a connection in if it is one of them.
func (c *crew) count(t *tenant, one bool) {
	if !one {
		return
	}
	c.n++
	if !t.busy() && (c.idle == nil || t.used.Before(c.idle.used)) {
		c.idle = t
	}
}

// evict lets an idle connection go for another one. Closing takes time, that of a program above all: where callers come faster
// than connections end, there are never more that end than there may be that stand. p.mu is held.
func (p *pool) evict(t *tenant, limits *PoolLimits) error {
	all := 0
	for _, n := range p.leaving {
		all += n
	}
	server := t.at.server
	if p.leaving[server] >= limits.Each || all >= limits.Most {
		return &FullError{server, "the connections that make room for others are not closed yet"}
	}
	if p.leaving == nil {
		p.leaving = make(map[string]int)
	}
	p.leaving[server]++
	p.dropAnd(t, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.leaving[server]--; p.leaving[server] == 0 {
			delete(p.leaving, server)
		}
	})
	return nil
}

// FullError is the answer to a call whose caller would need a connection of its own while there is no room for one. Nothing was
// sent.
type FullError struct {
	Server string
	Reason string // which limit it is
}

func (e *FullError) Error() string {
	return fmt.Sprintf("server %q: %s; try again later", e.Server, e.Reason)
}

// Unwrap answers manager.ErrNotRun.
func (e *FullError) Unwrap() error { return manager.ErrNotRun }
