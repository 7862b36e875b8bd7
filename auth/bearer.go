package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/transport"
)

// Bearer returns the middleware that lets requests pass by their access token. What passes carries its principal; what does
// not is answered with
//
//   - 401 without a token, or with one that is no good, and a challenge that names the metadata and the scopes to ask for;
//   - 403 and a challenge that names every scope the request needs, when the token grants too little;
//   - 400 when the token stands in the address or there are two;
//   - 429 when the verifier says [TooMany];
//   - 503 when nobody can say whether the token is good. Nothing passes then.
//
// Put it directly around the handlers of a server: their checks of method, Host and Origin then come before the token, and
// browsers of listed origins may read the refusals. Preflights pass, since they never carry a token. It serves other
// handlers as well, which find the principal by transport.PrincipalOf; there Options.ScopesFor is not asked.
//
// It panics where [Options.Check] finds a fault.
func Bearer(opts Options) func(http.Handler) http.Handler {
	g := newGuard(opts)
	return func(next http.Handler) http.Handler {
		inner, _ := next.(transport.Gatekeeper)
		return &bearer{guard: g, next: next, inner: inner}
	}
}

// guard judges requests. It is not changed after newGuard.
type guard struct {
	opts   Options
	proofs *proofs // nil where bound tokens are refused
}

func newGuard(opts Options) *guard {
	if err := opts.Check(); err != nil {
		panic(err)
	}
	g := &guard{opts: opts.withDefaults()}
	if opts.DPoP != nil {
		g.proofs = newProofs(*opts.DPoP)
	}
	return g
}

type bearer struct {
	*guard
	next  http.Handler
	inner transport.Gatekeeper // next, where it has checks that come first; else nil
}

// ServeHTTP implements http.Handler.
func (b *bearer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isPreflight(r) {
		b.next.ServeHTTP(w, withoutToken(r.Context(), r))
		return
	}
	if b.inner != nil && !b.inner.Admit(w, r) {
		return
	}
	who, scheme, err := b.judge(r)
	if err != nil {
		b.refuse(w, r, scheme, err)
		return
	}
	if b.proofs != nil && scheme == schemeDPoP {
		b.proofs.offerNonce(w.Header())
	}
	clean := withoutToken(r.Context(), r) // the grant lives as long as a call of a session does, and the token must not
	ctx := transport.WithGrant(r.Context(), &transport.Grant{
		Principal: who,
		Allow: func(w http.ResponseWriter, asked []transport.Operation) bool {
			return b.allow(w, clean, who, scheme, asked)
		},
		Lacking: func(scopes []string) *transport.Demand { return b.lacking(clean, who, scheme, scopes) },
	})
	if b.opts.KeepToken {
		ctx = hold(ctx, r)
	}
	if b.opts.KeepHeaders {
		b.next.ServeHTTP(w, r.WithContext(ctx))
		return
	}
	b.next.ServeHTTP(w, clean.WithContext(ctx))
}

// withoutToken returns the request as the handlers behind see it.
func withoutToken(ctx context.Context, r *http.Request) *http.Request {
	out := r.WithContext(ctx)
	out.Header = r.Header.Clone()
	out.Header.Del("Authorization")
	out.Header.Del(headerProof)
	return out
}

// forOthers returns a refused request as those see it who are told of it: the address may hold a token as well.
func forOthers(r *http.Request) *http.Request {
	out := withoutToken(r.Context(), r)
	if inQuery(r.URL.RawQuery) {
		plain := *r.URL
		plain.RawQuery = ""
		out.URL, out.RequestURI = &plain, plain.RequestURI()
	}
	return out
}

// judge finds out who sent a request: nil for nobody, where that is allowed.
func (g *guard) judge(r *http.Request) (who *mcp.Principal, scheme string, err error) {
	shown, err := credentialsOf(r)
	switch {
	case err != nil:
		return nil, shown.scheme, err
	case shown.scheme == "" && g.opts.Optional:
		return nil, "", nil
	case shown.scheme == "":
		return nil, "", g.nobody(g.opts.Scopes)
	}
	token, err := g.verify(r.Context(), shown.token)
	if err == nil {
		err = g.holds(r, shown, token)
	}
	if err != nil {
		return nil, shown.scheme, err
	}
	if who = &token.Principal; !g.sufficient(who, g.opts.Scopes) {
		return nil, shown.scheme, lacking(shown.scheme, g.opts.Scopes)
	}
	return who, shown.scheme, nil
}

// nobody asks for a token. RFC 6750 (3.1) wants no error in the challenge then.
func (g *guard) nobody(needed []string) *refusal {
	return &refusal{status: http.StatusUnauthorized, reason: "an access token is needed here", scopes: needed}
}

// verify asks the verifier within its time, and judges what it says but for the key the token may be bound to.
func (g *guard) verify(ctx context.Context, token string) (*Token, error) {
	if g.opts.VerifyTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, g.opts.VerifyTimeout)
		defer cancel()
	}
	found, err := g.opts.Verifier.Verify(ctx, token)
	switch {
	case err != nil:
		return nil, err
	case found == nil || found.Principal.IsZero():
		return nil, errors.New("the verifier took an access token and did not say whose it is")
	case !found.Ours && !g.isOurs(found.Audience):
		return nil, Invalidf("the access token is for another resource")
	}
	return found, found.times(time.Now(), g.opts.Leeway)
}

// holds judges whether the sender may use a token that is bound to a key, and whether one that is not may be used at all.
func (g *guard) holds(r *http.Request, shown credentials, token *Token) error {
	bound := token.KeyThumbprint != ""
	switch {
	case g.proofs == nil && (bound || shown.scheme == schemeDPoP):
		return Invalidf("access tokens that are bound to a key are not taken here")
	case bound && shown.scheme != schemeDPoP:
		return Invalidf("the access token is bound to a key: send it with the scheme DPoP and a proof")
	case !bound && (shown.scheme == schemeDPoP || g.proofs != nil && g.proofs.required):
		return Invalidf("the access token is not bound to a key")
	case !bound:
		return nil
	}
	return g.proofs.check(r, g.resource(r), shown.token, token.KeyThumbprint)
}

// refuse answers a request that may not pass.
func (g *guard) refuse(w http.ResponseWriter, r *http.Request, scheme string, err error) {
	if no := unauthorized(err, scheme); no != nil {
		if no.scopes == nil && no.status == http.StatusUnauthorized {
			known := *no
			known.scopes = g.opts.Scopes
			no = &known
		}
		g.challenge(w, r, no)
		return
	}
	var many *TooMany
	if errors.As(err, &many) {
		w.Header().Set("Retry-After", strconv.FormatInt(many.seconds(), 10))
		text(w, http.StatusTooManyRequests, many.Error())
		g.opts.OnRefuse(Refusal{Request: forOthers(r), Status: http.StatusTooManyRequests, Reason: many.Error()})
		return
	}
	if r.Context().Err() == nil { // else the client has gone, which is no fault
		g.opts.OnError(fmt.Errorf("an access token could not be checked: %w", err))
	}
	w.Header().Set("Retry-After", "5")
	const later = "the access token cannot be checked right now; try again in a moment"
	text(w, http.StatusServiceUnavailable, later)
	g.opts.OnRefuse(Refusal{Request: forOthers(r), Status: http.StatusServiceUnavailable, Reason: later})
}
