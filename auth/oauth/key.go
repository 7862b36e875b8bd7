package oauth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Key signs assertions by which a client proves who it is. It may be used concurrently. Make it with NewKey or ParseKey.
type Key struct {
	signer    jose.Signer
	algorithm string
}

// NewKey makes a Key of a private key: *ecdsa.PrivateKey, *rsa.PrivateKey or ed25519.PrivateKey. An empty algorithm is the
// usual one of the key: ES256, ES384 or ES512 by its curve, RS256, EdDSA. id becomes the header kid and may be empty.
func NewKey(private crypto.PrivateKey, algorithm, id string) (*Key, error) {
	if algorithm == "" {
		algorithm = usual(private)
	}
	if algorithm == "" || algorithm[0] == 'H' {
		return nil, errors.New("oauth: this kind of private key cannot sign assertions; use ECDSA, RSA or Ed25519")
	}
	opts := (&jose.SignerOptions{}).WithType("JWT")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(algorithm), Key: jose.JSONWebKey{Key: private, KeyID: id}}, opts)
	if err != nil {
		return nil, fmt.Errorf("oauth: the key does not fit the algorithm %q", algorithm) // the cause may describe the key
	}
	return &Key{signer: signer, algorithm: algorithm}, nil
}

// usual is the algorithm of a key that comes without one.
func usual(private crypto.PrivateKey) string {
	switch key := private.(type) {
	case *ecdsa.PrivateKey:
		return map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[key.Curve.Params().BitSize]
	case *rsa.PrivateKey:
		return "RS256"
	case ed25519.PrivateKey:
		return "EdDSA"
	}
	return ""
}

// ParseKey reads a private key in PEM: PKCS #8, or the older forms of RSA and EC keys.
func ParseKey(text []byte, algorithm, id string) (*Key, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("oauth: the private key is not in PEM")
	}
	for _, parse := range []func([]byte) (crypto.PrivateKey, error){
		func(der []byte) (crypto.PrivateKey, error) { return x509.ParsePKCS8PrivateKey(der) },
		func(der []byte) (crypto.PrivateKey, error) { return x509.ParseECPrivateKey(der) },
		func(der []byte) (crypto.PrivateKey, error) { return x509.ParsePKCS1PrivateKey(der) },
	} {
		if private, err := parse(block.Bytes); err == nil {
			return NewKey(private, algorithm, id)
		}
	}
	return nil, errors.New("oauth: the private key cannot be read; it has to be PKCS #8, PKCS #1 or SEC 1, without a password")
}

// assertion is a JWT that says who the client is, good for a minute at one issuer. RFC 7523, section 3.
func (k *Key) assertion(now time.Time, clientID, audience string) (string, error) {
	text, err := jwt.Signed(k.signer).Claims(map[string]any{
		"iss": clientID, "sub": clientID, "aud": audience, "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(time.Minute).Unix(),
	}).Serialize()
	if err != nil {
		return "", errors.New("sign the assertion of the client: the key cannot do it")
	}
	return text, nil
}
