package statetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/state"
)

// logSuite is one subtest's view: two replicas of one log.
type logSuite struct {
	World
	open func(t *testing.T, limits state.LogLimits) (a, b state.EventLog)
}

// Log holds a [state.EventLog] to its contract. open returns two views of one new log that has the limits given, of which
// MaxSessions and MaxTotalBytes may be ignored.
func Log(t *testing.T, w World, open func(t *testing.T, limits state.LogLimits) (a, b state.EventLog)) {
	s := logSuite{World: w.withDefaults(), open: open}
	for _, one := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"replay", s.replay},
		{"ids", s.ids},
		{"bytes", s.bytes},
		{"names", s.names},
		{"unknown", s.unknown},
		{"events bound", s.eventsBound},
		{"bytes bound", s.bytesBound},
		{"too large", s.tooLarge},
		{"drop", s.drop},
		{"idle", s.idle},
		{"model", s.model},
		{"concurrent appends", s.concurrent},
		{"follow", s.follow},
		{"follow goes on after replay", s.followOn},
		{"follow refusals", s.followRefusals},
		{"follow ends", s.followEnds},
		{"follow too slowly", s.followSlow},
		{"follow while many append", s.followMany},
		{"context", s.context},
	} {
		t.Run(one.name, func(t *testing.T) { s.Run(t, one.test) })
	}
}

// put appends and returns the id.
func put(t *testing.T, log state.EventLog, session, stream, data string) string {
	t.Helper()
	id, err := log.Append(t.Context(), session, stream, []byte(data))
	if err != nil {
		t.Fatalf("append %.20q: %v", data, err)
	}
	return id
}

// replayed reads a replay to its end, as "stream: data data".
func replayed(t *testing.T, log state.EventLog, session, after string) string {
	t.Helper()
	stream, later, err := log.Replay(t.Context(), session, after)
	if err != nil {
		return err.Error()
	}
	out := []string{stream + ":"}
	for e, err := range later {
		if err != nil {
			return err.Error()
		}
		out = append(out, string(e.Data))
	}
	return strings.Join(out, " ")
}

func (s logSuite) replay(t *testing.T) {
	a, b := s.open(t, state.LogLimits{})
	a1 := put(t, a, "s1", "alpha", "a1")
	b1 := put(t, b, "s1", "beta", "b1")
	a2 := put(t, b, "s1", "alpha", "a2")
	put(t, a, "s2", "alpha", "other session")
	b2 := put(t, a, "s1", "beta", "b2")
	a3 := put(t, a, "s1", "alpha", "a3")
	for after, want := range map[string]string{
		a1: "alpha: a2 a3", a2: "alpha: a3", a3: "alpha:", b1: "beta: b2", b2: "beta:",
	} {
		for name, log := range map[string]state.EventLog{"a": a, "b": b} {
			if got := replayed(t, log, "s1", after); got != want {
				t.Errorf("replica %s, after %s: got %q, want %q", name, after, got, want)
			}
		}
	}
	_, later, err := b.Replay(t.Context(), "s1", a1)
	must(t, err)
	put(t, a, "s1", "alpha", "a4")
	for e, err := range later {
		if err != nil || e.ID != a2 {
			t.Errorf("replayed with id %s (error %v), appended as %s", e.ID, err, a2)
		}
		break // an iterator may be left
	}
}

func (s logSuite) ids(t *testing.T) {
	a, b := s.open(t, state.LogLimits{})
	seen := map[string]bool{}
	for i := range 300 {
		id := put(t, []state.EventLog{a, b}[i%2], "s1", fmt.Sprint("stream-", i%7), "x")
		if seen[id] {
			t.Fatalf("id %s was given twice", id)
		}
		seen[id] = true
		if id == "" || len(id) > 128 || strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' }) {
			t.Errorf("id %q is not 1 to 128 bytes of visible ASCII", id)
		}
	}
	id := put(t, a, "s1", "stream", "before")
	put(t, a, "s1", "stream", "after")
	raw, err := json.Marshal(state.Event{ID: id, Data: []byte("before")})
	must(t, err)
	var e state.Event
	must(t, json.Unmarshal(raw, &e))
	if got := replayed(t, b, "s1", e.ID); got != "stream: after" {
		t.Errorf("with an id that went through JSON: %q", got)
	}
}

