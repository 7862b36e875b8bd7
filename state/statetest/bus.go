package statetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/rialto-mcp/rialto/state"
)

// busSuite is one subtest's view: two replicas on one bus.
type busSuite struct {
	World
	open func(t *testing.T, limits state.BusLimits) (a, b state.Bus)
}

// Bus holds a [state.Bus] to its contract. open returns two views of one new bus that has the limits given. A bus that
// loses messages of its own accord while the suite runs does not pass: at most once is what it promises, nearly always
// once is what it is good for.
func Bus(t *testing.T, w World, open func(t *testing.T, limits state.BusLimits) (a, b state.Bus)) {
	s := busSuite{World: w.withDefaults(), open: open}
	for _, one := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"reaches every replica", s.reaches},
		{"several topics", s.topics},
		{"heard", s.heard},
		{"order", s.order},
		{"bytes", s.bytes},
		{"names", s.names},
		{"slow", s.slow},
		{"slow by size", s.slowBySize},
		{"too large", s.tooLarge},
		{"limit", s.limit},
		{"close", s.closing},
		{"several readers", s.readers},
		{"context", s.context},
		{"ask", s.ask},
		{"ask nobody", s.askNobody},
		{"answer ends", s.answerEnds},
	} {
		t.Run(one.name, func(t *testing.T) { s.Run(t, one.test) })
	}
}

// subscribed returns a subscription that ends with the test.
func subscribed(t *testing.T, bus state.Bus, topics ...string) state.Subscription {
	t.Helper()
	sub, err := bus.Subscribe(t.Context(), topics...)
	must(t, err)
	t.Cleanup(func() {
		if err := sub.Close(); err != nil {
			t.Errorf("close a subscription: %v", err)
		}
	})
	return sub
}

func publish(t *testing.T, bus state.Bus, topic, data string) (heard int) {
	t.Helper()
	heard, err := bus.Publish(t.Context(), topic, []byte(data))
	must(t, err)
	return heard
}

// takes reads messages, as "topic data", and checks that none was lost.
func (s busSuite) takes(t *testing.T, sub state.Subscription, all ...string) {
	t.Helper()
	for _, one := range all {
		m, err := sub.Next(s.within(t))
		must(t, err)
		if got := m.Topic + " " + string(m.Data); got != one || m.Lost != 0 {
			t.Fatalf("got %.60q with %d lost, want %q", got, m.Lost, one)
		}
	}
}

// silent checks that there is nothing more: something published to the topic last comes next.
func (s busSuite) silent(t *testing.T, bus state.Bus, sub state.Subscription, topic string) {
	t.Helper()
	publish(t, bus, topic, "the last")
	s.takes(t, sub, topic+" the last")
}

func (s busSuite) reaches(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	publish(t, a, "topic", "before anybody came")
	onA, onB, twice := subscribed(t, a, "topic"), subscribed(t, b, "topic"), subscribed(t, b, "topic")
	publish(t, a, "topic", "one")
	publish(t, a, "other", "unheard")
	for _, sub := range []state.Subscription{onA, onB, twice} {
		s.takes(t, sub, "topic one")
	}
	publish(t, b, "topic", "two")
	for _, sub := range []state.Subscription{onA, onB, twice} {
		s.takes(t, sub, "topic two")
	}
	publish(t, a, "topic", "the last")
	for _, sub := range []state.Subscription{onA, onB, twice} {
		s.takes(t, sub, "topic the last") // nothing came twice
	}
}

func (s busSuite) topics(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	sub := subscribed(t, b, "one", "two", "one")
	publish(t, a, "two", "x")
	s.takes(t, sub, "two x")
	publish(t, a, "one", "y")
	s.takes(t, sub, "one y")
	s.silent(t, a, sub, "one")
}

func (s busSuite) heard(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	if n := publish(t, a, "topic", "x"); n != 0 && n != -1 {
		t.Errorf("heard by %d where nobody is", n)
	}
	subscribed(t, a, "topic", "other")
	subscribed(t, b, "topic")
	if n := publish(t, a, "topic", "x"); n != 2 && n != -1 {
		t.Errorf("heard by %d, want 2", n)
	}
}

func (s busSuite) order(t *testing.T) {
	const publishers, each = 4, 100
	a, b := s.open(t, state.BusLimits{})
	sub := subscribed(t, b, "topic")
	var running sync.WaitGroup
	for p := range publishers {
		running.Go(func() {
			for i := range each {
				if _, err := []state.Bus{a, b}[p%2].Publish(t.Context(), "topic", fmt.Appendf(nil, "%d %d", p, i)); err != nil {
					t.Errorf("publish: %v", err)
				}
			}
		})
	}
	running.Wait()
	next := map[int]int{}
	for range publishers * each {
		m, err := sub.Next(s.within(t))
		must(t, err)
		var p, i int
		if _, err := fmt.Sscan(string(m.Data), &p, &i); err != nil {
			t.Fatal(err)
		}
		if next[p] != i {
			t.Fatalf("message %d of publisher %d came where %d was due", i, p, next[p])
		}
		next[p]++
	}
}

