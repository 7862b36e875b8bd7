package interop

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestGateway drives the gateway, a process of its own with a configuration file, with every client library: the npm
// reference servers over stdio, a server of the official TypeScript SDK 2.x over HTTP, and entries that cannot work.
func TestGateway(t *testing.T) {
	bin := buildGateway(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "hello.txt"), []byte("hello from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	memo := StartMemo(t)
	file := writeConfig(t, folder, memo)
	cases := gatewayCases(t, folder, memo)
	stderr := filepath.Join(t.TempDir(), "stderr")

	http := func(t testing.TB) Target { return Target{URL: startGateway(t, bin, file)} }
	stdio := func(testing.TB) Target {
		return Target{Command: []string{"sh", "-c", `exec "$0" gateway --config "$1" --stdio 2>>"$2"`, bin, file, stderr}}
	}
	RunFronts(t, []Front{
		{Name: "http", Modern: true, Open: http, Cases: cases},
		{Name: "http-legacy", Modern: true, Era: "legacy", Open: http, Cases: cases},
		{Name: "stdio", Modern: true, Open: stdio, Cases: cases},
	})
	told, err := os.ReadFile(stderr)
	if err != nil {
		t.Fatal(err)
	}
	toldOfAll(t, string(told))
}

// buildGateway compiles the program into a folder of the test's own.
func buildGateway(t testing.TB) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "rialto")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "github.com/rialto-mcp/rialto/gateway/cmd/rialto")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// writeConfig writes a file as other hosts have it: three servers that work, and three entries that
// cannot: no such program, nobody at the address, not an entry at all.
func writeConfig(t testing.TB, folder, memo string) string {
	t.Helper()
	command := func(words []string) map[string]any {
		return map[string]any{"command": words[0], "args": words[1:]}
	}
	data := marshal(t, map[string]any{"mcpServers": map[string]any{
		"broken":     map[string]any{"command": "no-such-program-anywhere"},
		"everything": command(Everything(t)),
		"files":      command(Filesystem(t, folder)),
		"memo":       map[string]any{"type": "http", "url": memo},
		"nobody":     map[string]any{"url": fmt.Sprintf("http://127.0.0.1:%d/mcp", freePort(t))},
		"nonsense":   map[string]any{"command": 7},
	}})
	file := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// gatewayCases are the cases of all three servers, and the demand that the lists hold what each server lists when it is
// asked directly, all of it and nothing else.
func gatewayCases(t testing.TB, folder, memo string) []Case {
	t.Helper()
	var cases []Case
	for _, server := range []struct {
		name  string
		cases []Case
	}{{"everything", everythingCases()}, {"files", filesystemCases(folder)}, {"memo", memoCases()}} {
		for _, c := range server.cases {
			c.Name = server.name + " " + c.Name
			cases = append(cases, c)
		}
	}
	lists := []Step{{Do: "list", Kind: "tools"}, {Do: "list", Kind: "resources"}, {Do: "list", Kind: "templates"}, {Do: "list", Kind: "prompts"}}
	names := namesOf(t, lists, Target{Command: Everything(t)}, Target{Command: Filesystem(t, folder)}, Target{URL: memo})
	for i, list := range lists {
		cases = append(cases, Case{"all " + list.Kind, list, listsExactly(names[i])})
	}
	return cases
}

// namesOf asks each server directly, with a client library of other people, and gathers the names of each list. A server
// without such a list adds nothing.
func namesOf(t testing.TB, lists []Step, servers ...Target) [][]string {
	t.Helper()
	names := make([][]string, len(lists))
	for _, target := range servers {
		report := Drivers()[0].Run(t, target, Plan{Steps: lists})
		if report.Error != nil {
			t.Fatalf("connect: %s", report.Error.Message)
		}
		for i, out := range report.Steps {
			names[i] = append(names[i], out.Names...)
		}
	}
	return names
}

func listsExactly(want []string) func(testing.TB, Outcome) {
	want = slices.Sorted(slices.Values(want))
	return func(t testing.TB, out Outcome) {
		t.Helper()
		if got := slices.Sorted(slices.Values(out.Names)); out.Error != nil || len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("got %q (error %v), want %q", got, out.Error, want)
		}
	}
}

// startGateway runs the gateway on a free port until the test ends and returns its address once every server is ready
// or has failed. Then the state of each must have been told.
func startGateway(t testing.TB, bin, file string) string {
	t.Helper()
	var mu sync.Mutex
	var told []string
	var url string
	Process{
		Command: []string{bin, "gateway", "--config", file, "--listen", "127.0.0.1:0"},
		Ready: func(line string) (string, bool) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, line)
			if _, at, ok := strings.Cut(line, "listening on "); ok {
				url = at
			}
			return url, url != "" && settled(told)
		},
	}.Start(t)
	mu.Lock()
	defer mu.Unlock()
	toldOfAll(t, strings.Join(told, "\n"))
	return url
}

// settled tells whether a line has come on what has become of each of the five entries that can be read.
func settled(lines []string) bool {
	n := 0
	for _, line := range lines {
		if strings.Contains(line, ": ready, ") || strings.Contains(line, ": failed: ") {
			n++
		}
	}
	return n >= 5
}

// toldOfAll demands that standard error names the state of every entry, and the reason where it failed.
func toldOfAll(t testing.TB, told string) {
	t.Helper()
	for _, want := range []string{
		"everything: ready, ", "files: ready, ", "memo: ready, ", "revision 2026-07-28", "revision 2025-11-25",
		"broken: failed: ", "no-such-program-anywhere", "nobody: failed: ", "mcp.json:", "nonsense",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("%q is missing on standard error:\n%s", want, told)
		}
	}
}
