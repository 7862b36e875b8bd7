package house

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the tree of the project, seen from this package.
var root = filepath.Join("..", "..")

const (
	maxFile  = 1 << 20 // bytes of any file
	maxLines = 600     // lines of a Go file that is no test
)

// rule is one thing that must not stand in the files it looks at.
type rule struct {
	name   string
	in     func(path string) bool
	not    *regexp.Regexp
	wayOut string
	bad    string // a line the rule must catch, so that it cannot rot
	good   string // a line it must let pass
}

var rules = []rule{
	{
		name:   "version literal",
		in:     outsideTheCodecs,
		not:    regexp.MustCompile(`"20[0-9]{2}-[0-9]{2}-[0-9]{2}"`),
		wayOut: "ask a trait, or name a constant of mcp",
		bad:    `if peer.Version < "2026-07-28" {`,
		good:   `// Spec 2026-07-28, server/utilities/caching.`,
	},
	{
		name:   "condition on a revision",
		in:     outsideTheCodecs,
		not:    regexp.MustCompile(`\bmcp\.Is(Modern|ModernDate|Legacy)\(`),
		wayOut: "ask a trait or a capability; in the gateway, a method of server.Request",
		bad:    `if mcp.IsModern(req.ProtocolVersion()) {`,
		good:   `if req.CanBeAsked() {`,
	},
	{
		name:   "note left open",
		in:     isGo,
		not:    regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME)\b`),
		wayOut: "finish it, or write it down in docs/features.md",
		bad:    "// TO" + "DO: later",
		good:   "// a toDoList is a type of the example",
	},
	{
		name:   "silent skip",
		in:     isGo,
		not:    regexp.MustCompile(`\b(t|b|f|tb)\.Skip(Now)?\(\)`),
		wayOut: "say why in the message of the skip",
		bad:    "\tt.Skip" + "()",
		good:   "\tt.Skip(\"needs a kernel with cgroups\")",
	},
	{
		name:   "download address in a lock file",
		in:     isLock,
		not:    regexp.MustCompile(`"resolved":|registry\.npmjs|https?://[^"]*\.tgz`),
		wayOut: "write the file with npm's omit-lockfile-registry-resolved=true",
		bad:    `"resolved": "https://example.com/a.tgz"`,
		good:   `"version": "1.2.3",`,
	},
	{
		name: "reference to a page that is not in the tree",
		in:   func(path string) bool { return path != "internal/house/words_test.go" },
		not: regexp.MustCompile(`\b[Ff]acts? [0-9]+\.[0-9]|\bC-[0-9]{3}\b|\b[Dd]esign(\.md)?,? section\b` +
			`|\b(design|style|speed|cases|facts|fixtures|checklist|conventions|llm)\.md\b`),
		wayOut: "name the section of the specification, a page under docs/, or say it in plain words",
		bad:    "// as facts 2.9 has it (design section 4, C-058)",
		good:   "// Spec 2026-07-28, basic/transports, \"Backward Compatibility\"; see docs/refusals.md.",
	},
	{
		name:   "address of a package registry",
		in:     func(path string) bool { return !strings.HasSuffix(path, "_test.go") },
		not:    regexp.MustCompile(`\b(registry\.npmjs\.org|registry\.yarnpkg\.com|proxy\.golang\.org|sum\.golang\.org|pypi\.org/simple)\b`),
		wayOut: "let the package manager's own setting decide",
		bad:    "GOPROXY=https://proxy.golang.org",
		good:   "go install example.com/tool@latest",
	},
}

func TestWords(t *testing.T) {
	for _, file := range files(t) {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if isBinary(data) {
			continue
		}
		for i, line := range strings.Split(string(data), "\n") {
			for _, r := range rules {
				if r.in(file) && r.not.MatchString(line) {
					t.Errorf("%s:%d: %s: %s", file, i+1, r.name, r.wayOut)
				}
			}
		}
	}
}

func TestRulesCatch(t *testing.T) {
	for _, r := range rules {
		if !r.not.MatchString(r.bad) {
			t.Errorf("rule %q lets %q pass", r.name, r.bad)
		}
		if r.not.MatchString(r.good) {
			t.Errorf("rule %q refuses %q", r.name, r.good)
		}
	}
}

func TestSizes(t *testing.T) {
	for _, file := range files(t) {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > maxFile {
			t.Errorf("%s has %d bytes; %d are allowed", file, len(data), maxFile)
		}
		if lines := bytes.Count(data, []byte("\n")); isGo(file) && !strings.HasSuffix(file, "_test.go") && lines > maxLines {
			t.Errorf("%s has %d lines; past %d look for the second subject that has moved in", file, lines, maxLines)
		}
	}
}

// outsideTheCodecs says where a revision's date must not be written as a string, nor be a condition. Tests, programs that
// play a peer of one revision, the packages whose subject are the revisions, and the option that narrows them may.
func outsideTheCodecs(path string) bool {
	if !isGo(path) || strings.HasSuffix(path, "_test.go") {
		return false
	}
	at := []string{
		"client/options.go", "state/statetest/", "mcp/", "internal/era/", "internal/negotiate/", "conformance/", "examples/",
		"bench/", "interop/", "mcptest/",
		"llm/anthropic/", // the versions of an API that is not this protocol
	}
	return !slices.ContainsFunc(at, func(folder string) bool { return strings.HasPrefix(path, folder) })
}

func isGo(path string) bool { return strings.HasSuffix(path, ".go") }

func isLock(path string) bool {
	return slices.Contains([]string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"}, filepath.Base(path))
}

func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// files lists the files of the tree, slash-separated and relative to the root, without what git ignores here.
func files(t *testing.T) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && (name == ".git" || name == "node_modules" || name == "bin"):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || ignored[filepath.Ext(name)]:
			return nil
		}
		rel, err := filepath.Rel(root, path)
		all = append(all, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ignored are the endings that .gitignore names.
var ignored = map[string]bool{".test": true, ".out": true, ".prof": true}
