package signon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/rialto-mcp/rialto/auth/oauth"
	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

const (
	mostVisits = 1000             // callers that are signing in
	mostOwn    = mostVisits / 10  // logins of one principal, whose sessions may each have one
	mostNeeded = 10_000           // callers that are known to have to
	loginTime  = 5 * time.Minute  // that a caller may take
	pageTime   = 15 * time.Second // that finding the page of an authorization server may take
)

// logins knows which callers have to sign in, and which are signing in.
type logins struct {
	desk *Desk
	work sync.WaitGroup // of visits

	mu      sync.Mutex
	needed  map[place]bool
	byPlace map[place]*visit
	byID    map[string]*visit
	byState map[string]*visit
	closed  bool
}

// place is one caller at one server.
type place struct{ server, owner string }

// visit is the login of one caller at one server, from the page that it is sent to until its end.
type visit struct {
	id     string // unguessable; the address of the page has it
	server manager.Server
	owner  *upstream.Owner
	cancel context.CancelFunc
	base   string // address of the gateway that the browser comes back to

	ready chan struct{} // closed when page is set
	page  string        // of the authorization server
	back  chan string   // of one place: the address that the browser came back to
	done  chan struct{} // closed at the end, when err is set
	err   error

	cookie string // of the browser in which the caller has said yes; guarded by the lock of logins
}

// note keeps whether a caller has to sign in at a server.
func (l *logins) note(s manager.Server, owner *upstream.Owner, needed bool) {
	at := place{s.Name, owner.Key()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !needed {
		delete(l.needed, at)
		return
	}
	if l.needed == nil {
		l.needed = make(map[place]bool)
	}
	if len(l.needed) >= mostNeeded { // whoever is forgotten is noted again by the next try
		clear(l.needed)
	}
	l.needed[at] = true
}

func (l *logins) needs(server string, owner *upstream.Owner) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.needed[place{server, owner.Key()}]
}

// pending is the login of a caller that is under way; nil for none.
func (l *logins) pending(server string, owner *upstream.Owner) *visit {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.byPlace[place{server, owner.Key()}]
}

// start begins the login of a caller, or answers the one that is under way. One whose browser would come back to where the gateway
// is no longer is given up.
func (l *logins) start(s manager.Server, owner *upstream.Owner) (*visit, error) {
	back := l.desk.opts.Back()
	if back == "" {
		return nil, errors.New("the gateway knows no address of its own that browsers can come back to; its operator can set gateway.auth.resource")
	}
	at := place{s.Name, owner.Key()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if had := l.byPlace[at]; had != nil && had.base != back {
		delete(l.byPlace, at)
		had.cancel()
	}
	switch {
	case l.closed:
		return nil, transport.ErrClosed
	case l.byPlace[at] != nil:
		return l.byPlace[at], nil
	case len(l.byPlace) >= mostVisits:
		return nil, fmt.Errorf("%d callers are signing in, which is the limit; try again later", mostVisits)
	case l.countOf(owner) >= mostOwn:
		return nil, fmt.Errorf("%d logins of this caller are under way, which is the limit; finish one, or try again later", mostOwn)
	}
	if l.byPlace == nil {
		l.byPlace, l.byID, l.byState = make(map[place]*visit), make(map[string]*visit), make(map[string]*visit)
	}
	ctx, cancel := context.WithTimeout(context.Background(), loginTime)
	v := &visit{
		id: rand.Text(), server: s, owner: owner, cancel: cancel, base: back,
		ready: make(chan struct{}), back: make(chan string, 1), done: make(chan struct{}),
	}
	l.byPlace[at], l.byID[v.id] = v, v
	l.work.Go(func() { // ends with its time, or with close, which waits
		defer cancel()
		way := oauth.Redirect{URL: back + callbackPath, Visit: func(ctx context.Context, page string) (string, error) { return l.show(ctx, v, page) }}
		tokens := l.desk.tokensOf(owner, l.desk.opts.Settings(s.Name), way)
		err := tokens.Login(ctx, s)
		l.finish(v, errors.Join(err, tokens.Close()))
	})
	return v, nil
}

// countOf counts the logins of a principal that are under way. l.mu is held.
func (l *logins) countOf(owner *upstream.Owner) (n int) {
	for _, v := range l.byPlace {
		if v.owner.Principal.Key() == owner.Principal.Key() {
			n++
		}
	}
	return n
}

// dismiss ends the logins of principals whom gone says yes to.
func (l *logins) dismiss(gone func(*mcp.Principal) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.byPlace {
		if gone(v.owner.Principal) {
			v.cancel()
		}
	}
}

// show is where a login waits for its caller: it makes the page known and waits for the browser to come back from it.
func (l *logins) show(ctx context.Context, v *visit, page string) (string, error) {
	u, err := url.Parse(page)
	if err != nil {
		return "", errors.New("the page of the authorization server cannot be read as an address")
	}
	state := u.Query().Get("state")
	l.mu.Lock()
	select {
	case <-v.ready: // the client was registered anew, and the page is another one
	default:
		close(v.ready)
	}
	v.page = page
	l.byState[state] = v
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		delete(l.byState, state)
		l.mu.Unlock()
	}()
	select {
	case back := <-v.back:
		return back, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// finish ends a visit. Whoever waits for its end finds that all has been told of it.
func (l *logins) finish(v *visit, err error) {
	if err == nil {
		l.note(v.server, v.owner, false)
		l.desk.opts.OnLogin(v.server.Name, v.owner)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := (place{v.server.Name, v.owner.Key()}); l.byPlace[at] == v {
		delete(l.byPlace, at)
	}
	delete(l.byID, v.id)
	v.err = err
	close(v.done)
}

// close ends all visits and takes no more.
func (l *logins) close() {
	l.mu.Lock()
	l.closed = true
	for _, v := range l.byPlace {
		v.cancel()
	}
	l.mu.Unlock()
	l.work.Wait()
}
