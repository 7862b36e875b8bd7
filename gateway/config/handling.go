package config

import (
	"time"

	"github.com/rialto-mcp/rialto/gateway/upstream"
	"github.com/rialto-mcp/rialto/manager"
)

// leastCache is what a cache must hold to be of use.
const leastCache = 1000

// handling lists the settings that say how a server is handled.
func (s *section) handling(own *upstream.Tuning) []setting {
	return []setting{
		{"cache", s.cache(&own.Cache)},
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
	return appendOrFalse(out, "cache", own.Cache.Off, cacheOf(own.Cache))
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
