package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestPeers drives other people's servers with other people's clients. It shows that drivers, cases and helpers are
// good before anything of ours stands between.
func TestPeers(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "hello.txt"), []byte("hello from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	RunFronts(t, []Front{
		{
			Name:  "everything-http",
			Open:  func(t testing.TB) Target { return Target{URL: StartEverything(t)} },
			Cases: everythingCases(),
		},
		{
			Name:  "everything-stdio",
			Open:  func(t testing.TB) Target { return Target{Command: Everything(t)} },
			Cases: everythingCases(),
		},
		{
			Name:  "filesystem-stdio",
			Open:  func(t testing.TB) Target { return Target{Command: Filesystem(t, folder)} },
			Cases: filesystemCases(folder),
		},
		{
			Name:   "memo-http",
			Modern: true,
			Open:   func(t testing.TB) Target { return Target{URL: StartMemo(t)} },
			Cases:  memoCases(),
		},
		{
			Name:   "memo-stdio",
			Modern: true,
			Open:   func(t testing.TB) Target { return Target{Command: Memo(t)} },
			Cases:  memoCases(),
		},
	})
}

// TestPeersWithFixedEra pins the negotiation on a server that speaks both eras.
func TestPeersWithFixedEra(t *testing.T) {
	memo := func(t testing.TB) Target { return Target{URL: StartMemo(t)} }
	RunFronts(t, []Front{
		{Name: "legacy", Modern: true, Era: "legacy", Open: memo, Cases: memoCases()},
		{Name: "modern", Modern: true, Era: "modern", Open: memo, Cases: memoCases()},
	})
}

// TestNoServer demands that a refused connection is a report, not a broken driver.
func TestNoServer(t *testing.T) {
	NodePath(t)
	target := Target{URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", freePort(t))}
	for _, driver := range Drivers() {
		t.Run(driver.Name, func(t *testing.T) {
			report := driver.Run(t, target, Plan{Steps: []Step{{Do: "list", Kind: "tools"}}})
			if report.Error == nil || report.Error.Message == "" || len(report.Steps) != 0 {
				t.Errorf("got %+v, want a report with an error and no steps", report)
			}
		})
	}
}
