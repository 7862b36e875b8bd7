package seal

import (
	"bytes"
	"container/heap"
	"context"
	"sync"
	"time"
)

// Bounds of the stores in memory where none is given.
const (
	DefaultStates     = 10_000   // states
	DefaultStateBytes = 64 << 20 // bytes of all states together
	DefaultNonces     = 200_000  // nonces, about 200 bytes each
)

// MemoryStates is a StateStore in the memory of one process. It is bounded and fails with [ErrFull]. It is safe for
// concurrent use.
type MemoryStates struct{ s shelf }

// NewMemoryStates builds one for so many states, and bytes of them; zero or less means the default.
func NewMemoryStates(states, totalBytes int) *MemoryStates {
	return &MemoryStates{newShelf(positive(states, DefaultStates), positive(totalBytes, DefaultStateBytes))}
}

var _ StateStore = (*MemoryStates)(nil)

// Put implements StateStore.
func (m *MemoryStates) Put(_ context.Context, id string, sealed []byte, expiry time.Time) error {
	_, err := m.s.put(&entry{key: id, value: bytes.Clone(sealed), expiry: expiry}, true)
	return err
}

// Get implements StateStore.
func (m *MemoryStates) Get(_ context.Context, id string) ([]byte, bool, error) {
	value, found := m.s.get(id)
	return bytes.Clone(value), found, nil
}

// MemoryNonces is a Consumer in the memory of one process. It is bounded and fails with [ErrFull]. It is safe for concurrent
// use.
type MemoryNonces struct{ s shelf }

// NewMemoryNonces builds one for so many nonces; zero or less means the default.
func NewMemoryNonces(nonces int) *MemoryNonces {
	return &MemoryNonces{newShelf(positive(nonces, DefaultNonces), 0)}
}

var _ Consumer = (*MemoryNonces)(nil)

// Consume implements Consumer.
func (m *MemoryNonces) Consume(_ context.Context, nonce string, expiry time.Time) (bool, error) {
	return m.s.put(&entry{key: nonce, expiry: expiry}, false)
}

func positive(n, otherwise int) int {
	if n > 0 {
		return n
	}
	return otherwise
}

// shelf is a bounded map whose entries expire. What has expired goes when something is put.
type shelf struct {
	mu       sync.Mutex
	entries  map[string]*entry
	queue    byExpiry
	bytes    int
	maxCount int
	maxBytes int // of all values together
}

type entry struct {
	key    string
	value  []byte
	expiry time.Time
	place  int // in the queue
}

func newShelf(maxCount, maxBytes int) shelf {
	return shelf{entries: map[string]*entry{}, maxCount: maxCount, maxBytes: maxBytes}
}

// put adds an entry and tells whether it did. One of the same key stays, or is replaced; it stays too when there is no room.
func (s *shelf) put(e *entry, replace bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for now := time.Now(); len(s.queue) > 0 && !now.Before(s.queue[0].expiry); {
		s.remove(s.queue[0])
	}
	old := s.entries[e.key]
	count, size := len(s.entries)+1, s.bytes+len(e.value)
	if old != nil {
		if !replace {
			return false, nil
		}
		count, size = count-1, size-len(old.value)
	}
	if count > s.maxCount || size > s.maxBytes {
		return false, ErrFull
	}
	if old != nil {
		s.remove(old)
	}
	s.entries[e.key] = e
	s.bytes += len(e.value)
	heap.Push(&s.queue, e)
	return true, nil
}

func (s *shelf) remove(e *entry) {
	heap.Remove(&s.queue, e.place)
	delete(s.entries, e.key)
	s.bytes -= len(e.value)
}

func (s *shelf) get(key string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[key]
	if e == nil || !time.Now().Before(e.expiry) {
		return nil, false
	}
	return e.value, true
}

// byExpiry is a heap, the first to expire on top.
type byExpiry []*entry

func (q byExpiry) Len() int           { return len(q) }
func (q byExpiry) Less(i, j int) bool { return q[i].expiry.Before(q[j].expiry) }
func (q byExpiry) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push implements heap.Interface.
func (q *byExpiry) Push(x any) {
	e := x.(*entry)
	e.place = len(*q)
	*q = append(*q, e)
}

// Pop implements heap.Interface.
func (q *byExpiry) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return e
}
