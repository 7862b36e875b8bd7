package auth

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/rialto-mcp/rialto/mcp"
)

// Token is what a verifier knows of an access token. The token itself is not in it.
type Token struct {
	// Principal is whose the token is, with the scopes it grants. It must not be the anonymous one.
	Principal mcp.Principal

	// Audience are the resources the token is for. One of them has to be this server: see [Options].Audiences.
	Audience []string

	// Ours says that the verifier knows by itself that the token is for this server and no other. Audience is not looked at
	// then.
	Ours bool

	// Expiry is when the token ends; the zero time means never. NotBefore is when it begins; zero means it has begun.
	Expiry, NotBefore time.Time

	// KeyThumbprint binds the token to a key of its client (claim cnf.jkt, RFC 9449): only whoever proves to have the key may
	// use it. Empty means that who has the token may use it.
	KeyThumbprint string
}

// Verifier finds out whose an access token is. It may be called concurrently.
//
// An error that wraps an [InvalidToken] means that the token is no good, and the client is told its reason. Any other error
// means that nobody can say right now: the request is refused with 503 and the error goes to Options.OnError, never to the
// client; see [TooMany] for an exception. Errors must not contain the token.
type Verifier interface {
	Verify(ctx context.Context, token string) (*Token, error)
}

// VerifierFunc is a function as a Verifier.
type VerifierFunc func(ctx context.Context, token string) (*Token, error)

// Verify calls the function.
func (f VerifierFunc) Verify(ctx context.Context, token string) (*Token, error) { return f(ctx, token) }

// InvalidToken is the error for a token that is no good. Its text is sent to the client: what is wrong, never what the
// token says.
type InvalidToken struct{ Reason string }

// Error returns the reason.
func (e *InvalidToken) Error() string { return e.Reason }

// Invalidf makes an InvalidToken.
func Invalidf(format string, args ...any) error {
	return &InvalidToken{Reason: fmt.Sprintf(format, args...)}
}

// TooMany is the error of a verifier that does not look at a token, since too many have come that were no good. The client gets
// 429 and the time to wait.
type TooMany struct{ After time.Duration }

// Error says how long to wait, in whole seconds.
func (e *TooMany) Error() string {
	return fmt.Sprintf("too many access tokens have come that are no good; try again in %d s", e.seconds())
}

func (e *TooMany) seconds() int64 {
	return int64(max(e.After+time.Second-1, time.Second) / time.Second)
}

// AnyOf asks one verifier after another and takes the first answer that a token is good. When none gives it and one of them
// could not say, neither can AnyOf.
func AnyOf(verifiers ...Verifier) Verifier { return anyOf(verifiers) }

type anyOf []Verifier

// Verify implements Verifier.
func (a anyOf) Verify(ctx context.Context, token string) (*Token, error) {
	var unsure []error
	verdict := Invalidf("the access token is not known here")
	for _, v := range a {
		found, err := v.Verify(ctx, token)
		var invalid *InvalidToken
		switch {
		case err == nil:
			return found, nil
		case !errors.As(err, &invalid):
			unsure = append(unsure, err)
		case len(a) == 1:
			verdict = err
		}
	}
	if len(unsure) > 0 {
		return nil, errors.Join(unsure...)
	}
	return nil, verdict
}

// ByIssuer asks the verifier of the issuer that a signed token (JWT) names, and no other: what is wrong is told by the one that
// knows, and one whose keys cannot be had holds up its own tokens alone. The name is not believed: each verifier must check it
// again, as [JWT] does. Tokens that name none of the issuers are no good. The map must not be changed afterwards.
func ByIssuer(verifiers map[string]Verifier) Verifier { return byIssuer(verifiers) }

type byIssuer map[string]Verifier

// Verify implements Verifier.
func (b byIssuer) Verify(ctx context.Context, token string) (*Token, error) {
	issuer, ok := claimedIssuer(token)
	if !ok {
		return nil, Invalidf("the access token is no JWT")
	}
	v, ok := b[issuer]
	if !ok {
		for name := range b {
			if strings.TrimSuffix(name, "/") == strings.TrimSuffix(issuer, "/") { // the mistake that is made most
				return nil, Invalidf("the access token is from an issuer that is known here with another end: a slash is part of the name")
			}
		}
		return nil, Invalidf("the access token is from an issuer that is not known here")
	}
	return v.Verify(ctx, token)
}

// claimedIssuer reads the claim iss of what looks like a JWT, of which nothing has been checked.
func claimedIssuer(token string) (string, bool) {
	_, rest, _ := strings.Cut(token, ".")
	payload, _, ok := strings.Cut(rest, ".")
	if !ok {
		return "", false
	}
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return "", false
	}
	var said struct {
		Issuer string `json:"iss"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return "", false
	}
	return said.Issuer, true
}

// times judges when a token is good. leeway is what clocks may differ by.
func (t *Token) times(now time.Time, leeway time.Duration) error {
	switch {
	case !t.Expiry.IsZero() && !now.Before(t.Expiry.Add(leeway)):
		return Invalidf("the access token has expired")
	case !t.NotBefore.IsZero() && now.Add(leeway).Before(t.NotBefore):
		return Invalidf("the access token is not good yet")
	}
	return nil
}
