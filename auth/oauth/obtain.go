package oauth

import (
	"context"
	"errors"
	"time"
)

// need is what a request lacks.
type need struct {
	not    string   // the access token that the server has refused; "" for none
	scopes []string // that the token has to be asked for
	demand *demand  // of the server's answer; nil where the token has only grown old
	wider  bool     // the token was good, but for too little
}

// metBy tells that a token serves the need.
func (n need) metBy(t *token, now time.Time) bool {
	return t != nil && t.Access != "" && t.Access != n.not && !t.stale(now) && covers(t.Asked, n.scopes)
}

// flight is one attempt to get a token. Everybody who needs one meanwhile waits for it.
type flight struct {
	done  chan struct{}
	token *token
	err   error
}

// current answers the token at hand, from the store at first; nil for none.
func (a *Authorizer) current(ctx context.Context) (*token, error) {
	a.mu.Lock()
	held, loaded := a.held, a.loaded
	a.mu.Unlock()
	if loaded {
		return held, nil
	}
	t, err := a.load(ctx)
	if err != nil {
		return nil, &Error{Server: a.where, Doing: "use what is stored", Err: err}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.loaded {
		a.loaded, a.held = true, t
	}
	return a.held, nil
}

// obtain answers a token that serves the need: the one that another has got meanwhile, or a new one. One flight at a time
// goes out for all. It does not end with the caller's context, since a person may be in the middle of it.
func (a *Authorizer) obtain(ctx context.Context, n need) (*token, error) {
	for {
		a.mu.Lock()
		switch {
		case n.metBy(a.held, a.now()):
			t := a.held
			a.mu.Unlock()
			return t, nil
		case a.failed != nil && a.now().Sub(a.since) < a.opts.Pause:
			err := a.failed
			a.mu.Unlock()
			return nil, err
		case a.closed:
			a.mu.Unlock()
			return nil, &Error{Server: a.where, Doing: "get a token", Err: errors.New("the authorizer is closed")}
		}
		f, mine := a.flight, false
		if f == nil {
			f, mine = a.start(n), true
		}
		a.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		bare := errors.Is(f.err, errBare) && n.demand != nil // what was wanted for an old token is of no use after 401
		if mine || f.err != nil && !bare || f.err == nil && n.metBy(f.token, a.now()) {
			return f.token, f.err
		}
	}
}

// start sends a flight out. The caller holds the mutex; the goroutine ends with its timeout or with Close, which waits.
func (a *Authorizer) start(n need) *flight {
	f := &flight{done: make(chan struct{})}
	a.flight = f
	a.work.Go(func() {
		ctx, cancel := context.WithTimeout(a.ctx, a.opts.LoginTimeout)
		defer cancel()
		unlock, err := a.opts.Store.Lock(ctx, a.tokenKey())
		if err == nil {
			defer unlock() // once it has landed: whoever has the lock next finds here what is in the store
			f.token, f.err = a.fly(ctx, n)
		} else {
			f.err = &Error{Server: a.where, Doing: "wait for others who get a token", Err: &unreachable{err}}
		}
		a.land(f)
	})
	return f
}

// land makes known what a flight has brought.
func (a *Authorizer) land(f *flight) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.flight, a.failed = nil, nil
	switch {
	case f.err == nil:
		a.held, a.loaded = f.token, true
	case errors.Is(f.err, errBare): // what is left of the record: the scopes that were asked for
		a.held, a.loaded, f.token = f.token, true, nil
	case !transient(f.err) && a.ctx.Err() == nil:
		a.failed, a.since = f.err, a.now()
		a.log.Warn("oauth: no token", "server", a.where, "error", f.err)
	}
	close(f.done)
}

