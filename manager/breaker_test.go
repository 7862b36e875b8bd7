package manager

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// steady leaves out what is not at stake in a case.
var steady = BreakerPolicy{Consecutive: 3, Rate: -1, First: 10 * time.Second, Longest: time.Minute}

// TestBreaker plays stories: '.' an answer, 'x' a failure, '?' a call given up, '/' a call that must be refused, a digit so
// many seconds of waiting, and a state at the end.
func TestBreaker(t *testing.T) {
	rate := BreakerPolicy{Consecutive: -1, Rate: 0.5, MinVolume: 6, Window: 10 * time.Second, First: 10 * time.Second}
	twice := steady
	twice.Probes = 2
	for _, tc := range []struct {
		name   string
		policy BreakerPolicy
		story  string
		want   BreakerState
	}{
		{"nothing", steady, "", BreakerClosed},
		{"two failures", steady, "xx", BreakerClosed},
		{"three failures", steady, "xxx//", BreakerOpen},
		{"an answer between", steady, "xx.xx.xx", BreakerClosed},
		{"calls given up say nothing", steady, "x?x???x/", BreakerOpen},
		{"only calls given up", steady, "??????????", BreakerClosed},
		{"a probe after the time", steady, "xxx/9/9.", BreakerClosed},
		{"a probe that fails", steady, "xxx99x/9/", BreakerOpen},
		{"and the time doubles", steady, "xxx99x/99/9.", BreakerClosed},
		{"a probe given up leaves room for the next", steady, "xxx99???.", BreakerClosed},
		{"after closing it takes three again", steady, "xxx99.xx", BreakerClosed},
		{"two probes", twice, "xxx99..", BreakerClosed},
		{"one of two probes", twice, "xxx99.", BreakerHalfOpen},
		{"the second of two probes fails", twice, "xxx99.x/", BreakerOpen},
		{"below the volume", rate, "xxxxx", BreakerClosed},
		{"at the rate", rate, "...xxx/", BreakerOpen},
		{"below the rate", rate, "....xxx", BreakerClosed},
		{"what is old leaves the window", rate, "xxxxx99xxx", BreakerClosed},
		{"off", BreakerPolicy{Disabled: true}, "xxxxxxxxxxxx", BreakerClosed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := NewBreaker(tc.policy, nil)
				for at, step := range tc.story {
					if step >= '0' && step <= '9' {
						time.Sleep(time.Duration(step-'0') * time.Second)
						continue
					}
					done, err := b.Allow()
					if (err != nil) != (step == '/') {
						t.Fatalf("step %d of %q: %v, in %+v", at, tc.story, err, b.Status())
					}
					if err == nil {
						done(map[rune]Outcome{'.': Answered, 'x': Unhealthy, '?': Unknown}[step])
					}
				}
				if got := b.Status().State; got != tc.want {
					t.Errorf("%q ends %s, want %s", tc.story, got, tc.want)
				}
			})
		})
	}
}

// TestBreakerIgnoresWhatBeganBefore holds that a call of before a change says nothing about the state after it.
func TestBreakerIgnoresWhatBeganBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBreaker(steady, nil)
		hung, err := b.Allow()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			done, _ := b.Allow()
			done(Unhealthy)
		}
		time.Sleep(10 * time.Second)
		probe, err := b.Allow()
		if err != nil {
			t.Fatal(err)
		}
		hung(Unhealthy) // neither ends the probe nor opens anew
		if s := b.Status(); s.State != BreakerHalfOpen {
			t.Errorf("an old call made it %s", s.State)
		}
		if _, err := b.Allow(); err == nil {
			t.Error("an old call let a second probe out")
		}
		probe(Answered)
		probe(Unhealthy) // a second word counts for nothing
		if s := b.Status(); s.State != BreakerClosed || s.Failures != 0 {
			t.Errorf("after the probe: %+v", s)
		}
	})
}

