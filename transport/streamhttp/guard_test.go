package streamhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGuard(t *testing.T) {
	loopback, public := net.IPv4(127, 0, 0, 1), net.IPv4(192, 0, 2, 1)
	listed := NewGuard([]string{"public.example", "gateway:8080"}, []string{"https://App.example", "null"})
	open := NewGuard(nil, nil)
	cases := []struct {
		guard        *Guard
		local        net.IP
		host, origin string
		option       string // that the refusal names; empty for none
	}{
		{open, loopback, "127.0.0.1:8421", "", ""},
		{open, loopback, "127.0.0.1", "", ""},
		{open, loopback, "127.8.0.1:1", "", ""},
		{open, loopback, "localhost:8421", "", ""},
		{open, loopback, "[::1]:8421", "", ""},
		{open, loopback, "[::1]", "", ""},
		{open, loopback, "LOCALHOST:8421", "", ""},
		{open, loopback, "localhost.:8421", "", ""},
		{open, loopback, "evil.example", "", "AllowedHosts"},
		{open, loopback, "127.0.0.1.evil.example", "", "AllowedHosts"},
		{open, loopback, "localhost.evil.example:80", "", "AllowedHosts"},
		{open, loopback, "", "", "AllowedHosts"},
		{open, loopback, "public.example", "", "AllowedHosts"},
		{listed, loopback, "public.example", "", ""},
		{listed, loopback, "Public.Example:443", "", ""},
		{listed, loopback, "gateway", "", ""},
		{listed, loopback, "localhost", "", ""},
		{open, loopback, "localhost:1", "http://localhost:9999", ""},
		{open, loopback, "localhost:1", "http://evil.example", "AllowedOrigins"},
		{open, loopback, "localhost:1", "null", "AllowedOrigins"},
		{open, loopback, "localhost:1", "http://localhost.evil.example", "AllowedOrigins"},
		{open, loopback, "localhost:1", "localhost", "AllowedOrigins"},
		{listed, loopback, "localhost:1", "null", ""},
		{listed, loopback, "localhost:1", "https://app.example", ""},
		{listed, loopback, "localhost:1", "https://app.example:444", "AllowedOrigins"},
		{listed, loopback, "public.example", "https://public.example", ""},
		{open, public, "anything.example", "", ""},
		{open, public, "anything.example", "https://anything.example", ""},
		{open, public, "anything.example:8080", "http://anything.example:8080", ""},
		{open, public, "anything.example:8080", "http://anything.example:9090", "AllowedOrigins"},
		{open, public, "anything.example:8080", "http://anything.example", "AllowedOrigins"},
		{open, public, "anything.example:443", "https://anything.example", ""},
		{open, public, "anything.example", "https://evil.example", "AllowedOrigins"},
		{open, public, "localhost", "http://evil.example", "AllowedOrigins"},
		{listed, public, "other.example", "", "AllowedHosts"},
		{listed, public, "public.example", "https://app.example", ""},
	}
	for _, c := range cases {
		r := httptest.NewRequest("POST", "http://x/mcp", nil)
		r.Host = c.host
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: c.local}))
		err := c.guard.Check(r)
		if (err != nil) != (c.option != "") || err != nil && !strings.Contains(err.Error(), c.option) {
			t.Errorf("on %s, host %q, origin %q: got %v, want %q", c.local, c.host, c.origin, err, c.option)
		}
	}
}

func TestSecurityValidator(t *testing.T) {
	w := newWorld(t, Options{SecurityValidator: func(r *http.Request) error {
		if r.Header.Get("X-Key") == "" {
			return errors.New("bring a key")
		}
		return nil
	}})
	if a := w.ask(t, "POST", initialize); a.status != 403 || a.body != "bring a key\n" {
		t.Errorf("got %d %q", a.status, a.body)
	}
	if a := w.ask(t, "POST", initialize, [2]string{"X-Key", "1"}); a.status != 200 {
		t.Errorf("got %d %q", a.status, a.body)
	}
}

func TestCORS(t *testing.T) {
	w := newWorld(t, Options{AllowedOrigins: []string{"https://app.example"}, SecurityValidator: func(r *http.Request) error {
		if r.Method == "OPTIONS" {
			return errors.New("a preflight has no credentials")
		}
		return nil
	}})
	const asked = "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name, mcp-param-region, last-event-id"
	from := [2]string{"Origin", "https://app.example"}
	a := w.ask(t, "OPTIONS", "", from, [2]string{"Access-Control-Request-Method", "POST"}, [2]string{"Access-Control-Request-Headers", asked})
	if a.status != 204 || a.header.Get("Access-Control-Allow-Headers") != asked || a.header.Get("Access-Control-Allow-Methods") != "POST, GET, DELETE" ||
		a.header.Get("Access-Control-Allow-Origin") != from[1] {
		t.Errorf("preflight: %d %q", a.status, a.header)
	}
	body, headers := modern("tools/list", "", "")
	answers := map[string]*answer{
		"200": w.ask(t, "POST", body, append(headers, from)...),
		"400": w.ask(t, "POST", body, from),
		"404": w.ask(t, "GET", "", from, [2]string{"Mcp-Session-Id", "nope"}),
		"405": w.ask(t, "PUT", "", from),
		"415": w.ask(t, "POST", body, from, [2]string{"Content-Type", "text/plain"}),
	}
	for name, a := range answers {
		if a.header.Get("Access-Control-Allow-Origin") != from[1] || a.header.Get("Vary") != "Origin" ||
			a.header.Get("Access-Control-Expose-Headers") != "Mcp-Session-Id, WWW-Authenticate, MCP-Protocol-Version" {
			t.Errorf("%s: %d %q", name, a.status, a.header)
		}
	}
	stranger := [2]string{"Origin", "https://evil.example"}
	for _, method := range []string{"OPTIONS", "POST"} {
		a := w.ask(t, method, body, append(headers, stranger, [2]string{"Access-Control-Request-Method", "POST"})...)
		if a.status != 403 || a.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s from a stranger: %d %q", method, a.status, a.header)
		}
	}
}

// TestGuardChanges holds that handlers which share a guard obey its new lists at once, CORS answers included.
func TestGuardChanges(t *testing.T) {
	guard := NewGuard([]string{"old.example"}, []string{"https://old.example"})
	h := New(nil, newHandler(t, Options{}).handler.set, Options{Guard: guard, AllowedHosts: []string{"ignored.example"}})
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	hear := func(host, origin string) (status int, shared string) {
		r := httptest.NewRequest(http.MethodOptions, "http://"+host+"/mcp", nil)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Header().Get("Access-Control-Allow-Origin")
	}
	check := func(name string, status int, shared string) {
		t.Helper()
		if code, origin := hear(name, "https://"+name); code != status || origin != shared {
			t.Errorf("%s: status %d, shared with %q", name, code, origin)
		}
	}
	check("old.example", http.StatusNoContent, "https://old.example")
	check("new.example", http.StatusForbidden, "")
	check("ignored.example", http.StatusForbidden, "")
	guard.Allow([]string{"new.example"}, []string{"https://new.example"})
	check("old.example", http.StatusForbidden, "")
	check("new.example", http.StatusNoContent, "https://new.example")
	if guard.AnyHost() {
		t.Error("hosts are listed")
	}
	if guard.Allow(nil, nil); !guard.AnyHost() {
		t.Error("no hosts are listed")
	}
}
