// Package suitetest runs single scenarios of the official suite from the tests of the server and the client, as CI runs the
// whole of it.
package suitetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Suite is the suite as it is installed in the folder conformance.
type Suite struct{ folder, node string }

// Need finds the suite from the folder of a test beside it, and skips the test where it is not installed. With
// RIALTO_REQUIRE_PEERS=1 in the environment that is a failure.
func Need(t *testing.T) Suite {
	t.Helper()
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
	return Suite{folder: folder, node: node}
}

// Run runs a scenario of each revision named, each as a test of its own. The command is a script of the folder conformance
// and what it is told of the program under test.
func (s Suite) Run(t *testing.T, scenarios map[string]string, command ...string) {
	for revision, scenario := range scenarios {
		t.Run(revision, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), s.node, command...)
			cmd.Args = append(cmd.Args, "--revision", revision, "--scenario", scenario)
			cmd.Dir = s.folder
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", scenario, err, out)
			}
		})
	}
}
