package client

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// MemoryCache is a [CacheStore] in memory. When it is full, what was used longest ago goes. Its methods may be called
// concurrently.
type MemoryCache struct {
	entries int
	bytes   int64

	mu    sync.Mutex
	items map[CacheKey]*list.Element // of remembered
	order *list.List                 // the last used first
	size  int64
}

// remembered is one place of a MemoryCache.
type remembered struct {
	key   CacheKey
	entry CacheEntry
	size  int64
}

// Bounds of a MemoryCache by default.
const (
	mostCached      = 1000
	mostCachedBytes = 32 << 20
	placeBytes      = 300 // what a place takes beside its texts
)

var _ CacheStore = (*MemoryCache)(nil)

// NewMemoryCache makes a store for so many answers, of so many bytes together. Zero means 1,000 and 32 MiB; negative means
// no bound. An answer that takes more than half of the bytes is not kept.
func NewMemoryCache(entries int, bytes int64) *MemoryCache {
	if entries == 0 {
		entries = mostCached
	}
	if bytes == 0 {
		bytes = mostCachedBytes
	}
	return &MemoryCache{entries: entries, bytes: bytes, items: make(map[CacheKey]*list.Element), order: list.New()}
}

// Get implements [CacheStore].
func (m *MemoryCache) Get(ctx context.Context, key CacheKey) (CacheEntry, bool, error) {
	if ctx.Err() != nil {
		return CacheEntry{}, false, context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at, ok := m.items[key]
	if !ok {
		return CacheEntry{}, false, nil
	}
	place := at.Value.(*remembered)
	if !time.Now().Before(place.entry.Keep) {
		m.remove(at)
		return CacheEntry{}, false, nil
	}
	m.order.MoveToFront(at)
	return place.entry, true, nil
}

// Put implements [CacheStore].
func (m *MemoryCache) Put(ctx context.Context, key CacheKey, entry CacheEntry) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	place := &remembered{key, entry, int64(placeBytes + len(entry.Result) + len(key.Server) + len(key.URI) + len(key.Variant))}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.items[key]; ok {
		m.remove(at)
	}
	if m.bytes > 0 && place.size > m.bytes/2 {
		return nil
	}
	m.items[key] = m.order.PushFront(place)
	m.size += place.size
	for m.entries > 0 && len(m.items) > m.entries || m.bytes > 0 && m.size > m.bytes {
		m.remove(m.order.Back())
	}
	return nil
}

// Drop implements [CacheStore].
func (m *MemoryCache) Drop(ctx context.Context, key CacheKey) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.items[key]; ok && key.Variant != "" {
		m.remove(at)
		return nil
	}
	for at := m.order.Front(); at != nil; {
		next := at.Next()
		if at.Value.(*remembered).key.under(key) {
			m.remove(at)
		}
		at = next
	}
	return nil
}

// Len returns how many answers there are.
func (m *MemoryCache) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.items)
}

// remove takes one place out; m.mu is held.
func (m *MemoryCache) remove(at *list.Element) {
	place := m.order.Remove(at).(*remembered)
	delete(m.items, place.key)
	m.size -= place.size
}

// under tells whether a key agrees with another in the members that are not empty there.
func (k CacheKey) under(whole CacheKey) bool {
	return (whole.Server == "" || whole.Server == k.Server) && (whole.Method == "" || whole.Method == k.Method) &&
		(whole.URI == "" || whole.URI == k.URI) && (whole.Variant == "" || whole.Variant == k.Variant)
}
