package state

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// recent is what [MemorySessions] and [MemoryLog] have in common: a lock, and under it a table of records by session ID in
// the order of their last use.
//
// Whatever enters the table drops the records at its front that were left alone for too long, and while there are any one
// timer does the same for a table that nobody enters. It starts no goroutine.
type recent[R any] struct {
	idle time.Duration   // how long a record may be left alone; not above zero: for ever
	busy func(*R) bool   // whether somebody is at a record, who counts as a use of it; nil: nobody ever is
	gone func(*R, error) // told of a record that was taken out, and why

	mu     sync.Mutex // held in whatever stands below, and in busy and gone
	byID   map[string]*entry[R]
	order  list.List   // of *entry[R], the longest unused first
	timer  *time.Timer // runs out; nil when none does
	closed bool
}

// entry is one record in its place in the table.
type entry[R any] struct {
	id     string
	used   time.Time // with the monotonic clock
	record R
	place  *list.Element
}

// enter begins a method: unless it fails, the lock is held and no record in the table is too old.
func (t *recent[R]) enter(ctx context.Context) (now time.Time, err error) {
	if err := ended(ctx); err != nil {
		return now, err
	}
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return now, ErrClosed
	}
	now = time.Now()
	t.sweep(now)
	return now, nil
}

// enterAt enters for a record, which fails where there is none.
func (t *recent[R]) enterAt(ctx context.Context, id string) (e *entry[R], now time.Time, err error) {
	if now, err = t.enter(ctx); err != nil {
		return nil, now, err
	}
	if e = t.byID[id]; e == nil {
		t.mu.Unlock()
		return nil, now, ErrNotFound
	}
	return e, now, nil
}

// add puts in a record, which is used now, under an ID that the table does not have.
func (t *recent[R]) add(id string, record R, now time.Time) *entry[R] {
	e := &entry[R]{id: id, used: now, record: record}
	e.place = t.order.PushBack(e)
	t.byID[id] = e
	t.plan(now)
	return e
}

func (t *recent[R]) use(e *entry[R], now time.Time) {
	e.used = now
	t.order.MoveToBack(e.place)
}

func (t *recent[R]) remove(e *entry[R], why error) {
	t.order.Remove(e.place)
	delete(t.byID, e.id)
	t.gone(&e.record, why)
}

// first is the longest unused record, nil when there is none.
func (t *recent[R]) first() *entry[R] {
	if front := t.order.Front(); front != nil {
		return front.Value.(*entry[R])
	}
	return nil
}

// count returns how many records there are that are not too old.
func (t *recent[R]) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sweep(time.Now())
	return len(t.byID)
}

// shut takes everything out, and lets nobody enter from then on.
func (t *recent[R]) shut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	for _, e := range t.byID {
		t.remove(e, ErrClosed)
	}
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}

// sweep drops the records that were left alone for too long.
func (t *recent[R]) sweep(now time.Time) {
	for e := t.first(); e != nil && t.idle > 0 && now.Sub(e.used) >= t.idle; e = t.first() {
		if t.busy != nil && t.busy(&e.record) {
			t.use(e, now)
			continue
		}
		t.remove(e, ErrNotFound)
	}
}

// plan sees to it that the timer runs while there are records. It fires for the one that stands first now; when that was
// used meanwhile, or others are left, it is set again.
func (t *recent[R]) plan(now time.Time) {
	if e := t.first(); e != nil && t.timer == nil && t.idle > 0 {
		t.timer = time.AfterFunc(t.idle-now.Sub(e.used), t.expire)
	}
}

// expire is what the timer does. It holds nothing but the lock, and ends at once.
func (t *recent[R]) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = nil
	now := time.Now()
	t.sweep(now)
	t.plan(now)
}
