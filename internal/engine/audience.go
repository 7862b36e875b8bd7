package engine

import "github.com/rialto-mcp/rialto/mcp"

// Audience says whether somebody who listens is to be told of a change: by the principal, which may be nil, and by the id of
// the session, "" where there is none. It must not block.
type Audience func(who *mcp.Principal, session string) bool

// AnnounceTo is Announce for a part of those who listen here. Other processes hear nothing of it, and nothing gathers: what
// waits in a listener's box already is not put in twice.
func (e *Engine) AnnounceTo(c Change, key string, to Audience) {
	for _, l := range e.hub.wanting(c, key) {
		if to(l.audience()) {
			l.box.put(c, key)
		}
	}
	if c == TaskChanged {
		return // as in spread
	}
	for _, p := range e.Peers() {
		if p.mayWant(c, key) && to(p.Principal, p.SessionID) {
			p.box.put(c, key)
		}
	}
}

// EachWanted gives every resource that somebody who is connected here wants to hear of, with whose it is. One who has named
// it twice is given twice.
func (e *Engine) EachWanted(fn func(who *mcp.Principal, session, uri string)) {
	type wish struct {
		who     *mcp.Principal
		session string
		uris    []string
	}
	var all []wish // fn runs without any lock
	for _, p := range e.Peers() {
		w := wish{who: p.Principal, session: p.SessionID}
		p.mu.Lock()
		for uri := range p.resources {
			w.uris = append(w.uris, uri)
		}
		p.mu.Unlock()
		all = append(all, w)
	}
	e.hub.mu.Lock()
	for l := range e.hub.listens {
		w := wish{uris: l.filter.ResourceSubscriptions}
		w.who, w.session = l.audience()
		all = append(all, w)
	}
	e.hub.mu.Unlock()
	for _, w := range all {
		for _, uri := range w.uris {
			fn(w.who, w.session, uri)
		}
	}
}

// audience is who listens.
func (l *listen) audience() (who *mcp.Principal, session string) {
	if l.in.Peer != nil {
		session = l.in.Peer.SessionID
	}
	return l.in.X.Principal(), session
}
