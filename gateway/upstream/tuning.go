package upstream

import (
	"maps"
	"time"
)

// Tuning is how one server is handled. The zero value has the defaults.
type Tuning struct {
	Cache CacheTuning
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

// Tune puts other tunings in place, by the names of servers; one without has the defaults. What has begun goes on as it began.
func (s *Set) Tune(all map[string]Tuning) {
	all = maps.Clone(all)
	s.tunings.Store(&all)
	for _, u := range s.all() {
		u.tune()
	}
}

// tuning is that of now.
func (u *upstream) tuning() Tuning { return (*u.set.tunings.Load())[u.name()] }

// tune takes up a tuning.
func (u *upstream) tune() { u.cache.tune(u.tuning().Cache) }
