package statetest

import (
	"context"
	"errors"
	"testing"
	"time"
)

// World says where a contract is tested. The zero value is the real world; one in which testing/synctest tells the time is
// World{Run: synctest.Test, Tick: time.Minute}.
type World struct {
	// Run runs the body of one subtest. Nil calls it.
	Run func(t *testing.T, body func(t *testing.T))

	// Tick is a stretch of time by which the suite reckons: short, but longer than an operation may take. Zero means
	// 200 milliseconds.
	Tick time.Duration

	// Pass lets time go by for the stores. Nil means [time.Sleep].
	Pass func(time.Duration)
}

func (w World) withDefaults() World {
	if w.Run == nil {
		w.Run = func(t *testing.T, body func(t *testing.T)) { body(t) }
	}
	if w.Tick == 0 {
		w.Tick = 200 * time.Millisecond
	}
	if w.Pass == nil {
		w.Pass = time.Sleep
	}
	return w
}

// within bounds what waits by so much time that only a failure can use it up.
func (w World) within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*w.Tick)
	t.Cleanup(cancel)
	return ctx
}

// must stops a test at an error that should not be.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

// want checks the error of an operation that has to fail.
func want(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got error %v, want %v", what, got, want)
	}
}

// over is a context that has ended, and why.
func over(t *testing.T) (context.Context, error) {
	why := errors.New("the caller has gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	return ctx, why
}

// badNames are ids, streams and topics that nothing may be made with.
func badNames() []string {
	long := make([]byte, 513)
	for i := range long {
		long[i] = 'x'
	}
	return []string{"", " ", "a b", "a\n", "a\x00b", "é", string(long)}
}
