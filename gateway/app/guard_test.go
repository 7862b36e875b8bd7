package app

import (
	"net/http"
	"strings"
	"testing"
)

// TestForeignHostsAndOrigins holds that a page of a stranger cannot reach the gateway of this machine through a browser.
func TestForeignHostsAndOrigins(t *testing.T) {
	r := start(t, read(t, `{"mcpServers": {}}`))
	defer r.end(t)
	for _, c := range []struct {
		host, origin string // empty: as it should be
		status       int
	}{
		{"", "", http.StatusOK},
		{"", "http://localhost:3000", http.StatusOK},
		{"evil.example", "", http.StatusForbidden},
		{"evil.example", "http://evil.example", http.StatusForbidden},
		{"", "http://evil.example", http.StatusForbidden},
		{"", "null", http.StatusForbidden},
	} {
		if got := initialize(t, r.url, c.host, c.origin); got != c.status {
			t.Errorf("host %q, origin %q: status %d, want %d", c.host, c.origin, got, c.status)
		}
	}
}

// TestListedHostsAndOrigins holds that the configuration can let others in.
func TestListedHostsAndOrigins(t *testing.T) {
	r := start(t, read(t, `{"mcpServers": {}, "gateway": {"allowedHosts": ["mcp.example"], "allowedOrigins": ["https://app.example"]}}`))
	defer r.end(t)
	if got := initialize(t, r.url, "mcp.example", "https://app.example"); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	if got := initialize(t, r.url, "evil.example", ""); got != http.StatusForbidden {
		t.Errorf("a host that is not listed: status %d", got)
	}
}

// initialize opens a session and returns the status.
func initialize(t *testing.T, url, host, origin string) int {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"page","version":"1"}}}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if host != "" {
		req.Host = host
	}
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	return res.StatusCode
}
