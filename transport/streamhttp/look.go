package streamhttp

import (
	"errors"

	"github.com/rialto-mcp/rialto/state"
)

// mostLooks is how many sessions are looked up at once because there is news of them.
const mostLooks = 16

// news notes that the record of a session has changed, and sees to it that it is looked up. What is said again before that
// is one look, so that a slow store holds up nobody who hears.
func (r *replicas) news(s *session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed[s] = struct{}{}
	if r.looking < mostLooks {
		r.looking++
		r.tasks.Go(r.lookChanged) // ends with close, or when there is no more news
	}
}

func (r *replicas) lookChanged() {
	for s := r.nextChanged(); s != nil; s = r.nextChanged() {
		r.lookAt(s)
	}
}

// nextChanged takes a session that there is news of. Without one, the goroutine that asks counts no more.
func (r *replicas) nextChanged() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() == nil {
		for s := range r.changed {
			delete(r.changed, s)
			return s
		}
	}
	r.looking--
	return nil
}

// lookAgain begins to look all sessions of this handler up, since it is not known what has become of them. What is heard
// meanwhile does not wait for that.
func (r *replicas) lookAgain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.missed = true
	if !r.looks {
		r.looks = true
		r.tasks.Go(r.lookAll) // ends with close, or when nothing is missed any more
	}
}

func (r *replicas) lookAll() {
	for r.stillMissed() {
		for _, s := range r.h.sessions.All() {
			if !r.lookAt(s) {
				break // the store fails; each request looks for itself
			}
		}
	}
}

// stillMissed tells whether word was lost since it was asked last.
func (r *replicas) stillMissed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	missed := r.missed && r.ctx.Err() == nil
	r.missed, r.looks = false, missed
	return missed
}

// lookAt looks one session up, and tells whether the store could say.
func (r *replicas) lookAt(s *session) bool {
	ctx, cancel := bounded(r.ctx)
	defer cancel()
	_, err := s.shared.look(ctx)
	if err == nil || errors.Is(err, state.ErrNotFound) {
		return true
	}
	r.h.opts.OnError(err)
	return false
}
