package main

import (
	"bufio"
	"encoding/json"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "brabo.dev/runner"

// arrows says for each room which of our rooms it may import (design.md, "The layout"). A room in runner/ may use
// the rooms below runner/ that stand here, never runner itself.
var arrows = map[string][]string{
	"cmd/runner":                 {"*"},
	"cmd/figures":                {"*"},
	"runner":                     {"runner/action", "runner/control", "runner/failure", "runner/journal", "runner/machinepolicy", "runner/policy", "runner/pairing", "runner/redact", "runner/settings", "channel", "exec", "workspace", "workspace/git", "containerctl"},
	"runner/hub":                 {"runner/hub/page", "runner/hub/store", "runner/action", "runner/failure", "runner/policy", "runner/pairing", "runner/settings", "runner/shown", "channel", "workspace"},
	"runner/hub/client":          {"runner/hub", "runner/failure"},
	"runner/hub/mcp":             {"runner/hub", "runner/failure", "runner/shown"},
	"runner/hub/page":            {"runner/failure", "runner/shown"},
	"runner/hub/store":           {"runner/failure"},
	"runner/shown":               {},
	"runner/action":              {"runner/failure"},
	"runner/control":             {"runner/failure"},
	"runner/failure":             {},
	"runner/failure/failuretest": {"runner/failure"},
	"runner/journal":             {"runner/action", "runner/failure"},
	"runner/policy":              {"runner/failure"},
	"runner/machinepolicy":       {"runner/failure", "runner/policy"},
	"runner/doctor":              {"runner/control", "runner/failure", "runner/journal", "runner/pairing", "runner/settings", "containerctl", "exec", "workspace"},
	"runner/logs":                {"runner/failure", "runner/redact", "runner/shown"},
	"runner/redact":              {},
	"runner/pairing":             {"runner/failure", "runner/settings"},
	"runner/settings":            {"runner/failure"},
	"channel":                    {"runner/failure"},
	"exec":                       {"runner/failure"},
	"workspace":                  {"runner/failure"},
	"workspace/git":              {"runner/failure"},
	"workspace/git/gittest":      {},
	"containerctl":               {"runner/failure"},
	"service":                    {"runner/failure"},
	"service/notify":             {},
	"packaging":                  {"*"},
}

// listed is what `go list -json` says of a package.
type listed struct {
	ImportPath, Dir                    string
	GoFiles                            []string
	Imports, TestImports, XTestImports []string
}

func goList(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); dec.More(); {
		var p listed
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func TestArrowsRunOneWay(t *testing.T) {
	for _, p := range goList(t) {
		room := strings.TrimPrefix(p.ImportPath, module+"/")
		allowed, known := arrows[room]
		if !known {
			if strings.Contains(room, "testdata") {
				continue
			}
			t.Errorf("%s has no entry in the table of arrows", room)
			continue
		}
		for _, imported := range p.Imports {
			if below, ours := strings.CutPrefix(imported, module+"/"); ours && !slices.Contains(allowed, "*") && !slices.Contains(allowed, below) {
				t.Errorf("%s imports %s", room, below)
			}
		}
		// Tests may use failuretest and the rooms beside theirs, but must not turn an arrow round either.
		for _, imported := range append(p.TestImports, p.XTestImports...) {
			below, ours := strings.CutPrefix(imported, module+"/")
			if !ours || below == room || below == "runner/failure/failuretest" || slices.Contains(allowed, "*") || slices.Contains(allowed, below) {
				continue
			}
			if below == "workspace/git/gittest" && slices.Contains(append(allowed, room), "workspace/git") {
				continue
			}
			if room == "runner" && below == "runner/hub" {
				continue // the daemon is tested against the hub that it is meant for
			}
			t.Errorf("a test of %s imports %s", room, below)
		}
	}
}

func TestEveryRoomSaysWhatItIsFor(t *testing.T) {
	for _, p := range goList(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		documented := false
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			documented = documented || f.Doc != nil
		}
		if !documented {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

func TestTopLevelIsAsDesigned(t *testing.T) {
	root := filepath.Join("..", "..")
	fixed := []string{".ci", ".git", ".gitignore", ".gitattributes", "LICENSE", "README.md", "SECURITY.md", "go.mod", "go.sum", "staticcheck.conf", "cmd", "runner", "channel", "exec", "workspace", "containerctl", "service", "packaging"}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(fixed, e.Name()) {
			t.Errorf("%s does not belong at the top", e.Name())
		}
	}
}

func TestFilesAreReadInOneSitting(t *testing.T) {
	const most = 500
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		lines := 0
		for s := bufio.NewScanner(f); s.Scan(); {
			lines++
		}
		if lines > most {
			t.Errorf("%s has %d lines, more than %d", path, lines, most)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
