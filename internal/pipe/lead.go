package pipe

import (
	"sync"
	"sync/atomic"
	"time"
)

// leadership lets the goroutine that reads frames also run what they ask for. Waking another thread for each request
// costs more than most requests do, but a reader that is stuck in a handler would not see the cancellation of it. So the
// leader marks when it leaves the reading to run something, and a watchman that finds it still away at a second look
// gives the reading to a new goroutine; the old one ends when its handler does.
//
// The leader leaves only when the frame it has read is judged and registered, so frames take effect in their order
// whoever reads them.
type leadership struct {
	lead  func(t *turn)
	term  atomic.Uint64 // odd while the leader is away; a change of it takes the role
	awake atomic.Bool   // the watchman is ticking
	wake  chan struct{}
	done  chan struct{} // closed when the last leader and the watchman have ended

	mu      sync.Mutex
	leaders int           // goroutines that lead or are still away
	empty   chan struct{} // closed when there is none any more
}

const (
	look        = time.Millisecond // between two looks of the watchman
	quiet       = 50               // looks without anything to see, after which it sleeps
	mostLeaders = 1024             // those away included; beyond it the reading waits, and with it the peer
)

// startLeading runs lead on a first leader. lead reads until the input ends or its turn is over.
func startLeading(lead func(t *turn)) *leadership {
	l := &leadership{lead: lead, wake: make(chan struct{}, 1), done: make(chan struct{}), empty: make(chan struct{}), leaders: 1}
	l.awake.Store(true)
	go l.run()                                     // the first leader; Serve waits for done
	go func() { defer close(l.done); l.watch() }() // ends with the last leader
	return l
}

// run is the life of one leader.
func (l *leadership) run() {
	t := &turn{of: l, last: l.crowded()}
	over := false
	defer func() {
		switch {
		case over || !t.back():
			l.leave()
		default: // a handler has ended this goroutine (runtime.Goexit): the reading goes on in its place
			go l.run() // done waits for it
		}
	}()
	l.lead(t)
	over = true
}

// join counts one more leader, if there may be one.
func (l *leadership) join() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leaders == 0 || l.leaders >= mostLeaders {
		return false
	}
	l.leaders++
	return true
}

// crowded tells whether there may be no further leader.
func (l *leadership) crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaders >= mostLeaders
}

func (l *leadership) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leaders--; l.leaders == 0 {
		close(l.empty)
	}
}

// turn is one goroutine's time as the leader. Only that goroutine uses it.
type turn struct {
	of   *leadership
	last bool // nobody can take over; never changes, so it may be read by others
	term uint64
	away bool
}

// leave marks that what follows may take long and that the reading may go on elsewhere.
func (t *turn) leave() {
	if t.away {
		return
	}
	t.away = true
	t.term = t.of.term.Add(1)
	if !t.of.awake.Load() {
		select {
		case t.of.wake <- struct{}{}:
		default:
		}
	}
}

// back tells whether the goroutine still leads.
func (t *turn) back() bool {
	if !t.away {
		return true
	}
	t.away = false
	return t.of.term.CompareAndSwap(t.term, t.term+1)
}

func (l *leadership) watch() {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	var seen uint64
	for idle := 0; ; {
		if idle >= quiet {
			if !l.sleep(ticker) {
				return
			}
			idle = 0
		}
		select {
		case <-ticker.C:
		case <-l.empty:
			return
		}
		term := l.term.Load()
		away := term%2 == 1
		switch {
		case away && term == seen:
			l.succeed(term)
		case !away && term == seen:
			idle++
			continue
		}
		seen, idle = term, 0
	}
}

// succeed gives the role to a new goroutine, if the leader is still away.
func (l *leadership) succeed(term uint64) {
	if !l.join() {
		return
	}
	if !l.term.CompareAndSwap(term, term+1) {
		l.leave()
		return
	}
	go l.run() // done waits for it
}

// sleep waits until a leader leaves the reading, and answers false when there is none any more.
func (l *leadership) sleep(ticker *time.Ticker) bool {
	ticker.Stop()
	l.awake.Store(false)
	defer ticker.Reset(look)
	defer l.awake.Store(true)
	if l.term.Load()%2 == 1 { // it left just before the flag was down
		return true
	}
	select {
	case <-l.wake:
		return true
	case <-l.empty:
		return false
	}
}
