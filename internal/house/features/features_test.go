package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const runLog = `{"Action":"start","Package":"github.com/rialto-mcp/rialto/server"}
{"Action":"run","Package":"github.com/rialto-mcp/rialto/server","Test":"TestGood"}
{"Action":"pass","Package":"github.com/rialto-mcp/rialto/server","Test":"TestGood"}
{"Action":"pass","Package":"github.com/rialto-mcp/rialto/server","Test":"TestGood/legacy/http"}
{"Action":"fail","Package":"github.com/rialto-mcp/rialto/server","Test":"TestBad"}
{"Action":"skip","Package":"github.com/rialto-mcp/rialto/gateway/bridge","Test":"TestLazy"}
{"Action":"pass","Package":"github.com/rialto-mcp/rialto/gateway/bridge","Test":"TestHollow"}
{"Action":"skip","Package":"github.com/rialto-mcp/rialto/gateway/bridge","Test":"TestHollow/peer"}
{"Action":"pass","Package":"github.com/rialto-mcp/rialto/gateway/bridge"}
`

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		name, page string
		code       int
		want       string
	}{
		{"shown", "| S1 | a | `server.TestGood` |\n", 0, "1 rows, 1 shown, 0 in part, 0 missing"},
		{"a part", "| S1 | a | `server.TestGood/legacy/http` |\n", 0, "1 shown"},
		{"in part", "| S1 | a | `server.TestGood`; missing: the rest |\n", 0, "0 shown, 1 in part"},
		{"missing", "| S1 | a | missing: not built |\n| G1 | b | missing: not built |\n", 0, "2 rows, 0 shown, 0 in part, 2 missing"},
		{"failed", "| S1 | a | `server.TestBad` |\n", 1, "S1: server.TestBad failed"},
		{"skipped", "| S1 | a | `gateway/bridge.TestLazy` |\n", 1, "S1: gateway/bridge.TestLazy was skipped"},
		{"parts skipped", "| S1 | a | `gateway/bridge.TestHollow` |\n", 1, "had all its parts skipped"},
		{"unknown", "| S1 | a | `server.TestGood`, `server.TestNowhere` |\n", 1, "S1: server.TestNowhere did not run"},
		{"no test", "| S1 | a | works |\n", 2, `"works" is neither`},
		{"empty reason", "| S1 | a | missing: |\n", 2, "does not say what is missing"},
		{"bad name", "| S1 | a | `TestGood` |\n", 2, `"TestGood" is not package.TestName`},
		{"gap", "| S1 | a | missing: x |\n| S3 | b | missing: x |\n", 2, "row S3 stands where S2 is expected"},
		{"shape", "| S1 | a |\n", 2, "line 1: want"},
		{"no rows", "nothing here\n", 2, "no rows"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			page, log := write(t, "features.md", tc.page), write(t, "run.json", runLog)
			var out bytes.Buffer
			if code := run([]string{"-page", page, "-json", log}, &out, &out); code != tc.code {
				t.Errorf("exit code %d, want %d", code, tc.code)
			}
			if !strings.Contains(out.String(), tc.want) {
				t.Errorf("got %q, want %q in it", out.String(), tc.want)
			}
		})
	}
}

func TestRunRefusesBadFiles(t *testing.T) {
	page, log := write(t, "features.md", "| S1 | a | missing: x |\n"), write(t, "run.json", "ok  \tserver\n")
	for name, args := range map[string][]string{
		"no log":      {"-page", page},
		"no page":     {"-page", page + ".gone", "-json", log},
		"log missing": {"-page", page, "-json", log + ".gone"},
		"no JSON":     {"-page", page, "-json", log},
		"bad flag":    {"-what"},
	} {
		var out bytes.Buffer
		if code := run(args, &out, &out); code != 2 || out.Len() == 0 {
			t.Errorf("%s: exit code %d with %q, want 2 and a reason", name, code, out.String())
		}
	}
}

// TestPage reads the real page, so that a row that cannot be checked is found without a whole test run.
func TestPage(t *testing.T) {
	rows, err := readPage(filepath.Join("..", "..", "..", "docs", "features.md"))
	if err != nil {
		t.Fatal(err)
	}
	if last := rows[len(rows)-1].number; last != "G72" {
		t.Errorf("the last row is %s, want G72", last)
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
