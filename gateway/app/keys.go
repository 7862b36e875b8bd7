package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/gateway/config"
	"github.com/rialto-mcp/rialto/mcp"
)

// keys finds out whose a token is. Those of the file are looked at first, which costs next to nothing.
type keys struct {
	own    auth.Verifier
	issued auth.Verifier // nil where no issuer is known
	bad    *attempts
}

// keysOf makes the verifier of a configuration. Issuers that old knows by the same settings keep the keys that were fetched.
func keysOf(a *config.Auth, old *lock, bad *attempts) (auth.Verifier, map[string]issuer, error) {
	own := make(map[[sha256.Size]byte]mcp.Principal, len(a.Tokens))
	for _, t := range a.Tokens {
		if t.Hidden {
			return nil, nil, fmt.Errorf("the token of %s is hidden (***), as rialto check prints it; write the token", t.Name)
		}
		own[t.Digest] = mcp.Principal{Subject: t.Name, Scopes: t.Scopes, Roles: t.Roles}
	}
	k := &keys{own: auth.StaticDigests(own), bad: bad}
	issuers := make(map[string]issuer, len(a.Issuers))
	byName := make(map[string]auth.Verifier, len(a.Issuers))
	for _, conf := range a.Issuers {
		i, err := issuerOf(conf, old)
		if err != nil {
			return nil, nil, err
		}
		issuers[conf.URL], byName[conf.URL] = i, i
	}
	if len(byName) > 0 {
		k.issued = auth.ByIssuer(byName)
	}
	return k, issuers, nil
}

// Verify implements auth.Verifier.
func (k *keys) Verify(ctx context.Context, token string) (*auth.Token, error) {
	found, err := k.own.Verify(ctx, token)
	if err == nil {
		return found, nil
	}
	from, digest := senderOf(ctx), sha256.Sum256([]byte(token))
	if wait := k.bad.wait(from, digest); wait > 0 {
		return nil, &auth.TooMany{After: wait}
	}
	if k.issued != nil {
		found, err = k.issued.Verify(ctx, token)
	}
	var invalid *auth.InvalidToken
	switch {
	case err == nil:
		k.bad.good(digest)
	case found == nil && errors.As(err, &invalid): // one that is only over was made by an issuer
		k.bad.count(from)
	}
	return found, err
}

// issuer is an authorization server whose tokens are taken. Its own audiences are good for its tokens alone.
type issuer struct {
	conf   config.Issuer
	tokens auth.Verifier
}

func issuerOf(conf config.Issuer, old *lock) (issuer, error) {
	if old != nil {
		if known, ok := old.issuers[conf.URL]; ok && reflect.DeepEqual(known.conf, conf) {
			return known, nil
		}
	}
	jwt, err := auth.NewJWT(auth.JWTOptions{
		Issuer: conf.URL, JWKSURL: conf.JWKSURL, Algorithms: conf.Algorithms, RequireType: conf.RequireType, RolesClaim: conf.RolesClaim,
	})
	if err != nil {
		return issuer{}, err
	}
	return issuer{conf, auth.Remember(jwt, auth.RememberOptions{})}, nil // a signature costs more than the rest of a call
}

// Verify implements auth.Verifier.
func (i issuer) Verify(ctx context.Context, token string) (*auth.Token, error) {
	found, err := i.tokens.Verify(ctx, token)
	if found != nil {
		found.Ours = slices.ContainsFunc(found.Audience, func(one string) bool { return slices.Contains(i.conf.Audiences, one) })
	}
	return found, err
}

type senderKey struct{}

// withSender is [http.Server.ConnContext]: who verifies a token has no request to look at.
func withSender(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, senderKey{}, addressOf(c.RemoteAddr().String()))
}
