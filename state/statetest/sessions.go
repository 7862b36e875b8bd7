package statetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
)

// sessionsSuite is one subtest's view: two replicas of one store.
type sessionsSuite struct {
	World
	open func(t *testing.T, limits state.SessionLimits) (a, b state.SessionStore)
}

// Sessions holds a [state.SessionStore] to its contract. open returns two views of one new store that has the limits given,
// of which MaxTotalBytes may be ignored.
func Sessions(t *testing.T, w World, open func(t *testing.T, limits state.SessionLimits) (a, b state.SessionStore)) {
	s := sessionsSuite{World: w.withDefaults(), open: open}
	for _, one := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"record", s.record},
		{"copies", s.copies},
		{"unknown", s.unknown},
		{"names", s.names},
		{"versions", s.versions},
		{"one update wins", s.oneUpdateWins},
		{"change", s.change},
		{"one delete wins", s.oneDeleteWins},
		{"idle", s.idle},
		{"limit", s.limit},
		{"record size", s.recordSize},
		{"context", s.context},
	} {
		t.Run(one.name, func(t *testing.T) { s.Run(t, one.test) })
	}
}

// full is a session with every field set.
func full(id string) state.Session {
	return state.Session{
		ID: id, Revision: mcp.Version20251125, Ready: true, Principal: "6:issuer3:sub2:id", LogLevel: mcp.LevelWarning, Owner: "node-1", Stream: "get-7",
		ClientInfo:    json.RawMessage(`{"name":"caf\u00e9","x":1e400}`),
		Capabilities:  json.RawMessage(`{"sampling":{},"n":9007199254740993}`),
		Subscriptions: []string{"file:///a", "file:///ü"},
	}
}

func (s sessionsSuite) record(t *testing.T) {
	a, b := s.open(t, state.SessionLimits{})
	made, err := a.Create(t.Context(), full("one"))
	must(t, err)
	if made.Version != 1 || made.Created.IsZero() || !made.Used.Equal(made.Created) {
		t.Errorf("created with version %d, created %v, used %v", made.Version, made.Created, made.Used)
	}
	expected := full("one")
	expected.Version, expected.Created, expected.Used = made.Version, made.Created, made.Used
	if !reflect.DeepEqual(made, expected) {
		t.Errorf("created\n%+v, want\n%+v", made, expected)
	}
	got, err := b.Get(t.Context(), "one")
	must(t, err)
	if !reflect.DeepEqual(got, made) {
		t.Errorf("the other replica reads\n%+v, want\n%+v", got, made)
	}
	raw, err := json.Marshal(got)
	must(t, err)
	var back state.Session
	must(t, json.Unmarshal(raw, &back))
	if !reflect.DeepEqual(back, got) {
		t.Errorf("through JSON\n%+v, want\n%+v", back, got)
	}
	_, err = b.Create(t.Context(), state.Session{ID: "one"})
	want(t, "create an id that is taken", err, state.ErrExists)
}

func (s sessionsSuite) copies(t *testing.T) {
	a, _ := s.open(t, state.SessionLimits{})
	given := full("one")
	_, err := a.Create(t.Context(), given)
	must(t, err)
	given.ClientInfo[2], given.Subscriptions[0] = 'X', "changed"
	got, err := a.Get(t.Context(), "one")
	must(t, err)
	if clean := full("one"); string(got.ClientInfo) != string(clean.ClientInfo) || got.Subscriptions[0] != clean.Subscriptions[0] {
		t.Error("what was given to Create is shared with the store")
	}
	given = got.Clone()
	got, err = a.Update(t.Context(), given)
	must(t, err)
	given.Capabilities[2] = 'X'
	if got, err = a.Get(t.Context(), "one"); err != nil || string(got.Capabilities) != string(full("").Capabilities) {
		t.Errorf("what was given to Update is shared with the store (%v)", err)
	}
}

