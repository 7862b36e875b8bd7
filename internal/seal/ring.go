package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
)

// KeySize is the size of a key in bytes.
const KeySize = 32

// maxKeys bounds a ring: an opener looks at the id of each.
const maxKeys = 64

const (
	keyIDSize = 8
	saltSize  = 16
	headSize  = keyIDSize + saltSize // in clear, before what the AEAD writes
	aeadSize  = 12 + 16              // nonce and tag
)

// Ring holds the keys that seal and open. It does not change; to rotate, build a new one with the new key first and the
// old ones behind it, and drop those when the longest life of a token has passed. It may be used concurrently, and shows
// none of its keys when it is printed.
type Ring struct {
	keys  []key // the first seals, all open
	decoy key   // opens what names no key of the ring, in vain
}

// key is one key of the ring, stretched once.
type key struct {
	id  [keyIDSize]byte
	prk []byte
}

// NewRing builds a ring of keys of [KeySize] random bytes, the newest first: that one seals, all open. The keys are copied.
// Without keys it makes a random one, which ends with the process and is known to no other replica: a retry that
// reaches another process, or the next one, is refused.
//
// It fails for keys of another size, for a key of equal bytes, for one that stands twice, and for more than 64 keys.
func NewRing(keys ...[]byte) (*Ring, error) {
	if len(keys) > maxKeys {
		return nil, fmt.Errorf("a ring has at most %d keys, not %d; drop the oldest", maxKeys, len(keys))
	}
	if len(keys) == 0 {
		keys = [][]byte{randomBytes(KeySize)}
	}
	r := &Ring{}
	for i, raw := range keys {
		if len(raw) != KeySize {
			return nil, fmt.Errorf("key %d of the ring has %d bytes; a key is %d random bytes", i+1, len(raw), KeySize)
		}
		if same(raw) {
			return nil, fmt.Errorf("key %d of the ring is one byte repeated, which is no secret; a key is %d random bytes", i+1, KeySize)
		}
		k, err := stretch(raw)
		if err != nil {
			return nil, err
		}
		for j, old := range r.keys {
			if old.id == k.id {
				return nil, fmt.Errorf("keys %d and %d of the ring are the same; list each once", j+1, i+1)
			}
		}
		r.keys = append(r.keys, k)
	}
	var err error
	r.decoy, err = stretch(randomBytes(KeySize))
	return r, err
}

// String tells how many keys there are and nothing else, also to %v and %#v.
func (r *Ring) String() string { return fmt.Sprintf("ring of %d keys", len(r.keys)) }

// GoString is String.
func (r *Ring) GoString() string { return r.String() }

func same(raw []byte) bool {
	for _, b := range raw {
		if b != raw[0] {
			return false
		}
	}
	return true
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails
	return b
}

func stretch(raw []byte) (key, error) {
	var k key
	prk, err := hkdf.Extract(sha256.New, raw, []byte("rialto seal 1"))
	if err != nil {
		return key{}, fmt.Errorf("stretch a key: %w", err)
	}
	id, err := hkdf.Expand(sha256.New, prk, "key id", keyIDSize)
	if err != nil {
		return key{}, fmt.Errorf("derive the id of a key: %w", err)
	}
	k.prk = prk
	copy(k.id[:], id)
	return k, nil
}

// aead is the cipher of one token. It writes its random nonce before the sealed bytes.
func (k key) aead(salt []byte) (cipher.AEAD, error) {
	var info [len("token") + saltSize]byte
	copy(info[copy(info[:], "token"):], salt)
	derived, err := hkdf.Expand(sha256.New, k.prk, string(info[:]), 32)
	if err != nil {
		return nil, fmt.Errorf("derive the key of a token: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, fmt.Errorf("cipher of a token: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal appends key id, salt and the sealed content to dst. label tells apart what a sealed content may be used as, and is
// authenticated with it.
func (r *Ring) seal(dst []byte, label string, content []byte) ([]byte, error) {
	k := &r.keys[0]
	start := len(dst)
	dst = append(dst, k.id[:]...)
	dst = append(dst, make([]byte, saltSize)...)
	head := dst[start:]
	rand.Read(head[keyIDSize:])
	aead, err := k.aead(head[keyIDSize:])
	if err != nil {
		return nil, err
	}
	return aead.Seal(dst, nil, content, append([]byte(label), head...)), nil
}

// open is the inverse of seal. sealed must not be shorter than head and AEAD take. The same work is done whether the key is
// in the ring or not; reason is "" when the content is sound.
func (r *Ring) open(label string, sealed []byte) (content []byte, reason Reason, err error) {
	head := sealed[:headSize]
	k, known := &r.decoy, 0
	for i := range r.keys {
		if subtle.ConstantTimeCompare(r.keys[i].id[:], head[:keyIDSize]) == 1 {
			k, known = &r.keys[i], 1
		}
	}
	aead, err := k.aead(head[keyIDSize:])
	if err != nil {
		return nil, "", err
	}
	content, err = aead.Open(nil, nil, sealed[headSize:], append([]byte(label), head...))
	switch {
	case known == 0:
		return nil, ReasonKey, nil
	case err != nil:
		return nil, ReasonAltered, nil //nolint:nilerr // the cause is one, and no text of it must travel
	}
	return content, "", nil
}
