package rows

import (
	"os/exec"
	"testing"
)

// limits are the allocations that a modern call may make, by peer. Bare has none to spare: it is what the limit of an SDK
// is compared with.
var limits = map[string]float64{bareName: 12, "rialto": 12}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		runWithoutRace(t)
		return
	}
	for _, p := range Peers() {
		limit, held := limits[p.Name]
		if !held {
			continue
		}
		handler, err := p.handler(false)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Allocs(t.Context(), handler)
		if err != nil {
			t.Fatal(err)
		}
		if got > limit {
			t.Errorf("%s makes %v allocations a call, more than %v", p.Name, got, limit)
		}
	}
}

// runWithoutRace runs this test again in a process without the race detector, which makes allocations of its own.
func runWithoutRace(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "test", "-race=false", "-count=1", "-run", "^TestAllocations$", ".")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
