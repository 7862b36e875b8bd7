package state

import (
	"context"
	"time"
)

// MemorySessions is a [SessionStore] in the memory of one process. Servers in that process may share it.
type MemorySessions struct {
	recent[kept]
	limits SessionLimits
	bytes  int64 // of all sessions
}

var _ SessionStore = (*MemorySessions)(nil)

// kept is one session in memory.
type kept struct {
	session Session
	size    int64
}

// perSession is what a record costs beside its strings: the structures around it, roughly.
const perSession = 512

// NewMemorySessions returns an empty store. Close releases it.
func NewMemorySessions(limits SessionLimits) *MemorySessions {
	m := &MemorySessions{limits: limits.withDefaults()}
	m.recent = recent[kept]{
		idle: m.limits.Idle,
		gone: func(k *kept, _ error) { m.bytes -= k.size + perSession },
		byID: make(map[string]*entry[kept]),
	}
	return m
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
	m.add(s.ID, kept{session: s, size: size}, now)
	m.bytes += size + perSession
	return s, nil
}

// Get returns a record.
func (m *MemorySessions) Get(ctx context.Context, id string) (Session, error) {
	e, _, err := m.enterAt(ctx, id)
	if err != nil {
		return Session{}, failed("get session", err)
	}
	defer m.mu.Unlock()
	return e.record.session, nil
}

// Update replaces a record whose Version is still that of s.
func (m *MemorySessions) Update(ctx context.Context, s Session) (Session, error) {
	const operation = "update session"
	s = s.Clone()
	size := s.size()
	e, now, err := m.enterAt(ctx, s.ID)
	if err != nil {
		return Session{}, failed(operation, err)
	}
	defer m.mu.Unlock()
	k := &e.record
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
	e, now, err := m.enterAt(ctx, id)
	if err != nil {
		return failed("touch session", err)
	}
	defer m.mu.Unlock()
	m.use(e, now)
	return nil
}

// Delete ends a session.
func (m *MemorySessions) Delete(ctx context.Context, id string) error {
	e, _, err := m.enterAt(ctx, id)
	if err != nil {
		return failed("delete session", err)
	}
	defer m.mu.Unlock()
	m.remove(e, ErrNotFound)
	return nil
}

// Len returns how many sessions there are.
func (m *MemorySessions) Len() int { return m.count() }

// Close forgets all sessions. Every method fails with [ErrClosed] from then on. It may be called twice.
func (m *MemorySessions) Close() error {
	m.shut()
	return nil
}

// use notes a use of a session, with the time that its owner gets to see.
func (m *MemorySessions) use(e *entry[kept], now time.Time) {
	e.record.session.Used = stamp(now)
	m.recent.use(e, now)
}

// stamp makes a time that survives serialisation unchanged.
func stamp(t time.Time) time.Time { return t.Round(0).UTC() }