// fly gets a token while nobody else who shares the store does: the caller holds its lock. What others have stored meanwhile
// is looked at first.
func (a *Authorizer) fly(ctx context.Context, n need) (*token, error) {
	had, err := a.load(ctx)
	if err != nil {
		return nil, &Error{Server: a.where, Doing: "use what is stored", Err: err}
	}
	if n.metBy(had, a.now()) {
		return had, nil
	}
	at, err := a.whereTo(ctx, n, had)
	if err != nil {
		return nil, err
	}
	v := &visit{a: a, place: at}
	if had != nil && (had.Issuer != at.server.Issuer || had.Resource != at.resource) {
		a.log.Info("oauth: the server has another authorization server now", "server", a.where, "issuer", at.server.Issuer)
		had = nil // neither tokens nor scopes of one issuer mean anything to another
	}
	if v.scopes, err = a.scopesFor(n, had, at); err != nil {
		return nil, err
	}
	if a.canRefresh(n, had, v.scopes) {
		t, err := v.refresh(ctx, had)
		if err == nil || !lost(err) {
			return t, err
		}
		if t, err = a.afterRefusal(ctx, had); err != nil || n.metBy(t, a.now()) {
			return t, err
		}
		had = t
	} else if a.refusedAtOnce(n, had) {
		return nil, &Error{Server: a.where, Doing: "use the access token of " + plain(had.Issuer), Err: ErrRefused}
	}
	if n.demand == nil && a.opts.Flow.interactive() {
		return had, errBare // nobody is asked before the server has
	}
	return v.login(ctx)
}

// whereTo answers where to get a token. Once the server has refused something it is asked anew: it may have changed its
// mind about who gives tokens.
func (a *Authorizer) whereTo(ctx context.Context, n need, had *token) (*place, error) {
	a.mu.Lock()
	at := a.at
	a.mu.Unlock()
	direct, knows := a.opts.Flow.(straight)
	if at != nil && (n.demand == nil || knows) {
		return at, nil
	}
	var err error
	switch {
	case knows:
		at, err = direct.place(ctx, a)
	case n.demand == nil && had != nil:
		at, err = a.placeOf(ctx, had)
	case n.demand == nil:
		at, err = a.discover(ctx, demand{}, "")
	default:
		known := ""
		if had != nil {
			known = had.Issuer
		}
		at, err = a.discover(ctx, *n.demand, known)
	}
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	a.at = at
	a.mu.Unlock()
	return at, nil
}

// placeOf is where a stored token came from.
func (a *Authorizer) placeOf(ctx context.Context, t *token) (*place, error) {
	if err := a.mustCover(t.Resource); err != nil {
		return nil, &Error{Server: a.where, Doing: "use the stored token", Err: err}
	}
	at := &place{resource: t.Resource, dpop: t.proofs != nil}
	var err error
	if a.opts.OldDiscovery && t.Issuer == a.server.Scheme+"://"+a.server.Host {
		at.server, err = a.oldServer(ctx)
		return at, err
	}
	at.server, err = a.findServer(ctx, t.Issuer)
	return at, err
}

// canRefresh tells that the token at hand can be renewed without a login: it has a refresh token, was asked for all that
// is wanted (a refresh cannot widen it), and has not just come from a refresh itself.
func (a *Authorizer) canRefresh(n need, had *token, scopes []string) bool {
	if had == nil || had.Refresh == "" || !covers(had.Asked, scopes) {
		return false
	}
	again := n.demand != nil && had.Renewed && had.Access == n.not && a.justNow(had.Obtained)
	return !again
}

// refusedAtOnce tells that the server refuses what a login of a moment ago has brought: another one would bring the same,
// and people would be asked without end.
func (a *Authorizer) refusedAtOnce(n need, had *token) bool {
	return had != nil && n.demand != nil && !n.wider && had.Access != "" && had.Access == n.not && a.justNow(had.LoggedIn)
}

// justNow tells that something was a moment ago. What a clock that was wrong has put into the future was not.
func (a *Authorizer) justNow(then time.Time) bool {
	ago := a.now().Sub(then)
	return ago >= 0 && ago < time.Minute
}
