package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// testFunc is the head of a test.
var testFunc = regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)

// testsOfTheTree are all tests by `room.Name`, those of other systems included.
func testsOfTheTree(t *testing.T) []string {
	t.Helper()
	root := filepath.Join("..", "..")
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		room, err := filepath.Rel(root, filepath.Dir(path))
		for _, m := range testFunc.FindAllSubmatch(text, -1) {
			all = append(all, filepath.ToSlash(room)+"."+string(m[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestEveryRowOfTheThreatModelHasItsTest holds SECURITY.md against the tests: each row names some that exist, and each
// attack that is played stands in a row.
func TestEveryRowOfTheThreatModelHasItsTest(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	tests := testsOfTheTree(t)
	named := regexp.MustCompile("`([a-z/]+\\.Test\\w+)`")
	var shown []string
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasSuffix(line, "| Shown by |\n") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "|\n "), " | ")
		shows := named.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 3 || len(shows) == 0 {
			t.Errorf("a row without a test: %s", line)
		}
		for _, m := range shows {
			shown = append(shown, m[1])
			if !slices.Contains(tests, m[1]) {
				t.Errorf("SECURITY.md names %s, which is no test", m[1])
			}
		}
	}
	if rows < 30 {
		t.Errorf("%d rows were found", rows)
	}
	attack := regexp.MustCompile(`\.Test(Root)?Attack`)
	for _, name := range tests {
		if attack.MatchString(name) && !slices.Contains(shown, name) {
			t.Errorf("%s has no row in SECURITY.md: say there what it tries and what stops it", name)
		}
	}
}
