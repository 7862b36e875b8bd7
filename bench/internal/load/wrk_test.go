package load

import (
	"strings"
	"testing"

	"github.com/rialto-mcp/rialto/bench/internal/wire"
)

func TestParseWrk(t *testing.T) {
	cases := []struct {
		name, report string
		want         float64
		ok           bool
	}{
		{"a rate", "  100 requests in 1.00s, 10KB read\nRequests/sec:    123.50\nTransfer/sec:  1KB\n", 123.5, true},
		{"refusals", "Requests/sec:  10\n  Non-2xx or 3xx responses: 3\n", 0, false},
		{"broken connections", "  Socket errors: connect 0, read 3, write 0, timeout 0\nRequests/sec:  10\n", 0, false},
		{"no rate", "unable to connect\n", 0, false},
		{"nothing answered", "Requests/sec:      0.00\n", 0, false},
	}
	for _, c := range cases {
		if got, err := parseWrk(c.report); got != c.want || (err == nil) != c.ok {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}

func TestScriptHoldsHeadersBodyAndSessions(t *testing.T) {
	script := HTTP{Kind: wire.Call, Modern: true, Sessions: []string{"one", "two"}}.script()
	for _, want := range []string{`headers["Mcp-Name"] = "echo"`, `sessions[2] = "two"`, `\"method\":\"tools/call\"`, `\"id\":" .. id`} {
		if !strings.Contains(script, want) {
			t.Errorf("the script lacks %s:\n%s", want, script)
		}
	}
}
