package auth

import (
	"testing"
	"time"
)

func TestNonceLife(t *testing.T) {
	n := newNonces(make([]byte, minNonceKey), time.Minute)
	now := time.Unix(1_000_000_000, 0)
	nonce := n.current(now)
	for wait, want := range map[time.Duration]bool{0: true, time.Minute: true, 2 * time.Minute: false, -2 * time.Minute: false} {
		if got := n.good(nonce, now.Add(wait)); got != want {
			t.Errorf("after %s: %v", wait, got)
		}
	}
	if other := newNonces([]byte("another key of at least 32 bytes"), time.Minute); other.good(nonce, now) {
		t.Error("a nonce of another key is taken")
	}
}
