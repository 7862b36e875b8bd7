package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
)

// visit is one way to an authorization server and back.
type visit struct {
	a *Authorizer
	*place
	scopes []string
	proofs *prover // of the tokens to be; nil where they are not bound

	remembered bool // the client was registered on an earlier visit
}

// refresh renews a token by its refresh token. The record is stored before anybody uses the new token: the old refresh
// token may be worth nothing any more. OAuth 2.1, section 4.3.
func (v *visit) refresh(ctx context.Context, had *token) (*token, error) {
	who, err := v.clientOf(ctx, had)
	if err != nil {
		return nil, err
	}
	v.proofs = had.proofs
	got, err := v.ask(ctx, v.tokenEndpoint(), who, v.form("refresh_token", url.Values{"refresh_token": {had.Refresh}}))
	if err != nil {
		return nil, &Error{Server: v.a.where, Doing: "refresh the access token", Err: err}
	}
	t := v.record(got, who.ClientID)
	t.Renewed, t.LoggedIn, t.Asked = true, had.LoggedIn, slices.Clone(had.Asked)
	if t.Refresh == "" {
		t.Refresh = had.Refresh // it is still good, OAuth 2.1, section 4.3.1
	}
	v.a.log.Info("oauth: access token refreshed", "server", v.a.where, "issuer", v.server.Issuer)
	return t, v.keep(ctx, t)
}

// errOtherClient: the refresh token belongs to a client that is not known any more.
var errOtherClient = &ResponseError{URL: "the store", Code: "invalid_client", Description: "the refresh token belongs to a client that is forgotten"}

// clientOf answers the credentials that a token was given to.
func (v *visit) clientOf(ctx context.Context, t *token) (Credentials, error) {
	for _, c := range v.a.opts.Credentials {
		if c.ClientID == t.ClientID && (c.Issuer == "" || c.Issuer == t.Issuer) {
			return c, nil
		}
	}
	if t.ClientID != "" && t.ClientID == v.a.opts.ClientMetadataURL {
		return Credentials{Issuer: t.Issuer, ClientID: t.ClientID}, nil
	}
	var r registration
	ok, err := v.a.readStored(ctx, v.a.registrationKey(t.Issuer), &r)
	if err != nil {
		return Credentials{}, err
	}
	if !ok || r.ClientID != t.ClientID {
		return Credentials{}, errOtherClient
	}
	return r.credentials(), nil
}

// lost tells that a refresh token is of no use any more. A server that is busy or away says nothing of the kind, and neither
// does a page of something that stands in front of it: refusals have the status 400 or 401, or a code. RFC 6749, section 5.2.
func lost(err error) bool {
	var answer *ResponseError
	if !errors.As(err, &answer) || answer.transient() {
		return false
	}
	return answer.Code != "" || answer.Status == http.StatusBadRequest || answer.Status == http.StatusUnauthorized
}

// afterRefusal looks again at what is stored once a refresh token was refused: where another has written there meanwhile,
// that is answered and stays. Else the tokens go, and what was asked for stays.
func (a *Authorizer) afterRefusal(ctx context.Context, had *token) (*token, error) {
	now, err := a.load(ctx)
	if err != nil {
		return nil, &Error{Server: a.where, Doing: "use what is stored", Err: err}
	}
	if now != nil && (now.Access != had.Access || now.Refresh != had.Refresh) {
		return now, nil
	}
	a.log.Info("oauth: the refresh token is not accepted any more", "server", a.where, "issuer", had.Issuer)
	left := *had
	left.Access, left.Refresh = "", ""
	if err := a.save(ctx, &left); err != nil {
		return nil, &Error{Server: a.where, Doing: "forget the old token", Err: err}
	}
	return &left, nil
}

// login gets a token from the beginning. A registration that the authorization server has forgotten is made anew, once.
func (v *visit) login(ctx context.Context) (*token, error) {
	if err := v.bind(); err != nil {
		return nil, &Error{Server: v.a.where, Doing: "get an access token", Err: err}
	}
	got, who, err := v.a.opts.Flow.run(ctx, v)
	if err != nil && v.remembered && hasCode(err, "invalid_client", "unauthorized_client") {
		if err := v.a.opts.Store.Delete(ctx, v.a.registrationKey(v.server.Issuer)); err != nil {
			return nil, &Error{Server: v.a.where, Doing: "forget the old registration", Err: err}
		}
		v.remembered = false
		got, who, err = v.a.opts.Flow.run(ctx, v)
	}
	if err != nil {
		var already *Error
		if errors.As(err, &already) {
			return nil, err
		}
		return nil, &Error{Server: v.a.where, Doing: "get an access token from " + plain(v.server.Issuer), Err: err}
	}
	t := v.record(got, who)
	t.LoggedIn, t.Asked = t.Obtained, v.scopes
	v.a.log.Info("oauth: access token obtained", "server", v.a.where, "issuer", v.server.Issuer)
	return t, v.keep(ctx, t)
}

// bind makes a key for the tokens to be, where they are to be bound to one.
func (v *visit) bind() error {
	mode := v.a.opts.DPoP
	if mode == DPoPNever || mode == DPoPWhenAsked && !v.dpop {
		return nil
	}
	if len(v.server.DPoP) > 0 && !slices.Contains(v.server.DPoP, proofAlgorithm) {
		return errors.New("the authorization server binds tokens to no keys of the kind " + proofAlgorithm)
	}
	var err error
	v.proofs, err = newProver()
	return err
}

// record makes the record of a token. It is not stored yet.
func (v *visit) record(got *answer, clientID string) *token {
	now := v.a.now()
	t := &token{Issuer: v.server.Issuer, ClientID: clientID, Resource: v.resource, Access: got.Access, Refresh: got.Refresh,
		Obtained: now, proofs: v.proofs}
	if life, ok := got.life(); ok {
		t.Expires = now.Add(life)
	}
	if v.proofs != nil {
		t.Key = v.proofs.stored
	}
	return t
}

// keep stores a token. A token that cannot be stored is used all the same, in this process.
func (v *visit) keep(ctx context.Context, t *token) error {
	if err := v.a.save(context.WithoutCancel(ctx), t); err != nil {
		v.a.log.Error("oauth: the new token is used and cannot be stored", "server", v.a.where, "error", err)
	}
	return nil
}
