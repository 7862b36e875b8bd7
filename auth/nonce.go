package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"time"
)

const minNonceKey = 32 // bytes

// nonces makes nonces for proofs, all replicas with one key the same: a keyed digest of the span of time it is in. A nonce is
// good in its span and the next.
type nonces struct {
	key  []byte
	span time.Duration
}

func newNonces(key []byte, life time.Duration) *nonces {
	if life <= 0 {
		life = 5 * time.Minute
	}
	return &nonces{slices.Clone(key), life}
}

func (n *nonces) current(now time.Time) string { return n.of(now.UnixNano() / int64(n.span)) }

func (n *nonces) of(span int64) string {
	mac := hmac.New(sha256.New, n.key)
	mac.Write(binary.BigEndian.AppendUint64([]byte("rialto dpop nonce "), uint64(span)))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

func (n *nonces) good(nonce string, now time.Time) bool {
	span := now.UnixNano() / int64(n.span)
	return equal(nonce, n.of(span)) || equal(nonce, n.of(span-1))
}
