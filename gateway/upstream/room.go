package upstream

import (
	"fmt"

	"github.com/rialto-mcp/rialto/manager"
)

// room makes a place for one more connection to a server: where there is none, the one goes that has been idle longest. p.mu
// is held.
func (p *pool) room(server string) error {
	limits := p.set.poolLimits.Load()
	each := 0
	var oldest, oldestEach *tenant
	for at, t := range p.tenants {
		ours := at.server == server
		if ours {
			each++
		}
		if t.busy() {
			continue
		}
		if oldest == nil || t.used.Before(oldest.used) {
			oldest = t
		}
		if ours && (oldestEach == nil || t.used.Before(oldestEach.used)) {
			oldestEach = t
		}
	}
	switch {
	case each >= limits.Each && oldestEach == nil:
		return &FullError{server, fmt.Sprintf("all connections that it has for single callers are in use (%d)", limits.Each)}
	case each >= limits.Each:
		return p.evict(oldestEach, limits)
	case len(p.tenants) >= limits.Most && oldest == nil:
		return &FullError{server, fmt.Sprintf("all connections that the gateway has for single callers are in use (%d)", limits.Most)}
	case len(p.tenants) >= limits.Most:
		return p.evict(oldest, limits)
	}
	return nil
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
