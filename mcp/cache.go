package mcp

import (
	"fmt"
	"time"
)

// Values of [CacheHint.Scope].
const (
	CachePublic  = "public"  // may be shared by all users
	CachePrivate = "private" // belongs to one user
)

// maxTTLMs is the largest integer every JSON reader keeps exactly.
const maxTTLMs = 1<<53 - 1

// CacheHint says how long and by whom a complete result may be kept. It is no part of neutral JSON: a codec whose era
// has the members writes and reads them. The zero value says nothing.
type CacheHint struct {
	TTLMs *int64 `json:"ttlMs,omitzero"`      // milliseconds; 0 is stale at once and is written; nil says nothing
	Scope string `json:"cacheScope,omitzero"` // CachePublic or CachePrivate; "" says nothing
}

// CacheFor makes a hint from a duration. Negative durations count as zero.
func CacheFor(ttl time.Duration, scope string) CacheHint {
	ms := max(ttl.Milliseconds(), 0)
	return CacheHint{TTLMs: &ms, Scope: scope}
}

// IsZero reports whether the hint says nothing.
func (h CacheHint) IsZero() bool { return h.TTLMs == nil && h.Scope == "" }

// Check says why a hint must not be sent.
func (h CacheHint) Check() error {
	if h.TTLMs != nil && (*h.TTLMs < 0 || *h.TTLMs > maxTTLMs) {
		return fmt.Errorf("ttlMs is %d; use 0 to %d milliseconds", *h.TTLMs, int64(maxTTLMs))
	}
	if h.Scope != "" && h.Scope != CachePublic && h.Scope != CachePrivate {
		return fmt.Errorf("cacheScope is %q; use %q or %q", h.Scope, CachePublic, CachePrivate)
	}
	return nil
}

// Or fills what h does not say, or says wrongly, from a fallback, field by field.
func (h CacheHint) Or(fallback CacheHint) CacheHint {
	if h.TTLMs == nil || (CacheHint{TTLMs: h.TTLMs}).Check() != nil {
		h.TTLMs = fallback.TTLMs
	}
	if h.Scope == "" || (CacheHint{Scope: h.Scope}).Check() != nil {
		h.Scope = fallback.Scope
	}
	return h
}

// TTL is the time to live, zero when the hint says nothing or a negative number.
func (h CacheHint) TTL() time.Duration {
	if h.TTLMs == nil || *h.TTLMs <= 0 {
		return 0
	}
	return time.Duration(min(*h.TTLMs, int64(1<<63-1)/int64(time.Millisecond))) * time.Millisecond
}
