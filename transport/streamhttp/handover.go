package streamhttp

import (
	"context"
	"errors"
	"slices"

	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/transport"
)

// attach enters a follower, before its client can know of it. Of those for the same line the one stays that the record has
// taken last, here or elsewhere, or of a call the one that comes last.
func (h *sharedSession) attach(f *follower) error {
	h.mu.Lock()
	late := !f.call && h.version > f.version && h.stream == f.name && !h.holds.Load()
	var before []*follower
	for _, one := range h.followers {
		switch {
		case one.name != f.name:
		case one.version > f.version:
			late = true
		default:
			before = append(before, one)
		}
	}
	h.followers = append(h.followers, f)
	h.mu.Unlock()
	for _, one := range before {
		one.end()
	}
	if late {
		f.end() // as soon as it is there
	}
	if h.s.hasEnded() { // and shut may have looked before
		h.drop(f)
		return transport.ErrClosed
	}
	return nil
}

func (h *sharedSession) drop(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers = slices.DeleteFunc(h.followers, func(one *follower) bool { return one == f })
}

// yield ends followers: somebody else goes on with their streams.
func (h *sharedSession) yield(which func(*follower) bool) {
	for _, f := range h.all() {
		if which(f) {
			f.end()
		}
	}
}

// shut ends all followers.
func (h *sharedSession) shut() { h.yield(func(*follower) bool { return true }) }

// overFor tells who went on with the stream of a call, if anybody did, that somebody else does.
func (h *sharedSession) overFor(name, who string) {
	if who != "" {
		h.r.h.report(h.r.tell(h.r.ctx, wordOver, h.s.id(), []byte(name+"\n"+who)))
	}
}

func (h *sharedSession) all() []*follower {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.followers)
}

// newest is the line of the GET stream that was opened last of those that are open here; "" where none is.
func (h *sharedSession) newest() string {
	for _, f := range slices.Backward(h.all()) {
		if !f.call {
			return f.name
		}
	}
	return ""
}

// detach gives back what the stream had. Where it was the one for what belongs to no call, another takes its place.
func (f *follower) detach() {
	f.cancel()
	h := f.s.shared
	h.drop(f)
	f.s.giveBack()
	f.s.touch()
	if !f.call && !f.s.over.Load() {
		h.r.spawn(func() { h.r.h.report(h.release(f.name)) })
	}
}

// errUnchanged ends a change of a record that is as it should be.
var errUnchanged = errors.New("nothing to change")

// release lets another stream have what belongs to no call, after that of a name has ended: one of this handler, or else
// one of another. Where none is open it waits in the log for the client.
func (h *sharedSession) release(name string) error {
	newest := h.newest()
	switch newest {
	case "":
		return h.r.tell(h.r.ctx, wordLeft, h.s.id(), []byte(name))
	case name: // another connection goes on with it
		return nil
	}
	return h.amend(func(rec *state.Session) bool {
		mine := rec.Owner == h.r.name && rec.Stream == name
		rec.Stream = newest
		return mine
	})
}

// takeOver makes a stream of this handler the one for what belongs to no call, where it was one that has ended, of a handler
// which has none any more.
func (h *sharedSession) takeOver(from, name string) error {
	newest := h.newest()
	if newest == "" || newest == name { // who goes on with the same one has said so itself
		return nil
	}
	return h.amend(func(rec *state.Session) bool {
		theirs := rec.Owner == from && rec.Stream == name
		rec.Owner, rec.Stream = h.r.name, newest
		return theirs
	})
}

// amend changes the record where edit says that it is to be.
func (h *sharedSession) amend(edit func(*state.Session) bool) error {
	err := h.change(h.r.ctx, func(rec *state.Session) error {
		if !edit(rec) {
			return errUnchanged
		}
		return nil
	})
	if errors.Is(err, errUnchanged) || errors.Is(err, state.ErrNotFound) {
		return nil
	}
	return err
}

// openElsewhere tells whether another handler has a stream of the session. What cannot be found out counts as yes.
func (h *sharedSession) openElsewhere(ctx context.Context) bool {
	bound, cancel := bounded(ctx)
	defer cancel()
	rec, err := h.look(bound)
	if err != nil || rec.Owner == "" || rec.Owner == h.r.name {
		return err != nil && !errors.Is(err, state.ErrNotFound)
	}
	open, err := h.r.ask(ctx, rec.Owner, questionOpen, h.s.id(), nil)
	return open || err != nil && !errors.Is(err, state.ErrNobody)
}
