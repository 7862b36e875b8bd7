package seal_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/internal/seal"
	"github.com/rialto-mcp/rialto/internal/seal/sealtest"
)

func TestMemoryKeepsTheContract(t *testing.T) {
	sealtest.Stores{
		States:    func(*testing.T) seal.StateStore { return seal.NewMemoryStates(0, 0) },
		Consumers: func(*testing.T) seal.Consumer { return seal.NewMemoryNonces(0) },
		Within:    synctest.Test,
	}.Run(t)
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := seal.NewMemoryStates(3, 100)
		put := func(id string, size int, life time.Duration) error {
			return s.Put(t.Context(), id, make([]byte, size), time.Now().Add(life))
		}
		for i, step := range []struct {
			id   string
			size int
			full bool
		}{
			{"a", 50, false}, {"b", 51, true}, {"b", 50, false}, {"c", 1, true}, {"a", 20, false}, {"c", 30, false}, {"d", 0, true}, {"c", 31, true}, {"c", 29, false},
		} {
			if err := put(step.id, step.size, time.Minute); errors.Is(err, seal.ErrFull) != step.full {
				t.Errorf("step %d: %v, want full %t", i, err, step.full)
			}
		}
		if kept, _, _ := s.Get(t.Context(), "c"); len(kept) != 29 {
			t.Errorf("%d bytes kept, want those of the last put that went well", len(kept))
		}
		time.Sleep(time.Minute)
		if err := put("e", 100, time.Minute); err != nil {
			t.Errorf("after all has expired: %v", err)
		}

		n := seal.NewMemoryNonces(2)
		end := time.Now().Add(time.Minute)
		for _, c := range []struct {
			nonce string
			first bool
			err   error
		}{{"a", true, nil}, {"b", true, nil}, {"c", false, seal.ErrFull}, {"a", false, nil}} {
			if first, err := n.Consume(t.Context(), c.nonce, end); first != c.first || !errors.Is(err, c.err) {
				t.Errorf("nonce %s: %t, %v", c.nonce, first, err)
			}
		}
		time.Sleep(time.Minute)
		if first, err := n.Consume(t.Context(), "c", end.Add(time.Minute)); !first || err != nil {
			t.Errorf("after the others have expired: %t, %v", first, err)
		}
	})
}

// spy is a StateStore that shows what it holds.
type spy struct {
	held map[string][]byte
	gets int
	err  error
}

func (s *spy) Put(_ context.Context, id string, sealed []byte, _ time.Time) error {
	s.held[id] = bytes.Clone(sealed)
	return s.err
}

func (s *spy) Get(_ context.Context, id string) ([]byte, bool, error) {
	s.gets++
	sealed, ok := s.held[id]
	return bytes.Clone(sealed), ok, s.err
}

// id is that of the one state held.
func (s *spy) id(t *testing.T) string {
	t.Helper()
	if len(s.held) != 1 {
		t.Fatalf("the store holds %d states, want 1", len(s.held))
	}
	for id := range s.held {
		return id
	}
	return ""
}

func TestLargeStateMoves(t *testing.T) {
	store := &spy{held: map[string][]byte{}}
	s := sealer(t, seal.Options{Store: store, Ring: ring(t, 1), MaxBytes: 2000})
	mint(t, s, "small")
	if len(store.held) != 0 {
		t.Fatal("a small state went into the store")
	}
	large := strings.Repeat("state of a call ", 1000)
	token := mint(t, s, large)
	if len(token) > 400 {
		t.Errorf("the token of a stored state has %d characters", len(token))
	}
	if held := store.held[store.id(t)]; bytes.Contains(held, []byte("state of")) {
		t.Error("the store can read the state")
	}
	o, err := s.Open(t.Context(), token, binding, now)
	if err != nil || string(o.Payload) != large || o.Link != link || !o.Expiry.Equal(now.Add(seal.DefaultLife)) || len(o.Nonce) != 22 {
		t.Fatalf("opened as %.100v, %v", o, err)
	}
	gets := store.gets
	other := binding
	other.Principal = "another"
	refused(t, s, token, other, now, seal.ReasonPrincipal)
	refused(t, s, token, binding, now.Add(time.Hour), seal.ReasonExpired)
	another := "x"
	if token[100:101] == another {
		another = "y"
	}
	refused(t, s, token[:100]+another+token[101:], binding, now, seal.ReasonAltered)
	if store.gets != gets {
		t.Error("the store was asked about a token that must not be used")
	}
	refused(t, sealer(t, seal.Options{Ring: ring(t, 1)}), token, binding, now, seal.ReasonGone)
}

