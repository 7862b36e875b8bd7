package oauth

import (
	"errors"
	"fmt"
	"net/http"
)

// errBare tells that the request has to go without a token, so that the server says what it wants.
var errBare = errors.New("no token yet")

// RoundTrip sends a request with the token at hand, and again when the server has said what it lacks: at most three times
// after 401 (a refreshed token, a new one, one of another authorization server) and twice after 403. A request to another
// origin than the server's, and one that has an Authorization header, goes as it is. A request whose body cannot be read a
// second time (no GetBody) is not repeated.
//
// It fails with an [*Error] when no token can be got, and otherwise with what Options.Base fails with.
func (a *Authorizer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" || origin(req.URL) != origin(a.server) {
		return a.base.RoundTrip(req)
	}
	t, err := a.ready(req)
	if err != nil {
		closeBody(req)
		return nil, err
	}
	tries := &tries{}
	for {
		resp, err := a.send(req, t, tries)
		if err != nil {
			return nil, err
		}
		next, err := a.judge(req, resp, t, tries)
		if err != nil {
			discard(resp)
			return nil, err
		}
		if next == nil || req.Body != nil && req.Body != http.NoBody && req.GetBody == nil {
			return resp, nil
		}
		discard(resp)
		t = next
	}
}

// tries counts what was done for one request.
type tries struct {
	sent     int
	renewals int
	stepUps  int
	nonce    bool
}

const (
	maxRenewals = 3
	maxStepUps  = 2
)

// ready answers the token to begin with; nil for none. A stale one is renewed first, where that takes no person. A flow that
// knows where tokens come from does not wait to be asked for one.
func (a *Authorizer) ready(req *http.Request) (*token, error) {
	ctx := req.Context()
	t, err := a.current(ctx)
	if _, knows := a.opts.Flow.(straight); knows && err == nil && t == nil {
		return a.obtain(ctx, need{})
	}
	if err != nil || t == nil || !t.stale(a.now()) {
		return t, err
	}
	if t.Refresh == "" && a.opts.Flow.interactive() {
		return nil, nil
	}
	fresh, err := a.obtain(ctx, need{scopes: t.Asked}) // nobody has refused the token: the same again, with some life left, will do
	switch {
	case err == nil:
		return fresh, nil
	case errors.Is(err, errBare):
		return nil, nil
	case transient(err) && ctx.Err() == nil && !t.over(a.now()):
		return t, nil // still good for a moment; the next request tries again
	}
	return nil, err
}

// send sends a request once.
func (a *Authorizer) send(req *http.Request, t *token, tries *tries) (*http.Response, error) {
	out := req.Clone(req.Context())
	if tries.sent++; tries.sent > 1 && req.GetBody != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, fmt.Errorf("read the request again: %w", err)
		}
		out.Body = body
	}
	if t != nil && t.Access != "" {
		if err := a.present(out, t); err != nil {
			closeBody(out)
			return nil, err
		}
	}
	resp, err := a.base.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	a.keepNonce(out.URL, resp.Header)
	resp.Request = req // as the caller gave it: the one that was sent carries the token
	return resp, nil
}

// present puts a token on a request, with a proof where it is bound to a key.
func (a *Authorizer) present(req *http.Request, t *token) error {
	if t.proofs == nil {
		req.Header.Set("Authorization", "Bearer "+t.Access)
		return nil
	}
	proof, err := t.proofs.proof(a.now(), req.Method, req.URL, a.nonce(req.URL), t.Access)
	if err != nil {
		return fmt.Errorf("make a proof for the token: %w", err)
	}
	req.Header.Set("Authorization", "DPoP "+t.Access)
	req.Header.Set("DPoP", proof)
	return nil
}

// judge says which token to send the request with once more; nil means that the answer stands.
func (a *Authorizer) judge(req *http.Request, resp *http.Response, t *token, tries *tries) (*token, error) {
	if resp.StatusCode != http.StatusUnauthorized && resp.StatusCode != http.StatusForbidden {
		return nil, nil
	}
	d := readDemand(resp.Header.Values("WWW-Authenticate"))
	if resp.StatusCode == http.StatusForbidden {
		return a.stepUp(req, t, d, tries)
	}
	if d.code == "use_dpop_nonce" && t != nil && t.proofs != nil && !tries.nonce && a.nonce(req.URL) != "" {
		tries.nonce = true
		return t, nil
	}
	if tries.renewals++; tries.renewals > maxRenewals {
		return nil, nil
	}
	n := need{demand: &d, scopes: d.scopes}
	if t != nil {
		n.not = t.Access
	}
	return a.obtain(req.Context(), n)
}

// stepUp asks for more scopes where the server says that a token has too few. What was asked for before is kept, and what
// brings nothing new is not tried: the server has then said its last word.
func (a *Authorizer) stepUp(req *http.Request, t *token, d demand, tries *tries) (*token, error) {
	if d.code != "insufficient_scope" || t == nil || len(d.scopes) == 0 {
		return nil, nil
	}
	if tries.stepUps++; tries.stepUps > maxStepUps || covers(t.Asked, d.scopes) {
		return nil, nil
	}
	return a.obtain(req.Context(), need{not: t.Access, demand: &d, scopes: union(t.Asked, d.scopes), wider: true})
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}
