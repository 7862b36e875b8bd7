package statetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/state"
)

func (s logSuite) follow(t *testing.T) {
	a, b := s.open(t, state.LogLimits{})
	early := s.follows(s.within(t), t, b, "alpha", "") // before there is anything
	go func() {
		s.Pass(s.Tick)
		for _, one := range []struct{ stream, data string }{{"beta", "b1"}, {"alpha", "a1"}} {
			if _, err := a.Append(t.Context(), "s1", one.stream, []byte(one.data)); err != nil {
				t.Errorf("append: %v", err)
			}
		}
	}()
	early.reads("a1")
	put(t, b, "s1", "alpha", "a2")
	put(t, a, "s1", "alpha", "a3")
	early.reads("a2", "a3")
	s.follows(s.within(t), t, a, "alpha", "").reads("a1", "a2", "a3")
	s.follows(s.within(t), t, a, "beta", "").reads("b1")
}

// A stream is cut on one replica and goes on from another: what was stored meanwhile, then what comes.
func (s logSuite) followOn(t *testing.T) {
	a, b := s.open(t, state.LogLimits{})
	last := put(t, a, "s1", "alpha", "a1")
	put(t, a, "s1", "alpha", "a2")
	put(t, a, "s1", "beta", "b1")
	stream, later, err := b.Replay(t.Context(), "s1", last)
	must(t, err)
	put(t, a, "s1", "alpha", "a3") // between the two
	var got []string
	for e, err := range later {
		must(t, err)
		got, last = append(got, string(e.Data)), e.ID
	}
	live := s.follows(s.within(t), t, b, stream, last)
	for len(got) < 2 { // whether a3 still comes with the replay is not promised
		e, err, _ := live.next()
		must(t, err)
		got = append(got, string(e.Data))
	}
	put(t, a, "s1", "alpha", "a4")
	live.reads("a4")
	if all := strings.Join(got, " "); all != "a2 a3" {
		t.Errorf("between the cut and the end: %q", all)
	}
}

func (s logSuite) followRefusals(t *testing.T) {
	a, b := s.open(t, state.LogLimits{MaxEvents: 3})
	gone := put(t, a, "s1", "alpha", "a1")
	id := put(t, a, "s1", "alpha", "a2")
	put(t, a, "s1", "alpha", "a3")
	put(t, a, "s1", "alpha", "a4")
	for _, one := range []struct {
		name, session, stream, after string
		want                         error
	}{
		{"an id of another stream", "s1", "beta", id, state.ErrNotFound},
		{"an unknown id", "s1", "alpha", "unknown-1", state.ErrNotFound},
		{"an unknown session", "s2", "alpha", id, state.ErrNotFound},
		{"an id that has been dropped", "s1", "alpha", gone, state.ErrGone},
	} {
		_, err := b.Follow(t.Context(), one.session, one.stream, one.after)
		want(t, one.name, err, one.want)
	}
	s.follows(s.within(t), t, b, "alpha", "").reads("a2", "a3", "a4") // what is kept
}

func (s logSuite) followEnds(t *testing.T) {
	a, b := s.open(t, state.LogLimits{Idle: 10 * s.Tick})
	id := put(t, a, "s1", "alpha", "a1")
	why := errors.New("the client has gone")
	ctx, cancel := context.WithCancelCause(s.within(t))
	cut := s.follows(ctx, t, b, "alpha", "")
	cut.reads("a1")
	go func() { s.Pass(s.Tick); cancel(why) }()
	cut.ends(why)

	held := s.follows(s.within(t), t, b, "alpha", "")
	held.reads("a1")
	go func() {
		s.Pass(15 * s.Tick) // a log that is followed is not idle
		if _, err := a.Append(t.Context(), "s1", "alpha", []byte("a2")); err != nil {
			t.Errorf("append: %v", err)
		}
		s.Pass(s.Tick)
		if err := a.Drop(t.Context(), "s1"); err != nil {
			t.Errorf("drop: %v", err)
		}
	}()
	held.reads("a2")
	held.ends(state.ErrNotFound)
	_, err := b.Follow(t.Context(), "s1", "alpha", id)
	want(t, "follow what was dropped", err, state.ErrNotFound)
}

func (s logSuite) followSlow(t *testing.T) {
	a, b := s.open(t, state.LogLimits{MaxEvents: 4})
	slow := s.follows(s.within(t), t, b, "alpha", put(t, a, "s1", "alpha", "start"))
	put(t, a, "s1", "alpha", "seen")
	slow.reads("seen")
	for i := range 9 {
		put(t, a, "s1", "alpha", fmt.Sprint("missed ", i))
	}
	for { // it may have read ahead, but not so far
		e, err, ok := slow.next()
		if err != nil {
			want(t, "the end of one that is too slow", err, state.ErrGone)
			return
		}
		if !ok || string(e.Data) == "missed 8" {
			t.Fatal("the reader was never told of events that it missed")
		}
	}
}

