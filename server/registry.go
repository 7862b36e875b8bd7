package server

import (
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/internal/engine"
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
	r.tools.init(s, Tools, engine.ToolsChanged)
	r.prompts.init(s, Prompts, engine.PromptsChanged)
	r.resources.init(s, Resources, engine.ResourcesChanged)
	r.templates.init(s, ResourceTemplates, engine.ResourcesChanged)
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
	change engine.Change

	mu   sync.Mutex // writers
	snap atomic.Pointer[snapshot[T]]
}

// snapshot is one state of a shelf. It is never changed.
type snapshot[T item] struct {
	order []T
	byKey map[string]T
	list  *List
}

func (b *shelf[T]) init(s *Server, kind ListKind, change engine.Change) {
	b.server, b.kind, b.change = s, kind, change
	b.snap.Store(b.build(nil))
}

func (b *shelf[T]) build(order []T) *snapshot[T] {
	next := &snapshot[T]{order: order, byKey: make(map[string]T, len(order))}
	wires := make([]json.RawMessage, len(order))
	for i, it := range order {
		next.byKey[it.key()] = it
		wires[i] = it.wire()
	}
	next.list = NewList(b.kind, wires, b.server.opts.Cache)
	return next
}

// get finds an entry.
func (b *shelf[T]) get(key string) (T, bool) {
	it, ok := b.snap.Load().byKey[key]
	return it, ok
}

// put adds an entry, or replaces the one of the same key in its place. Nothing is announced when the entry looks as
// before.
func (b *shelf[T]) put(it T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	order := slices.Clone(b.snap.Load().order)
	old, replaced := b.get(it.key())
	if replaced {
		i := slices.IndexFunc(order, func(o T) bool { return o.key() == it.key() })
		order[i] = it
	} else {
		order = append(order, it)
	}
	b.snap.Store(b.build(order))
	if !replaced || string(old.wire()) != string(it.wire()) {
		b.announce()
	}
}

// remove takes entries out and returns how many there were.
func (b *shelf[T]) remove(keys ...string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.snap.Load().order
	order := slices.DeleteFunc(slices.Clone(old), func(it T) bool { return slices.Contains(keys, it.key()) })
	if len(order) == len(old) {
		return 0
	}
	b.snap.Store(b.build(order))
	b.announce()
	return len(old) - len(order)
}

func (b *shelf[T]) announce() {
	if b.server.engine != nil {
		b.server.engine.Announce(b.change, "")
	}
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
