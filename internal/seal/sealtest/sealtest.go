// Package sealtest holds the contract of the stores that package seal uses. Whatever implements one of them runs it in a
// test of its own.
package sealtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/seal"
)

// Stores is what is to be tested. Each function is called once for each test, and opens an empty store or a fresh part
// of a shared one; nil leaves that store out.
//
// Tests of expiry take some seconds. For a store in memory, Within is synctest.Test, so that they need not be waited for; one
// with a clock that can be moved has Pass move it. Nil means that each test is just called, and that time passes by itself.
type Stores struct {
	States    func(t *testing.T) seal.StateStore
	Consumers func(t *testing.T) seal.Consumer
	Within    func(t *testing.T, test func(*testing.T))
	Pass      func(time.Duration)
}

// Run tests them all.
func (s Stores) Run(t *testing.T) {
	if s.Pass == nil {
		s.Pass = time.Sleep
	}
	if s.Within == nil {
		s.Within = func(t *testing.T, test func(*testing.T)) { test(t) }
	}
	if s.States != nil {
		for name, test := range map[string]func(*testing.T, seal.StateStore){
			"states come back": s.comeBack, "states of different ids": s.different, "a second put": s.replaced,
			"states expire": s.expire, "slices are copies": s.copies, "states at once": s.statesAtOnce,
		} {
			t.Run(name, func(t *testing.T) { s.Within(t, func(t *testing.T) { test(t, s.States(t)) }) })
		}
	}
	if s.Consumers != nil {
		for name, test := range map[string]func(*testing.T, seal.Consumer){
			"nonces are first once": s.once, "nonces are kept": s.kept, "nonces at once": s.oncesAtOnce,
		} {
			t.Run(name, func(t *testing.T) { s.Within(t, func(t *testing.T) { test(t, s.Consumers(t)) }) })
		}
	}
}

func put(t *testing.T, s seal.StateStore, id string, sealed []byte, life time.Duration) {
	t.Helper()
	if err := s.Put(t.Context(), id, sealed, time.Now().Add(life)); err != nil {
		t.Fatalf("Put: %v", err)
	}
}

// expect demands the content of an id, nil for none.
func expect(t *testing.T, s seal.StateStore, id string, want []byte) {
	t.Helper()
	got, found, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Get: %v", err)
	}
	if found != (want != nil) || !bytes.Equal(got, want) {
		t.Errorf("Get answers %q and %t, want %q", got, found, want)
	}
}

func (Stores) comeBack(t *testing.T, s seal.StateStore) {
	id := rand.Text()
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	large := bytes.Repeat(every, 1024)
	put(t, s, id, large, time.Minute)
	expect(t, s, id, large)
	expect(t, s, id, large) // reading does not remove
}

func (Stores) different(t *testing.T, s seal.StateStore) {
	one, two := rand.Text(), rand.Text()
	put(t, s, one, []byte("one"), time.Minute)
	put(t, s, two, []byte("two"), time.Minute)
	expect(t, s, one, []byte("one"))
	expect(t, s, two, []byte("two"))
	expect(t, s, rand.Text(), nil)
}

func (Stores) replaced(t *testing.T, s seal.StateStore) {
	id := rand.Text()
	put(t, s, id, []byte("a long first one"), time.Second)
	put(t, s, id, []byte("second"), time.Hour)
	expect(t, s, id, []byte("second"))
}

func (c Stores) expire(t *testing.T, s seal.StateStore) {
	short, long := rand.Text(), rand.Text()
	put(t, s, short, []byte("short"), 2*time.Second)
	put(t, s, long, []byte("long"), time.Hour)
	expect(t, s, short, []byte("short"))
	c.Pass(3 * time.Second)
	expect(t, s, short, nil)
	expect(t, s, long, []byte("long"))
}

func (Stores) copies(t *testing.T, s seal.StateStore) {
	id, mine := rand.Text(), []byte("mine")
	put(t, s, id, mine, time.Minute)
	mine[0] = 'X'
	got, _, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > 0 {
		got[1] = 'X'
	}
	expect(t, s, id, []byte("mine"))
}

func (Stores) statesAtOnce(t *testing.T, s seal.StateStore) {
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			id, sealed := rand.Text(), fmt.Appendf(nil, "state %d", i)
			if err := s.Put(t.Context(), id, sealed, time.Now().Add(time.Minute)); err != nil {
				t.Errorf("Put: %v", err)
			}
			if got, _, err := s.Get(t.Context(), id); err != nil || !bytes.Equal(got, sealed) {
				t.Errorf("Get answers %q and %v, want %q", got, err, sealed)
			}
		})
	}
	all.Wait()
}

func consume(t *testing.T, c seal.Consumer, nonce string, expiry time.Time, want bool) {
	t.Helper()
	first, err := c.Consume(t.Context(), nonce, expiry)
	if err != nil {
		t.Fatalf("Consume: %v", err)
	}
	if first != want {
		t.Errorf("Consume answers first %t, want %t", first, want)
	}
}

func (Stores) once(t *testing.T, c seal.Consumer) {
	one, two, end := rand.Text(), rand.Text(), time.Now().Add(time.Minute)
	consume(t, c, one, end, true)
	consume(t, c, one, end, false)
	consume(t, c, two, end, true)
	consume(t, c, one, end.Add(time.Hour), false)
}

// kept holds that a nonce is remembered until its end, however many others end before.
func (s Stores) kept(t *testing.T, c seal.Consumer) {
	long := rand.Text()
	end := time.Now().Add(time.Hour)
	consume(t, c, long, end, true)
	for range 20 {
		consume(t, c, rand.Text(), time.Now().Add(time.Second), true)
	}
	s.Pass(3 * time.Second)
	consume(t, c, rand.Text(), end, true)
	consume(t, c, long, end, false)
}

func (Stores) oncesAtOnce(t *testing.T, c seal.Consumer) {
	nonce, end := rand.Text(), time.Now().Add(time.Minute)
	var firsts atomic.Int32
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			first, err := c.Consume(context.WithoutCancel(t.Context()), nonce, end)
			if err != nil {
				t.Errorf("Consume: %v", err)
			}
			if first {
				firsts.Add(1)
			}
		})
	}
	all.Wait()
	if n := firsts.Load(); n != 1 {
		t.Errorf("%d of 32 callers at once were first, want 1", n)
	}
}
