package state_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/state"
	"github.com/rialto-mcp/rialto/state/statetest"
)

var (
	keyOne = bytes.Repeat([]byte{1}, 32)
	keyTwo = bytes.Repeat([]byte{2}, 32)
)

func sign(t *testing.T, bus state.Bus, opts state.SignOptions) state.Bus {
	t.Helper()
	signed, err := state.Sign(bus, opts)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestSignedBus(t *testing.T) {
	statetest.Bus(t, bubble, func(t *testing.T, limits state.BusLimits) (a, b state.Bus) {
		m := state.NewMemoryBus(limits)
		t.Cleanup(func() { m.Close() })
		// In the middle of a change of keys: each accepts what the other signs.
		return sign(t, m, state.SignOptions{Keys: [][]byte{keyOne, keyTwo}, Life: time.Hour}),
			sign(t, m, state.SignOptions{Keys: [][]byte{keyTwo, keyOne}, Life: time.Hour})
	})
}

// wire is a bus, seen from beneath the signatures.
type wire struct {
	t       *testing.T
	raw     *state.MemoryBus
	in      state.Subscription // signed, to the topics good and evil, which are of one length
	refused []error
}

func newWire(t *testing.T, limits state.BusLimits) *wire {
	w := &wire{t: t, raw: state.NewMemoryBus(limits)}
	t.Cleanup(func() { w.raw.Close() })
	b := sign(t, w.raw, state.SignOptions{Keys: [][]byte{keyOne}, OnRefused: func(_ string, why error) { w.refused = append(w.refused, why) }})
	in, err := b.Subscribe(t.Context(), "good", "evil")
	if err != nil {
		t.Fatal(err)
	}
	w.in = in
	return w
}

// captured signs a message to a topic and returns it as it travels. It is on its way to w.in too.
func (w *wire) captured(key []byte, topic, data string) []byte {
	w.t.Helper()
	tap, err := w.raw.Subscribe(w.t.Context(), topic)
	if err != nil {
		w.t.Fatal(err)
	}
	defer tap.Close()
	if _, err := sign(w.t, w.raw, state.SignOptions{Keys: [][]byte{key}}).Publish(w.t.Context(), topic, []byte(data)); err != nil {
		w.t.Fatal(err)
	}
	m, err := tap.Next(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return slices.Clone(m.Data)
}

func (w *wire) send(topic string, raw []byte) {
	w.t.Helper()
	if _, err := w.raw.Publish(w.t.Context(), topic, raw); err != nil {
		w.t.Fatal(err)
	}
}

// passes reads what is there until the bus is silent.
func (w *wire) passes() (data []string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Millisecond)
	defer cancel()
	for {
		m, err := w.in.Next(ctx)
		if err != nil {
			return data
		}
		data = append(data, m.Topic+" "+string(m.Data))
	}
}

func (w *wire) check(what string, passed []string, refused ...error) {
	w.t.Helper()
	if got := w.passes(); !slices.Equal(got, passed) {
		w.t.Errorf("%s: %q came through, want %q", what, got, passed)
	}
	if !slices.EqualFunc(w.refused, refused, errors.Is) {
		w.t.Errorf("%s: refused with %v, want %v", what, w.refused, refused)
	}
	w.refused = nil
}

// TestC098ForwardedMessages: a captured message is of no use with anything changed, to another topic, again, or later. It
// was seen to fail with the topic left out of the MAC, and with nothing remembered.
func TestC098ForwardedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, state.BusLimits{})
		message := w.captured(keyOne, "good", "call")
		w.check("as it was sent", []string{"good call"})
		w.send("good", message)
		w.check("again", nil, state.ErrRepeated)
		w.send("evil", message)
		w.check("to another topic", nil, state.ErrForged)
		for i := range message {
			changed := slices.Clone(message)
			changed[i] ^= 1
			w.send("good", changed)
			w.send("good", message[:i])
			w.check("changed or cut", nil, state.ErrForged, state.ErrForged)
		}
		w.send("good", append(slices.Clone(message), 'x'))
		w.check("longer", nil, state.ErrForged)
		w.captured(keyTwo, "good", "call")
		w.check("with a key of somebody else's", nil, state.ErrForged)
		time.Sleep(11 * time.Second)
		w.send("good", message)
		w.check("later", nil, state.ErrStale)
	})
}

