package main

import (
	"testing"

	"github.com/rialto-mcp/rialto/conformance/suitetest"
)

// TestSuite runs two scenarios of the official suite as the whole of it is run in CI, with the list of known gaps.
func TestSuite(t *testing.T) {
	suite := suitetest.Need(t)
	suite.Run(t, map[string]string{
		"2025-11-25": "server-initialize", "2026-07-28": "server-stateless",
	}, "run.mjs", "server", "--url", start(t))
}
