package client_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/client/cachetest"
)

func TestMemoryCache(t *testing.T) {
	cachetest.Store(t, func(*testing.T) (a, b client.CacheStore) {
		m := client.NewMemoryCache(0, 0)
		return m, m
	})
}

// What was used longest ago goes first, and nothing is kept that would push out all the rest.
func TestMemoryCacheBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keep := func(m *client.MemoryCache, name string, size int) {
			t.Helper()
			err := m.Put(t.Context(), client.CacheKey{Method: name, Variant: "v"}, client.CacheEntry{
				Result: json.RawMessage(strings.Repeat(" ", size)), Keep: time.Now().Add(time.Minute),
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		there := func(m *client.MemoryCache) (names string) {
			for i := range 9 {
				if _, ok, err := m.Get(t.Context(), client.CacheKey{Method: fmt.Sprint(i), Variant: "v"}); err != nil {
					t.Fatal(err)
				} else if ok {
					names += fmt.Sprint(i)
				}
			}
			return names
		}
		byNumber := client.NewMemoryCache(3, -1)
		for i := range 3 {
			keep(byNumber, fmt.Sprint(i), 10)
		}
		if _, ok, _ := byNumber.Get(t.Context(), client.CacheKey{Method: "0", Variant: "v"}); !ok {
			t.Error("the first is gone already")
		}
		keep(byNumber, "3", 10)
		if got := there(byNumber); got != "023" || byNumber.Len() != 3 {
			t.Errorf("by number: %q, %d", got, byNumber.Len())
		}
		bySize := client.NewMemoryCache(-1, 10000)
		for i := range 5 {
			keep(bySize, fmt.Sprint(i), 2000)
		}
		keep(bySize, "6", 4900) // more than half, with what a place takes
		if got := there(bySize); got != "1234" {
			t.Errorf("by size: %q", got)
		}
		time.Sleep(time.Minute)
		if got := there(bySize); got != "" || bySize.Len() != 0 {
			t.Errorf("after their time: %q, %d", got, bySize.Len())
		}
	})
}
