package manager

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// BreakerPolicy says when calls of a server that does not answer are refused instead of sent. The zero value has the
// defaults named here.
type BreakerPolicy struct {
	// Disabled sends every call.
	Disabled bool

	// Consecutive failures open the breaker. Zero means 5; negative means that only the rate counts.
	Consecutive int

	// Rate is the share of failures, between 0 and 1, among the calls of Window that opens it, from MinVolume calls on. Zero
	// means 0.5; negative, or more than 1, means that only failures in a row count.
	Rate      float64
	MinVolume int           // zero or less means 20
	Window    time.Duration // zero or less means a minute

	// First is how long calls are refused before one may probe the server. It doubles with each probe that fails, up to
	// Longest, and each time is shortened by chance by up to a tenth. Zero or less means 5 s and 2 min.
	First, Longest time.Duration

	// Probes is how many probes must succeed in a row, one after another, before all calls pass again. Zero or less means 1.
	Probes int
}

func (p BreakerPolicy) withDefaults() BreakerPolicy {
	if p.Consecutive == 0 {
		p.Consecutive = 5
	}
	if p.Rate == 0 {
		p.Rate = 0.5
	}
	if p.MinVolume <= 0 {
		p.MinVolume = 20
	}
	set := func(d *time.Duration, otherwise time.Duration) {
		if *d <= 0 {
			*d = otherwise
		}
	}
	set(&p.Window, time.Minute)
	set(&p.First, 5*time.Second)
	set(&p.Longest, 2*time.Minute)
	p.Longest = max(p.Longest, p.First)
	p.Probes = max(p.Probes, 1)
	return p
}

// BreakerState is where a breaker stands.
type BreakerState string

// The states of a [Breaker].
const (
	BreakerClosed   BreakerState = "closed"    // calls pass
	BreakerOpen     BreakerState = "open"      // calls are refused
	BreakerHalfOpen BreakerState = "half-open" // one call at a time may probe; the others are refused
)

// Outcome is what a call says about the health of its server.
type Outcome uint8

// The outcomes.
const (
	Answered  Outcome = iota // with a result or an error of its own, it does not matter which
	Unhealthy                // no answer in time, or the way to the server failed
	Unknown                  // the caller gave up first, or nothing was sent: this counts for nothing
)

// BreakerStatus is a breaker at one moment.
type BreakerStatus struct {
	State    BreakerState
	Failures int           // in a row
	Wait     time.Duration // until the next probe may go out; zero unless open
}

// OpenError says that a call was refused by a breaker, and not sent.
type OpenError struct {
	Wait time.Duration // until a probe may go out; zero while one is out
}

func (e *OpenError) Error() string {
	if e.Wait <= 0 {
		return "it has not answered lately; one call is trying it at this moment, and others are not sent meanwhile"
	}
	return fmt.Sprintf("it has not answered lately; calls are not sent, and it is tried again in %s", e.Wait.Round(time.Millisecond))
}

// Unwrap answers ErrNotRun.
func (e *OpenError) Unwrap() error { return ErrNotRun }

// Breaker refuses calls of a server that does not answer. Its methods may be called concurrently.
type Breaker struct {
	changed func()

	mu       sync.Mutex
	policy   BreakerPolicy
	state    BreakerState
	turn     uint64 // counts changes of the state: a call that began in another one says nothing about this
	failures int    // in a row
	opened   int    // times in a row, without having been closed between
	until    time.Time
	probing  bool
	passed   int // probes in a row
	window   window
}

// NewBreaker makes a closed breaker. changed is called after each change of the state, without a lock held, perhaps
// concurrently; Status tells the news. It may be nil.
func NewBreaker(policy BreakerPolicy, changed func()) *Breaker {
	if changed == nil {
		changed = func() {}
	}
	b := &Breaker{policy: policy.withDefaults(), changed: changed, state: BreakerClosed}
	b.window = newWindow(b.policy)
	return b
}

// Change puts another policy in place. What has been counted still counts, but for calls in a window of another length; a time
// for which calls are refused that has begun goes on. One that is turned off is closed. It answers whether the state is another
// one now; nobody is called for that.
func (b *Breaker) Change(policy BreakerPolicy) (moved bool) {
	policy = policy.withDefaults()
	b.mu.Lock()
	defer b.mu.Unlock()
	if policy.Window != b.policy.Window {
		b.window = newWindow(policy)
	}
	b.policy = policy
	moved = policy.Disabled && b.state != BreakerClosed
	if moved {
		b.move(BreakerClosed)
		b.failures, b.opened = 0, 0
	}
	return moved
}

