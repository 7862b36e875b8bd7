package oauth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// onUnlock is a store that does something each time a lock of it has been given back.
type onUnlock struct {
	*MemoryStore
	do func()
}

func (s *onUnlock) Lock(ctx context.Context, key string) (func(), error) {
	unlock, err := s.MemoryStore.Lock(ctx, key)
	return func() {
		unlock()
		if do := s.do; do != nil {
			s.do = nil
			do()
		}
	}, err
}

// TestLogoutAfterFlight holds that a token which is given up the moment it has come is not used any more. Seen to fail: it
// came back into memory.
func TestLogoutAfterFlight(t *testing.T) {
	s := newScene(t)
	store := &onUnlock{MemoryStore: NewMemoryStore(0)}
	s.opts.Store = store
	a := s.authorizer()
	left := make(chan error, 1)
	store.do = func() { left <- a.Logout(context.WithoutCancel(t.Context())) }
	must(t, a)
	if err := <-left; err != nil {
		t.Fatal(err)
	}
	if a.held != nil {
		t.Error("the token is still used")
	}
	must(t, a)
	equal(t, "logins", s.visits, 2)
}

// TestLoginLeavesStreamsAlone holds that Login does not wait for the end of an answer.
func TestLoginLeavesStreamsAlone(t *testing.T) {
	body, writer := io.Pipe()
	defer writer.Close()
	a, err := New("https://mcp.test/mcp", Options{Flow: Stored{}, Base: transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	done := make(chan error, 1)
	go func() { done <- a.Login(context.WithoutCancel(t.Context())) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("Login waits for a stream that does not end")
	}
	if _, err := writer.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the answer is not closed: %v", err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestLogoutGivesUp holds that tokens are revoked where that can be done, and forgotten in any case.
func TestLogoutGivesUp(t *testing.T) {
	s := newScene(t)
	s.as.metadata = map[string]any{"revocation_endpoint": "https://as.test/revoke"}
	s.opts.Store = NewMemoryStore(0)
	a := s.authorizer()
	if err := a.Logout(t.Context()); err != nil || len(s.seen) > 0 {
		t.Errorf("without tokens: %v after %v", err, s.seen)
	}
	must(t, a)
	if err := a.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	equal(t, "revocations", len(s.as.revoked), 2)
	for i, kind := range []string{"refresh_token", "access_token"} {
		form := s.as.revoked[i]
		equal(t, "kind", form.Get("token_type_hint"), kind)
		equal(t, "client", form.Get("client_id"), "client-1-of-as.test")
		if !strings.HasPrefix(form.Get("token"), strings.TrimSuffix(kind, "_token")) {
			t.Errorf("the token of the kind %s is %q", kind, form.Get("token"))
		}
	}
	must(t, a)
	s.as.refuseRevoke = true
	err := a.Logout(t.Context())
	if err == nil || !strings.Contains(err.Error(), "invalid_request") || strings.Contains(err.Error(), "access-") || strings.Contains(err.Error(), "refresh-") {
		t.Errorf("error %v", err)
	}
	must(t, s.authorizer())
	equal(t, "logins", s.visits, 3)
}
