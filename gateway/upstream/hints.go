package upstream

import (
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// listHint is what a server has said about the keeping of one of its lists.
type listHint struct {
	listed bool // the server has such a list
	news   bool // it tells when the list has changed
	read   time.Time
	ttl    *time.Duration // the least of all pages; nil where one does not say
	pages  int
	shared bool // all pages are public
}

// hints are those of the lists of a server, in the order of listings.
type hints [4]listHint

// page takes up what one page says.
func (h *listHint) page(said mcp.CacheHint) {
	if said.TTLMs == nil {
		h.ttl = nil
	} else if ttl := said.TTL(); h.pages == 0 || h.ttl != nil && ttl < *h.ttl {
		h.ttl = &ttl
	}
	h.shared = said.Scope == mcp.CachePublic && (h.pages == 0 || h.shared)
	h.pages++
}

// announced tells of which lists a server says that they have changed.
func announced(c mcp.ServerCapabilities) Kinds {
	var k Kinds
	if c.Tools != nil && c.Tools.ListChanged {
		k |= Tools
	}
	if c.Prompts != nil && c.Prompts.ListChanged {
		k |= Prompts
	}
	if c.Resources != nil && c.Resources.ListChanged {
		k |= Resources | Templates
	}
	return k
}

// Hint says how long a list of the server may be kept from now on, and by whom. ok is false for a server that has no such list.
//
// Of a server that tells of changes that is the whole time it has said, since what is known here is of this moment; of others
// what is left of it. One that says nothing, of the legacy era say, has what [CacheTuning] gives it. Of one that is not
// connected nothing is known: its list may be another one when it comes.
func (s Snapshot) Hint(kind Kinds) (hint mcp.CacheHint, ok bool) {
	switch s.State {
	case manager.Ready, manager.Degraded:
	default:
		return mcp.CacheHint{}, true
	}
	return s.hints.of(kind).now(s.listTTL)
}

// of is the hint of one list.
func (h *hints) of(kind Kinds) listHint {
	for i, l := range listings {
		if l.kind == kind {
			return h[i]
		}
	}
	return listHint{}
}

// Hint is how long one list of a server may be kept.
type Hint struct {
	Server string
	mcp.CacheHint
}

// Hints gives what [Snapshot.Hint] says of one list of each server that has it, as a caller has them. It costs less than
// snapshots, since it is for each request.
func (s *Set) Hints(kind Kinds, c *Caller) []Hint {
	all := s.all()
	out := make([]Hint, 0, len(all))
	split := c.known() && differ(all)
	for _, u := range all {
		now := Snapshot{listTTL: u.tuning().Cache.Lists}
		now.State = u.keeper.Status().State
		u.mu.Lock()
		shown := u.shown
		now.hints = u.hints
		u.mu.Unlock()
		if split {
			if _, theirs, own := u.ownLists(c, shown); own {
				now.hints = theirs
			}
		}
		if hint, ok := now.Hint(kind); ok {
			out = append(out, Hint{u.name(), hint})
		}
	}
	return out
}

func (h listHint) now(otherwise time.Duration) (mcp.CacheHint, bool) {
	scope := mcp.CachePrivate
	if h.shared {
		scope = mcp.CachePublic
	}
	switch {
	case !h.listed:
		return mcp.CacheHint{}, false
	case h.ttl == nil && otherwise <= 0:
		return mcp.CacheHint{}, true
	}
	ttl := otherwise
	if h.ttl != nil {
		ttl = *h.ttl
	}
	if !h.news {
		ttl = max(ttl-time.Since(h.read), 0)
	}
	return mcp.CacheFor(ttl, scope), true
}

// leastAge is how old a list must be before it is read again for want of news.
const leastAge = 10 * time.Second

// Freshen reads lists again that are older than their servers allow and that nobody will tell of, in the background: those for all,
// and those that a caller has for itself. It is to be called when that caller asks for the lists.
func (s *Set) Freshen(kind Kinds, c *Caller) {
	for _, u := range s.all() {
		u.freshen(kind)
		if owner := u.owner(c); owner != nil {
			if t := s.pool.of(place{u.name(), owner.key}); t != nil {
				t.freshen(kind)
			}
		}
	}
}

func (u *upstream) freshen(kind Kinds) {
	if old := u.outdated(kind); old != 0 {
		select {
		case u.stale <- old:
		default: // somebody is about to look
		}
	}
}

// outdated gives those of some lists that are.
func (u *upstream) outdated(kinds Kinds) (old Kinds) {
	otherwise := u.tuning().Cache.Lists
	u.mu.Lock()
	known := u.hints
	u.mu.Unlock()
	for i, l := range listings {
		h := known[i]
		if kinds&l.kind == 0 || !h.listed || h.news || h.ttl == nil && otherwise <= 0 {
			continue
		}
		ttl := otherwise
		if h.ttl != nil {
			ttl = *h.ttl
		}
		if time.Since(h.read) >= max(ttl, leastAge) {
			old |= l.kind
		}
	}
	return old
}
