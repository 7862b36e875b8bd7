package engine

import (
	"testing"
	"time"
)

// The limits that hold when nothing is said, as docs/limits.md has them.
func TestDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	if o.MaxInFlight != 256 || o.MaxQueued != 1024 || o.MaxAnonymous != 4096 || o.MaxListens != 10_000 || o.MaxListensOf != 1000 || o.CloseGrace != 5*time.Second {
		t.Errorf("got %+v", o)
	}
	if o = (Options{MaxInFlight: -1, MaxQueued: -1, MaxAnonymous: -1, MaxListens: -1, MaxListensOf: -1}).withDefaults(); o.MaxInFlight+o.MaxQueued+o.MaxAnonymous+o.MaxListens+o.MaxListensOf != -5 {
		t.Errorf("what is lifted stays so: %+v", o)
	}
}