// TestBreakerOneProbe has 50 callers at it all the time while a server hangs, fails and recovers.
func TestBreakerOneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes atomic.Int32
		b := NewBreaker(steady, func() { changes.Add(1) })
		for range 3 {
			done, _ := b.Allow()
			done(Unhealthy)
		}
		var well atomic.Bool
		var out, most, sent atomic.Int32
		end := time.Now().Add(4 * time.Minute)
		var callers sync.WaitGroup
		for range 50 {
			callers.Go(func() {
				for time.Now().Before(end) {
					done, err := b.Allow()
					if err != nil {
						var open *OpenError
						if !errors.As(err, &open) || !errors.Is(err, ErrNotRun) {
							t.Errorf("refused with %v", err)
						}
						time.Sleep(100 * time.Millisecond)
						continue
					}
					sent.Add(1)
					if n := out.Add(1); n > most.Load() {
						most.Store(n)
					}
					time.Sleep(3 * time.Second) // as long as the time limit of a call
					out.Add(-1)
					done(map[bool]Outcome{true: Answered, false: Unhealthy}[well.Load()])
				}
			})
		}
		time.Sleep(2 * time.Minute)
		if most.Load() != 1 || sent.Load() < 2 || sent.Load() > 6 {
			t.Errorf("%d probes in two minutes, %d at once", sent.Load(), most.Load())
		}
		well.Store(true)
		callers.Wait()
		if s := b.Status(); s.State != BreakerClosed || most.Load() != 50 {
			t.Errorf("in the end %+v, %d at once", s, most.Load())
		}
		if changes.Load() < 4 {
			t.Errorf("%d changes were told", changes.Load())
		}
	})
}

// TestBreakerProperties drives breakers by chance and holds what must be true at every step.
func TestBreakerProperties(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			p := BreakerPolicy{
				Consecutive: r.IntN(5) - 1, Rate: []float64{-1, 0.2, 0.5, 1}[r.IntN(4)], MinVolume: 1 + r.IntN(5),
				First: time.Duration(1+r.IntN(10)) * time.Second, Longest: 20 * time.Second, Probes: 1 + r.IntN(3),
			}
			full := p.withDefaults()
			b := NewBreaker(p, nil)
			var running []func(Outcome)
			halfOpen := 0 // calls let out while half-open and not settled
			for range 400 {
				before := b.Status()
				switch r.IntN(4) {
				case 0:
					time.Sleep(time.Duration(r.IntN(8000)) * time.Millisecond)
				case 1, 2:
					done, err := b.Allow()
					after := b.Status()
					switch {
					case before.State == BreakerClosed && err != nil:
						t.Fatalf("a closed breaker refuses: %v", err)
					case before.State == BreakerOpen && before.Wait > 0 && err == nil:
						t.Fatal("an open breaker lets a call out")
					case before.State == BreakerOpen && before.Wait > full.Longest:
						t.Fatalf("it stays open for %s", before.Wait)
					case err == nil && after.State == BreakerHalfOpen:
						if halfOpen++; halfOpen > 1 {
							t.Fatal("two probes at once")
						}
						turn := b.turn
						running = append(running, func(o Outcome) {
							if turn == b.turn {
								halfOpen--
							}
							done(o)
							if b.Status().State != BreakerHalfOpen {
								halfOpen = 0
							}
						})
					case err == nil:
						running = append(running, done)
					}
				default:
					if len(running) == 0 {
						continue
					}
					at := r.IntN(len(running))
					running[at](Outcome(r.IntN(3)))
					running = append(running[:at], running[at+1:]...)
					if s := b.Status(); s.State == BreakerClosed && full.Consecutive > 0 && s.Failures >= full.Consecutive {
						t.Fatalf("closed with %d failures in a row", s.Failures)
					}
				}
			}
			for _, done := range running {
				done(Answered)
			}
			for range 10 * full.Probes { // whatever has happened, a server that answers is served in the end
				time.Sleep(full.Longest)
				if done, err := b.Allow(); err == nil {
					done(Answered)
				}
			}
			if s := b.Status(); s.State != BreakerClosed {
				t.Fatalf("seed %d ends %+v with %+v", seed, s, p)
			}
		})
	}
}

