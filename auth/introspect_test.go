package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rialto-mcp/rialto/auth"
	"github.com/rialto-mcp/rialto/mcp"
	"github.com/rialto-mcp/rialto/server"
)

// asked makes a verifier whose endpoint is a function of the request.
func asked(t *testing.T, change func(*auth.IntrospectionOptions), endpoint func(*http.Request) (*http.Response, error)) *auth.Introspection {
	t.Helper()
	o := auth.IntrospectionOptions{
		URL: "https://login.example/introspect", Issuer: "https://login.example", ClientID: "rs:1", ClientSecret: "p&w",
		HTTPClient: &http.Client{Transport: roundTrip(endpoint)},
	}
	if change != nil {
		change(&o)
	}
	v, err := auth.NewIntrospection(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestIntrospection(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string // subject, client, scopes and audience; or how it ended
	}{
		{"good", 200, `{"active":true,"sub":"ann","client_id":"desk","scope":"a b","aud":"` + resource + `","exp":9999999999}`, "ann desk [a b] [" + resource + "] false"},
		{"its own issuer", 200, `{"active":true,"sub":"ann","iss":"https://login.example","aud":["x"]}`, "ann  [] [x] false"},
		{"a name of the user", 200, `{"active":true,"username":"ann","aud":"x"}`, "ann  [] [x] false"},
		{"without an audience", 200, `{"active":true,"sub":"ann"}`, "ann  [] [] false"},
		{"not active", 200, `{"active":false}`, "invalid"},
		{"another issuer", 200, `{"active":true,"sub":"ann","iss":"https://evil.example"}`, "invalid"},
		{"nobody", 200, `{"active":true}`, "invalid"},
		{"a text for active", 200, `{"active":"true","sub":"ann"}`, "unsure"},
		{"nothing of active", 200, `{"sub":"ann"}`, "unsure"},
		{"twice active", 200, `{"active":false,"active":true,"sub":"ann"}`, "unsure"},
		{"no JSON", 200, `ok`, "unsure"},
		{"wrong credentials", 401, `{"active":true,"sub":"ann"}`, "unsure"},
		{"broken", 500, ``, "unsure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := asked(t, nil, func(r *http.Request) (*http.Response, error) {
				user, pass, _ := r.BasicAuth()
				if user != "rs%3A1" || pass != "p%26w" || r.FormValue("token") != "secret123" {
					t.Errorf("the question: %q %q %v", user, pass, r.Form)
				}
				return answer(r, c.status, "application/json", c.body), nil
			})
			got := judge(t.Context(), v, "secret123")
			if token, err := v.Verify(t.Context(), "secret123"); err == nil {
				who := token.Principal
				got = fmt.Sprint(who.Subject, " ", who.ClientID, " ", who.Scopes, " ", token.Audience, " ", token.Ours)
			} else if strings.Contains(err.Error(), "secret123") {
				t.Errorf("the error holds the token: %v", err)
			}
			if got != c.want {
				t.Errorf("want %s, got %s", c.want, got)
			}
		})
	}
}

// An answer is believed for a time, never longer than the token is good, and only a good one.
func TestIntrospectionCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var questions atomic.Int32
		var down atomic.Bool
		end := time.Now().Add(40 * time.Second).Unix()
		v := asked(t, func(o *auth.IntrospectionOptions) { o.MaxCached = 2 }, func(r *http.Request) (*http.Response, error) {
			questions.Add(1)
			if down.Load() {
				return nil, fmt.Errorf("no route")
			}
			switch r.FormValue("token") {
			case "bad":
				return answer(r, 200, "application/json", `{"active":false}`), nil
			case "short":
				return answer(r, 200, "application/json", fmt.Sprintf(`{"active":true,"sub":"ann","aud":"x","exp":%d}`, end)), nil
			}
			return answer(r, 200, "application/json", `{"active":true,"sub":"ann","aud":"x"}`), nil
		})
		for _, c := range []struct {
			wait      time.Duration
			down      bool
			token     string
			want      string
			questions int32
		}{
			{0, false, "long", "good", 1},
			{0, true, "long", "good", 1},
			{0, true, "new", "unsure", 2},
			{0, false, "bad", "invalid", 3},
			{0, false, "bad", "invalid", 4},
			{29 * time.Second, false, "long", "good", 4},
			{2 * time.Second, false, "long", "good", 5}, // its 30 s are over
			{0, false, "short", "good", 6},
			{8 * time.Second, false, "short", "good", 6},
			{2 * time.Second, false, "short", "good", 7}, // it has ended: the server is asked again
			{0, false, "third", "good", 8},               // pushes out the oldest
			{0, false, "long", "good", 9},
			{0, false, "third", "good", 9},
		} {
			time.Sleep(c.wait)
			down.Store(c.down)
			if got := judge(t.Context(), v, c.token); got != c.want || questions.Load() != c.questions {
				t.Errorf("%s: want %s after %d questions, got %s after %d", c.token, c.want, c.questions, got, questions.Load())
			}
		}
	})
}

