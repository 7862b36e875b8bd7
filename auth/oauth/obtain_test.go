package oauth

import (
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

// TestSameTokenAgain holds that an authorization server which gives the same token until it is over is asked once by all whose
// token has grown old, and not by each of them. Seen to fail: once for each request.
func TestSameTokenAgain(t *testing.T) {
	s := newScene(t)
	s.opts.Flow, s.opts.Credentials = ClientCredentials{}, []Credentials{{ClientID: "robot", Secret: "s3cret"}}
	s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": []string{MethodBasic}}
	end := s.clock.now().Add(time.Hour)
	s.as.tokens["the-one"] = ""
	s.as.token = func(url.Values, *http.Request) (int, map[string]any) {
		return 200, map[string]any{"access_token": "the-one", "token_type": "Bearer", "expires_in": int(end.Sub(s.clock.now()).Seconds())}
	}
	a := s.authorizer()
	must(t, a)
	s.clock.pass(time.Hour - 20*time.Second)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if status, err := call(t, a); err != nil || status != 200 {
				t.Errorf("status %d, error %v", status, err)
			}
		})
	}
	all.Wait()
	must(t, a)
	equal(t, "token requests", len(s.as.forms), 2)
}

// TestClockThatWasWrong holds that times of the future, which a wrong clock has stored, keep nobody from a new token.
func TestClockThatWasWrong(t *testing.T) {
	for _, renewed := range []bool{false, true} {
		s := newScene(t)
		s.opts.Store, s.as.noRefresh = NewMemoryStore(0), !renewed
		s.clock.pass(1000 * time.Hour)
		a := s.authorizer()
		must(t, a)
		if renewed {
			s.as.revoke()
			must(t, a)
		}
		s.clock.pass(-1000 * time.Hour)
		s.as.revoke()
		must(t, s.authorizer())
	}
}
