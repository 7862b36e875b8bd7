package engine

import (
	"context"
	"fmt"

	"github.com/rialto-mcp/rialto/internal/era"
	"github.com/rialto-mcp/rialto/jsonrpc"
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
		raw, _ := jsonrpc.Member(n.Params, "uri")
		uri, _ := jsonrpc.Text(raw)
		if err := e.opts.Tell(ctx, n.Method, uri); err != nil {
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
	for _, uri := range e.followed() {
		e.spread(ResourceUpdated, uri)
	}
}

// followed lists the resources that somebody here wants updates of, each once.
func (e *Engine) followed() (uris []string) {
	seen := map[string]bool{}
	add := func(uri string) {
		if !seen[uri] {
			seen[uri] = true
			uris = append(uris, uri)
		}
	}
	e.hub.mu.Lock()
	for l := range e.hub.listens {
		for _, uri := range l.filter.ResourceSubscriptions {
			add(uri)
		}
	}
	e.hub.mu.Unlock()
	for _, p := range e.Peers() {
		p.mu.Lock()
		for uri := range p.resources {
			add(uri)
		}
		p.mu.Unlock()
	}
	return uris
}
