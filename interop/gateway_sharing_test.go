package interop

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// TestGatewaySharesNoSession lets several people's clients call a legacy server of the official SDK through the gateway, and holds
// that each of them is in a session of its own there, one for all of its calls, whichever client it comes with.
func TestGatewaySharesNoSession(t *testing.T) {
	bin := buildGateway(t)
	behind, err := url.Parse(StartEverything(t))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	handshakes, calls := 0, make(map[string]int) // by session
	pass := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: behind.Scheme, Host: behind.Host})
		mu.Lock()
		defer mu.Unlock()
		if id := r.In.Header.Get("Mcp-Session-Id"); id != "" {
			calls[id]++
		} else if r.In.Method == http.MethodPost {
			handshakes++
		}
	}}
	seen := httptest.NewServer(pass)
	t.Cleanup(seen.Close)
	const anns, bobs = "token-of-ann-0123456789", "token-of-bob-0123456789"
	file := saveSettings(t, map[string]any{"auth": map[string]any{"tokens": []any{
		map[string]any{"name": "ann", "token": anns}, map[string]any{"name": "bob", "token": bobs},
	}}}, map[string]any{"everything": map[string]any{"type": "http", "url": seen.URL + behind.Path}})
	address, _ := startGateway(t, bin, file, 1)
	mu.Lock()
	before := handshakes // what finding out the era has cost, and the gateway's own session
	own := len(calls)
	mu.Unlock()
	if own != 1 {
		t.Errorf("%d sessions at first", own)
	}
	steps := []Step{{Do: "call", Name: "echo", Arguments: map[string]any{"message": "hello"}}}
	for round := range 2 {
		for _, driver := range []string{"typescript-1", "typescript-2", "rialto"} {
			for _, token := range []string{anns, bobs} {
				report := driverOf(t, driver).Run(t, Target{URL: address}, Plan{Token: token, Steps: steps})
				if report.Error != nil || !strings.Contains(string(report.Steps[0].Result), "hello") {
					t.Errorf("round %d, %s: %+v", round, driver, report)
				}
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(calls) != 3 || handshakes != before+2 {
		t.Errorf("%d sessions and %d handshakes, of which %d before the first call", len(calls), handshakes, before)
	}
}
