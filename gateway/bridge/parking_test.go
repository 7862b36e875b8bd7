package bridge

import (
	"strings"
	"testing"
)

// TestMostParked holds that a call whose client would have to be asked ends, and says why, when too many wait for their
// clients already; and that room is made by each that goes on or expires.
func TestMostParked(t *testing.T) {
	var k parking
	defer k.close()
	fresh := func() (p *parked, why *error) {
		why = new(error)
		p = &parked{done: make(chan struct{}), wake: make(chan struct{}, 1), cancel: func(cause error) { *why = cause }, open: []*question{{key: "q1", method: "m"}}}
		if !k.add(p) {
			t.Fatal("no room")
		}
		return p, why
	}
	var all []*parked
	for range mostParked {
		p, _ := fresh()
		if k.leave(p) == nil {
			t.Fatalf("no room after %d", len(all))
		}
		all = append(all, p)
	}
	p, why := fresh()
	if got := k.leave(p); got != nil || *why == nil || !strings.Contains((*why).Error(), "too many calls") {
		t.Errorf("left with %s, ended with %v", got, *why)
	}
	k.abandon(all[0], nil)
	k.abandon(all[0], nil) // once
	if p, _ := fresh(); string(k.leave(p)) != `{"q1":{"method":"m"}}` {
		t.Error("one that was given up makes no room")
	}
	if p, _ := fresh(); k.leave(p) != nil {
		t.Error("one that was given up makes room for two")
	}
}
