package upstream

import (
	"context"
	"log/slog"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// What a Set can be told of the connections that belong to callers.

// LimitPool puts other limits in place. Connections beyond them stay until they are idle.
func (s *Set) LimitPool(l PoolLimits) { s.poolLimits.Store(l.withDefaults()) }

// Splits tells whether there are connections of single callers to a server beside the gateway's own.
func (s *Set) Splits(server string) bool { return s.pool.counts()[server] > 0 }

// Dismiss closes the connections of callers to a server when their calls are done: what they were opened with holds no longer.
// The next call opens another.
func (s *Set) Dismiss(server string) {
	s.pool.dropIf(func(t *tenant) bool { return t.at.server == server })
}

// DismissOwners closes the connections of callers whom gone says yes to, when their calls are done: they may not call any more. gone
// gets nil for who has a session and no principal.
func (s *Set) DismissOwners(gone func(*mcp.Principal) bool) {
	s.pool.dropIf(func(t *tenant) bool {
		if t.whose.Principal.Key() == "" {
			return gone(nil)
		}
		return gone(t.whose.Principal)
	})
}

// EndSession closes the connections that belong to one session.
func (s *Set) EndSession(id string) {
	if id != "" {
		s.pool.dropIf(func(t *tenant) bool { return t.whose.Session == id })
	}
}

// Renew makes the connection of an owner anew that could not be made before: with credentials that have come since, say. One that
// is there is left alone. What is kept of the server goes: it may have been read as somebody else.
func (s *Set) Renew(server string, owner *Owner) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if u := s.byName[server]; u != nil {
		u.cache.clear()
		s.pool.renew(u, owner)
	}
}

// HurryUnauthorized tries all connections again at once that wait for credentials.
func (s *Set) HurryUnauthorized() {
	all := s.all()
	s.pool.mu.Lock()
	for _, t := range s.pool.tenants {
		all = append(all[:len(all):len(all)], t.upstream)
	}
	s.pool.mu.Unlock()
	for _, u := range all {
		if u.keeper.Status().State == manager.NeedsAuthorization {
			u.keeper.Hurry()
		}
	}
}

// Prepare opens the connections of a caller to servers that may list other things for it than for others, and waits until each
// was tried once, no longer than most, or ctx ends. Where there is no such server it costs next to nothing.
func (s *Set) Prepare(ctx context.Context, c *Caller, most time.Duration) {
	var waiting []*upstream
	for _, u := range s.all() {
		if !u.differs.Load() && !u.set.opts.Sharing(u.name()).Personal || u.owner(c) == nil {
			continue
		}
		at, leave, err := s.enter(u.name(), c)
		if err != nil { // as a call will say
			u.set.opts.Logger.Info("a caller sees no lists of its own: "+u.keeper.Reason(err), slog.String("server", u.name()))
			continue
		}
		defer leave()
		waiting = append(waiting, at)
	}
	if waiting == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for _, at := range waiting {
		select {
		case <-at.keeper.Tried():
		case <-ctx.Done():
			return
		}
	}
}
