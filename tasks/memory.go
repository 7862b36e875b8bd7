package tasks

import (
	"container/heap"
	"context"
	"slices"
	"sync"
	"time"
)

// MemoryLimits bounds a [Memory]. Zero means the default and a negative value means no bound.
type MemoryLimits struct {
	Tasks int   // 10,000
	Bytes int64 // of all tasks together, results included; 64 MiB
}

// Memory is a Store in the memory of this process. It needs no closing.
type Memory struct {
	limits MemoryLimits

	mu      sync.Mutex
	byID    map[string]*held
	ends    ends // the one that expires first in front
	ofOwner map[string]map[*held]struct{}
	created int64
	bytes   int64
}

var _ Store = (*Memory)(nil)

// held is one task in memory.
type held struct {
	record Record
	number int64 // in the order of creation
	place  int   // in ends
}

// NewMemory returns an empty store.
func NewMemory(limits MemoryLimits) *Memory {
	if limits.Tasks == 0 {
		limits.Tasks = 10_000
	}
	if limits.Bytes == 0 {
		limits.Bytes = 64 << 20
	}
	return &Memory{limits: limits, byID: make(map[string]*held), ofOwner: make(map[string]map[*held]struct{})}
}

// Create implements Store.
func (m *Memory) Create(ctx context.Context, r Record, most int) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	switch {
	case m.byID[r.ID] != nil:
		return ErrTaken
	case most > 0 && len(m.ofOwner[r.Owner]) >= most:
		return ErrTooMany
	case m.limits.Tasks > 0 && len(m.byID) >= m.limits.Tasks, m.over(r.Size()):
		return ErrFull
	}
	m.created++
	h := &held{record: r, number: m.created}
	m.byID[r.ID] = h
	if m.ofOwner[r.Owner] == nil {
		m.ofOwner[r.Owner] = make(map[*held]struct{})
	}
	m.ofOwner[r.Owner][h] = struct{}{}
	m.bytes += r.Size()
	heap.Push(&m.ends, h)
	return nil
}

// Get implements Store.
func (m *Memory) Get(ctx context.Context, id string) (Record, error) {
	if err := m.enter(ctx); err != nil {
		return Record{}, err
	}
	defer m.mu.Unlock()
	if h := m.byID[id]; h != nil {
		return h.record, nil
	}
	return Record{}, ErrNotFound
}

// Update implements Store.
func (m *Memory) Update(ctx context.Context, id string, change func(*Record) error) (Record, error) {
	if err := m.enter(ctx); err != nil {
		return Record{}, err
	}
	defer m.mu.Unlock()
	h := m.byID[id]
	if h == nil {
		return Record{}, ErrNotFound
	}
	next := h.record
	if err := change(&next); err != nil {
		return h.record, err
	}
	grows := next.Size() - h.record.Size()
	if grows > 0 && m.over(grows) {
		return h.record, ErrFull
	}
	m.bytes += grows
	h.record = next
	heap.Fix(&m.ends, h.place)
	return next, nil
}

// List implements Store.
func (m *Memory) List(ctx context.Context, owner, after string, limit int) ([]Record, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	from := int64(0)
	if after != "" {
		h := m.byID[after]
		if h == nil || h.record.Owner != owner {
			return nil, ErrNotFound
		}
		from = h.number
	}
	var found []*held
	for h := range m.ofOwner[owner] {
		if h.number > from {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b *held) int { return int(a.number - b.number) })
	records := make([]Record, 0, min(limit, len(found)))
	for _, h := range found[:min(limit, len(found))] {
		records = append(records, h.record)
	}
	return records, nil
}

// Orphans implements Store: what is in the memory of a process is run by it.
func (m *Memory) Orphans(context.Context) ([]string, error) { return nil, nil }

// enter takes the lock and drops what is over.
func (m *Memory) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	now := time.Now()
	for len(m.ends) > 0 && !m.ends[0].record.Expires().After(now) {
		h := heap.Pop(&m.ends).(*held) //nolint:forcetypeassert // it holds nothing else
		delete(m.byID, h.record.ID)
		m.bytes -= h.record.Size()
		delete(m.ofOwner[h.record.Owner], h)
		if len(m.ofOwner[h.record.Owner]) == 0 {
			delete(m.ofOwner, h.record.Owner)
		}
	}
	return nil
}

func (m *Memory) over(more int64) bool { return m.limits.Bytes > 0 && m.bytes+more > m.limits.Bytes }

// ends is a heap of tasks by when they expire.
type ends []*held

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].record.Expires().Before(e[j].record.Expires()) }
func (e ends) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].place, e[j].place = i, j
}

// Push implements heap.Interface.
func (e *ends) Push(x any) {
	h := x.(*held) //nolint:forcetypeassert // nothing else is pushed
	h.place = len(*e)
	*e = append(*e, h)
}

// Pop implements heap.Interface.
func (e *ends) Pop() any {
	old := *e
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*e = old[:len(old)-1]
	return last
}
