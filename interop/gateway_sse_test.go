package interop

import (
	"strings"
	"testing"
)

// TestGatewayOldestClients has every client library that knows HTTP+SSE, the transport of 2024, use modern and legacy servers through the
// gateway.
func TestGatewayOldestClients(t *testing.T) {
	file := saveConfig(t, map[string]any{"everything": commandEntry(Everything(t)), "memo": map[string]any{"type": "http", "url": StartMemo(t)}})
	url, told := startGateway(t, buildGateway(t), file, 2)
	if strings.Contains(told, "failed") {
		t.Fatalf("not all servers are ready:\n%s", told)
	}
	front := Front{Name: "sse"}
	for _, c := range append(everythingCases(), memoCases()...) {
		if c.Step.Do != "list" { // the lists hold more here
			front.Cases = append(front.Cases, c)
		}
	}
	for _, driver := range SSEDrivers() {
		t.Run(driver.Name, func(t *testing.T) {
			front.run(t, driver, Target{SSE: true, URL: strings.TrimSuffix(url, "/mcp") + "/sse"})
		})
	}
}
