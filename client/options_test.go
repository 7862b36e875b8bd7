package client

import (
	"testing"
	"time"
)

// The limits that hold when nothing is said, as docs/limits.md has them; a negative one is lifted.
func TestDefaults(t *testing.T) {
	o := Options{}.withDefaults()
	lifted := Options{ConnectTimeout: -1, ProbeTimeout: -1, CallTimeout: -1, TotalTimeout: -1, ListTimeout: -1}.withDefaults()
	for name, d := range map[string][3]time.Duration{
		"ConnectTimeout": {o.ConnectTimeout, 15 * time.Second, lifted.ConnectTimeout},
		"ProbeTimeout":   {o.ProbeTimeout, 2 * time.Second, lifted.ProbeTimeout},
		"CallTimeout":    {o.CallTimeout, time.Minute, lifted.CallTimeout},
		"TotalTimeout":   {o.TotalTimeout, 10 * time.Minute, lifted.TotalTimeout},
		"ListTimeout":    {o.ListTimeout, 30 * time.Second, lifted.ListTimeout},
	} {
		if d[0] != d[1] || d[2] != 0 {
			t.Errorf("%s: got %s and lifted %s, want %s and 0", name, d[0], d[2], d[1])
		}
	}
	if o.MaxPages != 256 {
		t.Errorf("MaxPages: got %d", o.MaxPages)
	}
}
