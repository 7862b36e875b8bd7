package upstream

import (
	"maps"
	"slices"
)

// Want is a resource that a caller wants to hear of.
type Want struct {
	Caller *Caller // nil means somebody who has no connection of its own
	URI    string  // by the server
}

// WatchFor is [Set.Watch] for callers who may have connections of their own: each such connection is opened where it has to be,
// stays as long as there is something to hear of on it, and is asked for what its owner wants alone.
func (s *Set) WatchFor(name string, wants []Want) {
	u := s.find(name)
	if u == nil {
		return
	}
	var shared []string
	owned := make(map[string]Want) // one of each owner
	uris := make(map[string][]string)
	for _, w := range wants {
		owner := u.owner(w.Caller)
		if owner == nil {
			shared = append(shared, w.URI)
			continue
		}
		owned[owner.key] = w
		uris[owner.key] = append(uris[owner.key], w.URI)
	}
	for key, w := range owned {
		at, leave, err := s.enter(name, w.Caller)
		if err != nil {
			u.warn("a caller does not hear of updates: " + u.keeper.Reason(err))
			continue
		}
		if at.whose == nil { // it has turned out meanwhile that the server keeps nothing of callers
			shared = append(shared, uris[key]...)
			continue
		}
		s.pool.watch(place{name, key}, true)
		leave()
		at.watchOnly(inOrder(uris[key]))
	}
	s.Watch(name, inOrder(shared))
	for _, t := range s.pool.watching(name) {
		if _, still := owned[t.at.owner]; !still {
			t.watchOnly(nil)
			s.pool.watch(t.at, false)
		}
	}
}

func inOrder(uris []string) []string {
	slices.Sort(uris)
	return slices.Compact(uris)
}

// watch says whether the owner of a connection wants to hear of resources.
func (p *pool) watch(at place, wants bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tenants[at]; t != nil {
		t.watches = wants
		p.rest(t)
	}
}

// watching gives the connections to a server on which somebody wants to hear of resources.
func (p *pool) watching(server string) []*tenant {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Collect(maps.Values(p.tenants)), func(t *tenant) bool { return t.at.server != server || !t.watches })
}
