package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// mirrored is a project with files, and a mirror of it below the same home.
func mirrored(t testing.TB, files ...string) (*Mirror, string) {
	t.Helper()
	home, o := home(t)
	m := &Mirror{Root: mkdir(t, home, "shop"), Destination: filepath.Join(home, "backup", "shop"), Options: o}
	m.Files = func(context.Context) ([]string, error) { return files, nil }
	for _, file := range files {
		if strings.HasSuffix(file, "/") {
			mkdir(t, m.Root, file)
			continue
		}
		put(t, filepath.Join(m.Root, file), "content of "+file)
	}
	return m, home
}

// put writes a file that was last changed an hour ago.
func put(t testing.TB, path, content string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

func syncs(t testing.TB, m *Mirror, copied, skipped, refused int) Mirrored {
	t.Helper()
	got, err := m.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Copied != copied || got.Skipped != skipped || got.Refused != refused {
		t.Fatalf("%+v; want %d copied, %d skipped, %d refused", got, copied, skipped, refused)
	}
	return got
}

func TestMirrorCopiesAndKeepsModeAndTime(t *testing.T) {
	m, _ := mirrored(t, "b", "a/deep/file", "a/deep.txt", "a/deep/other", "b", "nested/")
	var seen []int
	m.Progress = func(done, total int) { seen = append(seen, done, total) }
	program := filepath.Join(m.Root, "a", "deep", "file")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(m.Destination, "foreign"), "stays")
	got := syncs(t, m, 4, 1, 0)
	if got.Destination != m.Destination || !slices.Equal(seen, []int{1, 5, 2, 5, 3, 5, 4, 5, 5, 5}) {
		t.Errorf("%+v, progress %v", got, seen)
	}
	want := "a/\na/deep/\na/deep/file: content of a/deep/file\na/deep/other: content of a/deep/other\n" +
		"a/deep.txt: content of a/deep.txt\nb: content of b\nforeign: stays\n"
	if got := sketch(t, m.Destination); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	src, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := os.Stat(filepath.Join(m.Destination, "a", "deep", "file"))
	if err != nil || src.Mode() != dst.Mode() || !src.ModTime().Equal(dst.ModTime()) {
		t.Errorf("%v %v became %v %v (%v)", src.Mode(), src.ModTime(), dst.Mode(), dst.ModTime(), err)
	}
	if err := os.Remove(filepath.Join(m.Root, "b")); err != nil {
		t.Fatal(err)
	}
	syncs(t, m, 0, 5, 0)
	if _, err := os.Stat(filepath.Join(m.Destination, "b")); err != nil {
		t.Errorf("what is gone in the project was deleted from the mirror: %v", err)
	}
}

// TestMirrorSeesAChangeWhateverTheClockSays changes files so that size and times are what they were, or older.
func TestMirrorSeesAChangeWhateverTheClockSays(t *testing.T) {
	m, _ := mirrored(t, "file")
	src, dst := filepath.Join(m.Root, "file"), filepath.Join(m.Destination, "file")
	syncs(t, m, 1, 0, 0)
	rewrite := func(path, content string, shift time.Duration) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
			t.Fatal(err)
		}
		when := info.ModTime().Add(shift)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	for i, change := range []func(content string){
		func(c string) { rewrite(src, c, 0) },          // the time was put back
		func(c string) { rewrite(src, c, -time.Hour) }, // the clock was put back
		func(c string) { rewrite(src, c, 1000*time.Hour) },
		func(c string) { rewrite(src, c, 0); rewrite(dst, "CONTENT of file", 0) },
		func(c string) { rewrite(src, c, 0); syncs(t, m, 1, 0, 0); rewrite(dst, "touched ot file", 0) },
	} {
		content := fmt.Sprintf("content no %4d", i)
		change(content)
		syncs(t, m, 1, 0, 0)
		if data, err := os.ReadFile(dst); err != nil || string(data) != content {
			t.Errorf("change %d: the mirror has %q (%v)", i, data, err)
		}
		syncs(t, m, 0, 1, 0)
	}
}

func TestMirrorReadsNothingOfWhatIsKnown(t *testing.T) {
	if _, told := pairOf(stat(t, "."), stat(t, ".")); !told {
		t.Skip("this system tells no change time")
	}
	m, _ := mirrored(t, "a", "b/c", "b/d")
	syncs(t, m, 3, 0, 0)
	if got := syncs(t, m, 0, 3, 0); got.Compared != 3 { // the project's files are new, so they are not relied on
		t.Errorf("new files: %+v", got)
	}
	m.settling = 1
	syncs(t, m, 0, 3, 0)
	if got := syncs(t, m, 0, 3, 0); got.Compared != 0 {
		t.Errorf("known files: %+v", got)
	}
	fresh := *m
	fresh.known = nil
	if got := syncs(t, &fresh, 0, 3, 0); got.Compared != 3 {
		t.Errorf("a mirror that knows nothing: %+v", got)
	}
}

