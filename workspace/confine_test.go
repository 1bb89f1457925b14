package workspace

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// realTemp is a new folder, by its real path.
func realTemp(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func mkdir(t testing.TB, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func writeFile(t testing.TB, parts ...string) string {
	t.Helper()
	name := filepath.Join(parts...)
	if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// link makes a symbolic link, or skips where this user may make none.
func link(t testing.TB, target string, parts ...string) string {
	t.Helper()
	name := filepath.Join(parts...)
	if err := os.Symlink(target, name); err != nil {
		if runtime.GOOS == "windows" {
			t.Skipf("this user may make no links: %v", err)
		}
		t.Fatal(err)
	}
	return name
}

func TestConfineAcceptsFoldersInside(t *testing.T) {
	top := realTemp(t)
	root := mkdir(t, top, "project")
	sub := mkdir(t, root, "a", "b")
	scratch := mkdir(t, top, "scratch")
	alias := link(t, root, top, "alias")
	link(t, sub, root, "inner")
	link(t, scratch, root, "to-scratch")
	sep := string(filepath.Separator)

	for _, tt := range []struct {
		name, root, cwd, want string
		also                  []string
	}{
		{"the root", root, root, root, nil},
		{"the root with a trailing slash", root, root + sep, root, nil},
		{"a root given with a trailing slash", root + sep, sub, sub, nil},
		{"a folder below", root, sub, sub, nil},
		{"repeated slashes and dots", root, root + sep + sep + "a" + sep + "." + sep + "b", sub, nil},
		{"a link that stays inside", root, filepath.Join(root, "inner"), filepath.Join(root, "inner"), nil},
		{"a root that is a link", alias, filepath.Join(alias, "a"), filepath.Join(alias, "a"), nil},
		{"the real path of a root that is a link", alias, filepath.Join(root, "a"), filepath.Join(root, "a"), nil},
		{"a folder that counts as the root does", root, scratch, scratch, []string{scratch}},
		{"a link from the root into such a folder", root, filepath.Join(root, "to-scratch"),
			filepath.Join(root, "to-scratch"), []string{scratch}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Confine(tt.root, tt.cwd, tt.also...)
			if err != nil || got != tt.want {
				t.Errorf("Confine(%q, %q) = %q, %v; want %q", tt.root, tt.cwd, got, err, tt.want)
			}
		})
	}
}

func TestConfineRefusesAPathOfTheWrongForm(t *testing.T) {
	root := realTemp(t)
	for _, cwd := range []string{"", "relative", "./a", "~"} {
		_, err := Confine(root, cwd)
		failuretest.Produced(t, err, failure.CwdNotAbsolute)
	}
	sep := string(filepath.Separator)
	mkdir(t, root, "a")
	for _, cwd := range []string{root + sep + "a\x00b", root + sep + "a" + sep + "..", root + sep + ".." + sep + filepath.Base(root)} {
		_, err := Confine(root, cwd)
		failuretest.Produced(t, err, failure.CwdInvalid)
	}
}

func TestConfineRefusesWhatLiesOutside(t *testing.T) {
	top := realTemp(t)
	root := mkdir(t, top, "base")
	outside := mkdir(t, top, "outside")
	mkdir(t, outside, "deep")
	link(t, outside, root, "out")
	link(t, top, root, "up")
	link(t, filepath.Join(outside, "missing"), root, "dangling")
	link(t, filepath.Join(root, "circle"), root, "circle")
	link(t, filepath.Join(root, "out"), root, "out-by-two")

	for _, tt := range []struct {
		name, cwd string
		also      []string
	}{
		{"the folder above", top, nil},
		{"a sibling", outside, nil},
		{"a sibling whose name begins alike", mkdir(t, top, "base-2"), nil},
		{"a link that leads out", filepath.Join(root, "out"), nil},
		{"a folder behind a link that leads out", filepath.Join(root, "out", "deep"), nil},
		{"a missing folder behind a link that leads out", filepath.Join(root, "out", "new", "er"), nil},
		{"a link to a link that leads out", filepath.Join(root, "out-by-two"), nil},
		{"a link to the folder above", filepath.Join(root, "up"), nil},
		{"the root again through the folder above", filepath.Join(root, "up", "outside"), nil},
		{"a link to something missing outside", filepath.Join(root, "dangling"), nil},
		{"a folder below such a link", filepath.Join(root, "dangling", "x"), nil},
		{"a link to itself", filepath.Join(root, "circle"), nil},
		{"a relative folder beside the root", outside, []string{"outside", ""}},
		{"the top of the file system beside the root", outside, []string{filepath.VolumeName(root) + string(filepath.Separator)}},
		{"a folder beside the root with dots", outside, []string{filepath.Join(top, "x") + "/../outside"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Confine(root, tt.cwd, tt.also...)
			failuretest.Produced(t, err, failure.CwdOutside)
		})
	}
}

func TestConfineTellsAMissingFolderFromOneOutside(t *testing.T) {
	root := realTemp(t)
	file := writeFile(t, root, "file")
	for _, cwd := range []string{filepath.Join(root, "missing"), filepath.Join(root, "a", "b"), file, filepath.Join(file, "below")} {
		_, err := Confine(root, cwd)
		failuretest.Produced(t, err, failure.CwdMissing)
	}
}

func TestConfineRefusesARootThatHoldsEverything(t *testing.T) {
	top := filepath.VolumeName(realTemp(t)) + string(filepath.Separator)
	for _, root := range []string{top, "", "relative", top + "a" + string(filepath.Separator) + ".."} {
		_, err := Confine(root, realTemp(t))
		f := failure.As(err)
		if f == nil || f.Name != failure.RootNotAbsolute {
			t.Errorf("Confine with the root %q: %v", root, err)
		}
	}
}

func TestConfineTakesLongPathsInItsStride(t *testing.T) {
	root := realTemp(t)
	long := root + strings.Repeat("/", 50_000)
	if got, err := Confine(root, long); err != nil || got != root {
		t.Errorf("50,000 slashes: %q, %v", got, err)
	}
	long += strings.Repeat("/"+strings.Repeat("a", 100), 100)
	if _, err := Confine(root, long); failure.As(err) == nil {
		t.Errorf("a path of %d bytes: %v", len(long), err)
	}
}