func TestStoredStateIsSealed(t *testing.T) {
	store := &spy{held: map[string][]byte{}}
	s := sealer(t, seal.Options{Store: store, Ring: ring(t, 1), MaxBytes: 500})
	token := mint(t, s, strings.Repeat("x", 1000))
	id := store.id(t)
	sound := store.held[id]
	for i := range len(sound) {
		store.held[id] = slices.Clone(sound)
		store.held[id][i] ^= 1
		if _, err := s.Open(t.Context(), token, binding, now); !errors.Is(err, seal.ErrInvalid) {
			t.Fatalf("opened with byte %d of the stored state flipped: %v", i, err)
		}
		store.held[id] = sound[:i]
		if _, err := s.Open(t.Context(), token, binding, now); !errors.Is(err, seal.ErrInvalid) {
			t.Fatalf("opened with the stored state cut to %d bytes: %v", i, err)
		}
	}

	theirs := &spy{held: map[string][]byte{}} // the state of another call of the same caller
	mint(t, sealer(t, seal.Options{Store: theirs, Ring: ring(t, 1), MaxBytes: 500}), strings.Repeat("y", 1000))
	store.held[id] = theirs.held[theirs.id(t)]
	refused(t, s, token, binding, now, seal.ReasonAltered)

	delete(store.held, id)
	refused(t, s, token, binding, now, seal.ReasonGone)
}

func TestStoreFails(t *testing.T) {
	down := errors.New("connection refused")
	store := &spy{held: map[string][]byte{}}
	s := sealer(t, seal.Options{Store: store, MaxBytes: 500, MaxStored: 2000})
	token := mint(t, s, strings.Repeat("x", 1000))
	store.err = down
	if _, err := s.Open(t.Context(), token, binding, now); !errors.Is(err, down) || errors.Is(err, seal.ErrInvalid) {
		t.Errorf("Open with the store down: %v; that is not the peer's fault", err)
	}
	if _, err := s.Seal(t.Context(), binding, link, make([]byte, 1000), now, 0); !errors.Is(err, down) {
		t.Errorf("Seal with the store down: %v", err)
	}
	held := len(store.held)
	_, err := s.Seal(t.Context(), binding, link, make([]byte, 3000), now, 0)
	var large *seal.TooLargeError
	if !errors.As(err, &large) || !large.Stored || large.Limit != 2000 || len(store.held) != held {
		t.Errorf("more than the store takes: %v, %d states held", err, len(store.held))
	}
}

func TestUse(t *testing.T) {
	s, nonces := sealer(t, seal.Options{}), seal.NewMemoryNonces(2)
	life := time.Hour
	open := func() seal.Opened {
		token, err := s.Seal(t.Context(), binding, link, nil, time.Now(), life)
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Open(t.Context(), token, binding, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	one, two := open(), open()
	if err := one.Use(t.Context(), nonces); err != nil {
		t.Fatal(err)
	}
	if err := one.Use(t.Context(), nonces); !errors.Is(err, seal.ErrInvalid) || seal.ReasonOf(err) != seal.ReasonUsed {
		t.Errorf("second use: %v", err)
	}
	if err := two.Use(t.Context(), nonces); err != nil {
		t.Errorf("another token of the same chain: %v", err)
	}
	if err := open().Use(t.Context(), nonces); !errors.Is(err, seal.ErrFull) || errors.Is(err, seal.ErrInvalid) {
		t.Errorf("with the store full: %v; nobody knows, so it is no refusal", err)
	}
}
