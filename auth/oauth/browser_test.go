package oauth

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// browse is a person with a browser: the page sends it back to this machine, over a real connection.
func (s *scene) browse(ctx context.Context, page string) error {
	back, err := s.visit(ctx, page)
	if err != nil {
		return err
	}
	go func() {
		resp, err := http.Get(back)
		if err != nil {
			s.t.Errorf("go back: %v", err)
			return
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), "close this page") {
			s.t.Errorf("page with status %d: %s, %v", resp.StatusCode, body, err)
		}
	}()
	return nil
}

func redirectOf(s *scene, i int) *url.URL {
	u, err := url.Parse(s.as.pages[i].Get("redirect_uri"))
	if err != nil {
		s.t.Fatal(err)
	}
	return u
}

func TestBrowser(t *testing.T) {
	s := newScene(t)
	s.opts.Flow = Browser{Open: s.browse}
	a := s.authorizer()
	must(t, a)
	first := redirectOf(s, 0)
	if first.Scheme != "http" || first.Hostname() != "127.0.0.1" || first.Path != "/callback" || first.Port() == "0" {
		t.Errorf("redirect address %v", first)
	}
	if _, err := net.Dial("tcp", first.Host); err == nil {
		t.Error("the port is still open after the login")
	}
	if err := a.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, a)
	equal(t, "redirect address of the second login", redirectOf(s, 1).String(), first.String())
	equal(t, "registrations", len(s.as.clients), 1)
}

// TestC092PortTaken holds that a port which is taken costs a registration for another one, unless the user insists on it.
func TestC092PortTaken(t *testing.T) {
	s := newScene(t)
	s.opts.Flow = Browser{Open: s.browse, Path: "/other"}
	a := s.authorizer()
	must(t, a)
	taken, err := net.Listen("tcp4", redirectOf(s, 0).Host)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if err := a.Logout(t.Context()); err != nil {
		t.Fatal(err)
	}
	must(t, a)
	equal(t, "registrations", len(s.as.clients), 2)
	redirects := s.as.clients[1]["redirect_uris"].([]any)
	equal(t, "redirect address", redirects[0], any(redirectOf(s, 1).String()))

	port := taken.Addr().(*net.TCPAddr).Port
	s.opts.Flow, s.opts.Store = Browser{Open: s.browse, Port: port}, nil
	fails(t, s.authorizer(), "port")
}

// TestC092OneLoginForAll holds that several programs with one store open one browser, and the others use what it brings.
func TestC092OneLoginForAll(t *testing.T) {
	s := newScene(t)
	s.opts.Store = files(t)
	s.opts.Flow = Browser{Open: s.browse}
	var all sync.WaitGroup
	for range 4 {
		a := s.authorizer()
		all.Go(func() {
			if status, err := call(t, a); status != 200 || err != nil {
				t.Errorf("status %d, error %v", status, err)
			}
		})
	}
	all.Wait()
	equal(t, "logins", s.visits, 1)
	equal(t, "registrations", len(s.as.clients), 1)
}

// TestC092AnotherTakesOver holds that when the program with the open browser ends, one that waits begins its own login.
func TestC092AnotherTakesOver(t *testing.T) {
	s := newScene(t)
	s.opts.Store = files(t)
	open := make(chan struct{})
	s.opts.Flow = Browser{Open: func(context.Context, string) error { close(open); return nil }}
	first := s.authorizer()
	gone := make(chan error, 1)
	go func() {
		_, err := call(t, first)
		gone <- err
	}()
	<-open
	s.opts.Flow = Browser{Open: s.browse}
	second := s.authorizer()
	done := make(chan error, 1)
	go func() {
		status, err := call(t, second)
		if err == nil && status != 200 {
			err = errors.New(http.StatusText(status))
		}
		done <- err
	}()
	first.Close()
	if err := <-gone; err == nil {
		t.Error("the first one succeeded")
	}
	if err := <-done; err != nil {
		t.Errorf("the second one: %v", err)
	}
}

// TestStrangeCallbacks holds that only the answer of this login is taken: others are told nothing and change nothing.
func TestStrangeCallbacks(t *testing.T) {
	s := newScene(t)
	s.opts.Flow = Browser{Open: func(ctx context.Context, page string) error {
		back, err := s.visit(ctx, page)
		if err != nil {
			return err
		}
		u, err := url.Parse(back)
		if err != nil {
			return err
		}
		send := func(method, address, host string) int {
			req, err := http.NewRequestWithContext(ctx, method, address, nil)
			if err != nil {
				t.Error(err)
				return 0
			}
			if host != "" {
				req.Host = host
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return 0
			}
			defer resp.Body.Close()
			body, err := io.ReadAll(resp.Body)
			if err != nil || strings.Contains(string(body), "injected") {
				t.Errorf("page %q, error %v", body, err)
			}
			return resp.StatusCode
		}
		here := "http://" + u.Host
		var got []int
		got = append(got, send("GET", here+"/callback?state=injected&code=injected", ""), send("GET", here+"/callback?error=injected", ""),
			send("GET", here+"/injected?"+u.RawQuery, ""), send("POST", back, ""), send("GET", back, "rebound.test"))
		if !slices.Equal(got, []int{404, 404, 404, 404, 404}) {
			t.Errorf("statuses of strangers %v", got)
		}
		if status := send("GET", back, ""); status != 200 {
			t.Errorf("status of the right answer %d", status)
		}
		return nil
	}}
	must(t, s.authorizer())
}

func TestBrowserThatDoesNotOpen(t *testing.T) {
	s := newScene(t)
	s.opts.Flow = Browser{Open: func(context.Context, string) error { return errors.New("no screen") }}
	fails(t, s.authorizer(), "no screen")
	if err := OpenBrowser(t.Context(), "file:///etc/passwd"); err == nil {
		t.Error("a file was opened")
	}
	if err := OpenBrowser(t.Context(), "-flag"); err == nil {
		t.Error("a flag was passed on")
	}
}

// TestLoginPageIsChecked holds that no browser is sent to what is no web page over TLS.
func TestLoginPageIsChecked(t *testing.T) {
	for _, page := range []string{"javascript:alert(1)", "file:///etc/passwd", "http://as.test/authorize", "https://10.0.0.1/", ""} {
		s := newScene(t)
		s.as.metadata = map[string]any{"authorization_endpoint": page}
		fails(t, s.authorizer(), "page for logins")
		equal(t, "logins", s.visits, 0)
	}
}
