package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTwoBuildsAreTheSameToTheByte builds the tree a second time from another folder, at another hour, with another
// umask of the files, and holds every result against the first one's.
func TestTwoBuildsAreTheSameToTheByte(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("an ordinary user's test: it only builds")
	}
	first := here.of(t, "1.0.0")
	elsewhere := filepath.Join(t.TempDir(), "a tree of another name")
	copyTree(t, filepath.Dir(mustDir()), elsewhere)
	second := t.TempDir()
	r := release{root: elsewhere, version: "1.0.0", when: epoch, out: second}
	files, err := r.build(t.Context(), []string{"linux/amd64"})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 5 {
		t.Errorf("%d results: %v", len(files), files)
	}
	for _, path := range files {
		again := read(t, path)
		if !bytes.Equal(again, read(t, filepath.Join(first, filepath.Base(path)))) {
			t.Errorf("%s differs", filepath.Base(path))
		}
	}
}

// copyTree copies the tree with other modes and times. Its repository, where there is one, comes along with all that it
// knows: the commit is stamped into what is built, and whether the tree differs from it.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "node_modules" || rel == "dist" { // what was built there is not the tree
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		// Who may run a file is what the repository knows of its mode.
		return os.WriteFile(filepath.Join(to, rel), data, 0o600|info.Mode().Perm()&0o100)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReleaseHasWhatPeopleInstall(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("an ordinary user's test: it only builds")
	}
	dir := here.of(t, "1.0.0")
	names := namesIn(t, dir)
	want := []string{"SHA256SUMS", "runner-1.0.0-1.x86_64.rpm", "runner_1.0.0_amd64.deb", "runner_1.0.0_linux_amd64.spdx.json", "runner_1.0.0_linux_amd64.tar.gz"}
	if !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	t.Run("sums", func(t *testing.T) {
		lines := strings.Split(strings.TrimSpace(string(read(t, filepath.Join(dir, "SHA256SUMS")))), "\n")
		if len(lines) != len(want)-1 {
			t.Errorf("%d lines", len(lines))
		}
		for _, line := range lines {
			sum, name, _ := strings.Cut(line, "  ")
			if got := sha256.Sum256(read(t, filepath.Join(dir, name))); hex.EncodeToString(got[:]) != sum {
				t.Errorf("%s has another sum", name)
			}
		}
	})
	t.Run("archive and bill of materials", func(t *testing.T) {
		files := untar(t, read(t, filepath.Join(dir, "runner_1.0.0_linux_amd64.tar.gz")))
		top := "runner_1.0.0_linux_amd64/"
		binary := filepath.Join(t.TempDir(), "runner")
		if err := os.WriteFile(binary, files[top+"runner"].data, 0o700); err != nil {
			t.Fatal(err)
		}
		checkBill(t, files[top+"sbom.spdx.json"].data, binary)
		version, err := exec.Command(binary, "version").Output()
		if err != nil || !strings.HasPrefix(string(version), "runner 1.0.0 (linux/amd64, ") {
			t.Errorf("version: %s, %v", version, err)
		}
		checkManual(t, binary, func(page string) bool { return len(files[top+"man/"+page].data) > 0 })
		for _, name := range []string{"LICENSE", "README.md", "completions/runner.bash", "completions/_runner", "completions/runner.fish"} {
			if len(files[top+name].data) == 0 {
				t.Errorf("no %s", name)
			}
		}
	})
}

// checkBill holds the bill against what the binary itself says: each module is named, and nothing else.
func checkBill(t *testing.T, bill []byte, binary string) {
	t.Helper()
	var doc spdx
	if err := json.Unmarshal(bill, &doc); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for _, p := range doc.Packages {
		listed[p.Name] = p.Version
	}
	for _, dep := range info.Deps {
		if listed[dep.Path] != dep.Version {
			t.Errorf("%s is %q in the bill, %q in the binary", dep.Path, listed[dep.Path], dep.Version)
		}
	}
	if want := len(info.Deps) + 2; len(listed) != want || len(doc.Packages) != want || len(doc.Relations) != want {
		t.Errorf("%d packages and %d relations, want %d", len(doc.Packages), len(doc.Relations), want)
	}
	if sum := sha256.Sum256(read(t, binary)); doc.Packages[0].Checksums[0].Value != hex.EncodeToString(sum[:]) {
		t.Error("the bill is another binary's")
	}
}

// checkManual asks the program for its commands, and demands a page for each of the first level.
func checkManual(t *testing.T, binary string, there func(page string) bool) {
	t.Helper()
	help, err := exec.Command(binary, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(help), "  runner [command]\n")
	list, _, ended := strings.Cut(list, "\nFlags:\n")
	if !found || !ended {
		t.Fatalf("no list of commands in\n%s", help)
	}
	commands := 0
	for line := range strings.Lines(list) {
		if !strings.HasPrefix(line, "  ") { // the head of a group, or the line before it
			continue
		}
		commands++
		name := strings.Fields(line)[0]
		if name != "help" && !there("runner-"+name+".1") {
			t.Errorf("no page for runner %s", name)
		}
	}
	if commands < 20 {
		t.Errorf("only %d commands were found in\n%s", commands, help)
	}
	if strings.Contains(list, "manual") {
		t.Error("the product has the command that only a release needs")
	}
}

func TestVersionThatPackageManagersWouldNotOrder(t *testing.T) {
	for _, version := range []string{"", "1", "v1.0.0", "1.0.0 beta", "1.0.0-rc_1", "../1.0.0"} {
		r := release{root: "nowhere", version: version, out: filepath.Join(t.TempDir(), "out")}
		if _, err := r.build(t.Context(), nil); err == nil {
			t.Errorf("%q was taken", version)
		}
	}
}
