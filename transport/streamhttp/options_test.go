package streamhttp

import (
	"testing"
	"time"
)

// The limits that hold when nothing is said, as docs/limits.md has them.
func TestDefaults(t *testing.T) {
	o, c := Options{}.withDefaults(), ClientOptions{}.withDefaults()
	for name, pair := range map[string][2]int64{
		"MaxBodyBytes":        {o.MaxBodyBytes, 10 << 20},
		"MaxBatch":            {int64(o.MaxBatch), 100},
		"MaxSessions":         {int64(o.MaxSessions), 100_000},
		"MaxStreams":          {int64(o.MaxStreams), 16},
		"UpgradeAfter":        {int64(o.UpgradeAfter), int64(10 * time.Second)},
		"KeepAlive":           {int64(o.KeepAlive), int64(15 * time.Second)},
		"BodyTimeout":         {int64(o.BodyTimeout), int64(30 * time.Second)},
		"WriteTimeout":        {int64(o.WriteTimeout), int64(30 * time.Second)},
		"IdleTimeout":         {int64(o.IdleTimeout), int64(30 * time.Minute)},
		"client MaxBodyBytes": {c.MaxBodyBytes, 10 << 20},
		"MaxEventBytes":       {c.MaxEventBytes, 10 << 20},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %d, want %d", name, pair[0], pair[1])
		}
	}
}
