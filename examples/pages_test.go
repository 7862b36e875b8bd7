package examples

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages answers what this test reads, seen from here: the first page, the map, and every page of the guide.
func pages(t *testing.T) []string {
	t.Helper()
	guide, err := filepath.Glob("../docs/guide/*.md")
	if err != nil || len(guide) == 0 {
		t.Fatal("there is no page of the guide:", err)
	}
	return append([]string{"../README.md", "../docs/README.md"}, guide...)
}

// source is the comment above a block: the file, from the root of the tree, and behind # the declaration or region.
var source = regexp.MustCompile(`^<!-- (?:code|file): ([\w./-]+)(?:#([\w.]+))? -->$`)

// update rewrites the pages: go test ./examples -run TestPages -update
var update = flag.Bool("update", false, "rewrite the blocks of the pages")

// TestPages holds that each block of Go on a page is what stands in a program or test of the tree, to the letter. Those
// are compiled and run by their own tests, so no page shows code that does not work.
func TestPages(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := refresh(string(text))
		switch {
		case err != nil:
			t.Errorf("%s: %v", page, err)
		case *update:
			if err := os.WriteFile(page, []byte(fresh), 0o644); err != nil {
				t.Fatal(err)
			}
		case fresh != string(text):
			t.Errorf("%s:%d: the page and the code it shows differ; change the code, then run this test with -update", page, firstDifference(fresh, string(text)))
		}
	}
}

// refresh puts the source of each block of Go, and of others that name one, into its place.
func refresh(page string) (string, error) {
	var out []string
	lines := strings.Split(page, "\n")
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		named := i > 0 && source.MatchString(lines[i-1])
		switch {
		case named && !strings.HasPrefix(lines[i], "```"):
			return "", fmt.Errorf("line %d: no block follows the comment", i)
		case !named && lines[i] == "```go":
			return "", fmt.Errorf("line %d: no comment above the block names its source, such as <!-- code: examples/hello/main.go#greet -->", i+1)
		case !named:
			continue
		}
		m := source.FindStringSubmatch(lines[i-1])
		code, err := cut(filepath.Join("..", m[1]), m[2])
		if err != nil {
			return "", fmt.Errorf("line %d: %w", i+1, err)
		}
		end := slices.Index(lines[i:], "```")
		if end < 0 {
			return "", fmt.Errorf("line %d: the block has no end", i+1)
		}
		out = append(out, strings.TrimSuffix(code, "\n"), "```")
		i += end
	}
	return strings.Join(out, "\n"), nil
}

// firstDifference answers the line of the second text, counted from 1, where the two part.
func firstDifference(a, b string) int {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return i + 1
		}
	}
	return min(len(as), len(bs))
}

// cut answers a whole file, the region between "// [name]" and "// [end]", or the declaration of a name with its comment.
func cut(file, name string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil || name == "" {
		return string(text), err
	}
	if _, after, ok := strings.Cut(string(text), "// ["+name+"]\n"); ok {
		region, _, ok := strings.Cut(after, "// [end]\n")
		if !ok {
			return "", fmt.Errorf("%s: region %q has no end", file, name)
		}
		return outdent(region), nil
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, decl := range tree.Decls {
		if doc, ok := declares(decl, name); ok {
			from := decl.Pos()
			if doc != nil {
				from = doc.Pos()
			}
			return string(text[set.Position(from).Offset:set.Position(decl.End()).Offset]) + "\n", nil
		}
	}
	return "", fmt.Errorf("%s has neither a region nor a declaration %q", file, name)
}

// declares tells whether a declaration is that of a name, and answers its comment.
func declares(decl ast.Decl, name string) (*ast.CommentGroup, bool) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		return decl.Doc, decl.Name.Name == name
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.Name == name {
				return decl.Doc, true
			}
		}
	}
	return nil, false
}

// outdent takes off the indentation that all lines of a region share, and that of the end mark.
func outdent(region string) string {
	region = strings.TrimRight(region, "\t")
	tabs := len(region) - len(strings.TrimLeft(region, "\t"))
	lines := strings.Split(region, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, strings.Repeat("\t", tabs))
	}
	return strings.Join(lines, "\n")
}

func TestBlocksAreCompared(t *testing.T) {
	good, err := cut("hello/main.go", "greet")
	if err != nil || !strings.HasPrefix(good, "func greet(") || !strings.HasSuffix(good, "}\n") {
		t.Fatalf("the function greet is cut as %q, %v", good, err)
	}
	page := "# Page\n\n<!-- code: examples/hello/main.go#greet -->\n```go\n" + good + "```\n\nMore.\n"
	for _, c := range []struct{ name, page, want string }{ // "" for a refusal
		{"same", page, page},
		{"changed", strings.Replace(page, "Hello", "Hullo", 1), page},
		{"cut short", strings.Replace(page, "}\n", "", 1), page},
		{"no such name", strings.Replace(page, "#greet", "#meet", 1), ""},
		{"no such file", strings.Replace(page, "hello", "hallo", 1), ""},
		{"no comment", strings.Replace(page, "<!--", "<!", 1), ""},
		{"no block", strings.Replace(page, "```go", "text", 1), ""},
		{"no end", strings.Replace(page, "```\n\nMore", "", 1), ""},
	} {
		fresh, err := refresh(c.page)
		if fresh != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: got %q, %v", c.name, fresh, err)
		}
	}
	if line := firstDifference(page, strings.Replace(page, "Hello", "Hullo", 1)); line != 6 {
		t.Errorf("the difference is found in line %d", line)
	}
}
