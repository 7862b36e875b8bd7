package upstream

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// twoPages is a list of two pages, of which each says something else.
func twoPages(cursor string) string {
	if cursor == "start" {
		return `{"tools":[{"name":"x"}],"nextCursor":"2"}`
	}
	return `{"tools":[{"name":"y"}]}`
}

// TestHints holds how long a list may be kept, a while after it was read.
func TestHints(t *testing.T) {
	none := mcp.CacheHint{}
	for _, tc := range []struct {
		name   string
		pages  [2]mcp.CacheHint
		silent bool
		lists  time.Duration
		after  time.Duration
		want   mcp.CacheHint
	}{
		{"nothing is said, as in the legacy era", [2]mcp.CacheHint{none, none}, false, 0, 0, none},
		{"nothing is said, and a setting does", [2]mcp.CacheHint{none, none}, false, time.Minute, time.Hour, forOne(time.Minute)},
		{"and nobody tells of changes", [2]mcp.CacheHint{none, none}, true, time.Minute, 20 * time.Second, forOne(40 * time.Second)},
		{"the least of the pages", [2]mcp.CacheHint{forAll(time.Hour), forAll(time.Minute)}, false, time.Second, 0, forAll(time.Minute)},
		{"private where one page is", [2]mcp.CacheHint{forOne(time.Minute), forAll(time.Minute)}, false, 0, 0, forOne(time.Minute)},
		{"private where one page does not say", [2]mcp.CacheHint{forAll(time.Minute), mcp.CacheFor(time.Minute, "")}, false, 0, 0, forOne(time.Minute)},
		{"one page says nothing", [2]mcp.CacheHint{forAll(time.Minute), none}, false, 0, 0, none},
		{"the whole time, of a server that tells of changes", [2]mcp.CacheHint{forAll(time.Minute), forAll(time.Hour)}, false, 0, time.Hour, forAll(time.Minute)},
		{"what is left, of one that does not", [2]mcp.CacheHint{forAll(time.Minute), forAll(time.Hour)}, true, 0, 50 * time.Second, forAll(10 * time.Second)},
		{"nothing is left", [2]mcp.CacheHint{forAll(time.Minute), forAll(time.Hour)}, true, 0, time.Hour, forAll(0)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(twoPages)
				f.silent = tc.silent
				f.hints = func(cursor string) mcp.CacheHint { return tc.pages[map[string]int{"start": 0, "2": 1}[cursor]] }
				set, _ := begin(t, &script{conns: []*fake{f}}, Options{Tunings: map[string]Tuning{"a": {Cache: CacheTuning{Lists: tc.lists}}}})
				time.Sleep(tc.after)
				got, has := set.Snapshots()[0].Hint(Tools)
				if !has || got.TTL() != tc.want.TTL() || got.Scope != tc.want.Scope || (got.TTLMs == nil) != (tc.want.TTLMs == nil) {
					t.Errorf("%+v for %s, want %+v for %s", got, got.TTL(), tc.want, tc.want.TTL())
				}
				if _, has := set.Snapshots()[0].Hint(Prompts); has {
					t.Error("it has prompts")
				}
			})
		})
	}
}

// TestHintOfALostServer holds that nobody keeps the list of a server whose list may be another one when it comes.
func TestHintOfALostServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake(tools("x"))
		f.hints = func(string) mcp.CacheHint { return forAll(time.Hour) }
		set, _ := begin(t, &script{conns: []*fake{f, nil}}, Options{})
		f.die("gone")
		synctest.Wait()
		if got, has := set.Snapshots()[0].Hint(Tools); !has || !got.IsZero() {
			t.Errorf("%+v", got)
		}
	})
}

// TestFreshen holds that a list of which nobody tells is read again when its time is over and somebody asks, and not more often
// than every ten seconds.
func TestFreshen(t *testing.T) {
	for _, tc := range []struct {
		name    string
		silent  bool
		ttl     time.Duration
		every   time.Duration // somebody asks, for a minute
		reads   int
		current bool
	}{
		{"it tells of changes", false, time.Second, time.Second, 1, false},
		{"it does not", true, 20 * time.Second, time.Second, 4, true},
		{"it does not, and is stale at once", true, 0, time.Second, 7, true},
		{"nobody asks", true, 20 * time.Second, time.Hour, 1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(tools("x"))
				f.silent, f.hints = tc.silent, func(string) mcp.CacheHint { return forAll(tc.ttl) }
				set, _ := begin(t, &script{conns: []*fake{f}}, Options{})
				f.mu.Lock()
				f.pages = tools("y")
				f.mu.Unlock()
				for at := time.Duration(0); at < time.Minute; at += tc.every {
					set.Freshen(Tools, nil)
					time.Sleep(min(tc.every, time.Minute))
				}
				set.Freshen(Tools, nil)
				time.Sleep(time.Second)
				synctest.Wait()
				f.mu.Lock()
				defer f.mu.Unlock()
				if tc.every == time.Hour {
					tc.reads++ // for the last one who asks
					tc.current = true
				}
				if f.listed != tc.reads || slices.Contains(names(set), "y") != tc.current {
					t.Errorf("it was listed %d times, want %d; its tools are %v", f.listed, tc.reads, names(set))
				}
			})
		})
	}
}

// TestFreshenOfOne holds that the lists which a caller has for itself are read again in the same way, when that caller asks.
func TestFreshenOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &inn{sharing: Sharing{Personal: true}}
		set := n.raise(t, PoolLimits{}, entry("a", "x"))
		open := set.opts.DialFor
		set.opts.DialFor = func(ctx context.Context, s manager.Server, o *Owner) (Conn, error) {
			conn, err := open(ctx, s, o)
			f := conn.(*fake)
			f.silent, f.hints = true, func(string) mcp.CacheHint { return forOne(time.Minute) }
			return conn, err
		}
		ask(t, set, "a", "ada")
		ask(t, set, "a", "bob")
		for _, who := range []string{"ada", "bob"} {
			f := n.rooms[who][0]
			f.mu.Lock()
			f.pages = tools("y")
			f.mu.Unlock()
		}
		time.Sleep(2 * time.Minute)
		set.Freshen(Tools, calling("ada"))
		time.Sleep(time.Second)
		synctest.Wait()
		if got := seen(set, "ada") + ", " + seen(set, "bob"); got != "a[y] (own), a[x]" {
			t.Errorf("they see %s", got)
		}
	})
}
