package failure

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// constants gives the Go name of each constant of type Name in this package.
func constants(t *testing.T) map[string]Name {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]Name{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Name" {
				found[spec.Names[0].Name] = Name(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
			}
			return true
		})
	}
	return found
}

func TestEveryNameHasOneEntryThatHelps(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	names := constants(t)
	for constant, name := range names {
		if !snake.MatchString(string(name)) {
			t.Errorf("%s is %q, not snake_case", constant, name)
		}
		if _, there := catalogue[name]; !there {
			t.Errorf("%s has no entry", name)
		}
	}
	if len(names) != len(catalogue) {
		t.Errorf("%d names, %d entries", len(names), len(catalogue))
	}
	for _, e := range Catalogue() {
		if len(e.Cause) < 10 || len(e.Next) < 10 {
			t.Errorf("%s does not say cause and next step: %+v", e.Name, e)
		}
	}
}

// TestEveryNameIsProducedByATest reads all tests of the tree: each name must stand in a call of
// failuretest.Produced, directly or in a table of a test file that calls it.
func TestEveryNameIsProducedByATest(t *testing.T) {
	produced := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			collectProduced(t, path, produced)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for constant, name := range constants(t) {
		if !produced[constant] {
			t.Errorf("no test produces %s (failure.%s)", name, constant)
		}
	}
}

func collectProduced(t *testing.T, path string, produced map[string]bool) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	calls := false
	var mentioned []string
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); ok {
			calls = calls || pkg.Name == "failuretest" && sel.Sel.Name == "Produced"
			if pkg.Name == "failure" {
				mentioned = append(mentioned, sel.Sel.Name)
			}
		}
		return true
	})
	if calls {
		for _, name := range mentioned {
			produced[name] = true
		}
	}
}
