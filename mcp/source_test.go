package mcp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// typesWithJSON lists the exported types of this package that have a method UnmarshalJSON, read from the sources.
func typesWithJSON(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, decl := range declarations(t) {
		method, ok := decl.(*ast.FuncDecl)
		if !ok || method.Recv == nil || method.Name.Name != "UnmarshalJSON" {
			continue
		}
		star, ok := method.Recv.List[0].Type.(*ast.StarExpr)
		if !ok {
			t.Fatalf("UnmarshalJSON without a pointer receiver")
		}
		if name := star.X.(*ast.Ident).Name; ast.IsExported(name) {
			names = append(names, name)
		}
	}
	if len(names) < 50 {
		t.Fatalf("found only %d types", len(names))
	}
	return names
}

// Every exported name has a doc comment of its own or stands in a group that has one.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, decl := range declarations(t) {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			grouped := decl.Name.Name == "ContentType"
			if decl.Name.IsExported() && decl.Doc == nil && !grouped {
				t.Errorf("func %s has no comment", decl.Name.Name)
			}
		case *ast.GenDecl:
			if decl.Tok == token.IMPORT || decl.Doc != nil {
				continue
			}
			for _, spec := range decl.Specs {
				if ts, ok := spec.(*ast.TypeSpec); ok && ts.Name.IsExported() && ts.Doc == nil {
					t.Errorf("type %s has no comment", ts.Name.Name)
				}
			}
		}
	}
}

func declarations(t *testing.T) []ast.Decl {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var decls []ast.Decl
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		decls = slices.Concat(decls, file.Decls)
	}
	return decls
}
