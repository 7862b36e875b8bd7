package interop

import (
	"strings"
	"testing"
)

// TestPeerSSE drives the reference server "everything" on the transport of 2024-11-05: our client and those of others by
// the address of its stream, our client also by the way that finds the transport, and every library through the gateway.
func TestPeerSSE(t *testing.T) {
	url := StartEverythingSSE(t)
	front := Front{Name: "everything-sse", Cases: everythingCases()}
	for _, driver := range SSEDrivers() {
		t.Run(driver.Name, func(t *testing.T) { front.run(t, driver, Target{SSE: true, URL: url}) })
	}
	t.Run("rialto-finds-it", func(t *testing.T) {
		front.run(t, Driver{Name: "rialto", run: goDriver("rialto", dialRialto)}, Target{URL: url})
	})
}

// TestGatewaySSE puts the reference server behind the gateway twice: by its type, and as an address that turns out to be
// of the older transport.
func TestGatewaySSE(t *testing.T) {
	for name, entry := range map[string]map[string]any{
		"by type":    {"type": "sse"},
		"found":      {"type": "http"},
		"by its end": {}, // the address ends in /sse
	} {
		t.Run(name, func(t *testing.T) {
			entry["url"] = StartEverythingSSE(t)
			file := saveConfig(t, map[string]any{"everything": entry})
			RunFronts(t, []Front{{
				Name: "http", Modern: true, Cases: everythingCases(),
				Open: func(t testing.TB) Target {
					url, told := startGateway(t, buildGateway(t), file, 1)
					if !strings.Contains(told, "everything: ready, ") {
						t.Errorf("not ready:\n%s", told)
					}
					return Target{URL: url}
				},
			}})
		})
	}
}