func (s logSuite) bytes(t *testing.T) {
	a, b := s.open(t, state.LogLimits{})
	start := put(t, a, "s1", "stream", "")
	given := [][]byte{{}, {0, 255, '\n', '\r'}, []byte(`{"a":"ü","n":1e400}`), bytes.Repeat([]byte("x"), 1<<20)}
	for _, data := range given {
		buf := bytes.Clone(data)
		_, err := a.Append(t.Context(), "s1", "stream", buf)
		must(t, err)
		clear(buf) // the caller's again
	}
	_, later, err := b.Replay(t.Context(), "s1", start)
	must(t, err)
	n := 0
	for e, err := range later {
		must(t, err)
		if !bytes.Equal(e.Data, given[n]) {
			t.Errorf("event %d came back as %.40q", n, e.Data)
		}
		n++
	}
	if n != len(given) {
		t.Errorf("%d events came back, want %d", n, len(given))
	}
}

func (s logSuite) names(t *testing.T) {
	a, _ := s.open(t, state.LogLimits{})
	for _, name := range badNames() {
		_, err := a.Append(t.Context(), name, "stream", nil)
		want(t, fmt.Sprintf("session %.20q", name), err, state.ErrInvalid)
		_, err = a.Append(t.Context(), "s1", name, nil)
		want(t, fmt.Sprintf("stream %.20q", name), err, state.ErrInvalid)
		_, err = a.Follow(t.Context(), "s1", name, "")
		want(t, fmt.Sprintf("follow stream %.20q", name), err, state.ErrInvalid)
		must(t, a.Drop(t.Context(), name))
	}
	long := strings.Repeat("~", 512)
	if got := replayed(t, a, long, put(t, a, long, long, "x")); got != long+":" {
		t.Errorf("with the longest names: %.40q", got)
	}
}

func (s logSuite) unknown(t *testing.T) {
	a, b := s.open(t, state.LogLimits{})
	id := put(t, a, "s1", "stream", "x")
	other := put(t, a, "s2", "stream", "y")
	for _, unknown := range append(badNames(), "unknown-1", other, id+"0", "0"+id, strings.ToUpper(id)+"A", id[1:], id[:len(id)-1], "0", "$", "-1", "18446744073709551616") {
		_, _, err := b.Replay(t.Context(), "s1", unknown)
		want(t, fmt.Sprintf("replay after %.40q", unknown), err, state.ErrNotFound)
	}
	_, _, err := b.Replay(t.Context(), "never", id)
	want(t, "replay of a session without events", err, state.ErrNotFound)
}

func (s logSuite) eventsBound(t *testing.T) {
	const most = 10
	a, b := s.open(t, state.LogLimits{MaxEvents: most})
	var ids []string
	for i := range 25 {
		ids = append(ids, put(t, a, "s1", fmt.Sprint("stream-", i%2), fmt.Sprint(i)))
		put(t, a, "s2", "stream", "of another session")
	}
	for i, id := range ids {
		_, later, err := b.Replay(t.Context(), "s1", id)
		if i < len(ids)-most {
			want(t, fmt.Sprint("replay after dropped event ", i), err, state.ErrGone)
			continue
		}
		must(t, err)
		n := 0
		for _, err := range later {
			must(t, err)
			n++
		}
		if left := (len(ids) - 1 - i) / 2; n != left {
			t.Errorf("after event %d: %d events, want %d", i, n, left)
		}
	}
}

func (s logSuite) bytesBound(t *testing.T) {
	a, b := s.open(t, state.LogLimits{MaxBytes: 100_000})
	data := strings.Repeat("x", 9000)
	var ids []string
	for range 40 {
		ids = append(ids, put(t, a, "s1", "stream", data))
	}
	kept := 0
	for _, id := range ids {
		if _, _, err := b.Replay(t.Context(), "s1", id); err == nil {
			kept++
		} else {
			want(t, "replay", err, state.ErrGone)
			if kept > 0 {
				t.Error("a newer event has gone before an older one")
			}
		}
	}
	if kept < 9 || kept > 11 {
		t.Errorf("%d events of 9,000 bytes are kept in 100,000", kept)
	}
}

