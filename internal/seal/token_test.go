package seal_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rialto-mcp/rialto/internal/seal"
)

var (
	now     = time.UnixMilli(1_790_000_000_123)
	binding = seal.Binding{Principal: "4:issu3:sub0:", Method: "tools/call", Arguments: seal.Digest{1, 2, 3}}
	link    = seal.Link{Chain: seal.ChainID{9, 8, 7}, Round: 3}
)

func keyOf(b byte) []byte {
	key := bytes.Repeat([]byte{b}, seal.KeySize)
	key[0] = ^b
	return key
}

func ring(t testing.TB, keys ...byte) *seal.Ring {
	t.Helper()
	var raw [][]byte
	for _, k := range keys {
		raw = append(raw, keyOf(k))
	}
	r, err := seal.NewRing(raw...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sealer(t testing.TB, o seal.Options) *seal.Sealer {
	t.Helper()
	if o.Server == "" {
		o.Server = "weather"
	}
	s, err := seal.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mint(t testing.TB, s *seal.Sealer, payload string) string {
	t.Helper()
	token, err := s.Seal(t.Context(), binding, link, []byte(payload), now, 0)
	if err != nil {
		t.Fatalf("Seal: %v", err)
	}
	return token
}

// refused demands that a token does not open, for the reason given and with nothing said about it.
func refused(t testing.TB, s *seal.Sealer, token string, b seal.Binding, at time.Time, want seal.Reason) {
	t.Helper()
	o, err := s.Open(t.Context(), token, b, at)
	if !errors.Is(err, seal.ErrInvalid) || err.Error() != seal.ErrInvalid.Error() {
		t.Fatalf("Open answers %v, want the text of ErrInvalid", err)
	}
	if got := seal.ReasonOf(fmt.Errorf("wrapped: %w", err)); got != want {
		t.Errorf("refused for %q, want %q", got, want)
	}
	if o.Payload != nil || o.Nonce != "" || o.Link != (seal.Link{}) {
		t.Errorf("a refusal hands over %+v", o)
	}
}

func TestTokenComesBack(t *testing.T) {
	s := sealer(t, seal.Options{})
	for _, payload := range []string{"", "x", strings.Repeat("state \x00 é", 1000)} {
		token := mint(t, s, payload)
		if other := mint(t, s, payload); other == token {
			t.Error("two tokens are the same")
		}
		if strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || !strings.HasPrefix(token, "rs1.") {
			t.Errorf("token %q is not base64url with the prefix", token)
		}
		o, err := s.Open(t.Context(), token, binding, now.Add(seal.DefaultLife-time.Millisecond))
		if err != nil {
			t.Fatal(err, seal.ReasonOf(err))
		}
		if string(o.Payload) != payload || o.Link != link || len(o.Nonce) != 22 || !o.Expiry.Equal(now.Add(seal.DefaultLife)) {
			t.Errorf("opened as %+v", o)
		}
		if again, err := s.Open(t.Context(), token, binding, now); err != nil || again.Nonce != o.Nonce {
			t.Errorf("opened again with nonce %q (%v), want %q", again.Nonce, err, o.Nonce)
		}
	}
}

func TestTokenHides(t *testing.T) {
	s := sealer(t, seal.Options{})
	short, long := mint(t, s, "secret"), mint(t, s, "secret")
	if short[40:] == long[40:] {
		t.Error("the sealed content of equal payloads is equal")
	}
	other := binding
	other.Principal = strings.Repeat("a very long principal", 100)
	token, err := s.Seal(t.Context(), other, link, []byte("secret"), now, 0)
	if err != nil || len(token) != len(short) {
		t.Errorf("a token of another principal has %d characters (%v), want %d whoever it is for", len(token), err, len(short))
	}
}

func TestEveryByteFlipped(t *testing.T) {
	s := sealer(t, seal.Options{})
	token := mint(t, s, "the state of a call")
	for i := range len(token) {
		for bit := range 8 {
			bent := []byte(token)
			bent[i] ^= 1 << bit
			if o, err := s.Open(t.Context(), string(bent), binding, now); !errors.Is(err, seal.ErrInvalid) {
				t.Fatalf("opened with bit %d of byte %d flipped: %+v, %v", bit, i, o, err)
			}
		}
	}
}

// TestOtherSpellings holds that there is one way to write a token: whatever is added to it or left out makes another.
func TestOtherSpellings(t *testing.T) {
	s := sealer(t, seal.Options{})
	for _, payload := range []string{"a", "ab", "abc"} { // every number of spare bits at the end
		token := mint(t, s, payload)
		for i := range len(token) {
			if _, err := s.Open(t.Context(), token[:i], binding, now); !errors.Is(err, seal.ErrInvalid) {
				t.Fatalf("opened when cut to %d of %d characters: %v", i, len(token), err)
			}
		}
		const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
		for _, last := range alphabet {
			if bent := token[:len(token)-1] + string(last); bent != token {
				if _, err := s.Open(t.Context(), bent, binding, now); !errors.Is(err, seal.ErrInvalid) {
					t.Fatalf("opened with another last character: %v", err)
				}
			}
		}
		for _, bent := range []string{
			token + "=", token + "==", token + "A", token + "AAAA", token + "\n", token + "\r\n", " " + token, token[:30] + "\n" + token[30:],
			strings.Replace(token, "rs1.", "rs2.", 1), strings.Replace(token, "rs1.", "RS1.", 1), token[len("rs1."):], "rs1.", "",
		} {
			_, err := s.Open(t.Context(), bent, binding, now)
			if reason := seal.ReasonOf(err); reason != seal.ReasonMalformed && reason != seal.ReasonAltered {
				t.Errorf("%q: %v for %q", bent, err, reason)
			}
		}
	}
}

func TestTokenIsBound(t *testing.T) {
	s := sealer(t, seal.Options{Ring: ring(t, 1)})
	token := mint(t, s, "state")
	for _, c := range []struct {
		name string
		bend func(*seal.Binding)
		want seal.Reason
	}{
		{"another principal", func(b *seal.Binding) { b.Principal = "4:issu3:sub1:x" }, seal.ReasonPrincipal},
		{"nobody", func(b *seal.Binding) { b.Principal = "" }, seal.ReasonPrincipal},
		{"another method", func(b *seal.Binding) { b.Method = "prompts/get" }, seal.ReasonMethod},
		{"other arguments", func(b *seal.Binding) { b.Arguments[31] ^= 1 }, seal.ReasonArguments},
		{"names exchanged", func(b *seal.Binding) { b.Principal, b.Method = b.Method, b.Principal }, seal.ReasonPrincipal},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := binding
			c.bend(&b)
			refused(t, s, token, b, now, c.want)
		})
	}
	refused(t, sealer(t, seal.Options{Ring: ring(t, 1), Server: "another"}), token, binding, now, seal.ReasonServer)
	if _, err := sealer(t, seal.Options{Ring: ring(t, 1)}).Open(t.Context(), token, binding, now); err != nil {
		t.Errorf("a replica with the same key and name refuses: %v, %s", err, seal.ReasonOf(err))
	}
}

func TestTokenExpires(t *testing.T) {
	s := sealer(t, seal.Options{})
	for _, life := range []time.Duration{time.Millisecond, time.Second, time.Hour} {
		token, err := s.Seal(t.Context(), binding, link, nil, now, life)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Open(t.Context(), token, binding, now.Add(life-time.Millisecond)); err != nil {
			t.Errorf("life %v: refused before its end: %v", life, err)
		}
		refused(t, s, token, binding, now.Add(life), seal.ReasonExpired)
		refused(t, s, token, binding, now.Add(100*365*24*time.Hour), seal.ReasonExpired)
	}
}

func TestRotation(t *testing.T) {
	old := sealer(t, seal.Options{Ring: ring(t, 1)})
	both := sealer(t, seal.Options{Ring: ring(t, 2, 1)})
	fresh := sealer(t, seal.Options{Ring: ring(t, 2)})
	ofOld, ofBoth := mint(t, old, "old"), mint(t, both, "new")
	for _, c := range []struct {
		name  string
		s     *seal.Sealer
		token string
		opens bool
	}{
		{"old key in the ring", both, ofOld, true},
		{"newest key seals", fresh, ofBoth, true},
		{"newest key not known yet", old, ofBoth, false},
		{"old key dropped", fresh, ofOld, false},
		{"random key", sealer(t, seal.Options{}), ofOld, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !c.opens {
				refused(t, c.s, c.token, binding, now, seal.ReasonKey)
			} else if _, err := c.s.Open(t.Context(), c.token, binding, now); err != nil {
				t.Errorf("refused: %s", seal.ReasonOf(err))
			}
		})
	}
}