// TestSignedRepeats: a message is remembered as long as it would pass, across the turns of the memory.
func TestSignedRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, state.BusLimits{})
		w.captured(keyOne, "good", "first") // the memory begins here
		w.check("the first", []string{"good first"})
		for range 10 {
			time.Sleep(13 * time.Second)
			message := w.captured(keyOne, "good", "call")
			w.check("a new one", []string{"good call"})
			for range 4 {
				time.Sleep(2 * time.Second)
				w.send("good", message)
				w.check("again", nil, state.ErrRepeated)
			}
		}
	})
}

// TestSignedClocks: the clocks of replicas may differ by as much as a message lives.
func TestSignedClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWire(t, state.BusLimits{})
		message := w.captured(keyOne, "good", "late")
		w.passes()
		if err := w.in.Close(); err != nil {
			t.Fatal(err)
		}
		fresh, err := sign(t, w.raw, state.SignOptions{Keys: [][]byte{keyOne}}).Subscribe(t.Context(), "good")
		if err != nil {
			t.Fatal(err)
		}
		defer fresh.Close()
		time.Sleep(9 * time.Second)
		w.send("good", message)
		if m, err := fresh.Next(t.Context()); err != nil || string(m.Data) != "late" {
			t.Errorf("a message under way for 9 s: %q, %v", m.Data, err)
		}
	})
}

// TestSignedLost: what was lost before a message that is refused is told with the next.
func TestSignedLost(t *testing.T) {
	w := newWire(t, state.BusLimits{MaxQueued: 3})
	for range 5 {
		w.send("good", []byte("forged"))
	}
	w.captured(keyOne, "good", "call")
	m, err := w.in.Next(t.Context())
	if err != nil || string(m.Data) != "call" || m.Lost != 3 {
		t.Errorf("got %q with %d lost, %v", m.Data, m.Lost, err)
	}
}

// TestSignedFull: a subscription that cannot remember another message takes none, and later goes on.
func TestSignedFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const half = 131072 / 2
		w := newWire(t, state.BusLimits{})
		out := sign(t, w.raw, state.SignOptions{Keys: [][]byte{keyOne}})
		for range half {
			if _, err := out.Publish(t.Context(), "good", nil); err != nil {
				t.Fatal(err)
			}
			if _, err := w.in.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		w.captured(keyOne, "good", "one more")
		w.check("one more than can be remembered", nil, state.ErrFull)
		time.Sleep(21 * time.Second)
		w.captured(keyOne, "good", "later")
		w.check("later", []string{"good later"})
	})
}

func TestSignKeys(t *testing.T) {
	for _, keys := range [][][]byte{nil, {}, {keyOne, keyTwo[:31]}, {nil}} {
		if _, err := state.Sign(state.NewMemoryBus(state.BusLimits{}), state.SignOptions{Keys: keys}); err == nil {
			t.Errorf("%d keys were accepted", len(keys))
		}
	}
}

// FuzzSigned: nothing passes that was not signed.
func FuzzSigned(f *testing.F) {
	raw := state.NewMemoryBus(state.BusLimits{})
	defer raw.Close()
	refused := 0
	b, err := state.Sign(raw, state.SignOptions{Keys: [][]byte{keyOne}, OnRefused: func(string, error) { refused++ }})
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(make([]byte, 56))
	f.Add(append([]byte{1}, make([]byte, 80)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := refused
		sub, err := b.Subscribe(t.Context(), "good")
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		if _, err := raw.Publish(t.Context(), "good", data); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Publish(t.Context(), "good", []byte("mark")); err != nil {
			t.Fatal(err)
		}
		m, err := sub.Next(t.Context())
		if err != nil || string(m.Data) != "mark" || refused != before+1 {
			t.Errorf("%q, %v, %d refused", m.Data, err, refused-before)
		}
	})
}
