package upstream

import (
	"context"
	"log/slog"
	"slices"

	"github.com/rialto-mcp/rialto/manager"
)

// What a server lists for one caller. It is what it lists for all, until the connection of that caller has read its own lists.

// belong makes an upstream the connection of one owner beside that of the server itself. It must not have been started.
func (u *upstream) belong(shared *upstream, owner *Owner) {
	u.shared, u.whose, u.cache, u.gate = shared, owner, shared.cache, shared.gate
	u.stateless.Store(shared.stateless.Load())
	u.lists, u.shown = shared.current()
	if absent := u.set.opts.Absent(u.name(), owner); absent != nil {
		u.lists, u.shown, u.knows = absent, absent, true
		shared.differs.Store(true)
	}
}

// current gives what the server lists, and what is shown of it.
func (u *upstream) current() (lists, shown *Lists) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.lists, u.shown
}

// own puts the lists of one owner in place; nil means that there are none any more. Lists that are those of everybody are kept
// once.
func (u *upstream) own(lists *Lists) {
	theirs, theirShown := u.shared.current()
	if lists == nil {
		lists = u.set.opts.Absent(u.name(), u.whose)
	}
	know := lists != nil
	if know {
		u.mu.Lock()
		u.hints = lists.hints
		u.mu.Unlock()
	}
	if !know || changes(theirs, lists) == 0 {
		lists = theirs
	}
	u.mu.Lock()
	now := theirShown
	if lists != theirs {
		now = shown(u.entry.Load(), lists)
	}
	kinds := changes(u.shown, now)
	u.lists, u.shown, u.knows = lists, now, know
	gone := u.gone
	u.mu.Unlock()
	if know && lists != theirs {
		u.shared.differs.Store(true)
	}
	if kinds != 0 && !gone { // told without any lock
		u.set.opts.OnOwnChange(u.whose, kinds)
	}
}

// updateOwn is update for the connection of one owner.
func (u *upstream) updateOwn(entry manager.Server) {
	theirs, theirShown := u.shared.current()
	u.update(entry)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.lists == theirs {
		u.shown = theirShown
	}
}

// SnapshotsFor gives all servers as a caller has them, in the order of the configuration, where the lists of one of them are
// not those that others have; else own is false, and snaps may be nil.
func (s *Set) SnapshotsFor(c *Caller) (snaps []Snapshot, own bool) {
	all := s.all()
	if !c.known() || !differ(all) {
		return nil, false
	}
	snaps = make([]Snapshot, len(all))
	for i, u := range all {
		snaps[i] = u.snapshot()
		if lists, hints, ok := u.ownLists(c, snaps[i].Lists); ok {
			snaps[i].Lists, snaps[i].Counts, snaps[i].hints, own = lists, countsOf(lists), hints, true
		}
	}
	return snaps, own
}

// differ tells whether some server has listed other things for one caller than for others.
func differ(all []*upstream) bool {
	return slices.ContainsFunc(all, func(u *upstream) bool { return u.differs.Load() })
}

// ownLists gives what the server lists for one caller, where that is not what it lists for others.
func (u *upstream) ownLists(c *Caller, others *Lists) (lists *Lists, hints hints, ok bool) {
	owner := u.owner(c)
	if owner == nil {
		return nil, hints, false
	}
	t := u.set.pool.of(place{u.name(), owner.key})
	if t == nil {
		return nil, hints, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown, t.hints, t.knows && t.shown != others
}

// tellOwn logs what has become of the connection of one owner. Where each caller has credentials of its own, nothing else shows
// why a server is of no use to anybody, so that is a warning: once for each reason.
func (u *upstream) tellOwn(status manager.Status) {
	level := slog.LevelInfo
	if !status.State.Usable() && status.State != manager.Connecting && u.set.opts.Sharing(status.Name).Personal {
		if last, _ := u.shared.told.Swap(status.Reason).(string); last != status.Reason {
			level = slog.LevelWarn
		}
	}
	u.set.opts.Logger.Log(context.Background(), level, "the connection of a caller: "+string(status.State),
		slog.String("server", status.Name), slog.String("reason", status.Reason))
}
