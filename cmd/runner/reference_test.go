package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"brabo.dev/runner/runner/action"
	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/settings"
)

// TestReadmeReferenceIsThatOfTheCode compares each generated part of the README with what the code says; -update
// writes them.
func TestReadmeReferenceIsThatOfTheCode(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for name, table := range referenceTables() {
		begin, end := "<!-- begin: "+name+" -->\n", "<!-- end: "+name+" -->"
		from, to := strings.Index(text, begin), strings.Index(text, end)
		if from < 0 || to < from {
			t.Errorf("the README has no part %q", name)
			continue
		}
		from += len(begin)
		if text[from:to] != table && !*update {
			t.Errorf("the README's %s differ from the code's; run this test with -update", name)
		}
		text = text[:from] + table + text[to:]
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// referenceTables are the generated parts of the README by their names.
func referenceTables() map[string]string {
	return map[string]string{
		"commands": commandTable(newRootCommand()), "settings": settingTable(), "variables": rows("variable", "meaning", variables),
		"failures": failureTable(), "extensions": rows("extension", "what it adds", extensions),
		"files": rows("file", "what it is", files), "signals": rows("signal", "what it does", signals), "exit codes": rows("code", "meaning", exitCodes),
	}
}

// row is one line of a table.
type row struct{ name, meaning string }

func rows(first, second string, all []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |\n|---|---|\n", first, second)
	for _, r := range all {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.name, r.meaning)
	}
	return b.String()
}

// commandTable lists every command that is not hidden.
func commandTable(root *cobra.Command) string {
	var all []row
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if c != root && c.Runnable() && (len(c.Commands()) == 0 || c.Name() == "hub" || c.Name() == "confirm") { // the two run by themselves, too
			all = append(all, row{useOf(c), c.Short})
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(root)
	for i := range all {
		all[i].name = strings.ReplaceAll(all[i].name, "|", "\\|")
	}
	return rows("command", "what it does", all)
}

// settingTable is the settings' own table.
func settingTable() string {
	var b strings.Builder
	b.WriteString("| setting | default | range | meaning |\n|---|---|---|---|\n")
	cell := func(s string) string { return strings.ReplaceAll(cmp.Or(s, "-"), "|", "\\|") }
	for _, r := range settings.Table() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, cell(r.Default), cell(r.Range), cell(r.Meaning))
	}
	return b.String()
}

// failureTable is the catalogue, by name.
func failureTable() string {
	var b strings.Builder
	b.WriteString("| failure | probable cause | next step |\n|---|---|---|\n")
	cell := func(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
	entries := failure.Catalogue()
	slices.SortFunc(entries, func(a, b failure.Entry) int { return cmp.Compare(a.Name, b.Name) })
	for _, e := range entries {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", e.Name, cell(e.Cause), cell(e.Next))
	}
	return b.String()
}

func TestTheReferenceHasEveryExtension(t *testing.T) {
	var want, got []string
	for _, e := range action.Known() {
		want = append(want, string(e))
	}
	for _, r := range extensions {
		got = append(got, r.name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("the reference has %v, the code %v", got, want)
	}
}

// sources calls look with every Go file of the product, tests and their tools excepted.
func sources(t *testing.T, look func(path string, f *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "failuretest" || d.Name() == "gittest"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil {
			look(path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// literals gives the text constants of f.
func literals(f *ast.File) (all []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				all = append(all, s)
			}
		}
		return true
	})
	return all
}

func TestEveryVariableThatIsReadStandsInTheReference(t *testing.T) {
	ours := regexp.MustCompile(`^(RUNNER|BRABO)_[A-Z_]*[A-Z]$`)
	known := map[string]bool{}
	for _, r := range variables {
		known[r.name] = true
	}
	for _, r := range settings.Table() {
		known[r.Variable] = true
	}
	read := map[string]bool{}
	sources(t, func(path string, f *ast.File) {
		for _, s := range literals(f) {
			if ours.MatchString(s) {
				read[s] = true
				// exec also names those that it keeps from commands, whoever reads them.
				if !known[s] && !strings.HasSuffix(path, filepath.Join("exec", "names.go")) {
					t.Errorf("%s names the variable %s, which has no row", path, s)
				}
			}
		}
	})
	for _, r := range variables {
		if ours.MatchString(r.name) && !read[r.name] {
			t.Errorf("nothing reads the variable %s", r.name)
		}
	}
}

func TestEveryFileInTheReferenceIsOneOfTheCodes(t *testing.T) {
	known := map[string]bool{}
	sources(t, func(_ string, f *ast.File) {
		for _, s := range literals(f) {
			known[s] = true
		}
	})
	for _, r := range files {
		base := filepath.Base(strings.TrimSuffix(r.name, "/"))
		if !known[base] && !known["/"+base] {
			t.Errorf("the code has no %s", base)
		}
	}
}

func TestEveryExitCodeStandsInTheReference(t *testing.T) {
	listed := map[string]bool{}
	for _, r := range exitCodes {
		listed[r.name] = true
	}
	used := map[string]bool{"0": true}
	sources(t, func(path string, f *ast.File) {
		if filepath.Dir(path) != filepath.Join("..", "..", "cmd", "runner") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, "exit") || len(spec.Values) != 1 {
				return true
			}
			if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.INT {
				used[lit.Value] = true
			}
			return true
		})
	})
	if want, got := slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(listed)); !slices.Equal(want, got) {
		t.Errorf("the code uses %v, the reference lists %v", want, got)
	}
}
