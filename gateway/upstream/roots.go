package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/mcp"
)

// Roots are the folders and files that servers may work in, by the name of the server, as the gateway's operator says. They
// are for servers that are told once, when they are connected, what they may ask: such a server asks for roots outside of calls
// too, and no client stands behind that. The zero value has none. It may be used concurrently.
type Roots struct {
	byServer atomic.Pointer[map[string][]mcp.Root]
}

// Set puts others in place; those that are given are not to be changed any more. A server that is not named is not told that
// there are roots, which is something else than an empty list. [Set.Reload] tells the servers.
func (r *Roots) Set(byServer map[string][]mcp.Root) { r.byServer.Store(&byServer) }

// of is nil for a server that is not told of roots.
func (r *Roots) of(server string) []mcp.Root {
	if r == nil || r.byServer.Load() == nil {
		return nil
	}
	return (*r.byServer.Load())[server]
}

// capabilities is what a server is told at its handshake.
func (l *link) capabilities() mcp.ClientCapabilities {
	c := MayAsk
	if l.roots() != nil {
		c.Roots = &mcp.RootsCapability{ListChanged: true}
		l.offersRoots = true
	}
	return c
}

// newsWait is how long a request for roots that names no call is taken to come of the news that they have changed.
const newsWait = 10 * time.Second

// listRoots answers a server that asks for roots. Where it asks on behalf of a call whose client has declared roots, that
// client is asked; else it gets those of the configuration, or is refused where there are none. Calls need not come one at a
// time because of such a request: nothing of it depends on whose it is.
func (l *link) listRoots(ctx context.Context, req *client.IncomingRequest) (json.RawMessage, error) {
	call, _ := req.Tag.(*Call)
	if call == nil {
		call = l.rootsCall()
	}
	switch {
	case call != nil && call.HasRoots && call.OnRequest != nil:
		return call.OnRequest(ctx, req.Method, req.Params)
	case l.offersRoots:
		list := l.roots() // nil when they have been taken away since the handshake
		return mcp.ListRootsResult{Roots: append([]mcp.Root{}, list...)}.MarshalJSON()
	}
	return nil, mcp.Errorf(mcp.CodeMethodNotFound, "This gateway has no roots for this server, and no client that has declared them stands behind the request")
}

// rootsCall is the call that a request for roots belongs to which does not say so: on a pipe the only one under way, unless
// the server has just been told to ask anew.
func (l *link) rootsCall() *Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := l.rootsNews
	l.rootsNews = time.Time{}
	if l.streams || time.Since(asked) < newsWait {
		return nil
	}
	return l.only()
}

// RootsChanged implements rootsTeller.
func (l *link) RootsChanged(ctx context.Context) error {
	if !l.offersRoots {
		return nil
	}
	l.mu.Lock()
	l.rootsNews = time.Now()
	l.mu.Unlock()
	err := l.c.Notify(ctx, mcp.NotifyRootsChanged, nil)
	if errors.Is(err, mcp.CodeMethodNotSupported) { // its revision asks when it wants to know
		return nil
	}
	return err
}

// rootsTeller is a Conn whose server can be told that the roots have changed.
type rootsTeller interface {
	RootsChanged(ctx context.Context) error
}

// rootsDiffer takes up the roots of now, and says whether the server is to be told. u.mu is held.
func (u *upstream) rootsDiffer() bool {
	now := u.set.opts.Roots.of(u.server().Name)
	same := slices.EqualFunc(u.roots, now, func(a, b mcp.Root) bool { return a.URI == b.URI && a.Name == b.Name })
	u.roots = now
	return !same
}

// sameRoots tells whether a server that is connected knows what it has to know: that there are roots, or that there are none.
func (u *upstream) sameRoots() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return (u.roots == nil) == (u.set.opts.Roots.of(u.server().Name) == nil)
}

// tellRoots says to a server that the roots have changed.
func (u *upstream) tellRoots(ctx context.Context, conn Conn) {
	teller, ok := conn.(rootsTeller)
	if !ok {
		return
	}
	if err := teller.RootsChanged(ctx); err != nil && ctx.Err() == nil {
		u.warn("it cannot be told that its roots have changed: " + u.keeper.Reason(err))
	}
}