func (s logSuite) tooLarge(t *testing.T) {
	a, b := s.open(t, state.LogLimits{MaxBytes: 10_000})
	id := put(t, a, "s1", "stream", "x")
	_, err := a.Append(t.Context(), "s1", "stream", make([]byte, 10_001))
	want(t, "append", err, state.ErrTooLarge)
	put(t, a, "s1", "stream", "y")
	if got := replayed(t, b, "s1", id); got != "stream: y" {
		t.Errorf("after a refused append: %q", got)
	}
}

func (s logSuite) drop(t *testing.T) {
	a, b := s.open(t, state.LogLimits{})
	old := put(t, a, "s1", "stream", "x")
	other := put(t, a, "s2", "stream", "y")
	must(t, b.Drop(t.Context(), "s1"))
	must(t, b.Drop(t.Context(), "s1"))
	_, _, err := a.Replay(t.Context(), "s1", old)
	want(t, "replay of a log that was dropped", err, state.ErrNotFound)
	again := put(t, a, "s1", "stream", "z")
	if again == old {
		t.Errorf("id %s was given twice", old)
	}
	_, _, err = a.Replay(t.Context(), "s1", old)
	want(t, "replay of an id from before", err, state.ErrNotFound)
	for session, id := range map[string]string{"s1": again, "s2": other} {
		if got := replayed(t, b, session, id); got != "stream:" {
			t.Errorf("%s: %q", session, got)
		}
	}
}

func (s logSuite) idle(t *testing.T) {
	a, b := s.open(t, state.LogLimits{Idle: 10 * s.Tick})
	read := put(t, a, "read", "stream", "x")
	grown := put(t, a, "grown", "stream", "x")
	left := put(t, a, "left", "stream", "x")
	s.Pass(6 * s.Tick)
	replayed(t, b, "read", read)
	put(t, b, "grown", "stream", "y")
	s.Pass(6 * s.Tick)
	if got := replayed(t, a, "read", read) + replayed(t, a, "grown", grown); got != "stream:stream: y" {
		t.Errorf("logs in use: %q", got)
	}
	_, _, err := a.Replay(t.Context(), "left", left)
	want(t, "a log left alone", err, state.ErrNotFound)
}

func (s logSuite) context(t *testing.T) {
	a, _ := s.open(t, state.LogLimits{})
	id := put(t, a, "s1", "stream", "x")
	ctx, why := over(t)
	_, err := a.Append(ctx, "s1", "stream", nil)
	want(t, "append", err, why)
	_, _, err = a.Replay(ctx, "s1", id)
	want(t, "replay", err, why)
	_, err = a.Follow(ctx, "s1", "stream", id)
	want(t, "follow", err, why)
	want(t, "drop", a.Drop(ctx, "s1"), why)
	if got := replayed(t, a, "s1", id); got != "stream:" {
		t.Errorf("what was not done has changed the log: %q", got)
	}
}

// reader is a Follow that a test reads one event at a time.
type reader struct {
	t    *testing.T
	next func() (state.Event, error, bool)
}

func (s logSuite) follows(ctx context.Context, t *testing.T, log state.EventLog, stream, after string) reader {
	t.Helper()
	events, err := log.Follow(ctx, "s1", stream, after)
	must(t, err)
	next, stop := iter.Pull2(events)
	t.Cleanup(stop)
	return reader{t, next}
}

func (r reader) reads(data ...string) {
	r.t.Helper()
	for _, d := range data {
		e, err, ok := r.next()
		if err != nil || !ok || string(e.Data) != d {
			r.t.Fatalf("followed to %.40q (error %v, more %v), want %q", e.Data, err, ok, d)
		}
	}
}

func (r reader) ends(why error) {
	r.t.Helper()
	e, err, _ := r.next()
	want(r.t, fmt.Sprintf("the end of a Follow (event %.40q)", e.Data), err, why)
	if _, _, more := r.next(); more {
		r.t.Error("something follows the error")
	}
}
