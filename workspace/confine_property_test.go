package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"brabo.dev/runner/runner/failure"
)

// TestConfineNeverLetsAPathOut builds small trees of folders, files and links of every kind inside and beside a
// root, asks for random paths through them, and lets the system say where an accepted one really lies.
func TestConfineNeverLetsAPathOut(t *testing.T) {
	base := realTemp(t)
	names := rapid.SampledFrom([]string{"a", "b", "c", "link", "root", "root2", "out"})
	steps := rapid.SampledFrom([]string{"a", "b", "c", "link", "root", "root2", "out", ".", "..", "", "a\x00"})
	rapid.Check(t, func(t *rapid.T) {
		top, err := os.MkdirTemp(base, "tree")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(top)
		root, also := filepath.Join(top, "root"), filepath.Join(top, "root2")
		folders := []string{root, also, filepath.Join(top, "out")}
		for _, dir := range folders {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		made := append([]string{top, "", "/"}, folders...)
		for range rapid.IntRange(1, 8).Draw(t, "entries") {
			at := filepath.Join(rapid.SampledFrom(folders).Draw(t, "in"), names.Draw(t, "name"))
			if _, err := os.Lstat(at); err == nil {
				continue
			}
			made = append(made, at)
			switch rapid.SampledFrom([]string{"folder", "file", "near link", "far link", "loose link"}).Draw(t, "kind") {
			case "folder":
				err = os.Mkdir(at, 0o700)
				folders = append(folders, at)
			case "file":
				err = os.WriteFile(at, nil, 0o600)
			case "near link":
				err = os.Symlink(strings.Repeat("../", rapid.IntRange(0, 3).Draw(t, "up"))+names.Draw(t, "target"), at)
			case "far link":
				err = os.Symlink(rapid.SampledFrom(made[3:]).Draw(t, "far"), at)
			case "loose link":
				err = os.Symlink(filepath.Join(rapid.SampledFrom(folders).Draw(t, "far"), names.Draw(t, "target")), at)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		var beside []string
		if rapid.Bool().Draw(t, "also") {
			beside = []string{also}
		}
		for _, cwd := range made { // each as it is, and with some steps behind it
			stays(t, cwd, root, beside)
			for _, step := range rapid.SliceOfN(steps, 0, 3).Draw(t, "steps") {
				cwd += "/" + step
			}
			stays(t, cwd, root, beside)
		}
	})
}

// stays fails the test when Confine accepts cwd and the system says that it lies outside.
func stays(t *rapid.T, cwd, root string, beside []string) {
	got, err := Confine(root, cwd, beside...)
	if err != nil {
		if failure.As(err) == nil {
			t.Fatalf("a refusal without a name: %v", err)
		}
		return
	}
	real, err := filepath.EvalSymlinks(got)
	if err != nil {
		t.Fatalf("Confine accepted %q, which can't be followed: %v", got, err)
	}
	for _, dir := range append([]string{root}, beside...) {
		if real == dir || strings.HasPrefix(real, dir+string(filepath.Separator)) {
			return
		}
	}
	t.Fatalf("Confine(%q, %q, %q) accepted what really is %q", root, cwd, beside, real)
}

// FuzzConfine throws any text at a fixed tree that has links in and out.
func FuzzConfine(f *testing.F) {
	top := realTemp(f)
	root := mkdir(f, top, "root")
	mkdir(f, root, "a", "b")
	mkdir(f, top, "root-2")
	for name, target := range map[string]string{"in": "a", "out": "../root-2", "up": "..", "circle": "circle", "top": "/"} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			f.Skip(err)
		}
	}
	for _, seed := range []string{"", "/a", "/a/b", "/in/b", "/out", "/up/root", "/circle/x", "/top/etc", "/../root", "-2",
		"/a\x00", "//a///b/.", "/a/./..", "/\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, tail string) {
		for _, cwd := range []string{root + tail, tail} {
			got, err := Confine(root, cwd)
			if err != nil {
				if failure.As(err) == nil {
					t.Fatalf("a refusal without a name: %v", err)
				}
				continue
			}
			real, err := filepath.EvalSymlinks(got)
			if err != nil || real != root && !strings.HasPrefix(real, root+string(filepath.Separator)) {
				t.Fatalf("Confine accepted %q, which really is %q (%v)", cwd, real, err)
			}
			if info, err := os.Stat(got); err != nil || info.Mode()&fs.ModeDir == 0 {
				t.Fatalf("Confine accepted %q, which is no folder: %v", cwd, err)
			}
		}
	})
}
