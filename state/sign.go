package state

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// SignOptions configures [Sign].
type SignOptions struct {
	// Keys are the secrets all replicas share, of at least 32 random bytes each. The first signs, all are accepted, so
	// that a key can be changed without a pause: add the new one at the end everywhere, then move it to the front, then
	// take the old one out.
	Keys [][]byte

	// Life is how long a message may be under way, differences between the clocks of the replicas included. Zero means
	// 10 seconds.
	Life time.Duration

	// OnRefused, if not nil, is told of each message that was not passed on: ErrForged, ErrStale, ErrRepeated, or
	// ErrFull. It may be called concurrently.
	OnRefused func(topic string, why error)
}

// Why a signed bus passes a message over.
var (
	ErrForged   = errors.New("not signed with a key of ours, or for another topic")
	ErrStale    = errors.New("too long under way, or the clocks of the replicas differ")
	ErrRepeated = errors.New("came before")
)

// Sign returns a bus for replicas that share a secret but not their bus: whoever else can write to that can neither forge
// a message, nor change one or its topic, nor send one again. Messages that were tampered with are passed over, as if
// they had been lost. Whoever can read the bus reads the messages: nothing is encrypted. A message grows by 57 bytes.
//
// Each subscription remembers what came within twice Life, up to 131,072 messages, and takes no more beyond that, since
// it could not tell repeated ones.
func Sign(bus Bus, opts SignOptions) (Bus, error) {
	const shortest = 32
	if len(opts.Keys) == 0 || slices.ContainsFunc(opts.Keys, func(k []byte) bool { return len(k) < shortest }) {
		return nil, fmt.Errorf("sign a bus: give at least one key, and none shorter than %d bytes", shortest)
	}
	s := &signedBus{bus: bus, life: opts.Life, refused: opts.OnRefused}
	for _, key := range opts.Keys {
		s.keys = append(s.keys, slices.Clone(key))
	}
	if s.life <= 0 {
		s.life = 10 * time.Second
	}
	if s.refused == nil {
		s.refused = func(string, error) {}
	}
	return s, nil
}

type signedBus struct {
	bus     Bus
	keys    [][]byte
	life    time.Duration
	refused func(topic string, why error)
}

// A signed message is a version, the time it was sent in Unix milliseconds, a nonce, the MAC, and the data.
const (
	signedVersion = 1
	atTime        = 1
	atNonce       = atTime + 8
	atMAC         = atNonce + 16
	atData        = atMAC + sha256.Size
)

type nonce [atMAC - atNonce]byte

// mac signs everything: the topic by its length, so that no part of it can pass for data.
func mac(key []byte, topic string, head, data []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(binary.BigEndian.AppendUint64([]byte("rialto bus message\n"), uint64(len(topic))))
	h.Write([]byte(topic))
	h.Write(head)
	h.Write(data)
	return h.Sum(nil)
}

func (s *signedBus) Publish(ctx context.Context, topic string, data []byte) (int, error) {
	out := make([]byte, atMAC, atData+len(data))
	out[0] = signedVersion
	binary.BigEndian.PutUint64(out[atTime:], uint64(time.Now().UnixMilli()))
	if _, err := rand.Read(out[atNonce:]); err != nil {
		return 0, failed("publish", err)
	}
	out = append(out, mac(s.keys[0], topic, out, data)...)
	return s.bus.Publish(ctx, topic, append(out, data...))
}

func (s *signedBus) Subscribe(ctx context.Context, topics ...string) (Subscription, error) {
	sub, err := s.bus.Subscribe(ctx, topics...)
	if err != nil {
		return nil, err
	}
	return &signedSubscription{Subscription: sub, bus: s, topics: slices.Clone(topics)}, nil
}

// open checks a message and returns its nonce. The topic is one that was asked for, whatever the bus says.
func (s *signedBus) open(m Message, topics []string) (nonce, error) {
	if len(m.Data) < atData || m.Data[0] != signedVersion || !slices.Contains(topics, m.Topic) {
		return nonce{}, ErrForged
	}
	given, data := m.Data[atMAC:atData], m.Data[atData:]
	if !slices.ContainsFunc(s.keys, func(key []byte) bool { return hmac.Equal(given, mac(key, m.Topic, m.Data[:atMAC], data)) }) {
		return nonce{}, ErrForged
	}
	age := time.Since(time.UnixMilli(int64(binary.BigEndian.Uint64(m.Data[atTime:]))))
	if age > s.life || age < -s.life {
		return nonce{}, ErrStale
	}
	return nonce(m.Data[atNonce:atMAC]), nil
}

type signedSubscription struct {
	Subscription
	bus    *signedBus
	topics []string

	mu      sync.Mutex
	seen    map[nonce]struct{} // since the time below
	before  map[nonce]struct{} // in the time before that
	since   time.Time
	skipped int // messages lost before ones that were refused
}

func (s *signedSubscription) Next(ctx context.Context) (Message, error) {
	for {
		m, err := s.Subscription.Next(ctx)
		if err != nil {
			return Message{}, err
		}
		id, err := s.bus.open(m, s.topics)
		if err == nil {
			err = s.first(id)
		}
		if err != nil {
			s.mu.Lock()
			s.skipped += m.Lost
			s.mu.Unlock()
			s.bus.refused(m.Topic, err)
			continue
		}
		s.mu.Lock()
		m.Lost, s.skipped = m.Lost+s.skipped, 0
		s.mu.Unlock()
		m.Data = m.Data[atData:]
		return m, nil
	}
}

// most bounds the messages remembered; the two maps hold half each.
const most = 131072

// first remembers a message. One is remembered for at least as long as it would not be stale: twice Life, since the clock
// of who sent it may be ahead by one.
func (s *signedSubscription) first(id nonce) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.seen == nil || now.Sub(s.since) > 2*s.bus.life {
		s.before, s.seen, s.since = s.seen, make(map[nonce]struct{}), now
	}
	_, now := s.seen[id]
	_, before := s.before[id]
	switch {
	case now || before:
		return ErrRepeated
	case len(s.seen) >= most/2:
		return ErrFull
	}
	s.seen[id] = struct{}{}
	return nil
}
