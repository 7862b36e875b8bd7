package state

import (
	"bytes"
	"container/list"
	"context"
	"iter"
	"sync"
	"time"
)

// MemoryLog is an [EventLog] in the memory of one process. Servers in that process may share it.
//
// Logs stand in the order of their last use, as in [MemorySessions], and a single timer drops those left alone. It starts
// no goroutine: who follows waits on a goroutine of its own.
type MemoryLog struct {
	limits LogLimits

	mu     sync.Mutex
	logs   map[string]*list.Element // of *sessionLog
	order  list.List                // the longest unused first
	bytes  int64
	timer  *time.Timer // runs out; nil when none does
	closed bool
}

var _ EventLog = (*MemoryLog)(nil)

// NewMemoryLog returns an empty log. Close releases it.
func NewMemoryLog(limits LogLimits) *MemoryLog {
	return &MemoryLog{limits: limits.withDefaults(), logs: make(map[string]*list.Element)}
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
	if e := m.logs[session]; e != nil {
		m.remove(e, ErrNotFound)
	}
	return nil
}

// Len returns of how many sessions there are events, or readers that wait for some.
func (m *MemoryLog) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep(time.Now())
	return len(m.logs)
}

// Close forgets everything and ends those who follow. Every method fails with [ErrClosed] from then on. It may be called
// twice.
func (m *MemoryLog) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	for _, e := range m.logs {
		m.remove(e, ErrClosed)
	}
	if m.timer != nil {
		m.timer.Stop()
		m.timer = nil
	}
	return nil
}

// enter begins a method: unless it fails, m.mu is held and no log in the table is too old.
func (m *MemoryLog) enter(ctx context.Context) (now time.Time, err error) {
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

// open returns the log of a session, which is used now, and begins one where there is none.
func (m *MemoryLog) open(session string, now time.Time) *sessionLog {
	e := m.logs[session]
	if e == nil {
		e = m.order.PushBack(newSessionLog(session))
		m.logs[session] = e
		m.bytes += perLog
	}
	m.use(e, now)
	m.plan(now)
	return e.Value.(*sessionLog)
}

func (m *MemoryLog) use(e *list.Element, now time.Time) {
	e.Value.(*sessionLog).used = now
	m.order.MoveToBack(e)
}

// find looks up an event by its id. Unless it fails, m.mu is held.
func (m *MemoryLog) find(ctx context.Context, session, id string) (*sessionLog, uint64, error) {
	now, err := m.enter(ctx)
	if err != nil {
		return nil, 0, err
	}
	e := m.logs[session]
	if e == nil {
		m.mu.Unlock()
		return nil, 0, ErrNotFound
	}
	l := e.Value.(*sessionLog)
	number, err := l.number(id)
	if err != nil {
		m.mu.Unlock()
		return nil, 0, err
	}
	m.use(e, now)
	return l, number, nil
}

// remove takes a log out and ends its readers.
func (m *MemoryLog) remove(e *list.Element, why error) {
	l := m.order.Remove(e).(*sessionLog)
	delete(m.logs, l.session)
	m.bytes -= l.bytes + perLog
	l.over = why
	l.wake()
}

// relieve makes room when all logs together are too many or too large: the longest unused goes. One that has readers
// stays, without its events, so that readers that have seen them all are not disturbed.
func (m *MemoryLog) relieve(now time.Time) {
	for range m.order.Len() { // each is looked at once
		if !over(m.bytes, m.limits.MaxTotalBytes) && !over(len(m.logs), m.limits.MaxSessions) {
			return
		}
		e := m.order.Front()
		l := e.Value.(*sessionLog)
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

// sweep drops the logs that were left alone for too long.
func (m *MemoryLog) sweep(now time.Time) {
	for e := m.order.Front(); e != nil && m.limits.Idle > 0; e = m.order.Front() {
		l := e.Value.(*sessionLog)
		if now.Sub(l.used) < m.limits.Idle {
			return
		}
		if l.followers > 0 {
			m.use(e, now)
			continue
		}
		m.remove(e, ErrNotFound)
	}
}

// plan sees to it that the timer runs while there are logs.
func (m *MemoryLog) plan(now time.Time) {
	e := m.order.Front()
	if e == nil || m.timer != nil || m.limits.Idle <= 0 {
		return
	}
	m.timer = time.AfterFunc(m.limits.Idle-now.Sub(e.Value.(*sessionLog).used), m.expire)
}

// expire is what the timer does. It holds nothing but the lock, and ends at once.
func (m *MemoryLog) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.timer = nil
	now := time.Now()
	m.sweep(now)
	m.plan(now)
}
