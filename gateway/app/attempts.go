package app

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

const (
	mostBad       = 60          // tokens of one address that are no good, in badTime
	badTime       = time.Minute // after which counting begins anew
	mostAddresses = 10_000      // that are counted
	mostGood      = 10_000      // tokens that are remembered as good, at least
)

// attempts counts tokens that are no good by the address they come from, and remembers some that are, so that who has been let
// in is not kept waiting for somebody else at the same address. Its methods may be called concurrently.
type attempts struct {
	mu     sync.Mutex
	since  time.Time
	counts map[netip.Prefix]int

	fresh, old map[[sha256.Size]byte]struct{} // digests of good tokens
}

// wait is how long an address has to wait until another token of it is looked at; zero for not at all.
func (a *attempts) wait(from netip.Prefix, digest [sha256.Size]byte) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	rest := badTime - time.Since(a.since)
	if rest <= 0 || a.counts[from] < mostBad || a.knows(digest) {
		return 0
	}
	return rest
}

// knows tells whether a token was good lately; a.mu is held.
func (a *attempts) knows(digest [sha256.Size]byte) bool {
	_, fresh := a.fresh[digest]
	_, old := a.old[digest]
	return fresh || old
}

// count notes a token that is no good. Where more addresses send such than can be counted, the rest goes uncounted.
func (a *attempts) count(from netip.Prefix) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now := time.Now(); now.Sub(a.since) >= badTime {
		a.since, a.counts = now, make(map[netip.Prefix]int)
	}
	if _, known := a.counts[from]; known || len(a.counts) < mostAddresses {
		a.counts[from]++
	}
}

// good notes a token that was let in. Those that were not seen for long are forgotten first.
func (a *attempts) good(digest [sha256.Size]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.fresh[digest]; known {
		return
	}
	if a.fresh == nil || len(a.fresh) >= mostGood {
		a.fresh, a.old = make(map[[sha256.Size]byte]struct{}), a.fresh
	}
	a.fresh[digest] = struct{}{}
}

// senderOf is the address that a request came from, as it is counted; the zero value where none is known.
func senderOf(ctx context.Context) netip.Prefix {
	from, _ := ctx.Value(senderKey{}).(netip.Prefix)
	return from
}

// addressOf reads the address of a connection. A network of version 6 that one customer has counts as one.
func addressOf(remote string) netip.Prefix {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	const network = 64
	addr := at.Addr().Unmap().WithZone("")
	bits := addr.BitLen()
	if addr.Is6() {
		bits = network
	}
	whole, _ := addr.Prefix(bits) // it has that many bits
	return whole
}
