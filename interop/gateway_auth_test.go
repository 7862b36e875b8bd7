package interop

import (
	"fmt"
	"strings"
	"testing"
)

// TestGatewaySignsIn lets other people's clients find out for themselves where tokens for the gateway are to be had, sign a
// person in there, and call: from the 401 over the metadata of both servers to a token that is made for the gateway.
func TestGatewaySignsIn(t *testing.T) {
	bin := buildGateway(t)
	login := StartLogin(t)
	base := fmt.Sprintf("http://127.0.0.1:%d", freePort(t))
	file := saveSettings(t, map[string]any{"auth": map[string]any{
		"resource": base + "/mcp", "scopes": []string{"mcp"}, "jwt": map[string]any{"issuer": login.URL, "algorithms": []string{"ES256"}},
		"tokens": []any{map[string]any{"name": "ci", "token": "${CI_TOKEN}", "scopes": []string{"mcp"}}},
	}}, map[string]any{"memo": commandEntry(Memo(t))})
	ready := 0
	Process{
		Command: []string{bin, "gateway", "--config", file, "--listen", strings.TrimPrefix(base, "http://")},
		Env:     []string{"CI_TOKEN=token-of-the-pipeline"},
		Ready: func(line string) (string, bool) {
			if strings.Contains(line, "listening on") || strings.Contains(line, "memo: ready") {
				ready++
			}
			return base, ready == 2
		},
	}.Start(t)

	steps := []Step{{Do: "list", Kind: "tools"}, {Do: "call", Name: "say", Arguments: map[string]any{"text": "hello"}}}
	for _, c := range []struct {
		name, driver, path string
		plan               Plan
		fails              bool
	}{
		{"typescript-1", "typescript-1", "/mcp", Plan{Login: true}, false},
		{"typescript-2", "typescript-2", "/mcp", Plan{Login: true, Era: "modern"}, false},
		{"typescript-2-legacy", "typescript-2", "/mcp", Plan{Login: true, Era: "legacy"}, false},
		{"typescript-1-sse", "typescript-1-sse", "/sse", Plan{Login: true}, false},
		{"rialto", "rialto", "/mcp", Plan{Login: true}, false},
		{"token of the file, typescript-1", "typescript-1", "/mcp", Plan{Token: "token-of-the-pipeline"}, false},
		{"token of the file, typescript-2", "typescript-2", "/mcp", Plan{Token: "token-of-the-pipeline"}, false},
		{"token of nobody", "typescript-2", "/mcp", Plan{Token: "token-of-nobody-at-all"}, true},
		{"nobody", "typescript-1", "/mcp", Plan{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(login.Resources())
			c.plan.Steps = steps
			report := driverOf(t, c.driver).Run(t, Target{URL: base + c.path, SSE: c.path == "/sse"}, c.plan)
			if c.fails {
				if report.Error == nil {
					t.Errorf("it gets in: %+v", report)
				}
				return
			}
			if report.Error != nil || len(report.Steps[0].Names) == 0 || !strings.Contains(string(report.Steps[1].Result), "hello") {
				t.Fatalf("got %+v", report)
			}
			made := login.Resources()[before:]
			if c.plan.Login && (len(made) != 1 || made[0] != base+c.path) || !c.plan.Login && len(made) != 0 {
				t.Errorf("tokens were made for %q", made)
			}
		})
	}
}

// driverOf finds a client library by its name.
func driverOf(t testing.TB, name string) Driver {
	t.Helper()
	for _, d := range append(Drivers(), SSEDrivers()...) {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("there is no driver %q", name)
	return Driver{}
}
