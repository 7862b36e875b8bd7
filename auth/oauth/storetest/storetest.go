// Package storetest holds a store of tokens to what package oauth promises of it.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rialto-mcp/rialto/auth/oauth"
)

// Store runs the tests. open answers two views of one new and empty store, such as two processes have; they may be the same.
func Store(t *testing.T, open func(t *testing.T) (a, b oauth.Store)) {
	for name, test := range map[string]func(t *testing.T, a, b oauth.Store){
		"values": values, "keys": keys, "copies": copies, "context": ended, "lock": lock, "locks apart": apart, "lock given up": givenUp,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := open(t)
			test(t, a, b)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, s oauth.Store, key string, value []byte) {
	t.Helper()
	got, err := s.Get(t.Context(), key)
	must(t, err)
	if !bytes.Equal(got, value) || (got == nil) != (value == nil) {
		t.Errorf("value of %.40q is %.40q, want %.40q", key, got, value)
	}
}

func values(t *testing.T, a, b oauth.Store) {
	want(t, a, "k", nil)
	must(t, a.Delete(t.Context(), "k"))
	must(t, a.Put(t.Context(), "k", []byte("one")))
	want(t, b, "k", []byte("one"))
	must(t, b.Put(t.Context(), "k", []byte("t\x00wo\xff\n")))
	want(t, a, "k", []byte("t\x00wo\xff\n"))
	must(t, b.Put(t.Context(), "k", []byte{}))
	want(t, a, "k", []byte{})
	must(t, a.Delete(t.Context(), "k"))
	want(t, b, "k", nil)
}

func keys(t *testing.T, a, b oauth.Store) {
	all := []string{"K", "k", "k/", "../k", "k k", "ключ", strings.Repeat("k", 3000), strings.Repeat("k", 3001)}
	for _, key := range all {
		must(t, a.Put(t.Context(), key, []byte(key)))
	}
	for _, key := range all {
		want(t, b, key, []byte(key))
	}
}

func copies(t *testing.T, a, _ oauth.Store) {
	value := []byte("value")
	must(t, a.Put(t.Context(), "k", value))
	value[0] = 'X'
	got, err := a.Get(t.Context(), "k")
	must(t, err)
	got[0] = 'Y'
	want(t, a, "k", []byte("value"))
}

func ended(t *testing.T, a, b oauth.Store) {
	must(t, a.Put(t.Context(), "k", []byte("value")))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Get(ctx, "k")
	_, lockErr := a.Lock(ctx, "k")
	for _, err := range []error{err, a.Put(ctx, "k", []byte("other")), a.Delete(ctx, "k"), lockErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want that of the context", err)
		}
	}
	want(t, b, "k", []byte("value"))
}

func lock(t *testing.T, a, b oauth.Store) {
	var inside, most atomic.Int32
	var all sync.WaitGroup
	for i := range 8 {
		s := []oauth.Store{a, b}[i%2]
		all.Go(func() {
			for range 5 {
				unlock, err := s.Lock(t.Context(), "k")
				if err != nil {
					t.Error(err)
					return
				}
				if n := inside.Add(1); n > most.Load() {
					most.Store(n)
				}
				_, err = s.Get(t.Context(), "k") // asks for no lock
				if err != nil {
					t.Error(err)
				}
				inside.Add(-1)
				unlock()
				unlock() // does nothing more
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d held one lock at once", most.Load())
	}
}

func apart(t *testing.T, a, b oauth.Store) {
	first, err := a.Lock(t.Context(), "k")
	must(t, err)
	defer first()
	second, err := b.Lock(t.Context(), "other")
	must(t, err)
	second()
}

func givenUp(t *testing.T, a, b oauth.Store) {
	unlock, err := a.Lock(t.Context(), "k")
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := b.Lock(ctx, "k")
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	unlock()
	again, err := b.Lock(t.Context(), "k")
	must(t, err)
	again()
}
