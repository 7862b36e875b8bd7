package state

import (
	"errors"
	"testing"
)

// FuzzLastEventID: whatever a client names as its last event is answered with the events after it, or with one of two
// errors. Only ids that were given are known.
func FuzzLastEventID(f *testing.F) {
	const kept, given = 5, 12
	m := NewMemoryLog(LogLimits{MaxEvents: kept})
	ids := map[string]int{}
	for i := range given {
		id, err := m.Append(f.Context(), "session", "stream", nil)
		if err != nil {
			f.Fatal(err)
		}
		ids[id] = i
		f.Add(id)
		f.Add(id + "\n")
		f.Add(id[:len(id)-1])
	}
	for _, id := range []string{"", ".", "unknown-1", "0", "-1", "+1", "18446744073709551616", "\x00", "ü"} {
		f.Add(id)
	}
	for id := range ids { // one with the right beginning
		start := id[:len(id)-1]
		for _, tail := range []string{"", "0", "-1", "+1", "01", "1_0", "zzzzzzzzzzzzz", "zzzzzzzzzzzzzz", "B"} {
			f.Add(start + tail)
		}
		break
	}
	f.Fuzz(func(t *testing.T, id string) {
		_, later, err := m.Replay(t.Context(), "session", id)
		i, known := ids[id]
		switch {
		case !known:
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%q was never given: error %v", id, err)
			}
		case i < given-kept:
			if !errors.Is(err, ErrGone) {
				t.Errorf("%q has been dropped: error %v", id, err)
			}
		case err != nil:
			t.Errorf("%q: %v", id, err)
		default:
			n := 0
			for range later {
				n++
			}
			if n != given-1-i {
				t.Errorf("%d events after number %d of %d", n, i, given)
			}
		}
	})
}
