package streamhttp

import (
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/state"
)

// A follower that has not heard that another one goes on with its stream asks whether it is still its own: it ends, and the
// other one goes on.
//
// Seen to fail: the question of the older one ended the stream of the newer one.
func TestProbeOfAStreamLost(t *testing.T) {
	_, a, b, session := two(t, Options{})
	call := b.stepping(t, session)
	call.cut()
	b.step(2)
	at := a.connect(t, "GET", "", session, after(call.last))
	at.expect(progress2)
	r := a.handler.shared
	line := a.handler.sessions.Get(session[1]).shared.all()[0].name
	if still, err := r.ask(t.Context(), b.handler.shared.name, questionProbe, session[1], []byte(line+"\nsomebody")); still || err != nil {
		t.Errorf("the stream of somebody else is theirs: %v, %v", still, err)
	}
	for range 10 { // word that it is over would be heard at some time
		b.step(3)
		at.expect(progress3)
	}
	b.step(0)
	at.expect(hello, "end")
}

// A GET stream that another replica goes on with ends, also where word of that was lost: with the next request.
//
// Seen to fail: the older stream stayed open.
func TestStreamTakenUnheard(t *testing.T) {
	h, a, b, session := two(t, Options{})
	old := a.connect(t, "GET", "", session)
	old.expect("prime")
	h.fail(nil, nil, true)
	young := b.connect(t, "GET", "", session, after(old.last))
	h.fail(nil, nil, false)
	a.ask(t, "POST", legacyList, session)
	old.expect("end")
	for _, one := range []*world{a, b} {
		one.engine.Hear(mcp.NotifyToolsChanged, "")
	}
	young.expect("tools/list_changed")
}

