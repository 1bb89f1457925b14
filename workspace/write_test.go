package workspace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func TestWriteFileWritesWhatItIsGiven(t *testing.T) {
	root := realTemp(t)
	none, x := "", sumOf("x")
	for _, tt := range []struct {
		name    string
		there   fs.FileMode // of a file that holds "x"; 0: none
		write   Write
		mode    fs.FileMode
		created bool
	}{
		{"new", 0, Write{}, 0o644, true},
		{"new program", 0, Write{Mode: 0o755}, 0o755, true},
		{"new as expected", 0, Write{Expect: &none}, 0o644, true},
		{"replaced", 0o640, Write{}, 0o640, false},
		{"replaced program", 0o755, Write{Expect: &x}, 0o755, false},
		{"replaced with mode", 0o600, Write{Expect: &x, Mode: 0o755}, 0o755, false},
		{"replaced, read-only", 0o444, Write{}, 0o444, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := "a/b c/" + tt.name
			file := filepath.Join(root, path)
			if tt.there != 0 {
				writeFile(t, root, path)
				if err := os.Chmod(file, tt.there); err != nil {
					t.Fatal(err)
				}
			}
			tt.write.Path, tt.write.Content = "./a//b c/./"+tt.name, []byte("new\x00\xff")
			got, err := WriteFile(t.Context(), root, tt.write)
			if want := (Written{path, 5, sumOf("new\x00\xff"), tt.created}); err != nil || got != want {
				t.Fatalf("%+v, %v; want %+v", got, err, want)
			}
			data, err := os.ReadFile(file)
			if err != nil || string(data) != "new\x00\xff" {
				t.Errorf("%q, %v", data, err)
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode() != tt.mode {
				t.Errorf("mode %v (%v), want %v", info.Mode(), err, tt.mode)
			}
		})
	}
	if left, _ := filepath.Glob(filepath.Join(root, "a", "b c", ".runner*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

func TestWriteFileRefusesByName(t *testing.T) {
	top := realTemp(t)
	root, out := mkdir(t, top, "root"), mkdir(t, top, "out")
	mkdir(t, root, "dir", "sub")
	mkdir(t, root, ".git", "hooks")
	writeFile(t, root, "file")
	link(t, out, root, "out")
	link(t, "dir", root, "in")
	link(t, filepath.Join(out, "target"), root, "loose")
	link(t, "file", root, "near")
	none, y := "", sumOf("y")
	for _, tt := range []struct {
		path   string
		expect *string
		want   failure.Name
	}{
		{"", nil, failure.WritePathInvalid},
		{".", nil, failure.WritePathInvalid},
		{"dir/", nil, failure.WritePathInvalid},
		{"dir/.", nil, failure.WritePathInvalid},
		{"/etc/x", nil, failure.WritePathInvalid},
		{root + "/x", nil, failure.WritePathInvalid},
		{"../out/x", nil, failure.WritePathInvalid},
		{"dir/../x", nil, failure.WritePathInvalid},
		{"x\x00", nil, failure.WritePathInvalid},
		{".git", nil, failure.WriteIntoGit},
		{".git/hooks/post-commit", nil, failure.WriteIntoGit},
		{"new/.GIT/config", nil, failure.WriteIntoGit},
		{"dir/GIT~1/config", nil, failure.WriteIntoGit},
		{"git~12", nil, failure.WriteIntoGit},
		{".git /config", nil, failure.WriteIntoGit},
		{".git. ./config", nil, failure.WriteIntoGit},
		{".git::$INDEX_ALLOCATION/config", nil, failure.WriteIntoGit},
		{".g\u200cit/config", nil, failure.WriteIntoGit},
		{`dir\.git\config`, nil, failure.WriteIntoGit},
		{"dir", nil, failure.NotRegularFile},
		{"file/x", nil, failure.NotRegularFile},
		{"out/x", nil, failure.LinkInTheWay},
		{"in/x", nil, failure.LinkInTheWay},
		{"loose", nil, failure.LinkInTheWay},
		{"near", nil, failure.LinkInTheWay},
		{"near", &none, failure.LinkInTheWay},
		{"file", &none, failure.ContentChanged},
		{"file", &y, failure.ContentChanged},
		{"missing", &y, failure.ContentChanged},
		{"new/missing", &y, failure.ContentChanged},
		{strings.Repeat("long", 100), nil, failure.WriteFailed},
	} {
		_, err := WriteFile(t.Context(), root, Write{Path: tt.path, Content: []byte("new"), Expect: tt.expect})
		failuretest.Produced(t, err, tt.want)
	}
	_, err := WriteFile(t.Context(), root, Write{Path: "large", Content: make([]byte, MaxContent+1)})
	failuretest.Produced(t, err, failure.ContentTooLarge)
	if _, err := WriteFile(t.Context(), root, Write{Path: "large", Content: make([]byte, MaxContent)}); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = WriteFile(ended, root, Write{Path: "file", Expect: &y})
	failuretest.Produced(t, err, failure.Cancelled)
	if got := sketch(t, out); got != "" {
		t.Errorf("something was written outside:\n%s", got)
	}
	if got := sketch(t, filepath.Join(root, ".git")); got != "hooks/\n" {
		t.Errorf("something was written into .git:\n%s", got)
	}
	if _, err := os.Lstat(filepath.Join(root, "new")); err == nil {
		t.Error("a refused write made a folder")
	}
}

// sketch is everything below dir as a text: names, content of files and targets of links.
func sketch(t interface {
	Fatal(...any)
	Helper()
}, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		switch {
		case d.IsDir():
			b.WriteString(name + "/")
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(p)
			b.WriteString(name + " -> " + target)
		default:
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			b.WriteString(name + ": ")
			b.Write(data)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWriteFileReplacesAsAWhole reads the file all the time while it is written: it is always one of the two contents.
func TestWriteFileReplacesAsAWhole(t *testing.T) {
	root := realTemp(t)
	contents := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 50_000)}
	if _, err := WriteFile(t.Context(), root, Write{Path: "x", Content: contents[0]}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		for i := range 60 {
			if _, err := WriteFile(context.Background(), root, Write{Path: "x", Content: contents[i%2]}); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	for {
		data, err := os.ReadFile(filepath.Join(root, "x"))
		if err != nil || !bytes.Equal(data, contents[0]) && !bytes.Equal(data, contents[1]) {
			t.Fatalf("half a file of %d bytes (%v)", len(data), err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

// TestExactlyOneOfManyMakesTheFile lets many writers demand that nothing is there.
func TestExactlyOneOfManyMakesTheFile(t *testing.T) {
	root, none := realTemp(t), ""
	results := make(chan error)
	const writers = 16
	for range writers {
		go func() {
			_, err := WriteFile(context.Background(), root, Write{Path: "a/b/x", Content: []byte("mine"), Expect: &none})
			results <- err
		}()
	}
	made := 0
	for range writers {
		switch err := <-results; {
		case err == nil:
			made++
		case !failure.Is(err, failure.ContentChanged):
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d writers made the file", made)
	}
}

func FuzzWriteFile(f *testing.F) {
	for _, seed := range []string{"x", "dir/x", "out/x", "in/x", "../x", ".git/x", "dir/.GIT/x", "a/b/c", "loose", "//x", "dir/./x", "out", ".git"} {
		f.Add(seed, []byte("new"))
	}
	f.Fuzz(func(t *testing.T, path string, content []byte) {
		top := t.TempDir()
		root, out := mkdir(t, top, "root"), mkdir(t, top, "out")
		mkdir(t, root, "dir")
		mkdir(t, root, ".git")
		link(t, out, root, "out")
		link(t, "dir", root, "in")
		link(t, filepath.Join(out, "target"), root, "loose")
		got, err := WriteFile(t.Context(), root, Write{Path: path, Content: content})
		if err != nil && failure.As(err) == nil {
			t.Fatalf("a refusal without a name: %v", err)
		}
		if sketch(t, out) != "" || sketch(t, filepath.Join(root, ".git")) != "" {
			t.Fatalf("%q was written outside", path)
		}
		entries, _ := os.ReadDir(top)
		if len(entries) != 2 {
			t.Fatalf("%q was written above the project", path)
		}
		if err != nil {
			return
		}
		if data, err := os.ReadFile(filepath.Join(root, got.Path)); err != nil || !bytes.Equal(data, content) {
			t.Fatalf("%q holds %q, %v", got.Path, data, err)
		}
	})
}