// followMany has a writer for each stream, and readers that come and go: each reads all of its stream once, in order.
func (s logSuite) followMany(t *testing.T) {
	const streams, each = 4, 100
	a, b := s.open(t, state.LogLimits{})
	ctx := s.within(t)
	var running sync.WaitGroup
	for n := range streams {
		stream := fmt.Sprint("stream-", n)
		running.Go(func() {
			for i := range each {
				if _, err := a.Append(ctx, "s1", stream, fmt.Append(nil, i)); err != nil {
					t.Errorf("append: %v", err)
					return
				}
			}
		})
		for range 2 {
			running.Go(func() {
				if err := readInPieces(ctx, b, stream, each); err != nil {
					t.Errorf("%s: %v", stream, err)
				}
			})
		}
	}
	running.Wait()
}

// readInPieces follows a stream whose events are the numbers up to most, and is cut after each seventh.
func readInPieces(ctx context.Context, log state.EventLog, stream string, most int) error {
	last := ""
	for n := 0; n < most; {
		events, err := log.Follow(ctx, "s1", stream, last)
		if err != nil {
			return err
		}
		for e, err := range events {
			if err != nil {
				return err
			}
			if string(e.Data) != fmt.Sprint(n) {
				return fmt.Errorf("got event %s, want %d", e.Data, n)
			}
			last = e.ID
			if n++; n == most || n%7 == 0 {
				break
			}
		}
	}
	return nil
}

// concurrent appends from both replicas: all ids differ, the order is one for all, and each writer's is kept.
func (s logSuite) concurrent(t *testing.T) {
	const writers, each, streams = 8, 50, 3
	a, b := s.open(t, state.LogLimits{})
	starts := map[string]string{}
	for n := range streams {
		stream := fmt.Sprint("stream-", n)
		starts[stream] = put(t, a, "s1", stream, "start")
	}
	ids := make([][]string, writers)
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for i := range each {
				id, err := []state.EventLog{a, b}[w%2].Append(t.Context(), "s1", fmt.Sprint("stream-", i%streams), fmt.Appendf(nil, "%d %d", w, i))
				if err != nil {
					t.Errorf("append: %v", err)
				}
				ids[w] = append(ids[w], id)
			}
		})
	}
	running.Wait()
	seen := map[string]bool{}
	for stream, start := range starts {
		if x, y := replayed(t, a, "s1", start), replayed(t, b, "s1", start); x != y {
			t.Errorf("%s: the replicas see two orders", stream)
		}
		_, later, err := b.Replay(t.Context(), "s1", start)
		must(t, err)
		next := map[int]int{}
		for e, err := range later {
			must(t, err)
			var w, i int
			if _, err := fmt.Sscan(string(e.Data), &w, &i); err != nil {
				t.Fatal(err)
			}
			if i < next[w] || ids[w][i] != e.ID || seen[e.ID] {
				t.Errorf("%s: event %d of writer %d with id %s is out of order, came twice or has another's id", stream, i, w, e.ID)
			}
			next[w], seen[e.ID] = i+1, true
		}
	}
	if len(seen) != writers*each {
		t.Errorf("%d events are there, want %d", len(seen), writers*each)
	}
}

// model compares random interleavings of append, replay and drop with a model of a few lines.
func (s logSuite) model(t *testing.T) {
	const most = 6
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		a, b := s.open(t, state.LogLimits{MaxEvents: most})
		m := model{most: most, sessions: map[string][]modelled{}}
		for range 150 {
			log := []state.EventLog{a, b}[random.IntN(2)]
			session, stream := fmt.Sprint("session-", random.IntN(2)), fmt.Sprint("stream-", random.IntN(3))
			switch random.IntN(20) {
			case 0:
				must(t, log.Drop(t.Context(), session))
				m.drop(session)
			case 1, 2, 3, 4, 5, 6, 7, 8, 9:
				data := fmt.Sprint(random.IntN(1000))
				m.put(session, modelled{id: put(t, log, session, stream, data), stream: stream, data: data})
			default:
				if len(m.given) == 0 {
					continue
				}
				after := m.given[random.IntN(len(m.given))]
				want, wantErr := m.after(session, after)
				if _, _, err := log.Replay(t.Context(), session, after); !errors.Is(err, wantErr) {
					t.Fatalf("seed %d: replay after %s: error %v, want %v", seed, after, err, wantErr)
				}
				if wantErr == nil && replayed(t, log, session, after) != want {
					t.Fatalf("seed %d: replay after %s: %q, want %q", seed, after, replayed(t, log, session, after), want)
				}
			}
		}
	}
}

// model is a log that forgets nothing but what was dropped as a whole.
type model struct {
	most     int
	sessions map[string][]modelled
	given    []string // every id there ever was
}

type modelled struct{ id, stream, data string }

func (m *model) put(session string, e modelled) {
	m.sessions[session] = append(m.sessions[session], e)
	m.given = append(m.given, e.id)
}

func (m *model) drop(session string) { delete(m.sessions, session) }

func (m *model) after(session, id string) (string, error) {
	all := m.sessions[session]
	for i, e := range all {
		if e.id != id {
			continue
		}
		if i < len(all)-m.most {
			return "", state.ErrGone
		}
		out := e.stream + ":"
		for _, later := range all[i+1:] {
			if later.stream == e.stream {
				out += " " + later.data
			}
		}
		return out, nil
	}
	return "", state.ErrNotFound
}