func (s busSuite) bytes(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	sub := subscribed(t, b, "topic")
	for _, data := range [][]byte{{}, {0, 255, '\n'}, bytes.Repeat([]byte("x"), 1<<20)} {
		buf := bytes.Clone(data)
		_, err := a.Publish(t.Context(), "topic", buf)
		must(t, err)
		clear(buf) // the caller's again
		m, err := sub.Next(s.within(t))
		must(t, err)
		if !bytes.Equal(m.Data, data) {
			t.Errorf("%.20q came as %.20q", data, m.Data)
		}
	}
}

func (s busSuite) names(t *testing.T) {
	a, _ := s.open(t, state.BusLimits{})
	for _, topic := range badNames() {
		_, err := a.Publish(t.Context(), topic, nil)
		want(t, fmt.Sprintf("publish to %.20q", topic), err, state.ErrInvalid)
		_, err = a.Subscribe(t.Context(), "good", topic)
		want(t, fmt.Sprintf("subscribe to %.20q", topic), err, state.ErrInvalid)
	}
	_, err := a.Subscribe(t.Context())
	want(t, "subscribe to nothing", err, state.ErrInvalid)
}

// drained reads up to a message and returns how many came and how many are said to be lost.
func (s busSuite) drained(t *testing.T, sub state.Subscription, last string) (came, lost int) {
	t.Helper()
	for {
		m, err := sub.Next(s.within(t))
		must(t, err)
		came, lost = came+1, lost+m.Lost
		if string(m.Data) == last {
			return came, lost
		}
	}
}

// slow: publishers never wait, the oldest go, and the reader learns of it. A bus in between may hold some more.
func (s busSuite) slow(t *testing.T) {
	const most, sent = 8, 5000
	a, b := s.open(t, state.BusLimits{MaxQueued: most})
	slow := subscribed(t, b, "topic")
	for i := range sent {
		publish(t, a, "topic", fmt.Sprint(i))
	}
	s.Pass(s.Tick)
	came, lost := s.drained(t, slow, fmt.Sprint(sent-1))
	if lost == 0 || came+lost > sent || came >= sent {
		t.Errorf("of %d messages %d came and %d are said to be lost", sent, came, lost)
	}
	s.silent(t, a, slow, "topic")
}

func (s busSuite) slowBySize(t *testing.T) {
	const size, sent = 100_000, 300
	a, b := s.open(t, state.BusLimits{MaxQueuedBytes: 5 * size})
	slow := subscribed(t, b, "topic")
	for range sent {
		_, err := a.Publish(t.Context(), "topic", make([]byte, size))
		must(t, err)
	}
	publish(t, a, "topic", "end")
	s.Pass(s.Tick)
	if came, lost := s.drained(t, slow, "end"); lost == 0 || came >= sent {
		t.Errorf("of %d messages %d came and %d are said to be lost", sent, came, lost)
	}
}

func (s busSuite) tooLarge(t *testing.T) {
	a, b := s.open(t, state.BusLimits{MaxQueuedBytes: 10_000})
	sub := subscribed(t, b, "topic")
	_, err := a.Publish(t.Context(), "topic", make([]byte, 10_001))
	want(t, "publish", err, state.ErrTooLarge)
	s.silent(t, a, sub, "topic")
}

func (s busSuite) limit(t *testing.T) {
	a, _ := s.open(t, state.BusLimits{MaxSubscriptions: 2})
	first := subscribed(t, a, "one", "two", "three")
	subscribed(t, a, "one")
	_, err := a.Subscribe(t.Context(), "one")
	want(t, "one too many", err, state.ErrFull)
	must(t, first.Close())
	must(t, first.Close())
	subscribed(t, a, "one")
	_, err = a.Subscribe(t.Context(), "one")
	want(t, "one too many again", err, state.ErrFull)
}

func (s busSuite) closing(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	sub := subscribed(t, b, "topic")
	other := subscribed(t, b, "topic")
	publish(t, a, "topic", "x")
	s.takes(t, other, "topic x")
	done := make(chan error)
	go func() {
		_, err := other.Next(s.within(t))
		done <- err
	}()
	s.Pass(s.Tick)
	must(t, sub.Close())
	_, err := sub.Next(t.Context())
	want(t, "next of a subscription that was closed with a message in it", err, state.ErrClosed)
	must(t, other.Close())
	want(t, "next while it is closed", <-done, state.ErrClosed)
	s.silent(t, a, subscribed(t, b, "topic"), "topic")
}