func (s sessionsSuite) unknown(t *testing.T) {
	a, b := s.open(t, state.SessionLimits{Idle: 4 * s.Tick})
	for _, id := range []string{"deleted", "expired"} {
		_, err := a.Create(t.Context(), full(id))
		must(t, err)
	}
	must(t, a.Delete(t.Context(), "deleted"))
	s.Pass(5 * s.Tick)
	texts := map[string]bool{}
	for _, id := range append(badNames(), "never", "deleted", "expired") {
		_, err := b.Get(t.Context(), id)
		want(t, "get", err, state.ErrNotFound)
		texts[fmt.Sprint(err)] = true
		_, err = b.Update(t.Context(), state.Session{ID: id, Version: 1})
		want(t, "update", err, state.ErrNotFound)
		want(t, "touch", b.Touch(t.Context(), id), state.ErrNotFound)
		want(t, "delete", b.Delete(t.Context(), id), state.ErrNotFound)
	}
	if len(texts) != 1 {
		t.Errorf("the errors tell unknown ids apart: %v", texts)
	}
	_, err := b.Create(t.Context(), state.Session{ID: "expired"})
	must(t, err)
}

func (s sessionsSuite) names(t *testing.T) {
	a, _ := s.open(t, state.SessionLimits{})
	for _, id := range badNames() {
		_, err := a.Create(t.Context(), state.Session{ID: id})
		want(t, fmt.Sprintf("create %.20q", id), err, state.ErrInvalid)
	}
	for _, id := range []string{"!", strings.Repeat("~", 512)} {
		_, err := a.Create(t.Context(), state.Session{ID: id})
		must(t, err)
	}
}

func (s sessionsSuite) versions(t *testing.T) {
	a, b := s.open(t, state.SessionLimits{})
	first, err := a.Create(t.Context(), full("one"))
	must(t, err)
	s.Pass(s.Tick)
	must(t, a.Touch(t.Context(), "one"))
	edit := first
	edit.Owner, edit.Created = "node-2", edit.Created.Add(-s.Tick)
	second, err := b.Update(t.Context(), edit) // a touch does not get in the way
	must(t, err)
	if second.Version != 2 || second.Owner != "node-2" || !second.Created.Equal(first.Created) || !second.Used.After(first.Used) {
		t.Errorf("updated to %+v", second)
	}
	_, err = a.Update(t.Context(), edit)
	want(t, "update with an old version", err, state.ErrConflict)
	edit.Version = 3
	_, err = a.Update(t.Context(), edit)
	want(t, "update with a version to come", err, state.ErrConflict)
	got, err := a.Get(t.Context(), "one")
	must(t, err)
	if !reflect.DeepEqual(got, second) {
		t.Errorf("after refused updates\n%+v, want\n%+v", got, second)
	}
}

func (s sessionsSuite) oneUpdateWins(t *testing.T) {
	a, b := s.open(t, state.SessionLimits{})
	made, err := a.Create(t.Context(), full("one"))
	must(t, err)
	const writers = 16
	errs := make([]error, writers)
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			store, edit := []state.SessionStore{a, b}[i%2], made
			edit.Owner = fmt.Sprint("node-", i)
			_, errs[i] = store.Update(t.Context(), edit)
		})
	}
	running.Wait()
	got, err := b.Get(t.Context(), "one")
	must(t, err)
	won := 0
	for i, err := range errs {
		if err != nil {
			want(t, "a loser", err, state.ErrConflict)
			continue
		}
		won++
		if got.Owner != fmt.Sprint("node-", i) {
			t.Errorf("writer %d has won but the owner is %s", i, got.Owner)
		}
	}
	if won != 1 || got.Version != 2 {
		t.Errorf("%d writers have won and the version is %d, want 1 and 2", won, got.Version)
	}
}

func (s sessionsSuite) change(t *testing.T) {
	a, b := s.open(t, state.SessionLimits{})
	_, err := a.Create(t.Context(), full("one"))
	must(t, err)
	const writers, each = 4, 5
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			for n := range each {
				_, err := state.Change(t.Context(), []state.SessionStore{a, b}[i%2], "one", func(one *state.Session) error {
					one.Subscriptions = append(one.Subscriptions, fmt.Sprintf("book:%d/%d", i, n))
					return nil
				})
				if err != nil {
					t.Errorf("change: %v", err)
				}
			}
		})
	}
	running.Wait()
	got, err := a.Get(t.Context(), "one")
	must(t, err)
	if got.Version != 1+writers*each || len(got.Subscriptions) != 2+writers*each {
		t.Errorf("version %d and %d subscriptions: changes were lost", got.Version, len(got.Subscriptions))
	}
	got = got.Clone()
	refusal := errors.New("no")
	_, err = state.Change(t.Context(), a, "one", func(one *state.Session) error { one.Subscriptions[0] = "x"; return refusal })
	want(t, "an edit that fails", err, refusal)
	if again, err := b.Get(t.Context(), "one"); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("an edit that failed has changed the record (%v)", err)
	}
	_, err = state.Change(t.Context(), a, "never", func(*state.Session) error { return nil })
	want(t, "change what is not there", err, state.ErrNotFound)
}

