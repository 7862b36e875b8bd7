package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/go-json-experiment/json/jsontext"
)

// proofAlgorithm is the one kind of key that proofs are made with; every server with DPoP knows it.
const proofAlgorithm = "ES256"

// prover makes the proofs that a token belongs to its sender. RFC 9449, section 4.
type prover struct {
	signer jose.Signer
	stored jsontext.Value // the private key as a JWK
	thumb  string         // of the public key, base64url
}

func newProver() (*prover, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return proverOf(jose.JSONWebKey{Key: key})
}

func readProver(stored jsontext.Value) (*prover, error) {
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON(stored); err != nil || !key.Valid() || key.IsPublic() {
		return nil, errors.New("the stored key cannot be read")
	}
	return proverOf(key)
}

func proverOf(key jose.JSONWebKey) (*prover, error) {
	opts := (&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: proofAlgorithm, Key: key}, opts)
	if err != nil {
		return nil, errors.New("the key cannot make proofs")
	}
	stored, err := key.MarshalJSON()
	if err != nil {
		return nil, errors.New("the key cannot be stored")
	}
	thumb, err := key.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, errors.New("the key has no thumbprint")
	}
	return &prover{signer: signer, stored: stored, thumb: base64.RawURLEncoding.EncodeToString(thumb)}, nil
}

// proof is a fresh proof for one request. nonce is what the server wants to see again, and access the token that goes with
// the request; each may be empty.
func (p *prover) proof(now time.Time, method string, u *url.URL, nonce, access string) (string, error) {
	claims := map[string]any{"jti": rand.Text(), "htm": method, "htu": target(u), "iat": now.Unix()}
	if nonce != "" {
		claims["nonce"] = nonce
	}
	if access != "" {
		sum := sha256.Sum256([]byte(access))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	text, err := jwt.Signed(p.signer).Claims(claims).Serialize()
	if err != nil {
		return "", fmt.Errorf("sign the proof: %w", err)
	}
	return text, nil
}

// target is the address of a request as proofs name it: without query and fragment, and in the form that a server which
// compares to the letter has derived. RFC 9449, section 4.3; RFC 3986, sections 6.2.2 and 6.2.3.
func target(u *url.URL) string {
	to := url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host), Path: u.Path, RawPath: u.RawPath}
	if port := map[string]string{"https": ":443", "http": ":80"}[to.Scheme]; port != "" {
		to.Host = strings.TrimSuffix(to.Host, port)
	}
	if to.Path == "" {
		to.Path = "/"
	}
	return to.String()
}

// nonce is what a server wants to see in the next proof, "" for nothing.
func (a *Authorizer) nonce(u *url.URL) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.nonces[origin(u)]
}

// keepNonce takes up the nonce of an answer. Servers change it as they like.
func (a *Authorizer) keepNonce(u *url.URL, header http.Header) {
	const longest, most = 1 << 10, 16 // bytes; origins: the server, and each authorization server it had
	nonce := header.Get("DPoP-Nonce")
	if nonce == "" || len(nonce) > longest {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.nonces) >= most {
		clear(a.nonces)
	}
	a.nonces[origin(u)] = nonce
}
