package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
	"github.com/rialto-mcp/rialto/tasks"
)

// Run checks a store. open returns a new, empty one for each part; it is closed by its own clean-up.
func Run(t *testing.T, open func(t *testing.T) tasks.Store) {
	t.Helper()
	for name, part := range map[string]func(*testing.T, tasks.Store){
		"keeps what it is given": keeps, "changes in one step": changes, "bounds owners": bounds,
		"lists by owner in order": lists, "forgets in time": forgets, "heeds the context": heeds,
		"takes any time": times,
	} {
		t.Run(name, func(t *testing.T) { part(t, open(t)) })
	}
}

func record(id, owner string, ttl time.Duration) tasks.Record {
	now := time.Now()
	return tasks.Record{ID: id, Owner: owner, Host: "h", Status: mcp.TaskWorking, Created: now, Updated: now, TTL: ttl, Poll: time.Second}
}

func create(t *testing.T, s tasks.Store, all ...tasks.Record) {
	t.Helper()
	for _, r := range all {
		if err := s.Create(t.Context(), r, 0); err != nil {
			t.Fatalf("create %s: %v", r.ID, err)
		}
	}
}

func keeps(t *testing.T, s tasks.Store) {
	r := record("a", "o", time.Hour)
	create(t, s, r)
	r.Status, r.Message = mcp.TaskCompleted, "all done"
	r.Outcome = server.TaskOutcome{Result: []byte(`{"content":[],"n":9007199254740993,"s":"\u0041"}`), IsError: true, WrapOutput: true}
	r.Questions = []byte(`{"q":{"method":"roots/list"}}`)
	if _, err := s.Update(t.Context(), "a", func(kept *tasks.Record) error { *kept = r; return nil }); err != nil {
		t.Fatal(err)
	}
	got, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if !got.Created.Equal(r.Created) || !got.Updated.Equal(r.Updated) {
		t.Errorf("times: got %s and %s, want %s and %s", got.Created, got.Updated, r.Created, r.Updated)
	}
	got.Created, got.Updated, r.Created, r.Updated = time.Time{}, time.Time{}, time.Time{}, time.Time{}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", r) {
		t.Errorf("got  %+v\nwant %+v", got, r)
	}
	if err := s.Create(t.Context(), record("a", "p", time.Hour), 0); !errors.Is(err, tasks.ErrTaken) {
		t.Errorf("an id twice: %v", err)
	}
	if _, err := s.Get(t.Context(), "b"); !errors.Is(err, tasks.ErrNotFound) {
		t.Errorf("get of nothing: %v", err)
	}
}

func changes(t *testing.T, s tasks.Store) {
	create(t, s, record("a", "o", time.Hour))
	var all sync.WaitGroup
	const writers, times = 4, 5
	for range writers {
		all.Go(func() {
			for range times {
				_, err := s.Update(context.Background(), "a", func(r *tasks.Record) error { r.Poll++; return nil })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	stop := errors.New("stop")
	if _, err := s.Update(t.Context(), "a", func(r *tasks.Record) error { r.Poll = 0; return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of a change: %v", err)
	}
	if r, err := s.Get(t.Context(), "a"); err != nil || r.Poll != time.Second+writers*times {
		t.Errorf("%d changes left %d, %v", writers*times, r.Poll-time.Second, err)
	}
	if _, err := s.Update(t.Context(), "b", func(*tasks.Record) error { return nil }); !errors.Is(err, tasks.ErrNotFound) {
		t.Errorf("update of nothing: %v", err)
	}
}

func bounds(t *testing.T, s tasks.Store) {
	const most = 2
	for i, want := range []error{nil, nil, tasks.ErrTooMany} {
		if err := s.Create(t.Context(), record(fmt.Sprint("a", i), "o", time.Hour), most); !errors.Is(err, want) {
			t.Errorf("task %d: %v, want %v", i, err, want)
		}
	}
	if err := s.Create(t.Context(), record("b", "p", time.Hour), most); err != nil {
		t.Errorf("another owner: %v", err)
	}
	if err := s.Create(t.Context(), record("c", "o", time.Hour), 0); err != nil {
		t.Errorf("without a bound: %v", err)
	}
}

func lists(t *testing.T, s tasks.Store) {
	create(t, s, record("z", "o", time.Hour), record("y", "p", time.Hour), record("x", "o", time.Hour), record("w", "o", time.Hour), record("v", "", time.Hour), record("u", "oo", time.Hour))
	for _, c := range []struct {
		owner, after string
		limit        int
		want         string
	}{
		{"o", "", 10, "[z x w]"}, {"o", "", 2, "[z x]"}, {"o", "x", 2, "[w]"}, {"o", "w", 2, "[]"}, {"p", "", 2, "[y]"}, {"", "", 9, "[v]"}, {"q", "", 2, "[]"},
	} {
		got, err := s.List(t.Context(), c.owner, c.after, c.limit)
		ids := make([]string, len(got))
		for i, r := range got {
			ids[i] = r.ID
		}
		if err != nil || fmt.Sprint(ids) != c.want {
			t.Errorf("list of %q after %q: %v, %v; want %s", c.owner, c.after, ids, err, c.want)
		}
	}
	for _, after := range []string{"y", "none"} {
		if _, err := s.List(t.Context(), "o", after, 2); !errors.Is(err, tasks.ErrNotFound) {
			t.Errorf("after %s: %v", after, err)
		}
	}
}

func forgets(t *testing.T, s tasks.Store) {
	short := record("a", "o", 200*time.Millisecond)
	create(t, s, short, record("b", "o", time.Hour))
	if _, err := s.Get(t.Context(), "a"); err != nil && time.Now().Before(short.Expires()) { // a slow machine may be late itself
		t.Errorf("in time: %v", err)
	}
	time.Sleep(time.Until(short.Expires()) + 10*time.Millisecond) // the store may be another process, with a clock of its own
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, tasks.ErrNotFound) {
		t.Errorf("late: %v", err)
	}
	if got, err := s.List(t.Context(), "o", "", 9); err != nil || len(got) != 1 {
		t.Errorf("list: %v, %v", got, err)
	}
	if err := s.Create(t.Context(), record("c", "o", time.Hour), 2); err != nil {
		t.Errorf("the place of a task that is over: %v", err)
	}
	if err := s.Create(t.Context(), record("a", "o", time.Hour), 0); err != nil {
		t.Errorf("the id of a task that is over: %v", err)
	}
}

func heeds(t *testing.T, s tasks.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Create(ctx, record("a", "o", time.Hour), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("create: %v", err)
	}
	if _, err := s.Get(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("get: %v", err)
	}
}

// times keeps tasks of clocks that were set back, and of lives longer than all clocks.
func times(t *testing.T, s tasks.Store) {
	now := time.Now()
	late, early, long := record("late", "o", time.Hour), record("early", "o", time.Hour), record("long", "o", math.MaxInt64)
	late.Created, early.Created = now.Add(24*time.Hour), now.Add(-2*time.Hour)
	create(t, s, late, early, long)
	if _, err := s.Update(t.Context(), "long", func(r *tasks.Record) error { r.TTL--; return nil }); err != nil {
		t.Errorf("update: %v", err)
	}
	for id, want := range map[string]error{"late": nil, "early": tasks.ErrNotFound, "long": nil} {
		if _, err := s.Get(t.Context(), id); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
	if got, err := s.List(t.Context(), "o", "", 9); err != nil || len(got) != 2 {
		t.Errorf("list: %v, %v", got, err)
	}
}
