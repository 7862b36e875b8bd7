package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
)

// TestAnswersOfTokenEndpoints holds what is made of odd answers, and that none of them shows a secret.
func TestAnswersOfTokenEndpoints(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   map[string]any
		want   string // in the error; "" for none
	}{
		{"expiry as a string", 200, map[string]any{"access_token": "good", "token_type": "bearer", "expires_in": "3600"}, ""},
		{"no expiry, no type", 200, map[string]any{"access_token": "good"}, ""},
		{"an error with 200", 200, map[string]any{"error": "invalid_grant"}, "invalid_grant"},
		{"no token", 200, map[string]any{"token_type": "Bearer"}, "no access token"},
		{"another type", 200, map[string]any{"access_token": "good", "token_type": "mac"}, `type "mac"`},
		{"the secret as its type", 200, map[string]any{"access_token": "good", "token_type": "s3cret"}, `type "[redacted]"`},
		{"the token as its type", 200, map[string]any{"access_token": "another", "token_type": "another"}, `type "[redacted]"`},
		{"a bound token unasked", 200, map[string]any{"access_token": "good", "token_type": "DPoP"}, `type "DPoP"`},
		{"a token with a line break", 200, map[string]any{"access_token": "a\r\nb"}, "no header can carry"},
		{"a token of a wrong type", 200, map[string]any{"access_token": 17}, "wrong type"},
		{"a redirect", 302, map[string]any{}, "302"},
		{"no JSON", 400, nil, "400"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.opts.Credentials, s.opts.Flow = []Credentials{{ClientID: "robot", Secret: "s3cret"}}, ClientCredentials{}
			s.as.metadata = map[string]any{"token_endpoint_auth_methods_supported": nil}
			s.as.tokens["good"] = ""
			s.as.token = func(url.Values, *http.Request) (int, map[string]any) { return c.status, c.body }
			a := s.authorizer()
			if c.want == "" {
				must(t, a)
				return
			}
			if err := fails(t, a, c.want); strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%v shows a secret", err)
			}
		})
	}
}

// TestLives holds what is made of the life of a token. Seen to fail: a token that lives for nothing meant a login for each
// request.
func TestLives(t *testing.T) {
	for raw, want := range map[string]time.Duration{
		`3600`: time.Hour, `"3600"`: time.Hour, `3600.9`: time.Hour, `3.6e3`: time.Hour, `1`: time.Second,
		`1e300`: 100 * 365 * 24 * time.Hour, `99999999999999999999`: 100 * 365 * 24 * time.Hour,
		``: -1, `null`: -1, `0`: -1, `0.5`: -1, `-1`: -1, `-1e300`: -1, `"-3600"`: -1, `""`: -1, `"soon"`: -1, `"nan"`: -1, `true`: -1, `[3600]`: -1, `{}`: -1,
	} {
		got, ok := (&answer{Expires: []byte(raw)}).life()
		if !ok {
			got = -1
		}
		equal(t, raw, got, want)
	}
	for _, refresh := range []bool{true, false} {
		s := newScene(t)
		s.as.life, s.as.noRefresh = 0, !refresh
		a := s.authorizer()
		for range 4 {
			must(t, a)
		}
		equal(t, "token requests", len(s.as.forms), 1)
	}
}

// FuzzAnswers holds that whatever a token endpoint answers, an error shows no control character and no secret, and a token
// can be sent.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{`{}`, `{"access_token":"a","expires_in":"1e309"}`, `{"error":"x","error_description":"\u0007 hush-hush"}`,
		`{"error":17}`, `{"access_token":"a b"}`, `[`, `{"access_token":"a","expires_in":-1}`, `{"error":"hush-hush"}`} {
		f.Add(200, []byte(seed))
		f.Add(400, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		got, err := readAnswer("https://as.test/token", &reply{status: status, body: body}, "hush-hush")
		if err != nil {
			if text := err.Error(); strings.Contains(text, "hush-hush") || strings.ContainsFunc(text, unicode.IsControl) {
				t.Fatalf("error %q", text)
			}
			return
		}
		if got.Access == "" || strings.ContainsFunc(got.Access, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Fatalf("token %q", got.Access)
		}
		if life, ok := got.life(); ok && life < 0 {
			t.Fatalf("life %v of %s", life, got.Expires)
		}
	})
}
