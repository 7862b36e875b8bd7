package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestEndOfAListenThatIsSettled holds that a shutdown that has gathered a listen just before its acknowledgement failed does not
// wait for it: nobody is left who would say that it is over.
func TestEndOfAListenThatIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, l := &hub{}, &listen{}
		begun := time.Now()
		h.settled(l)
		h.end(t.Context(), l)
		if took := time.Since(begun); took != 0 {
			t.Errorf("it waited %s", took)
		}
	})
}
