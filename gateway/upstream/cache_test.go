package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/manager"
	"github.com/rialto-mcp/rialto/mcp"
)

// shelf is a server of resources that counts its reads. Each answer is another one.
type shelf struct {
	*fake
	mu    sync.Mutex
	reads int
	hint  mcp.CacheHint
	hold  chan struct{} // nil does not
}

func newShelf(hint mcp.CacheHint) *shelf {
	s := &shelf{fake: newFake(tools()), hint: hint}
	s.fake.call = func(Call) (*Answer, error) {
		s.mu.Lock()
		s.reads++
		n, hint, hold := s.reads, s.hint, s.hold
		s.mu.Unlock()
		if hold != nil {
			<-hold
		}
		return &Answer{Result: json.RawMessage(fmt.Sprintf(`{"contents":[{"n":%d}]}`, n)), Cache: hint}, nil
	}
	return s
}

func (s *shelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

// reader calls for somebody.
func reader(who, uri string) Call {
	c := &Caller{Capabilities: json.RawMessage(`{}`)}
	if who != "" {
		c.Principal = &mcp.Principal{Subject: who}
	}
	return Call{Method: mcp.MethodReadResource, Params: json.RawMessage(`{"uri":"` + uri + `"}`), Caller: c}
}

func mustCall(t *testing.T, set *Set, call Call) *Answer {
	t.Helper()
	answer, err := set.Call(t.Context(), "a", call)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func forAll(ttl time.Duration) mcp.CacheHint { return mcp.CacheFor(ttl, mcp.CachePublic) }
func forOne(ttl time.Duration) mcp.CacheHint { return mcp.CacheFor(ttl, mcp.CachePrivate) }
func sharedByAll(string) Sharing             { return Sharing{Share: ShareAll} }
func shelved(conns ...*shelf) *script {
	s := &script{}
	for _, c := range conns {
		s.conns = append(s.conns, c.fake)
	}
	return s
}

// TestKeepsReads holds how long an answer is kept, for whom, and what the client that gets a kept one is told: what is left of
// its time.
func TestKeepsReads(t *testing.T) {
	type ask struct {
		after time.Duration
		who   string
		want  int           // the number of the answer
		left  time.Duration // that it may be kept
	}
	for _, tc := range []struct {
		name   string
		hint   mcp.CacheHint
		tuning CacheTuning
		asks   []ask
	}{
		{"public is for all", forAll(time.Minute), CacheTuning{}, []ask{
			{0, "ann", 1, time.Minute}, {20 * time.Second, "bob", 1, 40 * time.Second}, {0, "", 1, 40 * time.Second}, {40 * time.Second, "bob", 2, time.Minute},
		}},
		{"private is for one", forOne(time.Minute), CacheTuning{}, []ask{
			{0, "ann", 1, time.Minute}, {0, "bob", 2, time.Minute}, {30 * time.Second, "ann", 1, 30 * time.Second}, {0, "bob", 2, 30 * time.Second},
		}},
		{"private is for nobody where nobody is known", forOne(time.Minute), CacheTuning{}, []ask{{0, "", 1, time.Minute}, {0, "", 2, time.Minute}}},
		{"no scope is private", mcp.CacheFor(time.Minute, ""), CacheTuning{}, []ask{{0, "ann", 1, time.Minute}, {0, "ann", 1, time.Minute}, {0, "bob", 2, time.Minute}}},
		{"stale at once", forAll(0), CacheTuning{}, []ask{{0, "ann", 1, 0}, {0, "ann", 2, 0}}},
		{"nothing said, as in the legacy era", mcp.CacheHint{}, CacheTuning{Lists: time.Hour}, []ask{{0, "ann", 1, 0}, {0, "ann", 2, 0}}},
		{"longer than is wanted", forAll(time.Hour), CacheTuning{MaxTTL: time.Minute}, []ask{{0, "ann", 1, time.Hour}, {59 * time.Second, "ann", 1, time.Second}, {time.Second, "ann", 2, time.Hour}}},
		{"off", forAll(time.Minute), CacheTuning{Off: true}, []ask{{0, "ann", 1, time.Minute}, {0, "ann", 2, time.Minute}}},
		{"too large", forAll(time.Minute), CacheTuning{Max: 100}, []ask{{0, "ann", 1, time.Minute}, {0, "ann", 2, time.Minute}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShelf(tc.hint)
				set, _ := begin(t, shelved(s), Options{Tunings: map[string]Tuning{"a": {Cache: tc.tuning}}, Sharing: sharedByAll})
				for i, ask := range tc.asks {
					time.Sleep(ask.after)
					answer := mustCall(t, set, reader(ask.who, "x:1"))
					if want := fmt.Sprintf(`{"contents":[{"n":%d}]}`, ask.want); string(answer.Result) != want || answer.Cache.TTL() != ask.left {
						t.Errorf("ask %d: %s for %s, want %s for %s", i, answer.Result, answer.Cache.TTL(), want, ask.left)
					}
				}
			})
		})
	}
}

