package interop

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressWaitsForLateNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var book progressBook
		log := newProgressLog()
		token := book.expect(log)
		other := book.expect(newProgressLog())
		begin := time.Now()
		go func() {
			for i := range 3 {
				time.Sleep(time.Second / 2)
				book.add(token, Progress{Progress: float64(i + 1)})
				book.add(other, Progress{Progress: 99})
				book.add("unknown", Progress{Progress: 98})
			}
		}()
		seen := log.wait(t.Context(), 3)
		if len(seen) != 3 || seen[0].Progress != 1 || seen[2].Progress != 3 {
			t.Errorf("got %v", seen)
		}
		if waited := time.Since(begin); waited != 3*time.Second/2 {
			t.Errorf("waited %v", waited)
		}
	})
}

func TestProgressGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newProgressLog()
		log.add(Progress{Progress: 1})
		begin := time.Now()
		if seen := log.wait(t.Context(), 2); len(seen) != 1 {
			t.Errorf("got %v", seen)
		}
		if waited := time.Since(begin); waited != lateProgress {
			t.Errorf("waited %v", waited)
		}
	})
}
