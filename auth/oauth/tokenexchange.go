package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// Exchange gets tokens for a server by exchanging others for them: those that a program was called with, at an authorization
// server of its own choice, which gives a token of the same user for the next server. RFC 8693. The server is not asked who
// gives tokens for it, and is never sent a request without one.
//
// A refresh token that comes along is not used: whoever the token is for has to show one of its own again.
type Exchange struct {
	// Issuer is the authorization server. Its metadata is read where TokenEndpoint is empty.
	Issuer string

	// TokenEndpoint is where it exchanges tokens.
	TokenEndpoint string

	// Client is what the authorization server knows this program by. Its Issuer is ignored.
	Client Credentials

	// Audience are names of the server at the authorization server. The address of the server goes along as the resource,
	// unless NoResource is set.
	Audience   []string
	NoResource bool

	// Subject answers the token to be exchanged. It is called for each new token.
	Subject func(ctx context.Context) (string, error)

	// SubjectType is the kind of it; TypeAccessToken by default.
	SubjectType string
}

// Kinds of tokens beside the identities. RFC 8693, section 3.
const (
	TypeAccessToken = "urn:ietf:params:oauth:token-type:access_token"
	TypeJWT         = "urn:ietf:params:oauth:token-type:jwt"
)

var (
	_ Flow     = Exchange{}
	_ straight = Exchange{}
)

// straight is a flow that knows by itself where tokens come from.
type straight interface {
	place(ctx context.Context, a *Authorizer) (*place, error)
}

func (e Exchange) check(o Options) error {
	switch {
	case e.Subject == nil:
		return errors.New("oauth: Exchange.Subject is missing: it answers the token to be exchanged")
	case e.Issuer == "" && e.TokenEndpoint == "":
		return errors.New("oauth: Exchange needs an Issuer or a TokenEndpoint")
	}
	for _, address := range []string{e.Issuer, e.TokenEndpoint} {
		if address != "" && !takesSecrets(address, o) {
			return errors.New("oauth: the addresses of Exchange have to be https")
		}
	}
	return e.Client.check()
}

func (Exchange) interactive() bool { return false }
func (Exchange) grants() []string  { return []string{grantExchange} }

// place implements straight.
func (e Exchange) place(ctx context.Context, a *Authorizer) (*place, error) {
	at := &place{resource: a.resourceKey(), server: &serverMetadata{Issuer: e.Issuer, Token: e.TokenEndpoint}}
	if at.server.Issuer == "" {
		at.server.Issuer = e.TokenEndpoint
	}
	if e.TokenEndpoint != "" {
		return at, nil
	}
	var err error
	if at.server, err = a.readServer(ctx, e.Issuer, true); err != nil {
		return nil, err
	}
	if !takesSecrets(at.server.Token, a.opts) {
		return nil, &Error{Server: a.where, Doing: "find out where tokens are exchanged",
			Err: fmt.Errorf("%w: %s names the token endpoint %s, which has to be https", ErrGuard, plain(e.Issuer), plain(at.server.Token))}
	}
	return at, nil
}

func (e Exchange) run(ctx context.Context, v *visit) (*answer, string, error) {
	subject, err := e.Subject(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("get the token to be exchanged: %w", err)
	}
	kind := e.SubjectType
	if kind == "" {
		kind = TypeAccessToken
	}
	form := v.withScope(v.form(grantExchange, url.Values{"subject_token": {subject}, "subject_token_type": {kind}, "requested_token_type": {TypeAccessToken}}))
	if len(e.Audience) > 0 {
		form["audience"] = e.Audience
	}
	if e.NoResource {
		form.Del("resource")
	}
	// The endpoint is one that the user has configured, or that the metadata of a configured issuer names.
	got, err := v.ask(ctx, endpoint{url: v.server.Token, trusted: true}, e.Client, form)
	switch {
	case err != nil:
		return nil, "", err
	case got.Access == subject:
		return nil, "", errors.New("the authorization server gave back the token that it was to exchange, which no other server may see")
	case got.Issued != "" && !slices.Contains([]string{TypeAccessToken, TypeJWT}, got.Issued):
		return nil, "", fmt.Errorf("the authorization server gave a token of the type %q, which is no access token", clean(got.Issued, 100))
	}
	got.Refresh = ""
	return got, e.Client.ClientID, nil
}
