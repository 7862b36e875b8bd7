package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// module is the path of the root module; the packages of the other modules lie below it as well.
const module = "github.com/rialto-mcp/rialto"

// row says what one package, or with "/..." a whole folder, may import of this module.
type row struct {
	pkg string
	may []string // direct imports; a trailing "/..." stands for the package and all below it
}

// tree is the list of packages in the order of the design: imports point up this list, never down. Tests are not held
// to it. A new package gets its row where it belongs; a row grows only when the new import has a reason.
var tree = []row{
	{"jsonrpc", nil},
	{"mcp", []string{"jsonrpc"}},
	{"state", []string{"jsonrpc", "mcp"}},
	{"state/...", []string{"jsonrpc", "mcp", "state"}},
	{"internal/era", []string{"jsonrpc", "mcp"}},
	{"internal/era/legacy", []string{"jsonrpc", "mcp", "internal/era"}},
	{"internal/era/modern", []string{"jsonrpc", "mcp", "internal/era"}},
	{"internal/negotiate", []string{"jsonrpc", "mcp", "internal/era", "internal/era/legacy", "internal/era/modern"}},
	{"internal/schema", []string{"jsonrpc", "mcp"}},
	{"internal/sse", nil},
	{"internal/seal", []string{"jsonrpc", "mcp"}},
	{"internal/replay", nil},
	{"internal/seal/sealtest", []string{"internal/seal"}},
	{"internal/frontmatter", []string{"jsonrpc"}},
	{"transport", []string{"jsonrpc", "mcp", "internal/era"}},
	{"transport/internal/web", []string{"mcp", "transport"}},
	{"transport/internal/...", []string{"jsonrpc", "mcp", "transport"}},
	{"internal/engine", []string{"jsonrpc", "mcp", "state", "internal/era", "internal/negotiate", "internal/schema", "transport"}},
	{"internal/pipe", binding},
	{"transport/stdio", binding},
	{"transport/streamhttp", slices.Concat(binding, []string{"transport/internal/web"})},
	{"transport/httpsse", slices.Concat(binding, []string{"transport/internal/web", "transport/streamhttp"})}, // its guard, bodies and streams
	{"server", door},
	{"client", door},
	{"client/cachetest", []string{"client"}},
	{"tasks", both},
	{"tasks/boltstore", []string{"tasks"}},
	{"tasks/storetest", []string{"mcp", "server", "tasks"}},
	{"apps", both},
	{"skills", slices.Concat(both, []string{"internal/frontmatter"})},
	{"auth", []string{"jsonrpc", "mcp", "transport", "server"}},
	{"auth/oauth", []string{"jsonrpc", "mcp", "transport", "client", "auth"}},
	{"auth/oauth/storetest", []string{"auth/oauth"}},
	{"manager", []string{"jsonrpc", "mcp", "transport/...", "client", "auth/..."}},
	{"manager/mount", []string{"jsonrpc", "mcp", "server", "manager"}},
	{"manager/signin", []string{"client", "auth/oauth", "manager"}},
	{"llm/portable", []string{"jsonrpc"}},
	{"llm/internal/pieces", []string{"jsonrpc"}},
	{"llm", []string{"jsonrpc", "mcp", "internal/schema", "internal/sse", "client", "manager", "llm/portable"}}, // answers that are streamed come as events
	{"llm/internal/back", []string{"jsonrpc", "mcp", "llm"}},
	{"llm/...", []string{"jsonrpc", "mcp", "client", "llm", "llm/portable", "llm/internal/back", "llm/internal/pieces"}}, // the shapes of one API each
	{"mcptest", []string{"jsonrpc", "mcp", "state", "internal/replay", "transport/...", "server", "client", "tasks", "apps", "skills", "auth/..."}},
	{"conformance/fixture", public},
	{"conformance/...", slices.Concat(public, []string{"conformance/fixture"})},
	{"examples/...", public},
	{"internal/cases", nil}, // tests alone
	{"internal/house/...", nil},
}

