package upstream

import (
	"sync"
	"time"
)

// The pause between two refreshes of one server. It doubles while refreshes find nothing new, so that a server that
// announces a change each time it is asked does not keep the gateway busy.
const (
	firstGap   = 100 * time.Millisecond
	longestGap = time.Minute
)

// notices gathers what a server says has changed, while at most one refresh runs.
type notices struct {
	wake chan struct{} // of one place

	mu      sync.Mutex
	pending Kinds
	armed   bool // wake is filled, or will be
	busy    bool // a refresh runs
	gap     time.Duration
	last    time.Time // the end of the last refresh
}

func newNotices() *notices {
	return &notices{wake: make(chan struct{}, 1), gap: firstGap}
}

// add notes a change.
func (n *notices) add(k Kinds) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending |= k
	n.arm()
}

func (n *notices) arm() {
	if n.armed || n.busy || n.pending == 0 {
		return
	}
	n.armed = true
	since := time.Since(n.last)
	if since > longestGap {
		n.gap = firstGap
	}
	ring := func() {
		select {
		case n.wake <- struct{}{}:
		default: // it is filled
		}
	}
	if since >= n.gap {
		ring()
		return
	}
	time.AfterFunc(n.gap-since, ring) // ends by itself, within longestGap
}

// due answers when a refresh is in order. Then take and took must be called.
func (n *notices) due() <-chan struct{} { return n.wake }

// take begins a refresh of the lists it returns.
func (n *notices) take() Kinds {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.pending
	n.pending, n.armed, n.busy = 0, false, true
	return k
}

// took ends a refresh.
func (n *notices) took(news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy, n.last = false, time.Now()
	if news {
		n.gap = firstGap
	} else {
		n.gap = min(2*n.gap, longestGap)
	}
	n.arm()
}