func (s sessionsSuite) oneDeleteWins(t *testing.T) {
	a, b := s.open(t, state.SessionLimits{})
	_, err := a.Create(t.Context(), full("one"))
	must(t, err)
	const callers = 8
	errs := make([]error, callers)
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() { errs[i] = []state.SessionStore{a, b}[i%2].Delete(t.Context(), "one") })
	}
	running.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		want(t, "a loser", err, state.ErrNotFound)
	}
	if won != 1 {
		t.Errorf("%d of %d deletes have succeeded, want 1", won, callers)
	}
}

func (s sessionsSuite) idle(t *testing.T) {
	a, b := s.open(t, state.SessionLimits{Idle: 10 * s.Tick})
	made := map[string]state.Session{}
	for _, id := range []string{"touched", "updated", "left", "read"} {
		one, err := a.Create(t.Context(), full(id))
		must(t, err)
		made[id] = one
	}
	s.Pass(6 * s.Tick)
	must(t, b.Touch(t.Context(), "touched"))
	_, err := b.Update(t.Context(), made["updated"])
	must(t, err)
	_, err = b.Get(t.Context(), "read")
	must(t, err)
	s.Pass(6 * s.Tick) // 12 since they were made, 6 since the last use of two
	for _, id := range []string{"touched", "updated"} {
		got, err := a.Get(t.Context(), id)
		must(t, err)
		if !got.Used.After(got.Created) {
			t.Errorf("%s: created %v, used %v", id, got.Created, got.Used)
		}
	}
	for _, id := range []string{"left", "read"} {
		_, err := a.Get(t.Context(), id)
		want(t, id, err, state.ErrNotFound)
	}
}

func (s sessionsSuite) limit(t *testing.T) {
	a, b := s.open(t, state.SessionLimits{MaxSessions: 3, Idle: 10 * s.Tick})
	create := func(id string) error {
		_, err := b.Create(t.Context(), state.Session{ID: id})
		return err
	}
	for i := range 3 {
		must(t, create(fmt.Sprint("early-", i)))
	}
	want(t, "one too many", create("late"), state.ErrFull)
	want(t, "an id that is taken, with no place", create("early-1"), state.ErrExists)
	must(t, a.Delete(t.Context(), "early-0"))
	must(t, create("late"))
	want(t, "one too many again", create("later"), state.ErrFull)
	s.Pass(11 * s.Tick)
	for i := range 3 {
		must(t, create(fmt.Sprint("after-", i))) // the places of those that have ended are free
	}
}

func (s sessionsSuite) recordSize(t *testing.T) {
	a, _ := s.open(t, state.SessionLimits{MaxRecordBytes: 1000})
	big := full("big")
	big.ClientInfo = json.RawMessage(`"` + strings.Repeat("x", 1000) + `"`)
	_, err := a.Create(t.Context(), big)
	want(t, "create a record that is too large", err, state.ErrTooLarge)
	one, err := a.Create(t.Context(), full("one"))
	must(t, err)
	big = one
	big.Subscriptions = []string{strings.Repeat("x", 1000)}
	_, err = a.Update(t.Context(), big)
	want(t, "update to a record that is too large", err, state.ErrTooLarge)
	if got, err := a.Get(t.Context(), "one"); err != nil || !reflect.DeepEqual(got, one) {
		t.Errorf("after a refused update: %+v (%v)", got, err)
	}
}

func (s sessionsSuite) context(t *testing.T) {
	a, _ := s.open(t, state.SessionLimits{})
	one, err := a.Create(t.Context(), full("one"))
	must(t, err)
	ctx, why := over(t)
	_, err = a.Create(ctx, full("two"))
	want(t, "create", err, why)
	_, err = a.Get(ctx, "one")
	want(t, "get", err, why)
	_, err = a.Update(ctx, one)
	want(t, "update", err, why)
	want(t, "touch", a.Touch(ctx, "one"), why)
	want(t, "delete", a.Delete(ctx, "one"), why)
	got, err := a.Get(t.Context(), "one")
	must(t, err)
	if !reflect.DeepEqual(got, one) {
		t.Errorf("what was not done has changed the record to %+v", got)
	}
	_, err = a.Get(t.Context(), "two")
	want(t, "get what was not created", err, state.ErrNotFound)
}