var (
	// binding: a wire knows the Receiver it feeds and nothing above it, so never the engine; of the eras it knows the seam,
	// to name the codec that an Exchange carries, and never one of the two.
	binding = []string{"jsonrpc", "mcp", "state", "internal/sse", "internal/era", "internal/negotiate", "transport"}

	// door: what server and client are built from; everything above them in the tree but the two eras.
	door = []string{
		"jsonrpc", "mcp", "state", "internal/era", "internal/negotiate", "internal/schema", "internal/sse", "internal/seal",
		"internal/replay", "transport/...", "internal/engine", "internal/pipe",
	}

	// both: an extension has a server side and a client side and uses their public doors.
	both = []string{"jsonrpc", "mcp", "state", "transport", "internal/schema", "server", "client"}

	// public: programs that show the library use it as a stranger would.
	public = []string{
		"jsonrpc", "mcp", "state", "transport/...", "server", "client", "tasks/...", "apps", "skills", "auth/...", "manager/...", "llm/...", "mcptest",
	}
)

// fence is an import that must not exist whatever the rows say, so that an edited row cannot open it unseen.
type fence struct{ from, to, why string }

var fences = []fence{
	{"internal/era/legacy", "internal/era/modern", "an era can be read and removed alone"},
	{"internal/era/modern", "internal/era/legacy", "an era can be read and removed alone"},
	{"internal/pipe", "internal/engine", "a wire feeds a Receiver and does not know what stands behind it"},
	{"internal/pipe", "internal/era/legacy", "a wire asks internal/negotiate, never an era"},
	{"internal/pipe", "internal/era/modern", "a wire asks internal/negotiate, never an era"},
	{"server", "client", "a server is built without a client"},
	{"client", "server", "a client is built without a server"},
	{"transport/...", "internal/engine", "a wire feeds a Receiver and does not know what stands behind it"},
	{"transport/...", "internal/era/legacy", "a wire asks internal/negotiate, never an era"},
	{"transport/...", "internal/era/modern", "a wire asks internal/negotiate, never an era"},
	{"internal/engine", "internal/era/legacy", "the engine asks for traits, never for an era"},
	{"internal/engine", "internal/era/modern", "the engine asks for traits, never for an era"},
	{"gateway/...", "internal/...", "the gateway uses public doors only, so that users can build theirs"},
	{"redis/...", "internal/...", "an engine of the stores needs their public interfaces only"},
	{"interop/...", "internal/...", "peers are met through the doors users have"},
}

// listed is what go list tells of one package.
type listed struct {
	ImportPath string
	Imports    []string
	Error      *struct{ Err string }
}

func (l listed) name() string {
	return strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, module), "/")
}

func TestImports(t *testing.T) {
	for _, pkg := range packages(t, "./...") {
		r, ok := rowOf(pkg.name())
		if !ok {
			t.Errorf("package %q has no row in the table of imports: add one where it belongs in the tree", pkg.name())
			continue
		}
		for _, imp := range inside(pkg.Imports) {
			if !slices.ContainsFunc(r.may, func(pattern string) bool { return match(pattern, imp) }) {
				t.Errorf("%s imports %s, which its row does not list", pkg.name(), imp)
			}
		}
	}
}

func TestFences(t *testing.T) {
	for _, pkg := range packages(t, "work") {
		for _, imp := range inside(pkg.Imports) {
			for _, f := range fences {
				if match(f.from, pkg.name()) && match(f.to, imp) {
					t.Errorf("%s imports %s: %s", pkg.name(), imp, f.why)
				}
			}
		}
	}
}

// TestTreePointsUp checks the table itself: whatever a row allows stands in an earlier row.
func TestTreePointsUp(t *testing.T) {
	place := func(pattern string) int {
		return slices.IndexFunc(tree, func(r row) bool { return r.pkg == pattern || match(pattern, r.pkg) })
	}
	for i, r := range tree {
		for _, may := range r.may {
			if at := place(may); at < 0 || at >= i {
				t.Errorf("row %q allows %q, which does not stand above it", r.pkg, may)
			}
		}
	}
}

