package oauth

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"fmt"
)

// Encrypted is a Store that keeps encrypted values in another one. Make it with Encrypt.
type Encrypted struct {
	inner Store
	aead  cipher.AEAD
}

var _ Store = (*Encrypted)(nil)

// Encrypt puts encryption (AES-256-GCM) in front of a store. The key is a secret of at least 32 bytes that all who share
// the store have, from a key chain or a vault. A value is bound to its key in the store, so that none can be put in the
// place of another. Keys of the store, which name servers and users, stay as they are.
func Encrypt(inner Store, key []byte) (*Encrypted, error) {
	if len(key) < 32 {
		return nil, errors.New("oauth: the key that encrypts a store needs at least 32 bytes")
	}
	sum := sha256.Sum256(key)
	block, err := aes.NewCipher(sum[:])
	if err != nil {
		return nil, fmt.Errorf("oauth: encrypt a store: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("oauth: encrypt a store: %w", err)
	}
	return &Encrypted{inner: inner, aead: aead}, nil
}

// String says what it is, and nothing of what is in it; so does GoString.
func (e *Encrypted) String() string { return "oauth.Encrypted" }

// GoString is String, for %#v.
func (e *Encrypted) GoString() string { return e.String() }

// Get implements Store. It fails where a value was encrypted with another key, or changed.
func (e *Encrypted) Get(ctx context.Context, key string) ([]byte, error) {
	sealed, err := e.inner.Get(ctx, key)
	if err != nil || sealed == nil {
		return nil, err
	}
	value, err := e.aead.Open([]byte{}, nil, sealed, []byte(key))
	if err != nil {
		return nil, errors.New("the record was encrypted with another key, or changed")
	}
	return value, nil
}

// Put implements Store.
func (e *Encrypted) Put(ctx context.Context, key string, value []byte) error {
	return e.inner.Put(ctx, key, e.aead.Seal(nil, nil, value, []byte(key)))
}

// Delete implements Store.
func (e *Encrypted) Delete(ctx context.Context, key string) error { return e.inner.Delete(ctx, key) }

// Lock implements Store.
func (e *Encrypted) Lock(ctx context.Context, key string) (func(), error) {
	return e.inner.Lock(ctx, key)
}