func (s busSuite) readers(t *testing.T) {
	const readers, sent = 4, 200
	a, b := s.open(t, state.BusLimits{})
	sub := subscribed(t, b, "topic")
	got := make(chan string, sent)
	ctx, cancel := context.WithCancel(s.within(t))
	var running sync.WaitGroup
	for range readers {
		running.Go(func() {
			for {
				m, err := sub.Next(ctx)
				if err != nil {
					return
				}
				got <- string(m.Data)
			}
		})
	}
	for i := range sent {
		publish(t, a, "topic", fmt.Sprint(i))
	}
	seen := map[string]bool{}
	for range sent {
		select {
		case data := <-got:
			seen[data] = true
		case <-ctx.Done():
			t.Fatalf("%d of %d messages came", len(seen), sent)
		}
	}
	cancel()
	running.Wait()
	if len(seen) != sent {
		t.Errorf("%d different messages came, want %d", len(seen), sent)
	}
}

func (s busSuite) context(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	sub := subscribed(t, b, "topic")
	ctx, why := over(t)
	_, err := a.Publish(ctx, "topic", []byte("not sent"))
	want(t, "publish", err, why)
	_, err = a.Subscribe(ctx, "topic")
	want(t, "subscribe", err, why)
	publish(t, a, "topic", "x")
	_, err = sub.Next(ctx)
	want(t, "next", err, why)
	s.takes(t, sub, "topic x") // it was not taken by the call that failed

	waiting, cancel := context.WithCancelCause(s.within(t))
	go func() { s.Pass(s.Tick); cancel(why) }()
	_, err = sub.Next(waiting)
	want(t, "next while its context ends", err, why)

	bounded, cancel2 := context.WithCancel(t.Context())
	lasting, err := a.Subscribe(bounded, "topic")
	must(t, err)
	defer lasting.Close()
	cancel2() // bounds the subscribing alone
	publish(t, b, "topic", "y")
	s.takes(t, lasting, "topic y")
}

// answering serves a topic until the test ends, and returns when it can be asked.
func answering(t *testing.T, bus state.Bus, topic string, reply func(context.Context, []byte) ([]byte, bool)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- state.Answer(ctx, bus, topic, reply, state.AnswerOptions{Started: func() { close(started) }})
	}()
	t.Cleanup(func() {
		cancel()
		want(t, "the end of Answer", <-ended, context.Canceled)
	})
	<-started
}

func (s busSuite) ask(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	answering(t, b, "node/b", func(_ context.Context, question []byte) ([]byte, bool) {
		return append([]byte("re: "), question...), true
	})
	publish(t, a, "node/b", "no question of Ask's")
	other := subscribed(t, a, "other")
	publish(t, a, "node/b", "other\nanswers go nowhere but to who has asked")
	s.Pass(s.Tick)
	s.silent(t, b, other, "other")
	var running sync.WaitGroup
	for i := range 20 {
		running.Go(func() {
			question := fmt.Sprintf("question\n%d", i)
			answer, err := state.Ask(s.within(t), []state.Bus{a, b}[i%2], "node/b", []byte(question))
			if err != nil || string(answer) != "re: "+question {
				t.Errorf("%q was answered with %q (%v)", question, answer, err)
			}
		})
	}
	running.Wait()
}

func (s busSuite) askNobody(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	ctx, cancel := context.WithTimeout(t.Context(), 3*s.Tick)
	defer cancel()
	if _, err := state.Ask(ctx, a, "node/c", nil); !errors.Is(err, state.ErrNobody) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("asking nobody: %v", err)
	}
	answering(t, b, "node/b", func(context.Context, []byte) ([]byte, bool) { return nil, false })
	ctx, cancel = context.WithTimeout(t.Context(), 3*s.Tick)
	defer cancel()
	_, err := state.Ask(ctx, a, "node/b", nil)
	want(t, "a question without an answer", err, context.DeadlineExceeded)
}

// answerEnds: Answer waits for the replies that run, and they learn that it is over.
func (s busSuite) answerEnds(t *testing.T) {
	a, b := s.open(t, state.BusLimits{})
	ctx, cancel := context.WithCancel(t.Context())
	started, asked := make(chan struct{}), make(chan struct{})
	left := false
	go func() {
		<-started
		if _, err := a.Publish(t.Context(), "node/b", []byte("answer/x\nquestion")); err != nil {
			t.Errorf("publish: %v", err)
		}
		<-asked
		cancel()
	}()
	err := state.Answer(ctx, b, "node/b", func(ctx context.Context, _ []byte) ([]byte, bool) {
		close(asked)
		<-ctx.Done()
		left = true
		return nil, false
	}, state.AnswerOptions{Started: func() { close(started) }})
	want(t, "the end of Answer", err, context.Canceled)
	if !left {
		t.Error("Answer has returned before its reply")
	}
}
