package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rialto-mcp/rialto/conformance/suitetest"
)

// TestSuite runs two scenarios of the official suite alone, as the whole of it is run in CI.
func TestSuite(t *testing.T) {
	suite := suitetest.Need(t)
	program := filepath.Join(t.TempDir(), "client")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the client: %v\n%s", err, out)
	}
	suite.Run(t, map[string]string{
		"2025-11-25": "elicitation-sep1034-client-defaults", "2026-07-28": "sep-2322-client-request-state",
	}, "alone.mjs", "client", "--command", program)
}
