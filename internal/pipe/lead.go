package pipe

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// leadership lets the goroutine that reads frames also run what they ask for. Waking another thread for each request
// costs more than most requests do, but a reader that is stuck in a handler would not see the cancellation of it. So the
// reader marks when it leaves to run something, and a watchman that finds it still away at a second look gives the
// reading to a new goroutine; the old one ends when its handler does.
type leadership struct {
	term  atomic.Uint64 // odd while the leader is away; a change of it takes the role
	awake atomic.Bool   // the watchman is ticking
	wake  chan struct{}
	stop  chan struct{}
	wg    sync.WaitGroup
}

const (
	look  = time.Millisecond // between two looks of the watchman
	quiet = 50               // looks without anything to see, after which it sleeps
)

func newLeadership() *leadership {
	return &leadership{wake: make(chan struct{}, 1), stop: make(chan struct{})}
}

// leave marks that the leader is away and returns its term.
func (l *leadership) leave() uint64 {
	term := l.term.Add(1)
	if !l.awake.Load() {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	return term
}

// back tells whether the goroutine still leads.
func (l *leadership) back(term uint64) bool { return l.term.CompareAndSwap(term, term+1) }

// run starts the first leader and the watchman and returns when the last leader has ended. lead reads until the input
// ends, which it tells by true, or until it has lost the role.
func (l *leadership) run(ctx context.Context, lead func(ctx context.Context)) {
	l.wg.Go(func() { lead(ctx) })
	watch := make(chan struct{})
	go func() { defer close(watch); l.watch(ctx, lead) }() // ends with stop, for which run waits
	l.wg.Wait()
	close(l.stop)
	<-watch
}

func (l *leadership) watch(ctx context.Context, lead func(ctx context.Context)) {
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
		case <-l.stop:
			return
		}
		term := l.term.Load()
		away := term%2 == 1
		switch {
		case away && term == seen:
			l.succeed(ctx, term, lead)
		case !away && term == seen:
			idle++
			continue
		}
		seen, idle = term, 0
	}
}

// succeed gives the role to a new goroutine, if the leader is still away.
func (l *leadership) succeed(ctx context.Context, term uint64, lead func(ctx context.Context)) {
	l.wg.Add(1) // before the old leader can end, which would let run return
	if !l.term.CompareAndSwap(term, term+1) {
		l.wg.Done()
		return
	}
	go func() { defer l.wg.Done(); lead(ctx) }() // run waits for it
}

// sleep waits until a leader leaves, and answers false when all has ended.
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
	case <-l.stop:
		return false
	}
}
