package state

import (
	"bytes"
	"context"
	"slices"
	"sync"
)

// MemoryBus is a [Bus] in the memory of one process, for servers in that process that share it. It starts no goroutine.
type MemoryBus struct {
	limits BusLimits

	mu      sync.Mutex
	byTopic map[string]map[*memorySubscription]struct{}
	count   int // of subscriptions
	closed  bool
}

var _ Bus = (*MemoryBus)(nil)

// NewMemoryBus returns a bus that nobody is subscribed to. Close releases it.
func NewMemoryBus(limits BusLimits) *MemoryBus {
	return &MemoryBus{limits: limits.withDefaults(), byTopic: make(map[string]map[*memorySubscription]struct{})}
}

const perMessage = 128 // what a message costs beside its data

func cost(m Message) int64 { return perMessage + int64(len(m.Data)) }

// Publish hands a message to those subscribed to its topic.
func (b *MemoryBus) Publish(ctx context.Context, topic string, data []byte) (int, error) {
	const operation = "publish"
	m := Message{Topic: topic, Data: data}
	switch err := ended(ctx); {
	case err != nil:
		return 0, failed(operation, err)
	case !validName(topic):
		return 0, failed(operation, ErrInvalid)
	case over(cost(m), b.limits.MaxQueuedBytes):
		return 0, failed(operation, ErrTooLarge)
	}
	m.Data = bytes.Clone(data)
	b.mu.Lock()
	defer b.mu.Unlock() // held to the end, so that all subscriptions of a topic see one order
	if b.closed {
		return 0, failed(operation, ErrClosed)
	}
	for s := range b.byTopic[topic] {
		s.put(m)
	}
	return len(b.byTopic[topic]), nil
}

// Subscribe begins to take the messages of some topics.
func (b *MemoryBus) Subscribe(ctx context.Context, topics ...string) (Subscription, error) {
	const operation = "subscribe"
	if err := ended(ctx); err != nil {
		return nil, failed(operation, err)
	}
	if len(topics) == 0 || slices.ContainsFunc(topics, func(t string) bool { return !validName(t) }) {
		return nil, failed(operation, ErrInvalid)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return nil, failed(operation, ErrClosed)
	case over(b.count+1, b.limits.MaxSubscriptions):
		return nil, failed(operation, ErrFull)
	}
	s := &memorySubscription{bus: b, topics: slices.Clone(topics), ready: make(chan struct{}, 1), done: make(chan struct{})}
	for _, topic := range topics {
		if b.byTopic[topic] == nil {
			b.byTopic[topic] = make(map[*memorySubscription]struct{})
		}
		b.byTopic[topic][s] = struct{}{}
	}
	b.count++
	return s, nil
}

// Len returns how many subscriptions there are.
func (b *MemoryBus) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// Close ends all subscriptions. Every method fails with [ErrClosed] from then on. It may be called twice.
func (b *MemoryBus) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, subscribed := range b.byTopic {
		for s := range subscribed {
			b.remove(s)
		}
	}
	return nil
}

// remove ends a subscription, once; b.mu is held.
func (b *MemoryBus) remove(s *memorySubscription) {
	if !s.end() {
		return
	}
	b.count--
	for _, topic := range s.topics {
		delete(b.byTopic[topic], s)
		if len(b.byTopic[topic]) == 0 {
			delete(b.byTopic, topic)
		}
	}
}

// memorySubscription is one queue. Its lock is taken after that of the bus.
type memorySubscription struct {
	bus    *MemoryBus
	topics []string
	ready  chan struct{} // holds a token while there may be something in the queue
	done   chan struct{} // closed with the subscription

	mu    sync.Mutex
	queue []Message
	bytes int64
	lost  int // before queue[0]
	ended bool
}

// put adds a message; the oldest make room.
func (s *memorySubscription) put(m Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, m)
	s.bytes += cost(m)
	for over(len(s.queue), s.bus.limits.MaxQueued) || over(s.bytes, s.bus.limits.MaxQueuedBytes) {
		s.shift()
		s.lost++
	}
	s.signal()
}

// shift takes the oldest message out; s.mu is held.
func (s *memorySubscription) shift() Message {
	m := s.queue[0]
	s.queue[0] = Message{} // the array behind it lives on
	s.queue = s.queue[1:]
	if len(s.queue) == 0 {
		s.queue = nil
	}
	s.bytes -= cost(m)
	return m
}

func (s *memorySubscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// take returns the next message, if there is one.
func (s *memorySubscription) take() (Message, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return Message{}, false, ErrClosed
	case len(s.queue) == 0:
		return Message{}, false, nil
	}
	m := s.shift()
	m.Lost, s.lost = s.lost, 0
	if len(s.queue) > 0 {
		s.signal() // for another caller
	}
	return m, true, nil
}

// Next waits for the next message.
func (s *memorySubscription) Next(ctx context.Context) (Message, error) {
	for {
		if err := ended(ctx); err != nil {
			return Message{}, failed("next message", err)
		}
		m, ok, err := s.take()
		if err != nil {
			return Message{}, failed("next message", err)
		}
		if ok {
			return m, nil
		}
		select {
		case <-s.ready:
		case <-s.done:
		case <-ctx.Done():
		}
	}
}

// Close ends the subscription.
func (s *memorySubscription) Close() error {
	s.bus.mu.Lock()
	defer s.bus.mu.Unlock()
	s.bus.remove(s)
	return nil
}

// end marks the subscription as over and forgets its queue; false when it was over already.
func (s *memorySubscription) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return false
	}
	s.ended, s.queue, s.bytes = true, nil, 0
	close(s.done)
	return true
}
