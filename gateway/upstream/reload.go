package upstream

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rialto-mcp/rialto/manager"
)

// ErrClosed is the answer to a reload after Close.
var ErrClosed = errors.New("the servers are closed")

// Reload takes other servers into use and waits for none of them. Servers whose entries lead to the same connection keep it,
// and their calls. One that is gone takes no new calls, and is closed when those it has are done, or after Options.Drain. One
// that says something else now is replaced in the same way: the new one begins with the lists of the old, and with the
// resources that are watched, and what the old one has to say from then on is not heard. An error changes nothing.
//
// Options.OnChange is not called for what Reload itself changes: the caller looks at Snapshots afterwards.
func (s *Set) Reload(servers []manager.Server) (manager.Changes, error) {
	return s.ReloadAnew(servers, nil)
}

// ReloadAnew is Reload, and replaces the servers that are named in anew even where their entries lead to the same connection:
// something else that it was opened with is different.
func (s *Set) ReloadAnew(servers []manager.Server, anew map[string]bool) (manager.Changes, error) {
	servers = enabled(servers)
	seen := make(map[string]bool, len(servers))
	for _, entry := range servers {
		if entry.Name == "" || seen[entry.Name] {
			return manager.Changes{}, fmt.Errorf("the name %q of a server is empty or stands twice; give each its own", entry.Name)
		}
		seen[entry.Name] = true
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.closed {
		return manager.Changes{}, ErrClosed
	}
	changes, fresh, old := s.replace(servers, anew)
	for _, u := range fresh {
		if s.started {
			u.keeper.Start() // ends with retire, or with Close
		}
	}
	for _, u := range old {
		s.retiring.Go(u.retire) // ends by itself after Drain, and with s.ctx; Close waits
	}
	return changes, nil
}

// enabled leaves out the servers that take no part.
func enabled(servers []manager.Server) []manager.Server {
	return slices.DeleteFunc(slices.Clone(servers), func(entry manager.Server) bool { return entry.Disabled })
}

// replace puts servers in place, and answers those that are to be started and retired.
func (s *Set) replace(servers []manager.Server, anew map[string]bool) (changes manager.Changes, fresh, old []*upstream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var order []*upstream
	next := make(map[string]*upstream, len(servers))
	for _, entry := range servers {
		u := s.byName[entry.Name]
		switch {
		case u == nil:
			changes.Added = append(changes.Added, entry.Name)
			u = newUpstream(s, entry)
			fresh = append(fresh, u)
		case u.server().SameConnection(entry) && u.sameRoots():
			changes.Kept = append(changes.Kept, entry.Name)
			u.update(entry)
			s.pool.update(entry)
		default:
			changes.Changed = append(changes.Changed, entry.Name)
			old = append(old, u)
			s.Dismiss(entry.Name)
			u = u.leave(newUpstream(s, entry))
			fresh = append(fresh, u)
		}
		next[entry.Name] = u
		order = append(order, u)
	}
	for _, u := range s.order {
		if name := u.server().Name; next[name] == nil {
			changes.Removed = append(changes.Removed, name)
			old = append(old, u)
			s.Dismiss(name)
			u.leave(nil)
		}
	}
	s.order, s.byName = order, next
	return changes, fresh, old
}

// update takes up an entry that leads to the same connection.
func (u *upstream) update(entry manager.Server) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.entry.Store(&entry)
	u.shown = shown(&entry, u.lists)
	if u.rootsDiffer() {
		ring(u.rootsNews)
	}
}

// leave ends the news of a server, and hands what is known of it to the one that takes its place, if there is one.
func (u *upstream) leave(heir *upstream) *upstream {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.gone = true
	if heir != nil {
		heir.lists, heir.shown, heir.hints, heir.watched = u.lists, shown(heir.entry.Load(), u.lists), u.hints, u.watched
	}
	return heir
}

// retire lets the calls under way end, and closes the server.
func (u *upstream) retire() {
	ctx, cancel := context.WithTimeout(u.set.ctx, max(u.set.opts.Drain, 0))
	defer cancel()
	u.keeper.Retire(ctx)
}
