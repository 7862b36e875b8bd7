package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestSuite runs two scenarios of the official suite alone, as the whole of it is run in CI.
func TestSuite(t *testing.T) {
	folder, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(folder, "node_modules", "node", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		if os.Getenv("RIALTO_REQUIRE_PEERS") == "1" {
			t.Fatal("the suite is required and not installed; run npm ci in the folder conformance")
		}
		t.Skip("the suite is not installed; run npm ci in the folder conformance")
	}
	program := filepath.Join(t.TempDir(), "client")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the client: %v\n%s", err, out)
	}
	for revision, scenario := range map[string]string{
		"2025-11-25": "elicitation-sep1034-client-defaults", "2026-07-28": "sep-2322-client-request-state",
	} {
		t.Run(revision, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node, "alone.mjs", "client", "--command", program, "--revision", revision, "--scenario", scenario)
			cmd.Dir = folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", scenario, err, out)
			}
		})
	}
}
