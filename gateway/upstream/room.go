package upstream

import (
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/manager"
)

// room makes a place for one more connection of an owner to a server: under each limit that is reached, the one goes that has been
// idle longest. A principal that has its share already, in sessions or with scopes that differ, makes room with one of its own, so
// that it leaves places for others. Sessions without a principal are not told apart by that. p.mu is held.
func (p *pool) room(server string, owner *Owner) error {
	limits, who := p.set.poolLimits.Load(), owner.Principal.Key()
	here := func(t *tenant) bool { return t.at.server == server }
	own := func(t *tenant) bool { return who != "" && t.whose.Principal.Key() == who }
	crews := []*crew{
		{of: func(t *tenant) bool { return here(t) && own(t) }, most: limits.of(limits.Each), full: "this caller has as many connections to it as one may have, and all are in use (%d)"},
		{of: own, most: limits.of(limits.Most), full: "this caller has as many connections of the gateway as one may have, and all are in use (%d)"},
		{of: here, most: limits.Each, full: "all connections that it has for single callers are in use (%d)"},
		{of: func(*tenant) bool { return true }, most: limits.Most, full: "all connections that the gateway has for single callers are in use (%d)"},
	}
	for _, t := range p.tenants {
		for _, c := range crews {
			c.count(t)
		}
	}
	var going []*tenant
	for _, c := range crews {
		switch {
		case c.n < c.most || slices.ContainsFunc(going, c.of):
		case c.idle == nil:
			return &FullError{server, fmt.Sprintf(c.full, c.most)}
		default:
			going = append(going, c.idle)
		}
	}
	for _, t := range going {
		if err := p.evict(t, limits); err != nil {
			return err
		}
	}
	return nil
}

// crew are connections that one limit counts.
type crew struct {
	of   func(*tenant) bool
	most int
	full string // what is wrong when most are in use

	n    int
	idle *tenant // the one that has been idle longest; nil for none
}

// count takes a connection in if it is one of them.
func (c *crew) count(t *tenant) {
	if !c.of(t) {
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
