package upstream

import (
	"maps"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/manager"
)

// Tuning is how one server is handled. The zero value has the defaults.
type Tuning struct {
	Breaker manager.BreakerPolicy
	Retry   RetryTuning
	Flow    FlowTuning
	Health  HealthTuning
	Cache   CacheTuning
}

// RetryTuning says what is done again, and after which pauses.
type RetryTuning struct {
	// Attempts is how often one call is repeated at most, where that is safe. Zero means 2, negative never.
	Attempts int

	// First and Longest are the pauses before a lost server is connected again: they double from one to the other, each
	// shortened by chance by up to a half. Zero means 500 ms and a minute.
	First, Longest time.Duration
}

// CacheTuning says which answers of a server are kept.
type CacheTuning struct {
	// Off keeps none.
	Off bool

	// Max is how many bytes are kept. Zero means 8 MB.
	Max int64

	// MaxTTL bounds how long an answer counts as fresh, whatever the server says. Zero means 24 h.
	MaxTTL time.Duration

	// Lists is how long clients may keep lists of a server that does not say. Zero means that they are told nothing.
	Lists time.Duration
}

// Tune puts other tunings in place, by the names of servers; one without has the defaults. No connection is closed for it, and
// calls under way go on.
func (s *Set) Tune(all map[string]Tuning) {
	all = maps.Clone(all)
	s.tunings.Store(&all)
	for _, u := range s.all() {
		t := u.tuning()
		u.cache.tune(t.Cache)
		u.gate.tune(t.Flow)
		select {
		case u.retuned <- struct{}{}:
		default: // somebody is about to look
		}
		u.tune(t)
	}
	s.pool.each(func(u *upstream) { u.tune(u.tuning()) })
}

// tuning is that of now.
func (u *upstream) tuning() Tuning { return (*u.set.tunings.Load())[u.name()] }

// tune takes up what holds for one connection.
func (u *upstream) tune(t Tuning) { u.keeper.Change(u.set.handling(t)) }

// handling is how a keeper meets failures.
func (s *Set) handling(t Tuning) manager.Handling {
	h := manager.Handling{
		Breaker: t.Breaker, Retries: t.Retry.Attempts,
		Policy: client.Restart{First: t.Retry.First, Longest: max(t.Retry.Longest, t.Retry.First)},
	}
	if h.Breaker == (manager.BreakerPolicy{}) {
		h.Breaker = s.opts.Breaker
	}
	return h
}