// What all replicas hear of a cancellation is what it cancels; the rest of the message, which may be long, is not for them. A
// client that repeats itself is not told of at all.
//
// Seen to fail: 1 MiB went to every replica, and 20 changes of the record that changed nothing.
func TestLittleIsTold(t *testing.T) {
	h, a, b, session := two(t, Options{})
	b.dial(t, "POST", legacyCall("wait"), session)
	<-b.desk.waiting
	heard, err := h.bus.Subscribe(t.Context(), "rialto/sessions")
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	for range 20 {
		a.ask(t, "POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, session)
	}
	long := strings.Repeat("x", 1<<20)
	for _, id := range []string{`"` + long + `"`, `{}`, `3`} {
		a.ask(t, "POST", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"`+long+`","requestId":`+id+`}}`, session)
	}
	<-b.desk.ended
	m, err := heard.Next(t.Context())
	if err != nil || !strings.HasPrefix(string(m.Data), wordCancel) || len(m.Data) > 1000 {
		t.Errorf("told %d bytes, %.40q, %v", len(m.Data), m.Data, err)
	}
}

// While sessions are looked up since word was lost, new word is heard.
func TestWordWhileSessionsAreLookedUp(t *testing.T) {
	h, a, b, session := two(t, Options{})
	b.dial(t, "POST", legacyCall("wait"), session)
	<-b.desk.waiting
	gate := make(chan struct{})
	h.mu.Lock()
	h.gate = gate
	h.mu.Unlock()
	b.handler.shared.lookAgain()
	b.handler.shared.lookAgain()
	r := a.handler.shared
	frame := []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	if err := r.tell(t.Context(), wordCancel, session[1], frame); err != nil {
		t.Fatal(err)
	}
	<-b.desk.ended
	close(gate)
}

// News of sessions that the store is slow to tell of holds up no other word, however often it comes.
//
// Seen to fail: after 64 words of news nothing more was heard.
func TestNewsWhileTheStoreIsSlow(t *testing.T) {
	h, a, b, session := two(t, Options{})
	b.dial(t, "POST", legacyCall("wait"), session)
	<-b.desk.waiting
	gate := make(chan struct{})
	h.mu.Lock()
	h.gate = gate
	h.mu.Unlock()
	r := a.handler.shared
	for range 2 * state.MaxAnswering {
		if err := r.tell(t.Context(), wordNews, session[1], nil); err != nil {
			t.Fatal(err)
		}
	}
	frame := []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	if err := r.tell(t.Context(), wordCancel, session[1], frame); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.desk.ended:
	case <-time.After(patience - time.Second): // within which the store is waited for
		t.Error("the cancellation was not heard")
	}
	close(gate)
}

// uncounted is a bus that cannot tell who hears, and nobody does.
type uncounted struct{ state.Bus }

func (uncounted) Publish(context.Context, string, []byte) (int, error) { return -1, nil }

// Where the bus cannot tell that the handler of a call has gone, its silence does, after a while.
//
// Seen to fail: the follower stayed for good.
func TestProbeOfAHandlerGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := state.NewMemoryBus(state.BusLimits{})
		defer bus.Close()
		failures := 0
		s := &session{h: &Handler{opts: Options{OnError: func(error) { failures++ }}}}
		s.shared = &sharedSession{s: s, r: &replicas{h: s.h, bus: uncounted{bus}, topic: "x"}}
		following, cancel := context.WithCancel(t.Context())
		f := &follower{s: s, name: string(callLine) + strings.Repeat("A", nameLength) + ".1", call: true, who: "me", cancel: cancel}
		began := time.Now()
		f.probe(t.Context())
		if took := time.Since(began); following.Err() == nil || !f.dry.Load() || failures != mostSilent || took > mostSilent*probes {
			t.Errorf("%v, after %s and %d failures", following.Err(), took, failures)
		}
	})
}

// late is a log whose followers hear of nothing in time. before runs before each of them begins.
type late struct {
	state.EventLog
	before func()
}

func (l late) Follow(ctx context.Context, _, _, _ string) (iter.Seq2[state.Event, error], error) {
	l.before()
	return func(yield func(state.Event, error) bool) {
		<-ctx.Done()
		yield(state.Event{}, context.Cause(ctx))
	}, nil
}

// A call that ends while its client goes on with its stream at another handler brings its answer there, however late the
// log tells of it.
//
// Seen to fail: the handler that had no such call any more was asked sooner than the log was read, and the stream ended
// without the answer.
func TestAnswerWhileAClientMoves(t *testing.T) {
	checkLeaks(t)
	h := newHouse(t)
	b := h.replica(t, Options{})
	session := b.open(t)
	a := h.replica(t, Options{EventLog: late{h.log, func() {
		b.step(2, 0)
		eventually(t, "the call is over", func() bool {
			s := b.handler.sessions.Get(session[1])
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.calls == nil
		})
	}}})
	call := b.stepping(t, session)
	call.cut()
	moved := a.connect(t, "GET", "", session, after(call.last))
	moved.expect(progress2, hello, "end")
	if r := a.ask(t, "GET", "", session, after(moved.last)); r.status != 400 || !strings.Contains(r.body, "is over") {
		t.Errorf("after the end: %d %s", r.status, r.body)
	}
}

// A call that has given its last event does not go on elsewhere, though it is not forgotten yet: its client has read that
// event sooner.
//
// Seen to fail: the client got a stream that stayed empty, instead of a refusal.
func TestCallThatIsOverIsNotYielded(t *testing.T) {
	_, a, _, session := two(t, Options{})
	s := a.handler.sessions.Get(session[1])
	for name, over := range map[string]bool{"running": false, "over": true} {
		l := s.newLine(callLine)
		l.over = over
		s.beginCall(l)
		for _, anew := range []bool{true, false} {
			if got := s.yieldCall(l.name, "somebody", anew); got == over {
				t.Errorf("%s, anew %v: %v", name, anew, got)
			}
		}
		s.forgetCall(l)
	}
}

// hanging is a log that takes nothing until its context ends.
type hanging struct{ state.EventLog }

func (hanging) Append(ctx context.Context, _, _ string, _ []byte) (string, error) {
	<-ctx.Done()
	return "", context.Cause(ctx)
}

// A log that hangs holds a call up for a bounded time.
func TestLogHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := state.NewMemoryLog(state.LogLimits{})
		defer log.Close()
		w := newHandler(t, Options{EventLog: hanging{log}})
		defer w.handler.Close()
		opened := w.record("POST", initialize)
		session := [2]string{"Mcp-Session-Id", opened.Header().Get("Mcp-Session-Id")}
		answered := make(chan *httptest.ResponseRecorder)
		go func() { answered <- w.record("POST", legacyCall("progress"), session) }()
		select {
		case out := <-answered:
			if out.Code != http.StatusOK || !strings.Contains(out.Body.String(), "sent: <nil>") {
				t.Errorf("%d %s", out.Code, out.Body)
			}
		case <-time.After(time.Minute):
			t.Fatal("the call hangs")
		}
	})
}

// Of several connections that go on with one GET stream at the same time, at two replicas, one stays.
//
// Seen to fail: two stayed, each with every event, or none.
func TestStreamTakenAtOnce(t *testing.T) {
	_, a, b, session := two(t, Options{})
	both := []*world{a, b}
	first := a.connect(t, "GET", "", session)
	first.expect("prime")
	open := func() int { return a.handler.Streams() + b.handler.Streams() }
	for range 30 {
		var wg sync.WaitGroup
		streams := make([]*wireStream, 8)
		for i := range streams {
			wg.Go(func() { streams[i] = both[i%2].connect(t, "GET", "", session, after(first.last)) })
		}
		wg.Wait()
		eventually(t, "one of them is left", func() bool { return open() == 1 })
		for _, s := range streams {
			s.cut()
		}
		eventually(t, "none is left", func() bool { return open() == 0 })
	}
}