// TestWhatIsAskedTellsAnswersApart holds that only equal questions share an answer.
func TestWhatIsAskedTellsAnswersApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(forAll(time.Minute))
		set, _ := begin(t, shelved(s), Options{Sharing: sharedByAll})
		call := func(edit func(*Call)) int {
			c := reader("ann", "x:1")
			edit(&c)
			mustCall(t, set, c)
			return s.count()
		}
		params := func(text string) func(*Call) { return func(c *Call) { c.Params = json.RawMessage(text) } }
		for _, tc := range []struct {
			name string
			edit func(*Call)
			want int // reads so far
		}{
			{"the first", func(*Call) {}, 1},
			{"the same", func(*Call) {}, 1},
			{"other wishes along the way", params(`{"uri":"x:1","_meta":{"progressToken":1,"traceparent":"x"}}`), 2},
			{"and others", params(`{"uri":"x:1","_meta":{"progressToken":2,"baggage":"y"}}`), 2},
			{"another resource", params(`{"uri":"x:2"}`), 3},
			{"another _meta", params(`{"uri":"x:1","_meta":{"own":1}}`), 4},
			{"a client that can do something else", func(c *Call) { c.Caller.Capabilities = json.RawMessage(`{"roots":{}}`) }, 5},
			{"an answer to a question", func(c *Call) { c.InputResponses = json.RawMessage(`{}`) }, 6},
			{"a call of something else", func(c *Call) { c.Method = mcp.MethodGetPrompt }, 7},
			{"the first again", func(*Call) {}, 7},
		} {
			if got := call(tc.edit); got != tc.want {
				t.Errorf("%s: %d reads, want %d", tc.name, got, tc.want)
			}
		}
	})
}

// TestNewsDropWhatIsKept holds what makes the gateway ask again before the time.
func TestNewsDropWhatIsKept(t *testing.T) {
	for _, tc := range []struct {
		name string
		news func(t *testing.T, set *Set, s *shelf)
		gone []string
	}{
		{"nothing", func(*testing.T, *Set, *shelf) {}, nil},
		{"an update", func(_ *testing.T, _ *Set, s *shelf) { s.updated("x:/a") }, []string{"x:/a", "x:/a/b"}},
		{"an update of a part", func(_ *testing.T, _ *Set, s *shelf) { s.updated("x:/a/b/c") }, []string{"x:/a", "x:/a/b"}},
		{"other resources", func(_ *testing.T, _ *Set, s *shelf) { s.changed(Resources) }, []string{"x:/a", "x:/a/b", "x:/z"}},
		{"other tools", func(_ *testing.T, _ *Set, s *shelf) { s.changed(Tools) }, nil},
		{"a new connection", func(_ *testing.T, _ *Set, s *shelf) { s.die("gone"); time.Sleep(time.Minute) }, []string{"x:/a", "x:/a/b", "x:/z"}},
		{"another entry", func(t *testing.T, set *Set, _ *shelf) {
			if _, err := set.Reload([]manager.Server{{Name: "a", Command: "other"}}); err != nil {
				t.Error(err)
			}
		}, []string{"x:/a", "x:/a/b", "x:/z"}},
		{"the same entry", func(t *testing.T, set *Set, _ *shelf) {
			if _, err := set.Reload([]manager.Server{{Name: "a"}}); err != nil {
				t.Error(err)
			}
		}, nil},
		{"another tuning", func(_ *testing.T, set *Set, _ *shelf) {
			set.Tune(map[string]Tuning{"a": {Cache: CacheTuning{Max: 1e6}}})
		}, []string{"x:/a", "x:/a/b", "x:/z"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, second := newShelf(forAll(time.Hour)), newShelf(forAll(time.Hour))
				set, _ := begin(t, shelved(first, second), Options{Sharing: sharedByAll})
				set.Watch("a", []string{"x:/a"})
				synctest.Wait()
				all := []string{"x:/a", "x:/a/b", "x:/z"}
				for _, uri := range all {
					mustCall(t, set, reader("ann", uri))
				}
				tc.news(t, set, first)
				synctest.Wait()
				var gone []string
				for _, uri := range all {
					if !mustCall(t, set, reader("ann", uri)).Kept {
						gone = append(gone, uri)
					}
				}
				if fmt.Sprint(gone) != fmt.Sprint(tc.gone) {
					t.Errorf("asked again for %v, want %v", gone, tc.gone)
				}
			})
		})
	}
}

// TestNewsSpoilReadsUnderWay holds that an answer that news have overtaken is handed over and not kept.
func TestNewsSpoilReadsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(forAll(time.Hour))
		set, _ := begin(t, shelved(s), Options{Sharing: sharedByAll})
		set.Watch("a", []string{"x:1"})
		s.hold = make(chan struct{})
		answer := make(chan *Answer)
		go func() { answer <- mustCall(t, set, reader("ann", "x:1")) }()
		synctest.Wait()
		s.updated("x:1")
		close(s.hold)
		if a := <-answer; !strings.Contains(string(a.Result), `"n":1`) {
			t.Errorf("%s", a.Result)
		}
		if a := mustCall(t, set, reader("ann", "x:1")); a.Kept || s.count() != 2 {
			t.Errorf("%s was kept", a.Result)
		}
	})
}

// TestEqualReadsAreOne holds that callers who ask the same at the same time are one read where answers are kept, each gets what
// is for it, and one that gives up takes nothing from the others.
func TestEqualReadsAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf(forOne(time.Hour))
		set, _ := begin(t, shelved(s), Options{Sharing: sharedByAll})
		mustCall(t, set, reader("ann", "x:0")) // the server has answers that may be kept
		hold := make(chan struct{})
		s.mu.Lock()
		s.hold = hold
		s.mu.Unlock()
		var group sync.WaitGroup
		for _, who := range []string{"ann", "bob"} {
			for range 10 {
				group.Go(func() { mustCall(t, set, reader(who, "x:1")) })
			}
		}
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		group.Go(func() {
			if _, err := set.Call(ctx, "a", reader("ann", "x:1")); err == nil {
				t.Error("a call that was given up has succeeded")
			}
		})
		synctest.Wait()
		cancel()
		synctest.Wait()
		close(hold)
		group.Wait()
		if n := s.count(); n != 3 {
			t.Errorf("%d reads, want one for each of the two, and that before", n)
		}
	})
}