func stat(t testing.TB, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestMirrorRefusesADestinationByName(t *testing.T) {
	m, home := mirrored(t, "file")
	apart := mkdir(t, home, "other")
	m.Apart = []string{apart}
	link(t, m.Root, home, "into")
	link(t, home, home, "up")
	mkdir(t, home, "around")
	m.Options.Roots = []string{home}
	for destination, want := range map[string]failure.Name{
		"":                          failure.MirrorInvalid,
		"backup":                    failure.MirrorInvalid,
		home + "/backup\x00":        failure.MirrorInvalid,
		home + "/a/../b":            failure.MirrorInvalid,
		m.Root:                      failure.MirrorInside,
		m.Root + "/mirror":          failure.MirrorInside,
		home + "/into":              failure.MirrorInside,
		home + "/into/a/b":          failure.MirrorInside,
		home + "/up/shop/mirror":    failure.MirrorInside,
		home:                        failure.MirrorAround,
		home + "/up":                failure.MirrorAround,
		filepath.Dir(home):          failure.MirrorAround,
		filepath.Dir(home) + "/out": failure.MirrorNotAllowed,
		home + "/.backup":           failure.MirrorNotAllowed,
		home + "/backup/.shop":      failure.MirrorNotAllowed,
		home + "/backup/.shop/a":    failure.MirrorNotAllowed,
		home + "/state/runner":      failure.MirrorNotAllowed,
		home + "/state":             failure.MirrorNotAllowed,
		apart:                       failure.MirrorNotAllowed,
		apart + "/sub":              failure.MirrorNotAllowed,
		"/etc/mirror":               failure.MirrorNotAllowed,
	} {
		m.Destination = destination
		got, err := m.Sync(t.Context())
		failuretest.Produced(t, err, want)
		if got != (Mirrored{}) {
			t.Errorf("%s: %+v", destination, got)
		}
	}
	if entries, _ := os.ReadDir(filepath.Join(m.Root)); len(entries) != 1 {
		t.Errorf("a refused destination was made: %v", entries)
	}
}

func TestMirrorFollowsNoLink(t *testing.T) {
	files := []string{"real/file", "link", "dir/file", "dst/file", "taken", "pipe/x", "loose", ".git/config", "a/.GIT/x"}
	m, home := mirrored(t, files...)
	m.Files = func(context.Context) ([]string, error) { return append(files, "../out", "/etc/passwd"), nil }
	out := mkdir(t, home, "out")
	put(t, filepath.Join(out, "secret"), "secret")
	for _, name := range []string{"link", "dir"} {
		if err := os.RemoveAll(filepath.Join(m.Root, name)); err != nil {
			t.Fatal(err)
		}
	}
	link(t, filepath.Join(out, "secret"), m.Root, "link") // a link in the project is no file
	link(t, out, m.Root, "dir")                           // nor is what lies behind one
	mkdir(t, m.Destination, "taken")                      // a folder where a file should be
	link(t, out, m.Destination, "dst")
	link(t, filepath.Join(out, "new"), m.Destination, "loose")
	put(t, filepath.Join(m.Destination, "pipe"), "a file where a folder should be")
	syncs(t, m, 1, 2, 8)
	if got := sketch(t, out); got != "secret: secret\n" {
		t.Errorf("something was written outside:\n%s", got)
	}
}

func TestMirrorEndsBetweenFiles(t *testing.T) {
	m, _ := mirrored(t, "a", "b", "c", "d")
	ctx, cancel := context.WithCancel(t.Context())
	m.Progress = func(done, _ int) {
		if done == 2 {
			cancel()
		}
	}
	got, err := m.Sync(ctx)
	failuretest.Produced(t, err, failure.Cancelled)
	if got.Copied != 2 || got.Skipped != 0 || got.Refused != 0 {
		t.Errorf("%+v", got)
	}
	m.Progress = nil
	syncs(t, m, 2, 2, 0)
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	_, err = m.Sync(late)
	failuretest.Produced(t, err, failure.TimedOut)
}

func TestMirrorNamesWhatGoesWrong(t *testing.T) {
	m, _ := mirrored(t, "file")
	m.Files = func(context.Context) ([]string, error) { return nil, errors.New("git is not well") }
	_, err := m.Sync(t.Context())
	failuretest.Produced(t, err, failure.MirrorFailed)
	m.Files = func(context.Context) ([]string, error) { return nil, nil }
	syncs(t, m, 0, 0, 0)
	if err := os.Remove(m.Destination); err != nil {
		t.Fatal(err)
	}
	put(t, m.Destination, "a file")
	_, err = m.Sync(t.Context())
	failuretest.Produced(t, err, failure.MirrorFailed)
	m.Destination += "2"
	if err := os.RemoveAll(m.Root); err != nil {
		t.Fatal(err)
	}
	_, err = m.Sync(t.Context())
	failuretest.Produced(t, err, failure.MirrorFailed)
}
