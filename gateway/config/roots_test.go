package config

import (
	"fmt"
	"strings"
	"testing"
)

// TestRoots holds which roots each server is told of, with variables put in as in the entries of servers.
func TestRoots(t *testing.T) {
	env := map[string]string{"WORK": "/home/ada/my work#1"}
	opts := Options{Lookup: func(name string) (string, bool) { value, ok := env[name]; return value, ok }}
	for _, tc := range []struct{ section, want string }{
		{`{}`, "map[]"},
		{`{"roots":null}`, "map[]"},
		{`{"roots":[]}`, "map[a:[] b:[]]"},
		{`{"roots":["file:///x"],"servers":{"b":{"roots":[]}}}`, "map[a:[file:///x] b:[]]"},
		{`{"servers":{"b":{"roots":[{"uri":"file:///y","name":"Y"}]}}}`, "map[b:[file:///y]]"},
		{`{"roots":["file:///home/${USER:-ada}/%20"]}`, "map[a:[file:///home/ada/%20] b:[file:///home/ada/%20]]"},
	} {
		c, err := Read(strings.NewReader(`{"gateway":`+tc.section+`,"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}`), "f", opts)
		if err != nil {
			t.Errorf("%s: %v", tc.section, err)
			continue
		}
		told := make(map[string][]string)
		for name, roots := range c.RootsByServer() {
			told[name] = []string{}
			for _, r := range roots {
				told[name] = append(told[name], r.URI)
			}
		}
		if got := fmt.Sprint(told); got != tc.want {
			t.Errorf("%s: the servers are told of %s, want %s", tc.section, got, tc.want)
		}
	}
	_, err := Read(strings.NewReader(`{"gateway":{"roots":["file://${WORK}"]},"mcpServers":{}}`), "f", opts)
	if err == nil || !strings.Contains(err.Error(), "f:1:22: gateway.roots[0]: this must be the address of a folder or file") {
		t.Errorf("a path that reads as something else: %v", err)
	}
}
