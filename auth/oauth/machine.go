package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
)

// ClientCredentials gets tokens for a program by itself, with credentials that the authorization server has given it.
// Extension oauth-client-credentials.
type ClientCredentials struct{}

func (ClientCredentials) check(o Options) error { return needsCredentials(o, "ClientCredentials") }
func (ClientCredentials) interactive() bool     { return false }
func (ClientCredentials) grants() []string      { return []string{grantClient} }

func (ClientCredentials) run(ctx context.Context, v *visit) (*answer, string, error) {
	who, err := v.known(ctx)
	if err != nil {
		return nil, "", err
	}
	got, err := v.ask(ctx, v.tokenEndpoint(), who, v.withScope(v.form(grantClient, nil)))
	return got, who.ClientID, err
}

// known answers who the client is, and never registers one.
func (v *visit) known(ctx context.Context) (Credentials, error) {
	c, ok, err := v.given(ctx)
	if ok || err != nil {
		return c, err
	}
	if v.a.opts.ClientMetadataURL != "" && v.server.ReadsClientID {
		return Credentials{Issuer: v.server.Issuer, ClientID: v.a.opts.ClientMetadataURL, Method: MethodNone}, nil
	}
	return Credentials{}, fmt.Errorf("%w: Options.Credentials has none for %s", ErrNoClient, plain(v.server.Issuer))
}

// Workload gets tokens for a program that its platform gives an identity: a signed statement (a JWT) of a cluster, a cloud
// or a build system, which the authorization server trusts. A refusal is final: it is neither repeated at once nor tried
// another way. RFC 7523, section 2.1.
type Workload struct {
	// Assertion answers the statement for an authorization server, fresh each time it is called. The audience is the
	// issuer of the server.
	Assertion func(ctx context.Context, audience string) (string, error)
}

func (w Workload) check(o Options) error {
	if w.Assertion == nil {
		return errors.New("oauth: Workload.Assertion is missing: it answers the identity that the platform gives")
	}
	return needsCredentials(o, "Workload")
}

func (Workload) interactive() bool { return false }
func (Workload) grants() []string  { return []string{grantJWTBearer} }

func (w Workload) run(ctx context.Context, v *visit) (*answer, string, error) {
	who, err := v.known(ctx)
	if err != nil {
		return nil, "", err
	}
	assertion, err := w.Assertion(ctx, v.server.Issuer)
	if err != nil {
		return nil, "", fmt.Errorf("get the identity of the platform: %w", err)
	}
	got, err := v.ask(ctx, v.tokenEndpoint(), who, v.withScope(v.form(grantJWTBearer, url.Values{"assertion": {assertion}})))
	return got, who.ClientID, err
}
