package manager

import (
	"strings"
	"sync"
	"time"
)

// The pause between two refreshes of one server. It doubles with each, so that a server that announces a change each time it
// is asked does not keep anybody busy: further while they find nothing new, and less far while they do. After a minute of
// silence it begins anew.
const (
	firstGap   = 100 * time.Millisecond
	newsGap    = 5 * time.Second
	longestGap = time.Minute
)

// Kinds is a set of lists.
type Kinds uint8

// The lists of a server.
const (
	Tools Kinds = 1 << iota
	Prompts
	Resources
	Templates

	AllKinds = Tools | Prompts | Resources | Templates
)

// String names the lists, such as "tools, prompts".
func (k Kinds) String() string {
	var names []string
	for kind, name := range []string{"tools", "prompts", "resources", "templates"} {
		if k&(1<<kind) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Notices gathers what a server says has changed, while at most one refresh runs. The pause between refreshes grows. Its
// methods may be called concurrently.
type Notices struct {
	wake chan struct{} // of one place

	mu      sync.Mutex
	pending Kinds
	armed   bool // wake is filled, or will be
	busy    bool // a refresh runs
	gap     time.Duration
	last    time.Time // the end of the last refresh
}

// NewNotices makes one that has heard of nothing.
func NewNotices() *Notices {
	return &Notices{wake: make(chan struct{}, 1), gap: firstGap}
}

// Add notes a change.
func (n *Notices) Add(k Kinds) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending |= k
	n.arm()
}

func (n *Notices) arm() {
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

// Due answers when a refresh is in order. Then Take and Took must be called.
func (n *Notices) Due() <-chan struct{} { return n.wake }

// Take begins a refresh of the lists it returns.
func (n *Notices) Take() Kinds {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := n.pending
	n.pending, n.armed, n.busy = 0, false, true
	return k
}

// Took ends a refresh; news says whether it has found any.
func (n *Notices) Took(news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.busy, n.last = false, time.Now()
	longest := longestGap
	if news {
		longest = newsGap
	}
	n.gap = min(2*n.gap, longest)
	n.arm()
}
