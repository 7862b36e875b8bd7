package state

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble counts the goroutines of the bubble: those outside of it, of the runtime's finalizers say, come and go by themselves.
func inBubble() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), ", synctest bubble ")
}

// TestIdleWithoutTouch: what was left alone leaves memory though nobody comes by, and no goroutine waits for that.
func TestIdleWithoutTouch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := inBubble()
		sessions, log := NewMemorySessions(SessionLimits{}), NewMemoryLog(LogLimits{Idle: time.Hour})
		for i := range 2000 {
			id := fmt.Sprint("session-", i)
			if _, err := sessions.Create(t.Context(), Session{ID: id}); err != nil {
				t.Fatal(err)
			}
			if _, err := log.Append(t.Context(), id, "stream", []byte("x")); err != nil {
				t.Fatal(err)
			}
			if i == 1000 {
				time.Sleep(20 * time.Minute)
			}
		}
		if n := inBubble(); n != before {
			t.Errorf("%d goroutines before, %d while 2,000 sessions are kept", before, n)
		}
		for _, one := range []struct {
			after          time.Duration
			sessions, logs int
		}{
			{10*time.Minute - time.Second, 2000, 2000},
			{2 * time.Second, 999, 2000},
			{20 * time.Minute, 0, 2000},
			{10 * time.Minute, 0, 999},
			{20 * time.Minute, 0, 0},
		} {
			time.Sleep(one.after)
			synctest.Wait()
			sessions.mu.Lock()
			log.mu.Lock()
			if len(sessions.byID) != one.sessions || sessions.order.Len() != one.sessions || len(log.byID) != one.logs || log.order.Len() != one.logs {
				t.Errorf("%d sessions and %d logs are in memory, want %d and %d", len(sessions.byID), len(log.byID), one.sessions, one.logs)
			}
			sessions.mu.Unlock()
			log.mu.Unlock()
		}
		if sessions.bytes != 0 || log.bytes != 0 || sessions.timer != nil || log.timer != nil {
			t.Errorf("left over: %d and %d bytes, timers %v and %v", sessions.bytes, log.bytes, sessions.timer, log.timer)
		}
	})
}

// TestTouchMovesTheTimer: the timer was set for a session that was used meanwhile.
func TestTouchMovesTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemorySessions(SessionLimits{Idle: 10 * time.Minute})
		if _, err := m.Create(t.Context(), Session{ID: "one"}); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			time.Sleep(9 * time.Minute)
			if err := m.Touch(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		m.mu.Lock()
		defer m.mu.Unlock()
		if len(m.byID) != 0 {
			t.Error("the session is still in memory")
		}
	})
}

func TestUnboundedIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, l := NewMemorySessions(SessionLimits{Idle: -1}), NewMemoryLog(LogLimits{Idle: -1})
		if _, err := m.Create(t.Context(), Session{ID: "one"}); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(t.Context(), "one", "stream", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1000 * time.Hour)
		if m.Len() != 1 || l.Len() != 1 {
			t.Errorf("%d sessions and %d logs, want 1 and 1", m.Len(), l.Len())
		}
	})
}

func TestSessionsTotalBytes(t *testing.T) {
	m := NewMemorySessions(SessionLimits{MaxTotalBytes: 100_000})
	defer m.Close()
	big := strings.Repeat("x", 9000)
	var err error
	for i := 0; err == nil && i < 100; i++ {
		_, err = m.Create(t.Context(), Session{ID: fmt.Sprint(i), Owner: big})
	}
	if !errors.Is(err, ErrFull) || m.Len() < 9 || m.bytes > 100_000 {
		t.Fatalf("%d sessions with %d bytes, then %v", m.Len(), m.bytes, err)
	}
	grown := Session{ID: "0", Version: 1, Owner: big + big}
	if _, err := m.Update(t.Context(), grown); !errors.Is(err, ErrFull) {
		t.Errorf("a record that grows where there is no place: %v", err)
	}
	grown.Owner = ""
	if _, err := m.Update(t.Context(), grown); err != nil {
		t.Errorf("a record that shrinks: %v", err)
	}
	if _, err := m.Create(t.Context(), Session{ID: "more"}); err != nil {
		t.Errorf("a session in the place that was freed: %v", err)
	}
}

// TestLogsTotal: what goes first is the log that was used longest ago, and the sum is right after any of it.
func TestLogsTotal(t *testing.T) {
	for _, limits := range []LogLimits{
		{MaxTotalBytes: 100_000, MaxBytes: 20_000},
		{MaxTotalBytes: 100_000, MaxBytes: -1},
		{MaxTotalBytes: 1, MaxBytes: 100_000},
		{MaxSessions: 5, MaxBytes: 20_000},
	} {
		m := NewMemoryLog(limits)
		last := map[string]string{}
		for i := range 500 {
			session := fmt.Sprint("session-", i/25)
			id, err := m.Append(t.Context(), session, "stream", make([]byte, 1000))
			if err != nil {
				t.Fatal(err)
			}
			last[session] = id
		}
		var sum int64
		for _, e := range m.byID {
			l := &e.record
			sum += perLog
			for _, one := range l.events {
				sum += one.cost()
			}
		}
		if sum != m.bytes || sum > 101_000 || m.Len() > 6 || m.Len() == 0 {
			t.Errorf("%+v: %d logs with %d bytes, counted as %d", limits, m.Len(), sum, m.bytes)
		}
		if _, _, err := m.Replay(t.Context(), "session-19", last["session-19"]); err != nil {
			t.Errorf("%+v: the newest event: %v", limits, err)
		}
		if _, _, err := m.Replay(t.Context(), "session-0", last["session-0"]); !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v: an event of the log used longest ago: %v", limits, err)
		}
		m.Close()
	}
}

