package engine

import (
	"context"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/era"
)

// tellTime bounds how long other processes are told of one change.
const tellTime = answerTime / 6

// newTelling makes the box of changes that other processes are told of. Its goroutine ends when the box is empty, and each
// telling within tellTime.
func (e *Engine) newTelling() {
	e.telling.start = func(run func()) bool { go run(); return true }
	e.telling.deliver = func(ctx context.Context, n *era.Notice) error {
		ctx, cancel := context.WithTimeout(ctx, tellTime)
		defer cancel()
		if err := e.opts.Tell(ctx, n.Method, keyOf(n)); err != nil {
			e.opts.OnError(fmt.Errorf("tell the other replicas of %s: %w", n.Method, err))
		}
		return nil
	}
}

// Begin says that clients may come from now on: what is registered before is no change that other processes hear of, or
// each start of one would be announced to the clients of all. It may be called again.
func (e *Engine) Begin() { e.tells.Store(e.opts.Tell != nil) }

// tell tells other processes of a change made here.
func (e *Engine) tell(c Change, uri string) {
	if e.tells.Load() {
		e.telling.put(c, uri)
	}
}

// Hear announces a change that was made in another process, to those who listen here alone. It answers false for a method
// that is no change.
func (e *Engine) Hear(method, uri string) bool {
	for c, name := range changeMethods {
		if name == method {
			e.spread(c, uri)
			return true
		}
	}
	return false
}

// HearAll announces every change that somebody here listens to: for when it is not known which ones were missed.
func (e *Engine) HearAll() {
	for _, c := range listChanges {
		e.spread(c, "")
	}
	for _, one := range e.followed() {
		e.spread(one.change, one.key)
	}
}

// followed lists the resources and tasks that somebody here wants to hear of, each once.
func (e *Engine) followed() (all []single) {
	seen := map[single]bool{}
	add := func(c Change, key string) {
		if one := (single{c, key}); !seen[one] {
			seen[one] = true
			all = append(all, one)
		}
	}
	e.hub.mu.Lock()
	for l := range e.hub.listens {
		for _, uri := range l.filter.ResourceSubscriptions {
			add(ResourceUpdated, uri)
		}
		for _, id := range l.tasks {
			add(TaskChanged, id)
		}
	}
	e.hub.mu.Unlock()
	for _, p := range e.Peers() {
		p.mu.Lock()
		for uri := range p.resources {
			add(ResourceUpdated, uri)
		}
		p.mu.Unlock()
	}
	return all
}
