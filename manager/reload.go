package manager

import (
	"fmt"
	"slices"
)

// Changes says what a reload has done, by the names of servers in the order of the configuration.
type Changes struct {
	Added, Removed []string
	Changed        []string // connected anew, since their entries say something else now
	Kept           []string // untouched
}

// Reload takes another configuration into use. Servers whose entries are the same keep their connections and their calls; a
// server that is gone takes no new calls and is closed when those it has are done, or after Options.Drain; one that says
// something else now is replaced in the same way. What becomes of such a server from then on is no news. An error changes
// nothing.
func (m *Manager) Reload(servers []Server) (Changes, error) {
	servers = slices.DeleteFunc(slices.Clone(servers), func(s Server) bool { return s.Disabled })
	if m.opts.MaxServers > 0 && len(servers) > m.opts.MaxServers {
		return Changes{}, fmt.Errorf("there are %d servers, and the limit is %d; raise Options.MaxServers", len(servers), m.opts.MaxServers)
	}
	seen := make(map[string]bool, len(servers))
	for _, s := range servers {
		if s.Name == "" || seen[s.Name] {
			return Changes{}, fmt.Errorf("the name %q of a server is empty or stands twice; give each its own", s.Name)
		}
		seen[s.Name] = true
	}
	m.reloading.Lock()
	defer m.reloading.Unlock()
	if m.closed {
		return Changes{}, ErrClosed
	}
	r := m.replace(servers)
	for _, b := range r.fresh {
		b.keeper.Start() // ends with retire or Close
	}
	for _, b := range r.old {
		m.retiring.Go(b.retire) // ends by itself after Drain, and with m.ctx; Close waits
	}
	for _, e := range r.news {
		m.hearing.tell(e)
	}
	return r.changes, nil
}

// ReloadFile reads a configuration file and takes it into use. A file with any mistake is refused whole: the error is the
// reader's, with line numbers, and everything stays as it was.
func (m *Manager) ReloadFile(path string, opts ReadOptions) (Changes, error) {
	f, err := ReadFile(path, opts)
	if err != nil {
		return Changes{}, err
	}
	return m.Reload(f.Servers)
}

// reload is one replacement of servers by others.
type reload struct {
	changes Changes
	order   []*member // from now on
	fresh   []*member // of these, to be started
	old     []*member // to be retired
	news    []Event   // of lists
}

// replace puts other servers in place. m.reloading is held.
func (m *Manager) replace(servers []Server) *reload {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := &reload{}
	next := make(map[string]*member, len(servers))
	for _, s := range servers {
		b := r.keep(m.byName[s.Name], s)
		if b == nil {
			b = newMember(m, s)
			r.fresh = append(r.fresh, b)
		}
		next[s.Name] = b
		r.order = append(r.order, b)
	}
	for _, b := range m.order {
		if next[b.name] == nil {
			r.changes.Removed = append(r.changes.Removed, b.name)
			r.old = append(r.old, b)
			r.tell(b.name, b.offers())
		}
	}
	for _, b := range r.old {
		if known, heir := b.leave(), next[b.name]; heir != nil {
			heir.inherit(known)
		}
	}
	m.order, m.byName = r.order, next
	return r
}

// keep answers the server that an entry goes on with, if there is one: what does not matter to its connection may differ.
func (r *reload) keep(b *member, s Server) *member {
	switch {
	case b == nil:
		r.changes.Added = append(r.changes.Added, s.Name)
	case b.server().SameConnection(s):
		r.changes.Kept = append(r.changes.Kept, s.Name)
		r.tell(s.Name, b.update(s))
		return b
	default:
		r.changes.Changed = append(r.changes.Changed, s.Name)
		r.old = append(r.old, b)
	}
	return nil
}

func (r *reload) tell(server string, kinds Kinds) {
	if kinds != 0 {
		r.news = append(r.news, Event{Server: server, Lists: kinds})
	}
}
