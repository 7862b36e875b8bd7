package server

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/mcp"
)

// registry holds what is registered. Readers load an immutable snapshot; writers make a new one under the lock and
// announce the change.
type registry struct {
	tools     shelf[*tool]
	prompts   shelf[*prompt]
	resources shelf[*resource]
	templates shelf[*template]
}

func (r *registry) init(s *Server) {
	r.tools.init(s, Tools)
	r.prompts.init(s, Prompts)
	r.resources.init(s, Resources)
	r.templates.init(s, ResourceTemplates)
}

// item is an entry of a list.
type item interface {
	key() string
	wire() json.RawMessage
}

// shelf is one list of the registry, in the order of registration.
type shelf[T item] struct {
	server *Server
	kind   ListKind

	mu    sync.Mutex     // writers
	place map[string]int // of each key in the order; the writers' own
	snap  atomic.Pointer[snapshot[T]]
}

// snapshot is one state of a shelf. It is never changed. What readers need beside the order is made when the first of
// them comes: a loop that adds a thousand tools takes a thousand steps that way, not a million.
type snapshot[T item] struct {
	order []T
	byKey func() map[string]T
	list  func() *List
}

func (b *shelf[T]) init(s *Server, kind ListKind) {
	b.server, b.kind = s, kind
	b.place = make(map[string]int)
	b.show(nil)
}

// show makes an order the one that readers see.
func (b *shelf[T]) show(order []T) {
	b.snap.Store(&snapshot[T]{
		order: order,
		byKey: sync.OnceValue(func() map[string]T {
			index := make(map[string]T, len(order))
			for _, it := range order {
				index[it.key()] = it
			}
			return index
		}),
		list: sync.OnceValue(func() *List {
			wires := make([]json.RawMessage, len(order))
			for i, it := range order {
				wires[i] = it.wire()
			}
			return NewList(b.kind, wires, mcp.CacheHint{})
		}),
	})
}

// get finds an entry.
func (b *shelf[T]) get(key string) (T, bool) {
	it, ok := b.snap.Load().byKey()[key]
	return it, ok
}

// has tells whether there is an entry, without making the readers' index.
func (b *shelf[T]) has(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.place[key]
	return ok
}

// put adds an entry, or replaces the one of the same key in its place. Nothing is announced when the entry looks as
// before.
func (b *shelf[T]) put(it T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	order := b.snap.Load().order
	at, replaced := b.place[it.key()]
	changed := !replaced
	if replaced {
		changed = string(order[at].wire()) != string(it.wire())
		order = slices.Clone(order)
		order[at] = it
	} else {
		b.place[it.key()] = len(order)
		order = append(order, it) // readers of older snapshots never look behind the end of theirs
	}
	b.show(order)
	if changed {
		b.server.Changed(b.kind)
	}
}

// remove takes entries out and returns how many there were.
func (b *shelf[T]) remove(keys ...string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.snap.Load().order
	for _, key := range keys {
		delete(b.place, key)
	}
	gone := len(old) - len(b.place)
	if gone == 0 {
		return 0
	}
	order := make([]T, 0, len(b.place))
	for _, it := range old {
		if _, stays := b.place[it.key()]; stays {
			b.place[it.key()] = len(order)
			order = append(order, it)
		}
	}
	b.show(order)
	b.server.Changed(b.kind)
	return gone
}

// keys lists the keys in order.
func (b *shelf[T]) keys() []string {
	order := b.snap.Load().order
	keys := make([]string, len(order))
	for i, it := range order {
		keys[i] = it.key()
	}
	return keys
}

func (b *shelf[T]) empty() bool { return len(b.snap.Load().order) == 0 }
