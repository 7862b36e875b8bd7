package config

import (
	"strconv"
	"time"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// leastCache is what a cache must hold to be of use.
const leastCache = 1000

// Limits of the settings about how a server is handled.
const (
	mostAttempts = 10
	mostFlow     = 100_000 // calls at once, and calls that wait
	mostCount    = 10_000  // failures, calls and probes that a breaker may count
	leastCheck   = time.Second
)

// handling lists the settings that say how a server is handled.
func (s *section) handling(own *upstream.Tuning) []setting {
	return []setting{
		{"breaker", s.breaker(&own.Breaker)},
		{"retry", s.retry(&own.Retry)},
		{"maxInFlight", s.number(&own.Flow.InFlight, between(1, mostFlow))},
		{"queue", s.queue(&own.Flow)},
		{"health", s.health(&own.Health)},
		{"cache", s.cache(&own.Cache)},
	}
}

// breaker reads false, or when calls of a server that does not answer are refused.
func (s *section) breaker(own *manager.BreakerPolicy) func(*manager.Value) {
	return s.orFalse(&own.Disabled, []setting{
		{"failures", s.orNone(&own.Consecutive, mostCount)},
		{"rate", s.rate(&own.Rate)},
		{"volume", s.number(&own.MinVolume, between(1, mostCount))},
		{"window", s.duration(&own.Window)},
		{"pause", s.duration(&own.First)},
		{"longestPause", s.duration(&own.Longest)},
		{"probes", s.number(&own.Probes, between(1, mostCount))},
	})
}

// retry reads false, which repeats no call, or how often and after which pauses something is done again.
func (s *section) retry(own *upstream.RetryTuning) func(*manager.Value) {
	never := false
	read := s.orFalse(&never, []setting{
		{"attempts", s.orNone(&own.Attempts, mostAttempts)},
		{"pause", s.duration(&own.First)},
		{"longestPause", s.duration(&own.Longest)},
	})
	return func(v *manager.Value) {
		if read(v); never {
			own.Attempts = -1
		}
	}
}

// queue reads false, where no call waits, or how many calls wait and for how long.
func (s *section) queue(own *upstream.FlowTuning) func(*manager.Value) {
	none := false
	read := s.orFalse(&none, []setting{
		{"max", s.orNone(&own.Queue, mostFlow)},
		{"wait", s.duration(&own.Wait)},
	})
	return func(v *manager.Value) {
		if read(v); none {
			own.Queue = -1
		}
	}
}

// health reads false, or how often a server is asked whether it is well.
func (s *section) health(own *upstream.HealthTuning) func(*manager.Value) {
	off := false
	read := s.orFalse(&off, []setting{
		{"every", s.atLeast(&own.Every, leastCheck)},
		{"timeout", s.duration(&own.Timeout)},
		{"failures", s.number(&own.Failures, between(1, mostCount))},
	})
	return func(v *manager.Value) {
		read(v)
		if v.Kind() == manager.Object && v.Member("every") == nil {
			s.problems.Add(v, "say how often; write {\"every\": \"30s\"}")
		}
	}
}

// orNone reads a number of which zero means none, which is a negative number where it is kept.
func (s *section) orNone(to *int, most int) func(*manager.Value) {
	n := 0
	read := s.number(&n, between(0, most))
	return func(v *manager.Value) {
		n = -1
		if read(v); n >= 0 {
			*to = n
			if n == 0 {
				*to = -1
			}
		}
	}
}

// rate reads a share of calls; zero means that it does not count.
func (s *section) rate(to *float64) func(*manager.Value) {
	return func(v *manager.Value) {
		if !s.is(v, manager.Number) {
			return
		}
		n, err := strconv.ParseFloat(v.Text(), 64)
		switch {
		case err != nil || n < 0 || n > 1:
			s.problems.Add(v, "this must be a share of all calls from 0 to 1, such as 0.5; 0 counts only failures in a row")
		case n == 0:
			*to = -1
		default:
			*to = n
		}
	}
}

// atLeast is duration with a least one.
func (s *section) atLeast(to *time.Duration, least time.Duration) func(*manager.Value) {
	return func(v *manager.Value) {
		var d time.Duration
		if s.duration(&d)(v); d > 0 && d < least {
			s.problems.Add(v, "this must be %s or more", duration(least))
			return
		}
		*to = d
	}
}

// cache reads false, or the bounds of what is kept.
func (s *section) cache(own *upstream.CacheTuning) func(*manager.Value) {
	return s.orFalse(&own.Off, []setting{
		{"max", s.size(&own.Max, leastCache)},
		{"maxTTL", s.duration(&own.MaxTTL)},
		{"lists", s.duration(&own.Lists)},
	})
}

// orFalse reads false, which turns something off, or an object of settings.
func (s *section) orFalse(off *bool, settings []setting) func(*manager.Value) {
	return func(v *manager.Value) {
		switch {
		case v.Kind() == manager.Boolean && v.Text() == "false":
			*off = true
		case v.Kind() == manager.Object:
			s.object(v, settings)
		default:
			s.problems.Add(v, "this must be false or an object, not %s", kindOf(v))
		}
	}
}

// kindOf names what stands there.
func kindOf(v *manager.Value) string {
	if v.Kind() == manager.Boolean {
		return "true"
	}
	return string(v.Kind())
}

// Tunings say how the servers are handled, by their names.
func (c *Config) Tunings() map[string]upstream.Tuning {
	all := make(map[string]upstream.Tuning, len(c.PerServer))
	for name, own := range c.PerServer {
		all[name] = own.Tuning
	}
	return all
}

// normalHandling is what is said of how a server is handled, without what is not said.
func normalHandling(own upstream.Tuning) (out ordered) {
	out = appendOrFalse(out, "breaker", own.Breaker.Disabled, breakerOf(own.Breaker))
	var retry ordered
	retry = appendCount(retry, "attempts", own.Retry.Attempts)
	retry = appendDuration(retry, "pause", own.Retry.First)
	retry = appendDuration(retry, "longestPause", own.Retry.Longest)
	out = appendOrFalse(out, "retry", false, retry)
	out = appendCount(out, "maxInFlight", own.Flow.InFlight)
	var queue ordered
	queue = appendCount(queue, "max", own.Flow.Queue)
	queue = appendDuration(queue, "wait", own.Flow.Wait)
	out = appendOrFalse(out, "queue", false, queue)
	var health ordered
	health = appendDuration(health, "every", own.Health.Every)
	health = appendDuration(health, "timeout", own.Health.Timeout)
	health = appendCount(health, "failures", own.Health.Failures)
	out = appendOrFalse(out, "health", false, health)
	return appendOrFalse(out, "cache", own.Cache.Off, cacheOf(own.Cache))
}

func breakerOf(own manager.BreakerPolicy) (out ordered) {
	out = appendCount(out, "failures", own.Consecutive)
	if own.Rate != 0 {
		out = append(out, member{"rate", max(own.Rate, 0)})
	}
	out = appendCount(out, "volume", own.MinVolume)
	out = appendDuration(out, "window", own.Window)
	out = appendDuration(out, "pause", own.First)
	out = appendDuration(out, "longestPause", own.Longest)
	return appendCount(out, "probes", own.Probes)
}

// appendCount adds a number that is set; a negative one is none.
func appendCount(o ordered, key string, n int) ordered {
	if n == 0 {
		return o
	}
	return append(o, member{key, max(n, 0)})
}

func cacheOf(own upstream.CacheTuning) (out ordered) {
	if own.Max != 0 {
		out = append(out, member{"max", size(own.Max)})
	}
	out = appendDuration(out, "maxTTL", own.MaxTTL)
	return appendDuration(out, "lists", own.Lists)
}

// appendOrFalse adds false where something is off, and else what is said of it, if anything is.
func appendOrFalse(o ordered, key string, off bool, said ordered) ordered {
	switch {
	case off:
		return append(o, member{key, false})
	case said != nil:
		return append(o, member{key, said})
	}
	return o
}

// appendDuration adds a duration that is set.
func appendDuration(o ordered, key string, d time.Duration) ordered {
	if d == 0 {
		return o
	}
	return append(o, member{key, duration(d)})
}