// Allow asks whether a call may be sent. It answers *OpenError where not. Otherwise done must be called with what became of
// the call; only its first use counts.
func (b *Breaker) Allow() (done func(Outcome), err error) {
	b.mu.Lock()
	if b.policy.Disabled {
		b.mu.Unlock()
		return func(Outcome) {}, nil
	}
	now := time.Now()
	moved := b.state == BreakerOpen && !now.Before(b.until)
	if moved {
		b.move(BreakerHalfOpen)
	}
	switch {
	case b.state == BreakerOpen:
		err = &OpenError{Wait: b.until.Sub(now)}
	case b.state == BreakerHalfOpen && b.probing:
		err = &OpenError{}
	}
	b.probing = b.probing || err == nil && b.state == BreakerHalfOpen
	turn := b.turn
	b.mu.Unlock()
	if moved {
		b.changed()
	}
	if err != nil {
		return nil, err
	}
	var once sync.Once
	return func(o Outcome) { once.Do(func() { b.settle(turn, o) }) }, nil
}

// settle counts what became of a call.
func (b *Breaker) settle(turn uint64, o Outcome) {
	b.mu.Lock()
	moved := false
	if turn == b.turn {
		moved = b.count(o, time.Now())
	}
	b.mu.Unlock()
	if moved {
		b.changed()
	}
}

// count answers whether the state has changed. b.mu is held.
func (b *Breaker) count(o Outcome, now time.Time) bool {
	probe := b.state == BreakerHalfOpen
	if probe {
		b.probing = false
	}
	switch o {
	case Unknown:
		return false
	case Answered:
		b.failures = 0
		b.window.add(now, false)
		if !probe {
			return false
		}
		if b.passed++; b.passed < b.policy.Probes {
			return false
		}
		b.opened = 0
		b.window.clear()
		b.move(BreakerClosed)
		return true
	}
	b.failures++
	b.window.add(now, true)
	if !probe && !b.tooMany(now) {
		return false
	}
	b.until = now.Add(b.pause())
	b.opened++
	b.move(BreakerOpen)
	return true
}

func (b *Breaker) tooMany(now time.Time) bool {
	if b.policy.Consecutive > 0 && b.failures >= b.policy.Consecutive {
		return true
	}
	all, bad := b.window.sum(now)
	return b.policy.Rate > 0 && all >= b.policy.MinVolume && float64(bad) >= b.policy.Rate*float64(all)
}

// pause is how long calls are refused this time.
func (b *Breaker) pause() time.Duration {
	d := b.policy.First
	for i := 0; i < b.opened && d < b.policy.Longest; i++ {
		d += min(d, b.policy.Longest-d) // doubled, and never beyond what a Duration holds
	}
	return d - rand.N(d/10+1)
}

// move changes the state, and is the only one to do so. b.mu is held.
func (b *Breaker) move(to BreakerState) {
	b.state, b.probing, b.passed = to, false, 0
	b.turn++
}

// Reset closes the breaker and forgets what it has counted: the server behind it is another one now.
func (b *Breaker) Reset() {
	b.mu.Lock()
	moved := b.state != BreakerClosed
	b.move(BreakerClosed)
	b.failures, b.opened = 0, 0
	b.window.clear()
	b.mu.Unlock()
	if moved {
		b.changed()
	}
}

// Status tells where the breaker stands.
func (b *Breaker) Status() BreakerStatus {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := BreakerStatus{State: b.state, Failures: b.failures}
	if b.state == BreakerOpen {
		s.Wait = max(time.Until(b.until), 0)
	}
	return s
}

// buckets is how many parts a window is counted in: what falls out of it leaves in steps of one.
const buckets = 10

// window counts the calls of the last while.
type window struct {
	from  time.Time // when it began: by the steady clock, whatever becomes of the date
	width time.Duration
	parts [buckets]struct {
		slot     int64 // which stretch of time this is, counted from the beginning
		all, bad int
	}
}

func newWindow(policy BreakerPolicy) window {
	return window{from: time.Now(), width: max(policy.Window/buckets, 1)}
}

func (w *window) slot(now time.Time) int64 { return int64(now.Sub(w.from) / w.width) }

func (w *window) add(now time.Time, failed bool) {
	slot := w.slot(now)
	part := &w.parts[slot%buckets]
	if part.slot != slot {
		part.slot, part.all, part.bad = slot, 0, 0
	}
	part.all++
	if failed {
		part.bad++
	}
}

func (w *window) sum(now time.Time) (all, bad int) {
	oldest := w.slot(now) - buckets
	for _, part := range w.parts {
		if part.slot > oldest {
			all, bad = all+part.all, bad+part.bad
		}
	}
	return all, bad
}

func (w *window) clear() { *w = window{from: w.from, width: w.width} }
