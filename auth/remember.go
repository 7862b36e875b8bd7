package auth

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

// RememberOptions configures [Remember]. The zero value is ready to use.
type RememberOptions struct {
	// For is how long a verdict is good. Zero means 1 min, and it is never more: so much later an issuer's word that a key is no
	// longer good is heard.
	For time.Duration

	// MaxTokens and MaxBytes bound what is remembered; bytes are those of the claims and some for each token. Zero or less means
	// 10,000 and 16 MiB. Those used longest ago go, half of all at a time.
	MaxTokens, MaxBytes int
}

func (o RememberOptions) withDefaults() RememberOptions {
	if o.For <= 0 || o.For > time.Minute {
		o.For = time.Minute
	}
	if o.MaxTokens <= 0 {
		o.MaxTokens = 10_000
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 16 << 20
	}
	return o
}

// Remember asks a verifier about a token that it has called good not more than once in a while: checking a signature takes longer
// than most of a call. Tokens are known by their digest, and are forgotten when they end. Those of a [JWT] are forgotten as well
// when the keys of its issuer have become others. What was not good is never remembered.
//
// [Introspection] remembers by itself, and [StaticTokens] has no need to. Its methods may be called concurrently.
func Remember(v Verifier, opts RememberOptions) Verifier {
	m := &memory{Verifier: v, opts: opts.withDefaults(), epoch: func() uint64 { return 0 }}
	if keyed, ok := v.(interface{ epoch() uint64 }); ok {
		m.epoch = keyed.epoch
	}
	return m
}

// perToken is what a token takes beside its claims, in bytes and roughly.
const perToken = 512

// memory is a verifier that remembers. What it has is in two halves: one that tokens are put into, and the one before.
type memory struct {
	Verifier
	opts  RememberOptions
	epoch func() uint64 // changes with the keys

	mu         sync.Mutex
	fresh, old map[[sha256.Size]byte]verdict
	bytes      int // of fresh
}

// verdict is a token that is good, and until when it counts as that without another look.
type verdict struct {
	token Token
	until time.Time
	epoch uint64
}

// String says how many tokens there are; so does GoString.
func (m *memory) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("auth.Remember of %d tokens", len(m.fresh)+len(m.old))
}

// GoString is String, for %#v.
func (m *memory) GoString() string { return m.String() }

// Verify implements Verifier.
func (m *memory) Verify(ctx context.Context, token string) (*Token, error) {
	digest, epoch := sha256.Sum256([]byte(token)), m.epoch() // before the look: what it finds is not newer
	if found := m.find(digest, epoch); found != nil {
		return found, nil
	}
	found, err := m.Verifier.Verify(ctx, token)
	if err == nil && found != nil {
		m.keep(digest, *found, epoch)
	}
	return found, err
}

// find answers a copy, which the caller may change.
func (m *memory) find(digest [sha256.Size]byte, epoch uint64) *Token {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.fresh[digest]
	if !ok {
		if known, ok = m.old[digest]; !ok {
			return nil
		}
		delete(m.old, digest)
		m.put(digest, known) // it is in use
	}
	if known.epoch != epoch || !time.Now().Before(known.until) {
		return nil
	}
	return &known.token
}

// keep remembers a token that is good.
func (m *memory) keep(digest [sha256.Size]byte, token Token, epoch uint64) {
	until := time.Now().Add(m.opts.For)
	if !token.Expiry.IsZero() && token.Expiry.Before(until) {
		until = token.Expiry
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(digest, verdict{token, until, epoch})
}

// put makes room where there is none; m.mu is held.
func (m *memory) put(digest [sha256.Size]byte, v verdict) {
	const halves = 2
	size := len(v.token.Principal.Claims) + perToken
	known, there := m.fresh[digest]
	if there {
		m.bytes -= len(known.token.Principal.Claims) + perToken
	}
	if m.fresh == nil || !there && len(m.fresh) >= max(m.opts.MaxTokens/halves, 1) || m.bytes+size > m.opts.MaxBytes/halves {
		m.fresh, m.old, m.bytes = make(map[[sha256.Size]byte]verdict), m.fresh, 0
	}
	m.fresh[digest] = v
	m.bytes += size
}
