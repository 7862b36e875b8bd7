// Package cachetest holds a store of answers to what package client promises of it.
package cachetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/client"
)

// Store runs the tests. open answers two views of one new and empty store, such as two processes have; they may be the
// same. The store must have room for a hundred small answers.
func Store(t *testing.T, open func(t *testing.T) (a, b client.CacheStore)) {
	for name, test := range map[string]func(t *testing.T, a, b client.CacheStore){
		"answers": answers, "keys": keys, "drop": drop, "time": expiry, "context": ended, "concurrent": concurrent,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := open(t)
			test(t, a, b)
		})
	}
}

func entry(result string) client.CacheEntry {
	now := time.Now()
	return client.CacheEntry{Result: json.RawMessage(result), Scope: "public", Fresh: now.Add(time.Hour), Keep: now.Add(2 * time.Hour)}
}

func put(t *testing.T, s client.CacheStore, key client.CacheKey, e client.CacheEntry) {
	t.Helper()
	if err := s.Put(t.Context(), key, e); err != nil {
		t.Fatal(err)
	}
}

// want fails when a key does not hold a result; "" stands for none.
func want(t *testing.T, s client.CacheStore, key client.CacheKey, result string) {
	t.Helper()
	got, ok, err := s.Get(t.Context(), key)
	if err != nil || ok != (result != "") || string(got.Result) != result {
		t.Errorf("under %+v is %q, %t, %v; want %q", key, got.Result, ok, err, result)
	}
}

func answers(t *testing.T, a, b client.CacheStore) {
	key := client.CacheKey{Server: "s", Method: "tools/list", Variant: "v"}
	want(t, a, key, "")
	const odd = `{"a":1.0,"b":"\u00e9\/","a2":[1,  2]}`
	e := entry(odd)
	put(t, a, key, e)
	want(t, b, key, odd)
	got, _, err := b.Get(t.Context(), key)
	if err != nil || got.Scope != e.Scope || !got.Fresh.Equal(e.Fresh) || !got.Keep.Equal(e.Keep) {
		t.Errorf("got %+v, %v; want %+v", got, err, e)
	}
	put(t, b, key, entry(`{"n":2}`))
	want(t, a, key, `{"n":2}`)
}

func keys(t *testing.T, a, b client.CacheStore) {
	long := strings.Repeat("x", 5000)
	all := []client.CacheKey{
		{Server: "s", Method: "m", Variant: "v"}, {Server: "S", Method: "m", Variant: "v"}, {Server: "s", Method: "m", Variant: "V"},
		{Server: "s", Method: "m", URI: "v", Variant: "v"}, {Server: "s", Method: "m", URI: "v:v", Variant: "v"}, {Server: "s:m", Method: "m", Variant: "v"},
		{Server: "s", Method: "m:v", Variant: "v"}, {Server: "s", Method: "m", URI: "*", Variant: "v"}, {Server: "s", Method: "m", URI: "é\n{}", Variant: "v"},
		{Server: "s", Method: "m", URI: long, Variant: "v"}, {Server: "s", Method: "m", URI: long + "y", Variant: "v"},
	}
	for i, key := range all {
		put(t, a, key, entry(fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i, key := range all {
		want(t, b, key, fmt.Sprintf(`{"n":%d}`, i))
	}
}

func drop(t *testing.T, a, b client.CacheStore) {
	const one = `{"n":1}`
	all := []client.CacheKey{
		{Server: "s", Method: "resources/read", URI: "a", Variant: "1"}, {Server: "s", Method: "resources/read", URI: "a", Variant: "2"},
		{Server: "s", Method: "resources/read", URI: "a/b", Variant: "1"}, {Server: "s", Method: "tools/list", Variant: "1"},
		{Server: "other", Method: "tools/list", Variant: "1"},
	}
	for _, tc := range []struct {
		drop client.CacheKey
		gone string // of all, by index
	}{
		{all[0], "0"},
		{client.CacheKey{Server: "s", Method: "resources/read", URI: "a"}, "01"},
		{client.CacheKey{Server: "s", Method: "resources/read"}, "012"},
		{client.CacheKey{Server: "s", Method: "tools/list"}, "3"},
		{client.CacheKey{Server: "s"}, "0123"},
		{client.CacheKey{Server: "nobody"}, ""},
		{client.CacheKey{Server: "s", Method: "tools/list", Variant: "no"}, ""},
	} {
		for _, key := range all {
			put(t, a, key, entry(one))
		}
		if err := b.Drop(t.Context(), tc.drop); err != nil {
			t.Fatal(err)
		}
		for i, key := range all {
			left := one
			if strings.Contains(tc.gone, fmt.Sprint(i)) {
				left = ""
			}
			want(t, a, key, left)
		}
	}
}

// expiry does not ask a store to forget in time, but never to forget early.
func expiry(t *testing.T, a, b client.CacheStore) {
	key := client.CacheKey{Server: "s", Method: "m", Variant: "v"}
	e := entry(`{"n":1}`)
	e.Fresh = time.Now().Add(-time.Minute)
	put(t, a, key, e)
	want(t, b, key, `{"n":1}`)
	e.Keep = time.Now().Add(-time.Second)
	put(t, a, key, e)
	if got, ok, err := b.Get(t.Context(), key); err != nil || ok && !got.Keep.Equal(e.Keep) {
		t.Errorf("got %+v, %t, %v", got, ok, err)
	}
}

func ended(t *testing.T, a, _ client.CacheStore) {
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	key := client.CacheKey{Server: "s", Method: "m", Variant: "v"}
	if _, _, err := a.Get(ctx, key); !errors.Is(err, why) {
		t.Errorf("Get: %v", err)
	}
	if err := a.Put(ctx, key, entry("{}")); !errors.Is(err, why) {
		t.Errorf("Put: %v", err)
	}
	if err := a.Drop(ctx, key); !errors.Is(err, why) {
		t.Errorf("Drop: %v", err)
	}
	want(t, a, key, "")
}

func concurrent(t *testing.T, a, b client.CacheStore) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s := []client.CacheStore{a, b}[i%2]
			for n := range 20 {
				key := client.CacheKey{Server: "s", Method: "m", Variant: fmt.Sprint(n % 5)}
				if err := s.Put(t.Context(), key, entry(`{"n":1}`)); err != nil {
					t.Error(err)
				}
				if got, ok, err := s.Get(t.Context(), key); err != nil || ok && string(got.Result) != `{"n":1}` {
					t.Errorf("got %q, %v", got.Result, err)
				}
				if err := s.Drop(t.Context(), client.CacheKey{Server: "s"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
