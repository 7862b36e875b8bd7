package auth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
)

// counted is a verifier that takes every token as what it is told, and counts.
type counted struct {
	asked atomic.Int32
	token auth.Token
	err   error
}

func (c *counted) Verify(_ context.Context, token string) (*auth.Token, error) {
	c.asked.Add(1)
	if c.err != nil {
		return nil, c.err
	}
	out := c.token
	out.Principal.Subject = token
	return &out, nil
}

// A token that was good is not looked at again for a minute, or until it ends.
func TestRemember(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  auth.RememberOptions
		life  time.Duration // of the token; 0 is without an end
		wait  time.Duration
		asked int32 // in two tries, with the wait between them
	}{
		{"at once", auth.RememberOptions{}, 0, 0, 1},
		{"within the minute", auth.RememberOptions{}, time.Hour, 59 * time.Second, 1},
		{"after it", auth.RememberOptions{}, time.Hour, time.Minute, 2},
		{"never longer", auth.RememberOptions{For: time.Hour}, time.Hour, time.Minute, 2},
		{"a shorter time", auth.RememberOptions{For: time.Second}, time.Hour, time.Second, 2},
		{"not beyond its end", auth.RememberOptions{}, 10 * time.Second, 10 * time.Second, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := &counted{token: auth.Token{Ours: true}}
				if c.life > 0 {
					inner.token.Expiry = time.Now().Add(c.life)
				}
				v := auth.Remember(inner, c.opts)
				for range 2 {
					if found, err := v.Verify(t.Context(), "ann"); err != nil || found.Principal.Subject != "ann" || !found.Ours {
						t.Errorf("got %+v, %v", found, err)
					}
					time.Sleep(c.wait)
				}
				if n := inner.asked.Load(); n != c.asked {
					t.Errorf("asked %d times", n)
				}
			})
		})
	}
}

// What is no good, and what nobody could say, is asked anew each time.
func TestRememberNothingBad(t *testing.T) {
	for _, err := range []error{auth.Invalidf("no"), errors.New("the keys cannot be had"), &auth.TooMany{}} {
		inner := &counted{err: err}
		v := auth.Remember(inner, auth.RememberOptions{})
		for range 2 {
			if _, got := v.Verify(t.Context(), "ann"); !errors.Is(got, err) {
				t.Errorf("got %v", got)
			}
		}
		if n := inner.asked.Load(); n != 2 {
			t.Errorf("%v: asked %d times", err, n)
		}
	}
}

// Who gets a token may change it, and others do not see that.
func TestRememberGivesCopies(t *testing.T) {
	v := auth.Remember(&counted{}, auth.RememberOptions{})
	for range 3 {
		found, err := v.Verify(t.Context(), "ann")
		if err != nil || found.Ours {
			t.Fatalf("got %+v, %v", found, err)
		}
		found.Ours = true
	}
}

// When an issuer has taken a key back, and this is known here, no token that it was used for is good for another moment.
//
// Seen to fail without a look at the keys: the first token was good for the rest of its minute.
func TestRememberUntilTheKeysAreOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOffline()
		v := auth.Remember(o.verifier(t), auth.RememberOptions{})
		first := o.token(t, nil)
		if got := judge(t.Context(), v, first); got != "good" {
			t.Fatal(got)
		}
		time.Sleep(50 * time.Second) // it is looked at again, and good for a minute from now
		o.rotate()
		time.Sleep(10 * time.Second)
		if got := judge(t.Context(), v, first); got != "good" {
			t.Errorf("before anybody asks for a new key: %s", got)
		}
		if got := judge(t.Context(), v, o.token(t, nil)); got != "good" {
			t.Errorf("the new key: %s", got)
		}
		if got := judge(t.Context(), v, first); got != "invalid" {
			t.Errorf("the old key: %s", got)
		}
	})
}

// However many tokens come, some are remembered: those that are in use stay, and no more than was said are kept.
func TestRememberIsBounded(t *testing.T) {
	const most = 10
	for name, opts := range map[string]auth.RememberOptions{"tokens": {MaxTokens: most}, "bytes": {MaxBytes: most * (1000 + 512)}} {
		t.Run(name, func(t *testing.T) {
			inner := &counted{token: auth.Token{Principal: mcp.Principal{Claims: []byte(strings.Repeat(" ", 1000))}}}
			v := auth.Remember(inner, opts)
			verify := func(token string) {
				t.Helper()
				if _, err := v.Verify(t.Context(), token); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 100 {
				verify(fmt.Sprint(i))
				verify("in use")
			}
			if n := inner.asked.Load(); n != 101 {
				t.Errorf("asked %d times: the one in use was forgotten", n)
			}
			var kept int
			if _, err := fmt.Sscanf(fmt.Sprint(v), "auth.Remember of %d tokens", &kept); err != nil || kept > most || kept < most/2 {
				t.Errorf("it is %v", v)
			}
		})
	}
}

// Many may ask at once.
func TestRememberAtOnce(t *testing.T) {
	v := auth.Remember(&counted{}, auth.RememberOptions{MaxTokens: 4})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				name := fmt.Sprint((i + j) % 6)
				if found, err := v.Verify(t.Context(), name); err != nil || found.Principal.Subject != name {
					t.Errorf("got %+v, %v", found, err)
				}
			}
		})
	}
	all.Wait()
}