// TestOneOwner holds that each requirement of the library stands behind one package of ours, so that it can be replaced in
// one place. JSON is excepted, and signatures: auth checks them and auth/oauth makes them, with no code in common. Programs
// that only show the library need none.
func TestOneOwner(t *testing.T) {
	owner := map[string]string{
		"github.com/santhosh-tekuri/jsonschema/v6": "internal/schema",
	}
	for _, pkg := range packages(t, "./...") {
		for _, req := range rootRequirements(t) {
			if req == "github.com/go-json-experiment/json" || !slices.ContainsFunc(pkg.Imports, func(imp string) bool { return match(req+"/...", imp) }) {
				continue
			}
			if req == "github.com/go-jose/go-jose/v4" && match("auth/...", pkg.name()) {
				continue
			}
			if first, taken := owner[req]; taken && first != pkg.name() {
				t.Errorf("%s imports %s, which belongs to %s alone", pkg.name(), req, first)
			}
			owner[req] = pkg.name()
		}
	}
}

// TestModelIsInert holds that the frame and the neutral model touch no world and start nothing.
func TestModelIsInert(t *testing.T) {
	world := []string{"net", "net/http/...", "os/...", "syscall/...", "log/...", "time/tzdata", "testing/..."}
	for _, pkg := range packages(t, "./...") {
		if name := pkg.name(); name != "jsonrpc" && name != "mcp" {
			continue
		}
		for _, imp := range pkg.Imports {
			if slices.ContainsFunc(world, func(pattern string) bool { return match(pattern, imp) }) {
				t.Errorf("%s imports %s: it does no input or output", pkg.name(), imp)
			}
		}
		for file, tree := range parsed(t, filepath.Join(root, pkg.name())) {
			ast.Inspect(tree, func(n ast.Node) bool {
				if _, ok := n.(*ast.GoStmt); ok {
					t.Errorf("%s starts a goroutine", file)
				}
				return true
			})
		}
	}
}

// rowOf finds the row of a package; the exact name comes before a folder.
func rowOf(name string) (row, bool) {
	i := slices.IndexFunc(tree, func(r row) bool { return r.pkg == name })
	if i < 0 {
		i = slices.IndexFunc(tree, func(r row) bool { return match(r.pkg, name) })
	}
	if i < 0 {
		return row{}, false
	}
	return tree[i], true
}

// match reports whether name is the package a pattern names, or lies below it when the pattern ends in "/...".
func match(pattern, name string) bool {
	folder, all := strings.CutSuffix(pattern, "/...")
	return name == folder || all && strings.HasPrefix(name, folder+"/")
}

// inside keeps the imports that lie in this project, without the module's path.
func inside(imports []string) []string {
	var names []string
	for _, imp := range imports {
		if name, ok := strings.CutPrefix(imp, module+"/"); ok {
			names = append(names, name)
		}
	}
	return names
}

// packages asks the go command for the packages of a pattern, seen from the root of the tree. Files of tests do not count.
func packages(t *testing.T, pattern string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,Error", pattern)
	cmd.Dir = root
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", pattern, err, complaint.String())
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg listed
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("output of go list %s: %v", pattern, err)
		}
		if pkg.Error != nil {
			t.Errorf("go list %s: %s", pkg.ImportPath, pkg.Error.Err)
			continue
		}
		all = append(all, pkg)
	}
	if len(all) == 0 {
		t.Fatalf("go list %s found no package", pattern)
	}
	return all
}

// parsed reads the non-test files of one package.
func parsed(t *testing.T, dir string) map[string]*ast.File {
	t.Helper()
	trees := map[string]*ast.File{}
	names, err := fs.Glob(os.DirFS(dir), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := filepath.Join(dir, name)
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		trees[file] = tree
	}
	return trees
}
