package streamhttp

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/internal/sse"
	"github.com/rialto-mcp/rialto/jsonrpc"
	"github.com/rialto-mcp/rialto/state"
)

// house is what handlers share. Each part may be made to fail.
type house struct {
	sessions *state.MemorySessions
	log      *state.MemoryLog
	bus      *state.MemoryBus

	mu       sync.Mutex
	storeErr error         // of every method of the store
	busErr   error         // of Publish
	deaf     bool          // what is published gets lost
	gate     chan struct{} // Get waits until it is closed; nil does not wait
}

func newHouse(t *testing.T) *house {
	h := &house{
		sessions: state.NewMemorySessions(state.SessionLimits{}), log: state.NewMemoryLog(state.LogLimits{}), bus: state.NewMemoryBus(state.BusLimits{}),
	}
	t.Cleanup(func() { // after the handlers have closed: cleanups run the last first
		for name, n := range map[string]int{"sessions": h.sessions.Len(), "subscriptions": h.bus.Len()} {
			if n != 0 && name == "subscriptions" {
				t.Errorf("%d %s are left", n, name)
			}
		}
		if err := errors.Join(h.sessions.Close(), h.log.Close(), h.bus.Close()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *house) fail(store, bus error, deaf bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.storeErr, h.busErr, h.deaf = store, bus, deaf
}

func (h *house) faults() (deaf bool, store, bus error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.deaf, h.storeErr, h.busErr
}

// shaky is the store of a house.
type shaky struct{ h *house }

func (s shaky) Create(ctx context.Context, rec state.Session) (state.Session, error) {
	if _, err, _ := s.h.faults(); err != nil {
		return state.Session{}, err
	}
	return s.h.sessions.Create(ctx, rec)
}

func (s shaky) Get(ctx context.Context, id string) (state.Session, error) {
	if _, err, _ := s.h.faults(); err != nil {
		return state.Session{}, err
	}
	s.h.mu.Lock()
	gate := s.h.gate
	s.h.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return state.Session{}, context.Cause(ctx)
		}
	}
	return s.h.sessions.Get(ctx, id)
}

func (s shaky) Update(ctx context.Context, rec state.Session) (state.Session, error) {
	if _, err, _ := s.h.faults(); err != nil {
		return state.Session{}, err
	}
	return s.h.sessions.Update(ctx, rec)
}

func (s shaky) Touch(ctx context.Context, id string) error {
	if _, err, _ := s.h.faults(); err != nil {
		return err
	}
	return s.h.sessions.Touch(ctx, id)
}

func (s shaky) Delete(ctx context.Context, id string) error {
	if _, err, _ := s.h.faults(); err != nil {
		return err
	}
	return s.h.sessions.Delete(ctx, id)
}

// bumpy is the bus of a house.
type bumpy struct{ h *house }

func (b bumpy) Publish(ctx context.Context, topic string, data []byte) (int, error) {
	deaf, _, err := b.h.faults()
	switch {
	case err != nil:
		return 0, err
	case deaf:
		return -1, nil
	}
	return b.h.bus.Publish(ctx, topic, data)
}

func (b bumpy) Subscribe(ctx context.Context, topics ...string) (state.Subscription, error) {
	return b.h.bus.Subscribe(ctx, topics...)
}

// replica is a handler that shares what there is in the house. Options.EventLog may put something before the log.
func (h *house) replica(t *testing.T, opts Options) *world {
	t.Helper()
	opts.Sessions, opts.Bus = shaky{h}, bumpy{h}
	if opts.EventLog == nil {
		opts.EventLog = h.log
	}
	before := h.bus.Len()
	w := newWorld(t, opts)
	eventually(t, "the replica listens", func() bool { return h.bus.Len() == before+2 })
	return w
}

// two are two handlers in one house, and a session that the first has opened.
func two(t *testing.T, opts Options) (h *house, a, b *world, session [2]string) {
	t.Helper()
	checkLeaks(t)
	h = newHouse(t)
	a, b = h.replica(t, opts), h.replica(t, opts)
	return h, a, b, a.open(t)
}

// idOf returns the id of a message.
func idOf(t *testing.T, frame string) string {
	t.Helper()
	m, err := jsonrpc.Decode([]byte(frame), nil)
	if err != nil {
		t.Fatalf("%s: %v", frame, err)
	}
	return string(m.ID.Raw())
}

// stepping begins a call that reports progress, and reads the first.
func (w *world) stepping(t *testing.T, session [2]string) *wireStream {
	t.Helper()
	call := w.dial(t, "POST", legacyCall("step"), session)
	<-w.desk.waiting
	w.step(1)
	resp := call.read(t)
	call.status, call.events = resp.StatusCode, sse.NewReader(resp.Body, 0)
	call.expect("prime", progress1)
	return call
}

// read reads the head of an answer.
func (s *wireStream) read(t *testing.T) *http.Response {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(s.conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}
