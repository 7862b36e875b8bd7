package upstream

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/manager"
)

// PoolLimits bound the connections that belong to callers. Zero means the default.
type PoolLimits struct {
	Most  int           // of all servers together; 1,000
	Each  int           // of one server; 100
	Share int           // percent of Most, and of Each, that one principal may have, at least one connection; 50
	Idle  time.Duration // after which one is closed that has no calls and watches nothing; 5 min
}

func (l PoolLimits) withDefaults() *PoolLimits {
	l.Most = cmp.Or(l.Most, 1000)
	l.Each = cmp.Or(l.Each, 100)
	l.Share = cmp.Or(l.Share, 50)
	l.Idle = cmp.Or(l.Idle, 5*time.Minute)
	return &l
}

// of is the share of one principal in a limit, rounded up.
func (l *PoolLimits) of(limit int) int { return (limit*l.Share + 99) / 100 }

// pool holds the connections that belong to callers. Its lock is taken inside that of the set, never around it.
type pool struct {
	set *Set

	mu      sync.Mutex
	tenants map[place]*tenant
	leaving map[string]int // connections that have made room and are not closed yet, by server
	closed  bool
}

// place names one connection: the server, and the key of the owner.
type place struct{ server, owner string }

// tenant is the connection of one owner to one server. It is opened when it is made, since somebody needs it then, and has a
// keeper, a breaker and lists of its own like every upstream.
type tenant struct {
	*upstream
	at place

	// Guarded by the lock of the pool.
	calls   int         // that need it
	watches bool        // its owner wants to hear of resources
	used    time.Time   // when it was needed last
	idle    *time.Timer // runs while nobody needs it
}

// busy tells whether it must stay. The lock of the pool is held.
func (t *tenant) busy() bool { return t.calls > 0 || t.watches }

// enter gives the connection for a caller: that of the server itself, or one of the caller's own. leave must be called when it
// is needed no longer; until then it is not closed for want of use.
func (s *Set) enter(name string, c *Caller) (at *upstream, leave func(), err error) {
	s.mu.RLock() // a reload comes before, and the connection is for the entry of now; or after, and finds it
	defer s.mu.RUnlock()
	u := s.byName[name]
	if u == nil {
		return nil, nil, fmt.Errorf("%w: %q (%w)", manager.ErrUnknownServer, name, manager.ErrNotRun)
	}
	owner := u.owner(c)
	if owner == nil {
		return u, func() {}, nil
	}
	t, err := s.pool.take(u, owner)
	if err != nil {
		return nil, nil, &failed{u, err}
	}
	if token := owner.token.Load(); token != nil {
		t.whose.token.Store(token)
	}
	return t.upstream, func() { s.pool.leave(t) }, nil
}

// take finds or makes the connection of an owner, and counts a call that needs it.
func (p *pool) take(u *upstream, owner *Owner) (*tenant, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, fmt.Errorf("%w (%w)", ErrClosed, manager.ErrNotRun)
	}
	at := place{u.server().Name, owner.key}
	t := p.tenants[at]
	switch {
	case t == nil || !t.stuck(owner):
	case t.busy():
		t.whose.token.Store(owner.token.Load())
		t.keeper.Hurry()
	default:
		p.drop(t)
		t = nil
	}
	if t == nil {
		if err := p.room(at.server, owner); err != nil {
			return nil, err
		}
		t = &tenant{upstream: newUpstream(u.set, u.server()), at: at}
		t.belong(u, owner)
		p.tenants[at] = t
		t.keeper.Start() // ends with retire, or with close
	}
	t.calls++
	return t, nil
}

// stuck tells whether a connection could not be made with what its owner had shown, and the owner comes with something else now.
// The lock of the pool is held.
func (t *tenant) stuck(owner *Owner) bool {
	if owner.token.Load() == nil || owner.Token() == t.whose.Token() {
		return false
	}
	state := t.keeper.Status().State
	return state == manager.Failed || state == manager.NeedsAuthorization
}

// leave counts a call as done.
func (p *pool) leave(t *tenant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.calls--
	p.rest(t)
}

// rest sees to it that a connection is closed that nobody needs any more. p.mu is held.
func (p *pool) rest(t *tenant) {
	t.used = time.Now()
	if p.tenants[t.at] == t && !t.busy() && t.idle == nil {
		t.idle = time.AfterFunc(p.set.poolLimits.Load().Idle, func() { p.expire(t) })
	}
}

// expire closes a connection that has been idle for long.
func (p *pool) expire(t *tenant) {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := p.set.poolLimits.Load().Idle - time.Since(t.used)
	switch {
	case p.tenants[t.at] != t:
	case t.busy():
		t.idle = nil // rest begins anew
	case left > 0:
		t.idle.Reset(left)
	default:
		p.drop(t)
	}
}

// drop takes a connection out of the pool and closes it when its calls are done. p.mu is held.
func (p *pool) drop(t *tenant) { p.dropAnd(t, func() {}) }

// dropAnd is drop, and tells when the connection is closed.
func (p *pool) dropAnd(t *tenant, closed func()) {
	delete(p.tenants, t.at)
	if t.idle != nil {
		t.idle.Stop()
	}
	t.upstream.leave(nil)
	if !p.closed {
		p.set.retiring.Go(func() { // ends by itself after Drain, and with the set; Close waits
			t.retire()
			closed()
		})
	}
}

// dropIf drops the connections that which says yes to.
func (p *pool) dropIf(which func(*tenant) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tenants {
		if which(t) {
			p.drop(t)
		}
	}
}

// close ends all connections and takes no more.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	all := p.tenants
	p.tenants = nil
	p.mu.Unlock()
	var closing sync.WaitGroup
	for _, t := range all {
		if t.idle != nil {
			t.idle.Stop()
		}
		closing.Go(t.keeper.Close)
	}
	closing.Wait()
}

// counts tells how many connections of callers there are to each server.
func (p *pool) counts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := make(map[string]int)
	for at := range p.tenants {
		n[at.server]++
	}
	return n
}

// each calls f for all connections of callers.
func (p *pool) each(f func(*upstream)) {
	p.mu.Lock()
	all := slices.Collect(maps.Values(p.tenants))
	p.mu.Unlock()
	for _, t := range all {
		f(t.upstream)
	}
}

// of gives the connection of an owner where there is one.
func (p *pool) of(at place) *tenant {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tenants[at]
}

// update takes up an entry that leads to the same connections.
func (p *pool) update(entry manager.Server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, t := range p.tenants {
		if at.server == entry.Name {
			t.updateOwn(entry)
		}
	}
}

// renew is Set.Renew with its upstream.
func (p *pool) renew(u *upstream, owner *Owner) {
	p.mu.Lock()
	t := p.tenants[place{u.name(), owner.key}]
	if t == nil || t.keeper.Status().State.Usable() {
		p.mu.Unlock()
		return
	}
	if t.busy() {
		t.keeper.Hurry()
		p.mu.Unlock()
		return
	}
	p.drop(t)
	p.mu.Unlock()
	if next, err := p.take(u, t.whose); err == nil { // else there is no room, as the next call will say
		p.leave(next)
	}
}
