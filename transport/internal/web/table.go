package web

import (
	"sync"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Table holds the sessions of one handler by their ids. Its methods may be called concurrently; its fields are not changed
// once it is used.
//
// A session takes a place before it is known: Reserve, then Publish. Remove gives the place of a session back that is
// known, GiveBack that of one that is not.
type Table[S comparable] struct {
	Most int   // sessions known or being opened; negative means no bound
	Full error // what Reserve fails with over Most

	mu     sync.RWMutex
	byID   map[string]held[S]
	places int // taken
	closed bool
}

type held[S comparable] struct {
	session S
	owner   string
}

// Owner names a principal for Publish; nobody is "".
func Owner(who *mcp.Principal) string {
	return who.Key()
}

// Reserve takes a place for a session that is being opened. It fails with Full, or with transport.ErrClosed after Close.
func (t *Table[S]) Reserve() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return transport.ErrClosed
	case t.Most >= 0 && t.places >= t.Most:
		return t.Full
	}
	t.places++
	return nil
}

// GiveBack gives back the place of a session that was never published.
func (t *Table[S]) GiveBack() {
	t.mu.Lock()
	t.places--
	t.mu.Unlock()
}

// Publish makes a session known, which has its place. It answers false, and does nothing, after Close.
func (t *Table[S]) Publish(id, owner string, s S) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	if t.byID == nil {
		t.byID = make(map[string]held[S])
	}
	t.byID[id] = held[S]{session: s, owner: owner}
	return true
}

// Remove takes a session out, once. It answers false, and does nothing, when that is not in the table.
func (t *Table[S]) Remove(id string, s S) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if h, ok := t.byID[id]; !ok || h.session != s {
		return false
	}
	delete(t.byID, id)
	t.places--
	return true
}

// Find returns a session of its owner, or the zero value. Those of others do not exist for who asks.
func (t *Table[S]) Find(id string, who *mcp.Principal) (s S) {
	t.mu.RLock()
	h, ok := t.byID[id]
	t.mu.RUnlock()
	if !ok || h.owner != Owner(who) {
		return s
	}
	return h.session
}

// Get returns a session by its id alone, or the zero value: for who finds the owner out in another way.
func (t *Table[S]) Get(id string) S {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id].session
}

// Len returns how many sessions are known.
func (t *Table[S]) Len() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byID)
}

// Places returns how many places are taken: by sessions that are known, and by those being opened.
func (t *Table[S]) Places() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.places
}

// All returns the sessions that are known, in no order.
func (t *Table[S]) All() []S {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]S, 0, len(t.byID))
	for _, h := range t.byID {
		out = append(out, h.session)
	}
	return out
}

// Each calls run for all sessions at once, and returns when the last call has.
func (t *Table[S]) Each(run func(S)) {
	var wg sync.WaitGroup
	for _, s := range t.All() {
		wg.Go(func() { run(s) })
	}
	wg.Wait()
}

// Closed tells whether Close has been called.
func (t *Table[S]) Closed() bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.closed
}

// Close takes no more sessions, and does with those there are as Each does. What end does includes Remove.
func (t *Table[S]) Close(end func(S)) {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.Each(end)
}
