package state

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// MemorySessions is a [SessionStore] in the memory of one process. Servers in that process may share it.
//
// Sessions stand in the order of their last use. Whatever touches the store drops those at the front whose time is over,
// and while there are any one timer does the same for a store that nobody touches.
type MemorySessions struct {
	limits SessionLimits

	mu     sync.Mutex
	byID   map[string]*list.Element // of *kept
	order  list.List                // the longest unused first
	bytes  int64
	timer  *time.Timer // runs out; nil when none does
	closed bool
}

var _ SessionStore = (*MemorySessions)(nil)

// kept is one session in memory.
type kept struct {
	session Session
	used    time.Time // Session.Used with the monotonic clock
	size    int64
}

// perSession is what a record costs beside its strings: the structures around it, roughly.
const perSession = 512

// NewMemorySessions returns an empty store. Close releases it.
func NewMemorySessions(limits SessionLimits) *MemorySessions {
	return &MemorySessions{limits: limits.withDefaults(), byID: make(map[string]*list.Element)}
}

// Create adds a record.
func (m *MemorySessions) Create(ctx context.Context, s Session) (Session, error) {
	const operation = "create session"
	s = s.Clone()
	size := s.size()
	now, err := m.enter(ctx)
	if err != nil {
		return Session{}, failed(operation, err)
	}
	defer m.mu.Unlock()
	switch {
	case !validName(s.ID):
		return Session{}, failed(operation, ErrInvalid)
	case over(size, m.limits.MaxRecordBytes):
		return Session{}, failed(operation, ErrTooLarge)
	case m.byID[s.ID] != nil:
		return Session{}, failed(operation, ErrExists)
	case over(len(m.byID)+1, m.limits.MaxSessions), over(m.bytes+size+perSession, m.limits.MaxTotalBytes):
		return Session{}, failed(operation, ErrFull)
	}
	s.Version, s.Created, s.Used = 1, stamp(now), stamp(now)
	m.byID[s.ID] = m.order.PushBack(&kept{session: s, used: now, size: size})
	m.bytes += size + perSession
	m.plan(now)
	return s, nil
}

// Get returns a record.
func (m *MemorySessions) Get(ctx context.Context, id string) (Session, error) {
	if _, err := m.enter(ctx); err != nil {
		return Session{}, failed("get session", err)
	}
	defer m.mu.Unlock()
	e := m.byID[id]
	if e == nil {
		return Session{}, failed("get session", ErrNotFound)
	}
	return e.Value.(*kept).session, nil
}

// Update replaces a record whose Version is still that of s.
func (m *MemorySessions) Update(ctx context.Context, s Session) (Session, error) {
	const operation = "update session"
	s = s.Clone()
	size := s.size()
	now, err := m.enter(ctx)
	if err != nil {
		return Session{}, failed(operation, err)
	}
	defer m.mu.Unlock()
	e := m.byID[s.ID]
	if e == nil {
		return Session{}, failed(operation, ErrNotFound)
	}
	k := e.Value.(*kept)
	grown := size - k.size
	switch {
	case k.session.Version != s.Version:
		return Session{}, failed(operation, ErrConflict)
	case over(size, m.limits.MaxRecordBytes):
		return Session{}, failed(operation, ErrTooLarge)
	case grown > 0 && over(m.bytes+grown, m.limits.MaxTotalBytes):
		return Session{}, failed(operation, ErrFull)
	}
	s.Version, s.Created = s.Version+1, k.session.Created
	k.session, k.size = s, size
	m.bytes += grown
	m.use(e, now)
	return k.session, nil
}

// Touch notes a use.
func (m *MemorySessions) Touch(ctx context.Context, id string) error {
	now, err := m.enter(ctx)
	if err != nil {
		return failed("touch session", err)
	}
	defer m.mu.Unlock()
	e := m.byID[id]
	if e == nil {
		return failed("touch session", ErrNotFound)
	}
	m.use(e, now)
	return nil
}

// Delete ends a session.
func (m *MemorySessions) Delete(ctx context.Context, id string) error {
	if _, err := m.enter(ctx); err != nil {
		return failed("delete session", err)
	}
	defer m.mu.Unlock()
	e := m.byID[id]
	if e == nil {
		return failed("delete session", ErrNotFound)
	}
	m.remove(e)
	return nil
}

// Len returns how many sessions there are.
func (m *MemorySessions) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep(time.Now())
	return len(m.byID)
}

// Close forgets all sessions. Every method fails with [ErrClosed] from then on. It may be called twice.
func (m *MemorySessions) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.bytes = true, 0
	m.order.Init()
	clear(m.byID)
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	return nil
}

// enter begins a method: unless it fails, m.mu is held and every session in the table is alive.
func (m *MemorySessions) enter(ctx context.Context) (now time.Time, err error) {
	if err := ended(ctx); err != nil {
		return now, err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return now, ErrClosed
	}
	now = time.Now()
	m.sweep(now)
	return now, nil
}

func (m *MemorySessions) use(e *list.Element, now time.Time) {
	k := e.Value.(*kept)
	k.used, k.session.Used = now, stamp(now)
	m.order.MoveToBack(e)
}

func (m *MemorySessions) remove(e *list.Element) {
	k := m.order.Remove(e).(*kept)
	delete(m.byID, k.session.ID)
	m.bytes -= k.size + perSession
}

// sweep drops the sessions whose time is over.
func (m *MemorySessions) sweep(now time.Time) {
	for e := m.order.Front(); e != nil && m.limits.Idle > 0; e = m.order.Front() {
		if now.Sub(e.Value.(*kept).used) < m.limits.Idle {
			return
		}
		m.remove(e)
	}
}

// plan sees to it that the timer runs while there are sessions. It fires for the one that stands first now; when that was
// used meanwhile, or others are left, it is set again.
func (m *MemorySessions) plan(now time.Time) {
	e := m.order.Front()
	if e == nil || m.timer != nil || m.limits.Idle <= 0 {
		return
	}
	m.timer = time.AfterFunc(m.limits.Idle-now.Sub(e.Value.(*kept).used), m.expire)
}

// expire is what the timer does. It holds nothing but the lock, and ends at once.
func (m *MemorySessions) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer = nil
	now := time.Now()
	m.sweep(now)
	m.plan(now)
}

// stamp makes a time that survives serialisation unchanged.
func stamp(t time.Time) time.Time { return t.Round(0).UTC() }
