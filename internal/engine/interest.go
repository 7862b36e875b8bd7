package engine

import (
	"maps"
	"slices"
)

// Wanted lists the resources whose updates somebody who is connected here wants to hear of, each once and in order.
func (e *Engine) Wanted() []string {
	all := make(map[string]bool)
	for _, p := range e.Peers() {
		p.mu.Lock()
		maps.Copy(all, p.resources)
		p.mu.Unlock()
	}
	e.hub.mu.Lock()
	for l := range e.hub.listens {
		for _, uri := range l.filter.ResourceSubscriptions {
			all[uri] = true
		}
	}
	e.hub.mu.Unlock()
	return slices.Sorted(maps.Keys(all))
}

// Followed lists the tasks that somebody listens to, each once and in order.
func (e *Engine) Followed() []string {
	all := make(map[string]bool)
	e.hub.mu.Lock()
	for l := range e.hub.listens {
		for _, id := range l.tasks {
			all[id] = true
		}
	}
	e.hub.mu.Unlock()
	return slices.Sorted(maps.Keys(all))
}

// interest says that Wanted or Followed may have changed. No lock may be held.
func (e *Engine) interest() {
	if e.opts.OnInterest != nil {
		e.opts.OnInterest()
	}
}