// TestBreakerExtremes holds that no policy, however odd, makes a breaker fail, open without a reason, stay open beyond its
// longest time or for ever.
func TestBreakerExtremes(t *testing.T) {
	const eternity = time.Duration(math.MaxInt64)
	for _, tc := range []struct {
		name   string
		policy BreakerPolicy
		opens  int // after so many failures; 0 for never
	}{
		{"zero", BreakerPolicy{}, 5},
		{"all negative", BreakerPolicy{Consecutive: -1, Rate: -1, MinVolume: -1, Window: -1, First: -1, Longest: -1, Probes: -1}, 0},
		{"no count, and the rate of any number", BreakerPolicy{Consecutive: -1, Rate: math.SmallestNonzeroFloat64, MinVolume: 1}, 1},
		{"a rate that is none", BreakerPolicy{Consecutive: -1, Rate: math.NaN(), MinVolume: 1}, 0},
		{"a rate beyond all", BreakerPolicy{Consecutive: -1, Rate: math.Inf(1), MinVolume: 1}, 0},
		{"a rate in per cent", BreakerPolicy{Consecutive: -1, Rate: 50, MinVolume: 1}, 0},
		{"huge numbers", BreakerPolicy{Consecutive: math.MaxInt, MinVolume: math.MaxInt, Window: eternity, First: 1, Longest: eternity}, 0},
		{"an eternal window", BreakerPolicy{Consecutive: -1, Window: eternity}, 20},
		{"hardly a window", BreakerPolicy{Consecutive: -1, Window: 1}, 20},
		{"ever longer", BreakerPolicy{Consecutive: 1, First: 1, Longest: 100 * 365 * 24 * time.Hour}, 1},
		{"longer than a duration", BreakerPolicy{Consecutive: 1, First: eternity/2 + 1, Longest: eternity}, 1},
		{"longest before first", BreakerPolicy{Consecutive: 1, First: time.Hour, Longest: time.Second}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := NewBreaker(tc.policy, nil)
				failures := 0
				for ; failures < 100 && b.Status().State == BreakerClosed; failures++ {
					done, err := b.Allow()
					if err != nil {
						t.Fatal(err)
					}
					done(Unhealthy)
				}
				if opened := b.Status().State != BreakerClosed; opened != (tc.opens > 0) || opened && failures != tc.opens {
					t.Fatalf("%s after %d failures", b.Status().State, failures)
				}
				for range 100 { // probes that fail
					wait := b.Status().Wait
					if wait < 0 || wait > b.policy.Longest {
						t.Fatalf("it stays open for %s", wait)
					}
					b.mu.Lock()
					b.until = time.Now() // nobody has that much time
					b.mu.Unlock()
					if done, err := b.Allow(); err == nil {
						done(Unhealthy)
					} else {
						t.Fatal(err)
					}
				}
			})
		})
	}
}

func TestBreakerReset(t *testing.T) {
	told := 0
	b := NewBreaker(steady, func() { told++ })
	b.Reset()
	for range 3 {
		done, _ := b.Allow()
		done(Unhealthy)
	}
	_, err := b.Allow()
	if err == nil || !strings.Contains(err.Error(), "tried again in") {
		t.Errorf("refused with %v", err)
	}
	b.Reset()
	if s := b.Status(); s != (BreakerStatus{State: BreakerClosed}) || told != 2 {
		t.Errorf("after a reset: %+v, told %d times", s, told)
	}
}

// TestChangedBreaker holds what becomes of what was counted when the policy changes.
func TestChangedBreaker(t *testing.T) {
	count := func(b *Breaker, outcomes ...Outcome) {
		for _, o := range outcomes {
			if done, err := b.Allow(); err == nil {
				done(o)
			}
		}
	}
	for _, tc := range []struct {
		name string
		next BreakerPolicy
		more int // failures
		want BreakerState
	}{
		{"the same", steady, 0, BreakerClosed},
		{"failures still count", steady, 1, BreakerOpen},
		{"fewer are enough, from the next one on", BreakerPolicy{Consecutive: 1, Rate: -1}, 0, BreakerClosed},
		{"and it comes", BreakerPolicy{Consecutive: 1, Rate: -1}, 1, BreakerOpen},
		{"more are needed", BreakerPolicy{Consecutive: 4, Rate: -1}, 1, BreakerClosed},
		{"the window of the same length still counts", BreakerPolicy{Consecutive: -1, Rate: 0.5, MinVolume: 3}, 1, BreakerOpen},
		{"that of another does not", BreakerPolicy{Consecutive: -1, Rate: 0.5, MinVolume: 3, Window: time.Hour}, 1, BreakerClosed},
		{"off", BreakerPolicy{Disabled: true}, 10, BreakerClosed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := NewBreaker(steady, nil)
				count(b, Unhealthy, Unhealthy)
				b.Change(tc.next)
				for range tc.more {
					count(b, Unhealthy)
				}
				if got := b.Status().State; got != tc.want {
					t.Errorf("it is %s, want %s", got, tc.want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		told := 0
		b := NewBreaker(steady, func() { told++ })
		count(b, Unhealthy, Unhealthy, Unhealthy)
		b.Change(BreakerPolicy{Consecutive: 3, First: time.Hour})
		if s := b.Status(); s.State != BreakerOpen || s.Wait > 10*time.Second {
			t.Errorf("a time that has begun goes on: %+v", s)
		}
		if moved := b.Change(BreakerPolicy{Disabled: true}); !moved {
			t.Error("nobody learns that it is closed")
		}
		if s := b.Status(); s.State != BreakerClosed || told != 1 {
			t.Errorf("turned off: %+v, told %d times", s, told)
		}
	})
}
