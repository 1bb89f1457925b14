package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMirrorWritesNothingOutside builds trees of folders, files and links of every kind on both sides, mirrors random
// lists of paths, and looks at everything that is not the destination.
func TestMirrorWritesNothingOutside(t *testing.T) {
	base := realTemp(t)
	names := rapid.SampledFrom([]string{"a", "b", "c", ".git", "link"})
	steps := rapid.SampledFrom([]string{"a", "b", "c", ".git", "link", "..", ".", "", ".GIT", "a\x00"})
	rapid.Check(t, func(t *rapid.T) {
		top, err := os.MkdirTemp(base, "tree")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(top)
		home := filepath.Join(top, "home")
		m := Mirror{Root: filepath.Join(home, "shop"), Destination: filepath.Join(home, "copy"), Options: Options{Home: home}}
		folders := []string{m.Root, m.Destination, filepath.Join(home, "out")}
		for _, dir := range folders {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 10).Draw(t, "entries") {
			at := filepath.Join(rapid.SampledFrom(folders).Draw(t, "in"), names.Draw(t, "name"))
			if _, err := os.Lstat(at); err == nil {
				continue
			}
			switch rapid.SampledFrom([]string{"folder", "file", "near link", "far link"}).Draw(t, "kind") {
			case "folder":
				err = os.Mkdir(at, 0o700)
				folders = append(folders, at)
			case "file":
				err = os.WriteFile(at, []byte(at), 0o600)
			case "near link":
				err = os.Symlink(strings.Repeat("../", rapid.IntRange(0, 3).Draw(t, "up"))+names.Draw(t, "target"), at)
			case "far link":
				err = os.Symlink(filepath.Join(rapid.SampledFrom(folders).Draw(t, "far"), names.Draw(t, "target")), at)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		files := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(steps, 1, 4).Draw(t, "path"), "/")
		}), 1, 8).Draw(t, "files")
		m.Files = func(context.Context) ([]string, error) { return files, nil }
		before := sketchBut(t, home, "copy")
		for range 2 {
			got, err := m.Sync(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			distinct := map[string]bool{}
			for _, file := range files {
				distinct[file] = true
			}
			if got.Copied+got.Skipped+got.Refused != len(distinct) {
				t.Fatalf("%+v for %d files", got, len(distinct))
			}
		}
		if after := sketchBut(t, home, "copy"); after != before {
			t.Fatalf("mirroring %q changed\n%s\ninto\n%s", files, before, after)
		}
	})
}

// sketchBut is everything below dir as a text, without the entry called but.
func sketchBut(t *rapid.T, dir, but string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		if e.Name() == but {
			continue
		}
		b.WriteString(e.Name() + "\n" + sketch(t, filepath.Join(dir, e.Name())))
	}
	return b.String()
}
