package rows

import (
	"runtime"
	"strings"
	"testing"
)

// TestTenThousandStreams: one process serves as many streams as a server takes by default, and this one holds their other
// ends. All are told of a change, each takes little memory, and nothing is left of them. The server runs without the race
// detector, whatever this test does.
func TestTenThousandStreams(t *testing.T) {
	const streams = 10_000
	switch err := Descriptors(streams); {
	case runtime.GOOS != "linux":
		t.Skip("the memory of another process is read on Linux alone")
	case err != nil:
		t.Skip(err)
	case testing.Short():
		t.Skip("it takes about twenty seconds")
	}
	bad := Crowd{Streams: 10, Heard: 9, Memory: 0.31, Before: 5, After: 5 + spare + 1}
	for _, want := range []string{"9 of 10 streams", "0.31", "5 goroutines before"} {
		if err := bad.Faults(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("faults of a bad crowd: %v, want %s", err, want)
		}
	}
	for name, legacy := range map[string]bool{"modern listen": false, "legacy GET": true} {
		t.Run(name, func(t *testing.T) {
			crowd := measured(t, legacy, streams)
			if err := crowd.Faults(); err != nil {
				t.Error(err)
			}
			t.Logf("memory %.2f of bare; goroutines %d before, %d with the streams, %d after", crowd.Memory, crowd.Before, crowd.Open, crowd.After)
		})
	}
}

// measured takes up to three measurements of the memory: it depends on when the collectors of both servers last ran.
func measured(t *testing.T, legacy bool, n int) Crowd {
	t.Helper()
	var crowd Crowd
	for try := 0; try == 0 || (try < 3 && crowd.Memory > CrowdAim); try++ {
		var err error
		if crowd, err = MeasureCrowd(t.Context(), legacy, n, t.Output()); err != nil {
			t.Fatal(err)
		}
	}
	return crowd
}
