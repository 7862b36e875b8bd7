package manager

import (
	"sync"
)

// Event is news of one server: of its state, or of its lists.
type Event struct {
	Server string
	Status Status // where it stands now; zero when Lists says what has changed
	Lists  Kinds  // the lists that are different now; zero for a change of state
}

// OnEvent calls f with the news of all servers, in order, one at a time, on a goroutine of its own, until stop is called or
// the manager is closed. A listener that takes its time holds up nobody else; of one that is more than 1,000 events behind,
// the oldest are dropped. stop does not wait for a call of f that is under way, and may be called twice and by f. Close does
// wait: f must not call it, nor wait for whoever does.
func (m *Manager) OnEvent(f func(Event)) (stop func()) { return m.hearing.add(f) }

// OnToolsChange calls f after the tools of any server have become different from what they were. What only looks like a
// change, a reconnect with the same tools or the same in another order say, is none. Calls are made one at a time; news that
// comes meanwhile makes one more. stop, and what f must not do, are those of OnEvent.
func (m *Manager) OnToolsChange(f func()) (stop func()) {
	return m.hearing.join(&listener{
		wants: func(e Event) bool { return e.Lists&Tools != 0 }, merge: true, f: func(Event) { f() }, wake: make(chan struct{}, 1),
	})
}

// hearing are those who want to hear of events.
type hearing struct {
	mu        sync.Mutex
	listeners []*listener
	over      bool
	running   sync.WaitGroup
}

// listener is one of them.
type listener struct {
	f     func(Event)
	wants func(Event) bool
	merge bool // one event stands for all that wait

	mu    sync.Mutex
	queue []Event
	done  bool
	wake  chan struct{} // of one place
}

const mostEvents = 1000

func (h *hearing) add(f func(Event)) (stop func()) {
	return h.join(&listener{f: f, wants: func(Event) bool { return true }, wake: make(chan struct{}, 1)})
}

func (h *hearing) join(l *listener) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return func() {}
	}
	h.listeners = append(h.listeners, l)
	h.running.Go(l.run) // ends with stop or close, which waits
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		for i, other := range h.listeners {
			if other == l {
				h.listeners = append(h.listeners[:i:i], h.listeners[i+1:]...)
			}
		}
		l.end()
	}
}

// tell hands an event to all. It does not wait for them.
func (h *hearing) tell(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range h.listeners {
		if l.wants(e) {
			l.put(e)
		}
	}
}

func (h *hearing) close() {
	h.mu.Lock()
	h.over = true
	for _, l := range h.listeners {
		l.end()
	}
	h.listeners = nil
	h.mu.Unlock()
	h.running.Wait()
}

func (l *listener) put(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.merge && len(l.queue) > 0 {
		return
	}
	if len(l.queue) == mostEvents {
		l.queue = l.queue[1:]
	}
	l.queue = append(l.queue, e)
	l.ring()
}

// ring wakes the goroutine; l.mu is held.
func (l *listener) ring() {
	select {
	case l.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// end drops what waits.
func (l *listener) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done, l.queue = true, nil
	l.ring()
}

func (l *listener) run() {
	for range l.wake {
		for {
			l.mu.Lock()
			if l.done {
				l.mu.Unlock()
				return
			}
			if len(l.queue) == 0 {
				l.mu.Unlock()
				break
			}
			e := l.queue[0]
			l.queue = l.queue[1:]
			l.mu.Unlock()
			l.f(e)
		}
	}
}
