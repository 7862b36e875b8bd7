package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/client"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/mcp"
)

// Whoever waits for the request of another is not harmed by its end, and has its own limits.
func TestCacheOneRequestFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, p := play(modern(script{"resources/read": func(p *peer, m *jsonrpc.Message) {
			if p.asked("resources/read") > 1 {
				result(`{"contents":[],"ttlMs":1000,"cacheScope":"private"}`)(p, m)
			}
		}}))
		defer p.conn.Close()
		c := connect(t, conn, client.Options{})
		first, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := c.ReadResource(first, "a"); !errors.Is(err, context.Canceled) {
				t.Errorf("the first: %v", err)
			}
		})
		synctest.Wait()
		wg.Go(func() {
			if _, err := c.ReadResource(t.Context(), "a", client.CallOptions{Timeout: time.Second}); !errors.Is(err, mcp.CodeRequestTimeout) {
				t.Errorf("the impatient: %v", err)
			}
		})
		wg.Go(func() {
			if _, err := c.ReadResource(t.Context(), "a"); err != nil {
				t.Errorf("the patient: %v", err)
			}
		})
		time.Sleep(2 * time.Second)
		cancel()
		wg.Wait()
		if got := p.asked("resources/read"); got != 2 {
			t.Errorf("asked %d times", got)
		}
	})
}

// brokenStore fails, or answers with what was never put there.
type brokenStore struct {
	result string // "" fails
}

func (s brokenStore) Get(context.Context, client.CacheKey) (client.CacheEntry, bool, error) {
	if s.result == "" {
		return client.CacheEntry{}, false, errors.New("the disk is on fire")
	}
	later := time.Now().Add(time.Hour)
	return client.CacheEntry{Result: json.RawMessage(s.result), Fresh: later, Keep: later}, true, nil
}

func (s brokenStore) Put(context.Context, client.CacheKey, client.CacheEntry) error {
	return errors.New("the disk is on fire")
}

func (s brokenStore) Drop(context.Context, client.CacheKey) error {
	return errors.New("the disk is on fire")
}

// A store that fails costs a request and a report, never a call.
func TestCacheBrokenStore(t *testing.T) {
	for name, store := range map[string]brokenStore{"fails": {}, "no JSON": {"{"}, "no object": {"[]"}, "another shape": {`{"contents":7,"tools":{},"prompts":1,"resources":1,"resourceTemplates":1}`}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(modern(hinted(`,"ttlMs":1000`)))
				defer p.conn.Close()
				var mu sync.Mutex
				var faults []string
				c := connect(t, conn, client.Options{Cache: client.CacheOptions{Store: store}, OnError: func(err error) {
					mu.Lock()
					defer mu.Unlock()
					faults = append(faults, err.Error())
				}})
				for _, k := range keepable {
					must(t, k.call(t.Context(), c, client.CallOptions{}))
					if got := p.asked(k.method); got != 1 {
						t.Errorf("%s: asked %d times", k.method, got)
					}
				}
				synctest.Wait()
				mu.Lock()
				defer mu.Unlock()
				if !strings.Contains(strings.Join(faults, "\n"), "keep an answer to tools/list: the disk is on fire") {
					t.Errorf("reported is %q", faults)
				}
				if err := c.ClearCache(t.Context()); err == nil {
					t.Error("ClearCache says nothing of the fire")
				}
			})
		})
	}
}

// When the server is not well, an answer that was good a while ago may do; one that the server has refused to give may not.
func TestCacheStaleOnError(t *testing.T) {
	cases := []struct {
		name  string
		react func(*peer, *jsonrpc.Message)
		used  bool
	}{
		{"silent", func(*peer, *jsonrpc.Message) {}, true},
		{"internal error", fails(-32603, "oh", ""), true},
		{"garbage", result(`{"contents":7}`), false},
		{"refused", fails(-32602, "no such resource", `{"uri":"a:b"}`), false},
		{"gone", func(p *peer, _ *jsonrpc.Message) { p.conn.Close() }, true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, p := play(modern(script{"resources/read": func(p *peer, m *jsonrpc.Message) {
					if p.asked("resources/read") > 1 {
						tc.react(p, m)
						return
					}
					result(`{"contents":[{"uri":"a:b","text":"old"}],"ttlMs":1000,"cacheScope":"private"}`)(p, m)
				}}))
				defer p.conn.Close()
				reports := make(chan error, 10)
				c, err := client.Connect(t.Context(), conn, client.Options{
					Cache: client.CacheOptions{StaleOnError: time.Hour}, OnError: func(err error) { reports <- err },
				})
				must(t, err)
				defer c.Close()
				read := func() (*mcp.ReadResourceResult, error) { return c.ReadResource(t.Context(), "a:b") }
				_, err = read()
				must(t, err)
				time.Sleep(time.Minute)
				r, err := read()
				if used := err == nil; used != tc.used {
					t.Fatalf("got %v, %v", r, err)
				}
				if !tc.used {
					return
				}
				if r.Contents[0].Text != "old" || r.Cache.TTL() != 0 {
					t.Errorf("got %+v", r)
				}
				if err := <-reports; !strings.Contains(err.Error(), "an old answer to resources/read is used") {
					t.Errorf("reported is %v", err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := c.ReadResource(ctx, "a:b"); !errors.Is(err, context.Canceled) && !errors.Is(err, mcp.CodeNotConnected) && tc.name != "gone" {
					t.Errorf("with a context that has ended: %v", err)
				}
				time.Sleep(time.Hour)
				if r, err := read(); err == nil {
					t.Errorf("after its time: %+v", r)
				}
			})
		})
	}
}
