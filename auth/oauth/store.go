package oauth

import (
	"context"
	"errors"
	"sync"
)

// Store keeps tokens and registrations of clients. Values are secrets. Keys are texts of up to a few KiB; equal keys
// name the same record in every process that shares the store. All methods may be called concurrently, from several
// processes where the store is shared by them. Package storetest holds an implementation to this.
type Store interface {
	// Get answers the value of a key, nil when there is none. The caller may change what it gets.
	Get(ctx context.Context, key string) ([]byte, error)

	// Put stores a value in place of the one before, all of it or nothing.
	Put(ctx context.Context, key string, value []byte) error

	// Delete removes a value. There need not be one.
	Delete(ctx context.Context, key string) error

	// Lock keeps everybody else who locks the key waiting until unlock is called. It waits as long as the context
	// allows. A process that dies holds no lock any more. Get, Put and Delete do not ask for it.
	Lock(ctx context.Context, key string) (unlock func(), err error)
}

// ErrStoreFull is what a MemoryStore answers when it has no room.
var ErrStoreFull = errors.New("the store of tokens is full")

// MemoryStore is a Store for one process, which several authorizers may share. Make it with NewMemoryStore.
type MemoryStore struct {
	most   int
	mu     sync.Mutex
	values map[string][]byte
	locks  map[string]*keyLock
}

var _ Store = (*MemoryStore)(nil)

// keyLock is a lock that somebody holds or waits for.
type keyLock struct {
	turn  chan struct{} // holds one element while it is free
	users int
}

// NewMemoryStore makes a store for up to most records; 0 means 10,000, a negative number no bound. A server takes one to
// three of them.
func NewMemoryStore(most int) *MemoryStore {
	if most == 0 {
		most = 10_000
	}
	return &MemoryStore{most: most, values: map[string][]byte{}, locks: map[string]*keyLock{}}
}

// String says what it is, and nothing of what is in it; so does GoString.
func (s *MemoryStore) String() string { return "oauth.MemoryStore" }

// GoString is String, for %#v.
func (s *MemoryStore) GoString() string { return s.String() }

// Get implements Store.
func (s *MemoryStore) Get(ctx context.Context, key string) ([]byte, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := s.values[key]
	if !ok {
		return nil, nil
	}
	return append(make([]byte, 0, len(value)), value...), nil
}

// Put implements Store.
func (s *MemoryStore) Put(ctx context.Context, key string, value []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.values[key]; !there && s.most > 0 && len(s.values) >= s.most {
		return ErrStoreFull
	}
	s.values[key] = append(make([]byte, 0, len(value)), value...)
	return nil
}

// Delete implements Store.
func (s *MemoryStore) Delete(ctx context.Context, key string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.values, key)
	return nil
}

// Lock implements Store.
func (s *MemoryStore) Lock(ctx context.Context, key string) (func(), error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	lock := s.locks[key]
	if lock == nil {
		lock = &keyLock{turn: make(chan struct{}, 1)}
		lock.turn <- struct{}{}
		s.locks[key] = lock
	}
	lock.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if lock.users--; lock.users == 0 {
			delete(s.locks, key)
		}
	}
	select {
	case <-lock.turn:
		return sync.OnceFunc(func() {
			lock.turn <- struct{}{}
			leave()
		}), nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}
