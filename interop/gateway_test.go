package interop

import (
	"fmt"
	"os"
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

	http := func(t testing.TB) Target {
		url, told := startGateway(t, bin, file, 5) // all that can be read
		toldOfAll(t, told)
		return Target{URL: url}
	}
	stdio := func(testing.TB) Target {
		return Target{Command: reporting("sh", "-c", `exec "$0" gateway --config "$1" --stdio 2>>"$2"`, bin, file, stderr)}
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

// TestGatewayWithTwins puts the same server behind the gateway twice, over HTTP with sessions and over stdio, and a modern
// one over stdio. All clients come at once.
func TestGatewayWithTwins(t *testing.T) {
	file := saveConfig(t, map[string]any{
		"first":  map[string]any{"type": "http", "url": StartEverything(t)},
		"second": commandEntry(Everything(t)),
		"memo":   commandEntry(Memo(t)),
	})
	cases := memoCases()
	for _, twin := range []string{"first", "second"} {
		for _, c := range everythingCases() {
			if c.Step.Do != "list" {
				cases = append(cases, Case{twin + " " + c.Name, twinStep(c.Step, twin), c.Check})
			}
		}
	}
	cases = append(cases,
		Case{"all tools", Step{Do: "list", Kind: "tools"}, Lists("first__echo", "second__echo", "say")},
		Case{"all resources", Step{Do: "list", Kind: "resources"}, Lists(featuresPage, "rialto+second:"+featuresPage)},
		Case{
			"links", Step{Do: "call", Name: "second__get-resource-links", Arguments: map[string]any{"count": 1}},
			func(t testing.TB, out Outcome) {
				t.Helper()
				if last := lastOf(Decode[ToolResult](t, out).Content); last.Type != "resource_link" || !strings.HasPrefix(last.URI, "rialto+second:demo://") {
					t.Errorf("got %s, want a link under the address that the gateway shows", out.Result)
				}
			},
		},
	)
	RunFronts(t, []Front{{
		Name: "http", Modern: true, AtOnce: true, Cases: cases,
		Open: func(t testing.TB) Target {
			url, told := startGateway(t, buildGateway(t), file, 3)
			if strings.Contains(told, "failed") {
				t.Errorf("not all servers are ready:\n%s", told)
			}
			return Target{URL: url}
		},
	}})
}

const featuresPage = "demo://resource/static/document/features.md"

// twinStep is a step under the names that a twin's things have behind the gateway: the second one's addresses give way.
func twinStep(step Step, twin string) Step {
	prefix, scheme := twin+"__", ""
	if twin == "second" {
		scheme = "rialto+second:"
	}
	if step.Name != "" {
		step.Name = prefix + step.Name
	}
	if step.URI != "" && step.URI != "demo://nope" {
		step.URI = scheme + step.URI
	}
	if step.Ref != nil {
		ref := *step.Ref
		if step.Ref = &ref; ref.Name != "" {
			ref.Name = prefix + ref.Name
		} else {
			ref.URI = scheme + ref.URI
		}
	}
	return step
}

func lastOf(content []Content) Content {
	if len(content) == 0 {
		return Content{}
	}
	return content[len(content)-1]
}

// writeConfig writes a file as other hosts have it: three servers that work, and three entries that
// cannot: no such program, nobody at the address, not an entry at all.
func writeConfig(t testing.TB, folder, memo string) string {
	t.Helper()
	return saveConfig(t, map[string]any{
		"broken":     map[string]any{"command": "no-such-program-anywhere"},
		"everything": commandEntry(Everything(t)),
		"files":      commandEntry(Filesystem(t, folder)),
		"memo":       map[string]any{"type": "http", "url": memo},
		"nobody":     map[string]any{"url": fmt.Sprintf("http://127.0.0.1:%d/mcp", freePort(t))},
		"nonsense":   map[string]any{"command": 7},
	})
}

func commandEntry(words []string) map[string]any {
	return map[string]any{"command": words[0], "args": words[1:]}
}

// saveConfig writes a file with servers and nothing else.
func saveConfig(t testing.TB, servers map[string]any) string {
	t.Helper()
	return saveSettings(t, map[string]any{}, servers)
}

// saveSettings writes a file with settings of the gateway. Servers that are started on a busy machine take their time, and one that
// fails to be there is tried again later than a test waits.
func saveSettings(t testing.TB, gateway, servers map[string]any) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mcp.json")
	writeSettings(t, file, gateway, servers)
	return file
}

func writeSettings(t testing.TB, file string, gateway, servers map[string]any) {
	t.Helper()
	gateway["connectTimeout"], gateway["startWait"] = driveLimit.String(), driveLimit.String()
	if err := os.WriteFile(file, marshal(t, map[string]any{"gateway": gateway, "mcpServers": servers}), 0o600); err != nil {
		t.Fatal(err)
	}
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

// namesOf asks each server directly, with a client library of other people that can be asked, as the gateway can for its
// clients, and gathers the names of each list. A server without such a list adds nothing. That library's client has roots and
// visits no pages, and the gateway is the other way round: a reference server has one tool for each.
func namesOf(t testing.TB, lists []Step, servers ...Target) [][]string {
	t.Helper()
	names := make([][]string, len(lists))
	for _, target := range servers {
		report := Drivers()[0].Run(t, target, Plan{Answers: asked, Steps: lists})
		if report.Error != nil {
			t.Fatalf("connect: %s", report.Error.Message)
		}
		for i, out := range report.Steps {
			for _, name := range out.Names {
				if name == "get-roots-list" {
					name = "trigger-url-elicitation"
				}
				names[i] = append(names[i], name)
			}
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

// startGateway runs the gateway on a free port until the test ends. It returns the address, and what standard error has
// said, once every entry is ready or has failed.
func startGateway(t testing.TB, bin, file string, entries int) (url, stderr string) {
	t.Helper()
	var mu sync.Mutex
	var told []string
	Process{
		Command: []string{bin, "gateway", "--config", file, "--listen", "127.0.0.1:0"},
		Ready: func(line string) (string, bool) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, line)
			if _, at, ok := strings.Cut(line, "listening on "); ok {
				url = at
			}
			return url, url != "" && settled(told) >= entries
		},
	}.Start(t)
	mu.Lock()
	defer mu.Unlock()
	return url, strings.Join(told, "\n")
}

// settled counts the entries of which a line has told what has become of them.
func settled(lines []string) (n int) {
	for _, line := range lines {
		if strings.Contains(line, ": ready, ") || strings.Contains(line, ": failed: ") {
			n++
		}
	}
	return n
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
