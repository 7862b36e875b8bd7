package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// Logout forgets the tokens for the server, in the store as well, and tells the authorization server that they are given
// up, where it wants to know. Registrations stay. With an error that is no error of the store the tokens are forgotten
// here, and may still be good elsewhere.
func (a *Authorizer) Logout(ctx context.Context) error {
	unlock, err := a.opts.Store.Lock(ctx, a.tokenKey())
	if err != nil {
		return wrap("log out", err)
	}
	defer unlock()
	had, err := a.load(ctx)
	if err != nil {
		return wrap("log out", err)
	}
	if err := a.opts.Store.Delete(ctx, a.tokenKey()); err != nil {
		return wrap("log out", err)
	}
	a.mu.Lock()
	a.held, a.loaded, a.failed = nil, true, nil
	a.mu.Unlock()
	if had == nil || had.Access == "" && had.Refresh == "" {
		return nil
	}
	return a.giveUp(ctx, had)
}

// giveUp revokes tokens: the refresh token first, which is worth more. RFC 7009, section 2.
func (a *Authorizer) giveUp(ctx context.Context, had *token) error {
	at, err := a.placeOf(ctx, had)
	if err != nil {
		return err
	}
	v := &visit{a: a, place: at}
	if at.server.Revocation == "" {
		return nil
	}
	who, err := v.clientOf(ctx, had)
	if err == nil {
		for _, t := range []struct{ kind, value string }{{"refresh_token", had.Refresh}, {"access_token", had.Access}} {
			if t.value != "" {
				err = errors.Join(err, v.revoke(ctx, who, t.kind, t.value))
			}
		}
	}
	if err != nil {
		return &Error{Server: a.where, Doing: "give up the tokens", Err: err}
	}
	return nil
}

func (v *visit) revoke(ctx context.Context, who Credentials, kind, value string) error {
	form, header := url.Values{"token": {value}, "token_type_hint": {kind}}, http.Header{}
	if err := who.authenticate(v.a.now(), v.server, header, form); err != nil {
		return err
	}
	to := v.server.Revocation
	resp, err := v.a.web.post(ctx, endpoint{url: to}, "application/x-www-form-urlencoded", form.Encode(), header)
	if err != nil {
		return fmt.Errorf("%s: %w", plain(to), err)
	}
	if resp.status == http.StatusOK {
		return nil
	}
	return refused(to, resp, append(secretsOf(form, header, who), value)...)
}
