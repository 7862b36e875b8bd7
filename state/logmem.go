package state

import (
	"bytes"
	"context"
	"iter"
	"time"
)

// MemoryLog is an [EventLog] in the memory of one process. Servers in that process may share it.
// It starts no goroutine: who follows waits on a goroutine of its own.
type MemoryLog struct {
	recent[sessionLog]
	limits LogLimits
	bytes  int64 // of all logs
}

var _ EventLog = (*MemoryLog)(nil)

// NewMemoryLog returns an empty log. Close releases it.
func NewMemoryLog(limits LogLimits) *MemoryLog {
	m := &MemoryLog{limits: limits.withDefaults()}
	m.recent = recent[sessionLog]{
		idle: m.limits.Idle,
		busy: func(l *sessionLog) bool { return l.followers > 0 },
		gone: m.end,
		byID: make(map[string]*entry[sessionLog]),
	}
	return m
}

// Append stores an event and returns its id.
func (m *MemoryLog) Append(ctx context.Context, session, stream string, data []byte) (string, error) {
	const operation = "append event"
	e := logged{stream: stream, data: bytes.Clone(data)}
	now, err := m.enter(ctx)
	if err != nil {
		return "", failed(operation, err)
	}
	defer m.mu.Unlock()
	switch {
	case !validName(session), !validName(stream):
		return "", failed(operation, ErrInvalid)
	case over(e.cost(), m.limits.MaxBytes), over(e.cost()+perLog, m.limits.MaxTotalBytes):
		return "", failed(operation, ErrTooLarge)
	}
	l := m.open(session, now)
	id := l.id(l.next())
	l.add(e)
	m.bytes += e.cost()
	for over(len(l.events), m.limits.MaxEvents) || over(l.bytes, m.limits.MaxBytes) || over(l.bytes+perLog, m.limits.MaxTotalBytes) {
		m.bytes -= l.shift()
	}
	m.relieve(now)
	return id, nil
}

// Replay returns the later events of the stream that an event belongs to.
func (m *MemoryLog) Replay(ctx context.Context, session, after string) (string, iter.Seq2[Event, error], error) {
	l, number, err := m.find(ctx, session, after)
	if err != nil {
		return "", nil, failed("replay events", err)
	}
	defer m.mu.Unlock()
	stream := l.streamOf(number)
	later := l.later(stream, number+1)
	return stream, func(yield func(Event, error) bool) {
		for _, e := range later {
			if !yield(e, nil) {
				return
			}
		}
	}, nil
}

// Follow returns the events of a stream later than after, and waits for new ones.
func (m *MemoryLog) Follow(ctx context.Context, session, stream, after string) (iter.Seq2[Event, error], error) {
	f := follower{m: m, ctx: ctx, session: session, stream: stream}
	err := ended(ctx)
	switch {
	case err != nil:
	case after == "" && (!validName(session) || !validName(stream)):
		err = ErrInvalid
	case after != "":
		err = f.from(after)
	}
	if err != nil {
		return nil, failed(following, err)
	}
	return f.all, nil
}

// Drop forgets the log of a session.
func (m *MemoryLog) Drop(ctx context.Context, session string) error {
	if _, err := m.enter(ctx); err != nil {
		return failed("drop events", err)
	}
	defer m.mu.Unlock()
	if e := m.byID[session]; e != nil {
		m.remove(e, ErrNotFound)
	}
	return nil
}

// Len returns of how many sessions there are events, or readers that wait for some.
func (m *MemoryLog) Len() int { return m.count() }

// Close forgets everything and ends those who follow. Every method fails with [ErrClosed] from then on. It may be called
// twice.
func (m *MemoryLog) Close() error {
	m.shut()
	return nil
}

// open returns the log of a session, which is used now, and begins one where there is none.
func (m *MemoryLog) open(session string, now time.Time) *sessionLog {
	if e := m.byID[session]; e != nil {
		m.use(e, now)
		return &e.record
	}
	m.bytes += perLog
	return &m.add(session, newSessionLog(session), now).record
}

// end is what follows when a log was taken out: its readers are told.
func (m *MemoryLog) end(l *sessionLog, why error) {
	m.bytes -= l.bytes + perLog
	l.over = why
	l.wake()
}

// find looks up an event by its id. Unless it fails, m.mu is held.
func (m *MemoryLog) find(ctx context.Context, session, id string) (*sessionLog, uint64, error) {
	e, now, err := m.enterAt(ctx, session)
	if err != nil {
		return nil, 0, err
	}
	l := &e.record
	number, err := l.number(id)
	if err != nil {
		m.mu.Unlock()
		return nil, 0, err
	}
	m.use(e, now)
	return l, number, nil
}

// relieve makes room when all logs together are too many or too large: the longest unused goes. One that has readers
// stays, without its events, so that readers that have seen them all are not disturbed.
func (m *MemoryLog) relieve(now time.Time) {
	for range m.order.Len() { // each is looked at once
		if !over(m.bytes, m.limits.MaxTotalBytes) && !over(len(m.byID), m.limits.MaxSessions) {
			return
		}
		e := m.first()
		l := &e.record
		if l.followers == 0 {
			m.remove(e, ErrNotFound)
			continue
		}
		for len(l.events) > 0 {
			m.bytes -= l.shift()
		}
		m.use(e, now)
	}
}