// TestLogPressureSparesReaders: a log that somebody follows loses its events, not its readers.
func TestLogPressureSparesReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemoryLog(LogLimits{MaxBytes: 2000, MaxTotalBytes: 4000})
		old, err := m.Append(t.Context(), "followed", "stream", make([]byte, 1000))
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan string)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { // ends with ctx
			defer close(got)
			events, err := m.Follow(ctx, "followed", "stream", old)
			if err != nil {
				t.Error(err)
				return
			}
			for e, err := range events {
				if err != nil {
					return
				}
				got <- string(e.Data)
			}
		}()
		synctest.Wait()
		for i := range 10 {
			if _, err := m.Append(t.Context(), fmt.Sprint("other-", i), "stream", make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := m.Replay(t.Context(), "followed", old); !errors.Is(err, ErrGone) {
			t.Errorf("replay after an event that made room: %v", err)
		}
		if _, err := m.Append(t.Context(), "followed", "stream", []byte("new")); err != nil {
			t.Fatal(err)
		}
		if data := <-got; data != "new" {
			t.Errorf("followed to %q", data)
		}
		cancel()
		<-got
		if m.bytes > 4000 {
			t.Errorf("%d bytes", m.bytes)
		}
	})
}

// TestFollowLeavesNothing: readers of sessions in which nothing happens leave no log behind.
func TestFollowLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemoryLog(LogLimits{})
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 100 {
			events, err := m.Follow(ctx, fmt.Sprint("session-", i/2), "stream", "")
			if err != nil {
				t.Fatal(err)
			}
			go func() { // ends with ctx
				for _, err := range events {
					if err == nil {
						t.Error("an event of nobody's")
					}
				}
			}()
		}
		synctest.Wait()
		if m.Len() != 50 {
			t.Errorf("%d logs are waited for, want 50", m.Len())
		}
		cancel()
		synctest.Wait()
		if m.Len() != 0 || m.bytes != 0 {
			t.Errorf("%d logs with %d bytes are left", m.Len(), m.bytes)
		}
	})
}

// TestMemory looks at the heap itself: however much goes through, the limits are what is kept.
func TestMemory(t *testing.T) {
	const slack = 3 << 20
	log, bus := NewMemoryLog(LogLimits{}), NewMemoryBus(BusLimits{MaxQueuedBytes: 4 << 20})
	defer log.Close()
	defer bus.Close()
	sub, err := bus.Subscribe(t.Context(), "topic")
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	for i := range 10_000 {
		data := make([]byte, 10_000)
		if i%2 == 0 {
			data = data[:10] // the number of events is the limit, then their size
		}
		if _, err := log.Append(t.Context(), "session", fmt.Sprint("stream-", i), data); err != nil {
			t.Fatal(err)
		}
		if _, err := bus.Publish(t.Context(), "topic", data); err != nil {
			t.Fatal(err)
		}
	}
	if grown := heap() - before; grown > 8<<20+slack {
		t.Errorf("a log and a queue of 4 MiB each hold %d bytes", grown)
	}
	if err := log.Drop(t.Context(), "session"); err != nil {
		t.Fatal(err)
	}
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
	if left := heap() - before; left > slack {
		t.Errorf("%d bytes are left", left)
	}
	runtime.KeepAlive(sub)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions, log, bus := NewMemorySessions(SessionLimits{}), NewMemoryLog(LogLimits{}), NewMemoryBus(BusLimits{})
		if _, err := sessions.Create(t.Context(), Session{ID: "one"}); err != nil {
			t.Fatal(err)
		}
		events, err := log.Follow(t.Context(), "one", "stream", "")
		if err != nil {
			t.Fatal(err)
		}
		sub, err := bus.Subscribe(t.Context(), "a", "b")
		if err != nil {
			t.Fatal(err)
		}
		ends := make(chan error)
		go func() { // ends with the log
			for _, err := range events {
				ends <- err
			}
		}()
		go func() { // ends with the bus
			_, err := sub.Next(t.Context())
			ends <- err
		}()
		synctest.Wait()
		for _, c := range []interface{ Close() error }{sessions, log, bus, sessions, log, bus, sub} {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		errs := []error{<-ends, <-ends}
		_, err = sessions.Get(t.Context(), "one")
		errs = append(errs, err)
		_, err = log.Append(t.Context(), "one", "stream", nil)
		errs = append(errs, err, log.Drop(t.Context(), "one"))
		_, err = bus.Publish(t.Context(), "a", nil)
		errs = append(errs, err)
		_, err = bus.Subscribe(t.Context(), "a")
		errs = append(errs, err)
		for i, err := range errs {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("error %d: %v", i, err)
			}
		}
		if sessions.Len() != 0 || log.Len() != 0 || bus.Len() != 0 || len(bus.byTopic) != 0 {
			t.Errorf("left: %d, %d, %d", sessions.Len(), log.Len(), bus.Len())
		}
	})
}

// TestTwoReadersOneToken: of two messages that came before two readers began to wait, the first reader leaves word of the
// second.
func TestTwoReadersOneToken(t *testing.T) {
	bus := NewMemoryBus(BusLimits{})
	defer bus.Close()
	sub, err := bus.Subscribe(t.Context(), "topic")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := bus.Publish(t.Context(), "topic", nil); err != nil {
			t.Fatal(err)
		}
	}
	queue := sub.(*memorySubscription)
	for n := range 2 {
		select {
		case <-queue.ready:
		default:
			t.Fatalf("with %d messages left nobody would be woken", 2-n)
		}
		if _, ok, err := queue.take(); !ok || err != nil {
			t.Fatalf("message %d: %v, %v", n, ok, err)
		}
	}
}
