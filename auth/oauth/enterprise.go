package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// Enterprise gets tokens for a person who has signed in to the identity provider of a company: the provider decides, and
// gives a statement (an ID-JAG) for the authorization server of the MCP server. Extension enterprise-managed-authorization.
type Enterprise struct {
	// Provider is the issuer of the identity provider. Its metadata is read where TokenEndpoint is empty.
	Provider string

	// TokenEndpoint is where the provider exchanges tokens.
	TokenEndpoint string

	// Client is what the provider knows this client by. Its Issuer is ignored.
	Client Credentials

	// Identity answers what the person's sign-in has brought: an ID token, or a SAML assertion. It is called for each new
	// token; an old one that has expired is of no use.
	Identity func(ctx context.Context) (string, error)

	// IdentityType is the kind of it; IdentityIDToken by default.
	IdentityType string
}

// Kinds of identities. RFC 8693, section 3.
const (
	IdentityIDToken = "urn:ietf:params:oauth:token-type:id_token"
	IdentitySAML2   = "urn:ietf:params:oauth:token-type:saml2"

	typeIDJAG = "urn:ietf:params:oauth:token-type:id-jag"
)

func (e Enterprise) check(o Options) error {
	switch {
	case e.Identity == nil:
		return errors.New("oauth: Enterprise.Identity is missing: it answers the ID token of the person")
	case e.Provider == "" && e.TokenEndpoint == "":
		return errors.New("oauth: Enterprise needs a Provider or a TokenEndpoint")
	}
	for _, address := range []string{e.Provider, e.TokenEndpoint} {
		if address != "" && !takesSecrets(address, o) {
			return errors.New("oauth: the addresses of Enterprise have to be https")
		}
	}
	return e.Client.check()
}

// takesSecrets tells whether an address may be sent what nobody else should read.
func takesSecrets(address string, o Options) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http" && (o.PlainHTTP || isLoopbackHost(u.Hostname())))
}

func (Enterprise) interactive() bool { return false }
func (Enterprise) grants() []string  { return []string{grantJWTBearer} }

func (e Enterprise) run(ctx context.Context, v *visit) (*answer, string, error) {
	who, err := v.client(ctx, "")
	if err != nil {
		return nil, "", err
	}
	grant, err := e.grant(ctx, v)
	if err != nil {
		return nil, "", err
	}
	got, err := v.ask(ctx, v.tokenEndpoint(), who, v.withScope(v.form(grantJWTBearer, url.Values{"assertion": {grant}})))
	return got, who.ClientID, err
}

// grant asks the provider for the statement. It goes to an address of the user's own, which may lie in a private network.
func (e Enterprise) grant(ctx context.Context, v *visit) (string, error) {
	at, err := e.provider(ctx, v)
	if err != nil {
		return "", err
	}
	identity, err := e.Identity(ctx)
	if err != nil {
		return "", fmt.Errorf("get the identity of the person: %w", err)
	}
	kind := e.IdentityType
	if kind == "" {
		kind = IdentityIDToken
	}
	form := v.withScope(v.form(grantExchange, url.Values{"requested_token_type": {typeIDJAG}, "audience": {v.server.Issuer},
		"subject_token": {identity}, "subject_token_type": {kind}}))
	got, err := v.exchange(ctx, endpoint{url: at.Token, trusted: true, bare: true}, e.Client, at, form)
	if err != nil {
		return "", fmt.Errorf("ask the identity provider: %w", err)
	}
	if got.Issued != "" && got.Issued != typeIDJAG {
		return "", fmt.Errorf("the identity provider gave a token of the type %q, not an ID-JAG", clean(got.Issued, 100))
	}
	return got.Access, nil
}

// provider answers what is needed to know of the identity provider.
func (e Enterprise) provider(ctx context.Context, v *visit) (*serverMetadata, error) {
	at := &serverMetadata{Issuer: e.Provider, Token: e.TokenEndpoint}
	if at.Issuer == "" {
		at.Issuer = e.TokenEndpoint
	}
	if at.Token != "" {
		return at, nil
	}
	at, err := v.a.readServer(ctx, e.Provider, true)
	if err == nil && !takesSecrets(at.Token, v.a.opts) {
		return nil, fmt.Errorf("%w: the identity provider names the token endpoint %s, which has to be https", ErrGuard, plain(at.Token))
	}
	return at, err
}