func TestRing(t *testing.T) {
	for _, c := range []struct {
		name string
		keys [][]byte
		want string
	}{
		{"short", [][]byte{keyOf(1), keyOf(2)[:31]}, "key 2 of the ring has 31 bytes"},
		{"long", [][]byte{append(keyOf(1), 0)}, "33 bytes"},
		{"empty", [][]byte{nil}, "0 bytes"},
		{"zeros", [][]byte{make([]byte, 32)}, "no secret"},
		{"twice", [][]byte{keyOf(1), keyOf(2), keyOf(1)}, "keys 1 and 3"},
		{"many", make([][]byte, 65), "at most 64"},
	} {
		if _, err := seal.NewRing(c.keys...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one about %q", c.name, err, c.want)
		}
	}
	r := ring(t, 7, 8)
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(form, r); got != "ring of 2 keys" {
			t.Errorf("%s prints %q", form, got)
		}
	}
}

func TestLimit(t *testing.T) {
	s := sealer(t, seal.Options{MaxBytes: 1000})
	fits := 0
	for n := range 1000 {
		token, err := s.Seal(t.Context(), binding, link, make([]byte, n), now, 0)
		var large *seal.TooLargeError
		switch {
		case err == nil && (len(token) > 1000 || fits < n):
			t.Fatalf("%d bytes of payload make a token of %d", n, len(token))
		case err == nil:
			fits = n + 1
		case !errors.As(err, &large) || large.Size <= 1000 || large.Limit != 1000 || !strings.Contains(err.Error(), "state store"):
			t.Fatalf("%d bytes of payload: %v", n, err)
		}
	}
	if fits < 500 || fits == 1000 {
		t.Errorf("%d bytes fit into 1000", fits-1)
	}
	open := sealer(t, seal.Options{Ring: ring(t, 1), MaxBytes: -1})
	token := mint(t, open, strings.Repeat("x", 100_000))
	if _, err := open.Open(t.Context(), token, binding, now); err != nil {
		t.Errorf("without a bound: %v", err)
	}
	refused(t, sealer(t, seal.Options{Ring: ring(t, 1)}), token, binding, now, seal.ReasonTooLarge)
	if _, err := sealer(t, seal.Options{}).Seal(t.Context(), binding, link, make([]byte, 36_000), now, 0); err != nil {
		t.Errorf("36,000 bytes of state must fit by default: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	s := sealer(f, seal.Options{Ring: ring(f, 1), Store: seal.NewMemoryStates(0, 0)})
	token := mint(f, s, "state")
	for _, seed := range []string{token, token[:len(token)-1], "rs1.", "rs1.AAAA", "", "rs1." + strings.Repeat("A", 300), mint(f, s, strings.Repeat("x", 50_000))} {
		f.Add(seed)
	}
	spelling := map[string]string{} // by nonce
	f.Fuzz(func(t *testing.T, in string) {
		o, err := s.Open(t.Context(), in, binding, now)
		if err != nil {
			if !errors.Is(err, seal.ErrInvalid) || seal.ReasonOf(err) == "" {
				t.Fatalf("error %v for the peer", err)
			}
			return
		}
		if string(o.Payload) != "state" && len(o.Payload) != 50_000 {
			t.Fatalf("opened what was never sealed: %q", in)
		}
		if first, ok := spelling[o.Nonce]; ok && first != in {
			t.Fatalf("one token in two spellings:\n%s\n%s", first, in)
		}
		spelling[o.Nonce] = in
	})
}
