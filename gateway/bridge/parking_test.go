package bridge

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
)

// TestMostParked holds that a call whose client would have to be asked ends, and says why, when too many wait for their
// clients already; and that room is made by each that goes on or expires.
func TestMostParked(t *testing.T) {
	var k parking
	defer k.close()
	who := owner{all: true}
	fresh := func() (p *parked, why *error) {
		why = new(error)
		p = &parked{owner: who, done: make(chan struct{}), wake: make(chan struct{}, 1), cancel: func(cause error) { *why = cause }, open: []*question{{key: "q1", method: "m"}}}
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

// TestDismissed holds that calls which wait for somebody who may not call any more are given up, and no others: not those of
// others, nor one that is under way.
func TestDismissed(t *testing.T) {
	var k parking
	defer k.close()
	ended := make(map[string]error)
	call := func(name string, who *mcp.Principal) *parked {
		p := &parked{
			owner: owner{key: name}, who: who, done: make(chan struct{}), wake: make(chan struct{}, 1), open: []*question{{key: "q1", method: "m"}},
			cancel: func(cause error) { ended[name] = cause },
		}
		if !k.add(p) {
			t.Fatal("no room")
		}
		return p
	}
	for name, who := range map[string]*mcp.Principal{"ann": {Subject: "ann"}, "bob": {Subject: "bob"}, "nobody": nil} {
		if k.leave(call(name, who)) == nil {
			t.Fatalf("%s cannot be asked", name)
		}
	}
	call("ann at work", &mcp.Principal{Subject: "ann"})
	k.dismiss(func(who *mcp.Principal) bool { return who == nil || who.Subject == "ann" })
	if len(ended) != 2 || ended["ann"] == nil || ended["nobody"] == nil || len(k.byID) != 2 || k.away.total != 1 {
		t.Errorf("ended are %v; %d are left, %d of them wait", ended, len(k.byID), k.away.total)
	}
}

// TestShares holds that one principal cannot take all places, nor can all that nobody knows together, and that each place that
// becomes free is there again for whose it was.
func TestShares(t *testing.T) {
	var s shares
	fill := func(who owner) (n int) {
		for s.add(who) == nil {
			n++
		}
		return n
	}
	alice, bob, nobody := owner{key: "alice"}, owner{key: "bob"}, owner{}
	if n := fill(alice); n != 100 {
		t.Errorf("alice has %d places, want 100", n)
	}
	if n := fill(nobody); n != 500 {
		t.Errorf("those that nobody knows have %d places, want 500", n)
	}
	if err := s.add(bob); err != nil {
		t.Errorf("bob gets no place: %v", err)
	}
	if err := s.add(alice); err == nil || !strings.Contains(err.Error(), "100 calls of yours") {
		t.Errorf("one more for alice: %v", err)
	}
	s.remove(alice)
	if n := fill(alice); n != 1 {
		t.Errorf("after one has gone on, alice gets %d", n)
	}
	for name := range 10 {
		fill(owner{key: string(rune('a' + name))})
	}
	if s.total != mostParked {
		t.Errorf("%d places are taken, want %d", s.total, mostParked)
	}
	for who := range s.by {
		for s.by[who] > 0 {
			s.remove(who)
		}
	}
	if s.total != 0 || len(s.by) != 0 {
		t.Errorf("%d places are taken in the end, of %v", s.total, s.by)
	}
	if got := (owner{key: "alice"}).share(50); got != leastShare {
		t.Errorf("of 50 places one may have %d, want %d", got, leastShare)
	}
}