// A server that hangs or that too many ask is no yes.
func TestIntrospectionBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := asked(t, func(o *auth.IntrospectionOptions) { o.MaxInFlight = 1 }, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		began := time.Now()
		slow := make(chan string)
		go func() { slow <- judge(context.Background(), v, "a") }()
		synctest.Wait()
		if got := judge(t.Context(), v, "b"); got != "unsure" || time.Since(began) != 0 {
			t.Errorf("the second: %s after %s", got, time.Since(began))
		}
		if got := <-slow; got != "unsure" || time.Since(began) != 5*time.Second {
			t.Errorf("the first: %s after %s", got, time.Since(began))
		}
	})
}

// Many requests at once with one token are one question; who gives up waiting does not end it for the others, and a client
// that panics ends nothing but its own. Seen to fail: all but the first 64 were refused each time an answer had grown old.
func TestIntrospectionAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var questions atomic.Int32
		var panics atomic.Bool
		v := asked(t, func(o *auth.IntrospectionOptions) { o.MaxInFlight = 1 }, func(r *http.Request) (*http.Response, error) {
			questions.Add(1)
			time.Sleep(time.Second)
			if panics.Load() {
				panic("token-of-ann")
			}
			return answer(r, 200, "application/json", `{"active":true,"sub":"ann","aud":"x"}`), nil
		})
		hasty, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		first := make(chan string, 1)
		go func() { first <- judge(hasty, v, "token-of-ann") }()
		synctest.Wait()
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if got := judge(t.Context(), v, "token-of-ann"); got != "good" {
					t.Error(got)
				}
			})
		}
		wg.Wait()
		if got := <-first; got != "unsure" || questions.Load() != 1 {
			t.Errorf("%s after %d questions", got, questions.Load())
		}
		time.Sleep(time.Minute)
		panics.Store(true)
		if _, err := v.Verify(t.Context(), "token-of-ann"); err == nil || strings.Contains(err.Error(), "ann") {
			t.Errorf("a panic: %v", err)
		}
		panics.Store(false)
		if got := judge(t.Context(), v, "token-of-ann"); got != "good" || questions.Load() != 3 {
			t.Errorf("%s after %d questions", got, questions.Load())
		}
	})
}

// Behind the middleware: an answer without an audience passes only where that is allowed.
func TestIntrospectionAudience(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		v := asked(t, func(o *auth.IntrospectionOptions) { o.AnyAudience = allowed }, func(r *http.Request) (*http.Response, error) {
			body := `{"active":true,"sub":"ann"}`
			if r.FormValue("token") == "other" {
				body = `{"active":true,"sub":"ann","aud":"https://other.example"}`
			}
			return answer(r, 200, "application/json", body), nil
		})
		url := serve(t, auth.Options{Resource: resource, Verifier: v}, server.HTTPOptions{})
		want := map[bool]int{false: 401, true: 200}[allowed]
		if got := call(t, url, "whoami", "none"); got.status != want {
			t.Errorf("no audience, allowed %v: %v", allowed, got)
		}
		if got := call(t, url, "whoami", "other"); got.status != 401 {
			t.Errorf("another audience, allowed %v: %v", allowed, got)
		}
	}
}

func TestNewIntrospectionRefuses(t *testing.T) {
	for want, o := range map[string]auth.IntrospectionOptions{
		"URL":    {Issuer: "https://login.example"},
		"https":  {URL: "http://login.example/i", Issuer: "https://login.example"},
		"Issuer": {URL: "https://login.example/i"},
	} {
		if _, err := auth.NewIntrospection(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestAnyOf(t *testing.T) {
	known := auth.StaticTokens(map[string]mcp.Principal{"a": {Subject: "ann"}})
	more := auth.StaticTokens(map[string]mcp.Principal{"b": {Subject: "bob"}, "": {Subject: "empty"}})
	down := auth.VerifierFunc(func(context.Context, string) (*auth.Token, error) { return nil, fmt.Errorf("down") })
	for _, c := range []struct {
		name  string
		v     auth.Verifier
		token string
		want  string
	}{
		{"the first", auth.AnyOf(known, more), "a", "good"},
		{"the second", auth.AnyOf(known, more), "b", "good"},
		{"neither", auth.AnyOf(known, more), "c", "invalid"},
		{"one cannot say", auth.AnyOf(down, more), "c", "unsure"},
		{"one cannot say, one can", auth.AnyOf(down, more), "b", "good"},
		{"none", auth.AnyOf(), "a", "invalid"},
	} {
		if got := judge(t.Context(), c.v, c.token); got != c.want {
			t.Errorf("%s: want %s, got %s", c.name, c.want, got)
		}
	}
}

// What a handler does to its principal is nothing to those of other requests. Seen to fail: all had the one that was kept.
func TestIntrospectionSharesNothing(t *testing.T) {
	v := asked(t, nil, func(r *http.Request) (*http.Response, error) {
		return answer(r, 200, "application/json", `{"active":true,"sub":"ann","aud":"x"}`), nil
	})
	for n := range 3 {
		got, err := v.Verify(t.Context(), "t")
		if err != nil || got.Principal.Subject != "ann" {
			t.Fatalf("%d: %+v, %v", n, got, err)
		}
		got.Principal.Subject = "root"
	}
}
