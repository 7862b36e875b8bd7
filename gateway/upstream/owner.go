package upstream

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// Share says who may be on one connection to a server.
type Share string

// The ways to share. Callers that nobody can tell apart share the gateway's own connection in any case: those without a
// principal, and with [ShareSession] those without a session and a principal.
const (
	// ShareSafely is all where a server keeps nothing of a client between calls, since each call says who makes it; principal
	// where it does, or may; and principal where it is called with credentials of each caller.
	ShareSafely Share = ""

	ShareAll       Share = "all"       // one connection for everybody
	SharePrincipal Share = "principal" // one for each principal
	ShareSession   Share = "session"   // one for each session, and for each principal that has none
)

// Sharing is how the connections to one server are shared.
type Sharing struct {
	Share Share

	// Personal says that the server is called with credentials of each caller: no two of them are ever on one connection, and
	// what it lists may differ for each.
	Personal bool

	// ByScopes says that callers of one principal whose scopes differ are told apart, too: what they are called with depends
	// on what they may do.
	ByScopes bool
}

// Owner is who a connection belongs to. It is not changed; its methods may be called concurrently.
type Owner struct {
	Principal *mcp.Principal // nil where only the session is known
	Session   string         // "" for all sessions of the principal

	key   string
	token atomic.Pointer[func() string] // of the newest call
}

// Is tells whether somebody is the owner, or a part of it: one of the sessions of a principal.
func (o *Owner) Is(who *mcp.Principal, session string) bool {
	return o.Principal.Key() == who.Key() && (o.Session == "" || o.Session == session)
}

// Key stands for the owner: owners with equal keys are one. It is no secret.
func (o *Owner) Key() string { return o.key }

// Token is the access token that the owner has come with last; "" for none. It is for exchanges, and for no server.
func (o *Owner) Token() string {
	if token := o.token.Load(); token != nil {
		return (*token)()
	}
	return ""
}

func newOwner(who *mcp.Principal, session string) *Owner {
	return &Owner{Principal: who, Session: session, key: who.Key() + "/" + session}
}

// known tells whether anybody can tell the caller from others.
func (c *Caller) known() bool {
	return c != nil && (c.Session != "" || !c.Principal.IsZero())
}

// owner is who the connection for a caller belongs to; nil for the gateway itself.
func (u *upstream) owner(c *Caller) *Owner {
	if !c.known() {
		return nil
	}
	sharing := u.set.opts.Sharing(u.name())
	o := sharing.owner(c, u.stateless.Load())
	if o != nil && sharing.ByScopes && o.Principal != nil {
		o.key += " " + scopesOf(o.Principal)
		if c.Token != nil {
			o.token.Store(&c.Token)
		}
	}
	return o
}

// owner is who the connection for a caller belongs to, by the principal and the session alone.
func (s Sharing) owner(c *Caller, stateless bool) *Owner {
	switch known := !c.Principal.IsZero(); {
	case s.Personal && !known: // a session alone has no credentials
		return nil
	case s.Share == ShareSession && c.Session != "":
		return newOwner(c.Principal, c.Session)
	case !known:
		return nil
	case s.Personal, s.Share == SharePrincipal, s.Share == ShareSession, s.Share == ShareSafely && !stateless:
		return newOwner(c.Principal, "")
	}
	return nil
}

// scopesOf writes the scopes of a principal so that equal sets, and no others, are one text.
func scopesOf(who *mcp.Principal) string {
	scopes := slices.Clone(who.Scopes)
	slices.Sort(scopes)
	return fmt.Sprintf("%q", slices.Compact(scopes))
}

// stateful is a Conn that knows whether its server keeps something of the client between calls. One that does not know is
// taken for one that does.
type stateful interface{ Stateful() bool }

// noteState keeps what a connection tells of its server.
func (u *upstream) noteState(conn Conn) {
	s, ok := conn.(stateful)
	u.stateless.Store(ok && !s.Stateful())
}

// Owns tells whether the caller has a connection of its own to a server, or would get one.
func (s *Set) Owns(server string, c *Caller) bool {
	return s.OwnerOf(server, c) != nil
}

// OwnerOf is who the connection of a caller to a server belongs to; nil for the gateway itself.
func (s *Set) OwnerOf(server string, c *Caller) *Owner {
	if u := s.find(server); u != nil {
		return u.owner(c)
	}
	return nil
}

// Entry is the entry of a server as it is in use; false where there is none.
func (s *Set) Entry(server string) (manager.Server, bool) {
	if u := s.find(server); u != nil {
		return u.server(), true
	}
	return manager.Server{}, false
}
