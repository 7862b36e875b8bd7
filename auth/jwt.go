package auth

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	jsonv2 "github.com/go-json-experiment/json"
)

// JWTOptions configures [NewJWT]. Issuer must be set.
type JWTOptions struct {
	// Issuer is the authorization server, as it writes itself: the claim iss must be the same to the letter.
	Issuer string

	// JWKSURL is where its keys are. Empty means that the issuer's metadata say so.
	JWKSURL string

	// Keys is a key set to be used instead of a fetched one. It never changes. Nil means none.
	Keys json.RawMessage

	// Algorithms are those a token may be signed with, whatever the token says. Nil means RS256, RS384, RS512, PS256, PS384,
	// PS512, ES256, ES384, ES512 and EdDSA. Symmetric ones and none are refused.
	Algorithms []string

	// RequireType takes tokens of the type at+jwt alone (RFC 9068). Otherwise JWT and no type at all will do as well, which
	// many servers write; any other type is always refused.
	RequireType bool

	// RolesClaim is the claim that holds the roles or groups of the caller, a list of texts or one text: "groups", say. Where no
	// claim has the name as it is written, its parts between dots lead through objects: "realm_access.roles". What is no list of
	// texts counts as none. Empty means that nothing is known of roles.
	RolesClaim string

	// Leeway is what clocks may differ by. Zero means 30 s; negative means nothing.
	Leeway time.Duration

	// CacheFor is how long keys are used without a look for new ones. Zero or less means 1 h. When none can be had then, the
	// old ones are used for a day.
	CacheFor time.Duration

	// Cooldown is the time between two looks for a key that a token names and the issuer did not have, so that invented names
	// are no load for it. Zero or less means 30 s.
	Cooldown time.Duration

	// HTTPClient fetches the keys. Nil means one that follows no redirects. Each fetch is given 10 s and 1 MiB.
	HTTPClient *http.Client
}

// JWT is a Verifier for signed access tokens. Its methods may be called concurrently.
//
// A token must be signed with a key of the issuer, name it in iss, and have an exp that is not over; nbf and iat may not lie
// ahead. Whom it is for, [Bearer] judges. RFC 9068, 4; RFC 8725.
type JWT struct {
	issuer     string
	algorithms []jose.SignatureAlgorithm
	strictType bool
	roles      string // the claim; "" for none
	leeway     time.Duration
	fixed      []jose.JSONWebKey // nil where keys are fetched
	set        *keySet
}

var _ Verifier = (*JWT)(nil)

// tokenAlgorithms are those a token may be signed with where nothing is said.
var tokenAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// Issuer is that of the options.
func (v *JWT) Issuer() string { return v.issuer }

// epoch is another number when the keys are others.
func (v *JWT) epoch() uint64 {
	if v.set == nil {
		return 0
	}
	return v.set.epoch.Load()
}

// NewJWT makes a verifier. It fetches nothing yet.
func NewJWT(o JWTOptions) (*JWT, error) {
	if err := checkOption("Issuer", o.Issuer, CheckAddress); err != nil {
		return nil, err
	}
	if o.JWKSURL != "" {
		if err := checkOption("JWKSURL", o.JWKSURL, CheckEndpoint); err != nil {
			return nil, err
		}
	}
	signed, err := algorithms(o.Algorithms, tokenAlgorithms)
	if err != nil {
		return nil, err
	}
	v := &JWT{issuer: o.Issuer, algorithms: signed, strictType: o.RequireType, roles: o.RolesClaim, leeway: o.Leeway}
	if v.leeway == 0 {
		v.leeway = 30 * time.Second
	}
	v.leeway = max(v.leeway, 0)
	if o.Keys != nil {
		v.fixed, err = readKeys(o.Keys)
		return v, err
	}
	v.set = &keySet{issuer: o.Issuer, url: o.JWKSURL, client: clientFor(o.HTTPClient), life: o.CacheFor, cooldown: o.Cooldown}
	if v.set.life <= 0 {
		v.set.life = time.Hour
	}
	if v.set.cooldown <= 0 {
		v.set.cooldown = 30 * time.Second
	}
	return v, nil
}

// Verify implements Verifier.
func (v *JWT) Verify(ctx context.Context, token string) (*Token, error) {
	signed, err := jose.ParseSignedCompact(token, v.algorithms)
	if err != nil {
		return nil, Invalidf("the access token is no JWT that is signed with an algorithm taken here")
	}
	header := signed.Signatures[0].Protected
	if !v.takesType(header) {
		return nil, Invalidf("the token is of a type that is no access token")
	}
	payload, err := v.payload(ctx, signed, header)
	if err != nil {
		return nil, err
	}
	var said claims
	if err := jsonv2.Unmarshal(payload, &said); err != nil {
		return nil, Invalidf("the claims of the access token cannot be read")
	}
	switch {
	case said.Issuer != v.issuer:
		return nil, Invalidf("the access token is from another issuer")
	case said.Expiry == nil:
		return nil, Invalidf("the access token does not say when it ends")
	case said.Issued != nil && said.Issued.time().IsZero() && *said.Issued > 0, time.Now().Add(v.leeway).Before(said.Issued.time()):
		return nil, Invalidf("the access token was issued in the future")
	}
	out, err := said.token(payload)
	if err != nil {
		return nil, err
	}
	out.Principal.Roles = rolesOf(payload, v.roles)
	return out, out.times(time.Now(), v.leeway)
}

// takesType keeps tokens out that were made for something else: proofs, logout tokens, statements.
func (v *JWT) takesType(header jose.Header) bool {
	raw, there := header.ExtraHeaders[jose.HeaderType]
	name, _ := raw.(string)
	switch strings.TrimPrefix(strings.ToLower(name), "application/") {
	case "at+jwt":
		return true
	case "jwt":
		return !v.strictType
	}
	return !there && !v.strictType
}

// payload checks the signature with the keys that fit.
func (v *JWT) payload(ctx context.Context, signed *jose.JSONWebSignature, header jose.Header) ([]byte, error) {
	keys := fitting(v.fixed, header.KeyID, header.Algorithm)
	if v.set != nil {
		var err error
		if keys, err = v.set.find(ctx, header.KeyID, header.Algorithm); err != nil {
			return nil, err
		}
	}
	const most = 10 // tries for a token that names no key
	for _, key := range keys[:min(len(keys), most)] {
		if payload, err := signed.Verify(key.Key); err == nil {
			return payload, nil
		}
	}
	return nil, Invalidf("the signature of the access token is wrong")
}

// suits tells whether a key is of the kind that an algorithm is for.
func suits(key any, algorithm string) bool {
	switch k := key.(type) {
	case *rsa.PublicKey:
		return strings.HasPrefix(algorithm, "RS") || strings.HasPrefix(algorithm, "PS")
	case *ecdsa.PublicKey:
		return algorithm == map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[k.Curve.Params().BitSize]
	case ed25519.PublicKey:
		return algorithm == string(jose.EdDSA)
	}
	return false
}

// algorithms reads names of signature algorithms with public keys.
func algorithms(names, standard []string) ([]jose.SignatureAlgorithm, error) {
	if names == nil {
		names = standard
	}
	if len(names) == 0 {
		return nil, errors.New("auth: Algorithms is empty; nil stands for the usual ones")
	}
	var out []jose.SignatureAlgorithm
	for _, name := range names {
		switch jose.SignatureAlgorithm(name) {
		case jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA:
			out = append(out, jose.SignatureAlgorithm(name))
		default:
			return nil, fmt.Errorf("auth: %q is no signature algorithm with public keys that is known here", name)
		}
	}
	return out, nil
}
