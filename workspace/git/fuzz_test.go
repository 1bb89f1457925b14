package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzWordsOfGit reads what git, or who it talks to, may print, in pieces.
func FuzzWordsOfGit(f *testing.F) {
	for _, seed := range []string{
		"Receiving objects:  45% (450/1000), 1.2 MiB | 3.4 MiB/s\rReceiving objects: 100% (1000/1000), done.\n",
		"remote: Counting objects: 100% (3/3), done.\nfatal: \x1b[31mno\u202e\n", "error: ' not found\n\nhint: x", "\r\n\r", "\xff\xfe",
		"Receiving objects: 1% (999999999999999999/1)\n",
	} {
		f.Add(seed, uint8(7))
	}
	f.Fuzz(func(t *testing.T, said string, piece uint8) {
		var lines []string
		stderr := &tail{lines: func(line string) { lines = append(lines, line) }}
		for rest := said; rest != ""; {
			n := min(len(rest), int(piece)+1)
			if wrote, err := stderr.Write([]byte(rest[:n])); wrote != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		if len(stderr.kept) > stderrKept || !strings.HasSuffix(said, string(stderr.kept)) || len(stderr.kept) < min(len(said), stderrKept) {
			t.Fatalf("kept %d bytes of %d", len(stderr.kept), len(said))
		}
		want := strings.FieldsFunc(said+"\n", func(r rune) bool { return r == '\n' || r == '\r' })
		lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
		if len(said) < 4096 && strings.ContainsAny(said, "\r\n") && len(lines) > len(want) {
			t.Fatalf("%q became %q", said, lines)
		}
		for _, line := range lines {
			if stage, current, total, ok := progress(line); ok && (stage == "" || len(stage) > 41 || current < 0 || total < 0) {
				t.Fatalf("%q: %s %d %d", line, stage, current, total)
			}
		}
		shown := Output{Code: 1, Stderr: stderr.kept}.failure([]string{"clone"}, "x").Error()
		if strings.ContainsAny(shown, "\x00\x1b\r\u202e") || !utf8.ValidString(shown) {
			t.Fatalf("shows %q", shown)
		}
	})
}

// FuzzChangedPaths has real git say what changed in a tree that holds a file of any name.
func FuzzChangedPaths(f *testing.F) {
	for _, seed := range []string{"a", " ", "a\nb", "?? x", "\"q\"", "é/\xff", "-x", ".gitignore", "d/e/f", "a -> b", ":(top)x", "R  "} {
		f.Add(seed)
	}
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("git is not installed")
	}
	b := newBed(f)
	f.Fuzz(func(t *testing.T, name string) {
		if len(name) > 200 || strings.ContainsRune(name, 0) || !filepath.IsLocal(name) || filepath.Clean(name) != name || name == "." {
			return
		}
		for part := range strings.SplitSeq(name, "/") {
			if strings.HasPrefix(strings.ToLower(part), ".git") {
				return // the repository's own, or what git refuses to take
			}
		}
		root := t.TempDir()
		b.raw(t, root, "init", "-q")
		path := filepath.Join(root, name)
		if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, nil, 0o600) != nil {
			return
		}
		v, err := b.view(t.Context(), Place{Cwd: root, Roots: []string{root}})
		if err != nil {
			t.Fatal(err)
		}
		defer v.close()
		changed, err := v.changes(t.Context(), nil)
		if err != nil || !slices.Equal(changed, []string{name}) {
			t.Fatalf("%q became %q, %v", name, changed, err)
		}
		if inside, err := v.inside(t.Context(), changed); err != nil || !slices.Equal(inside, changed) {
			t.Fatalf("%q is %q inside, %v", name, inside, err)
		}
		files, err := b.Files(t.Context(), root)
		if err != nil || !slices.Equal(files, []string{name}) {
			t.Fatalf("%q is listed as %q, %v", name, files, err)
		}
	})
}

// FuzzPaths takes paths that came with an action: none leads out of the work tree.
func FuzzPaths(f *testing.F) {
	for _, seed := range []string{"README", "../x", "a/../../x", "/etc", ".git/config", "a/.git/b", "", ".", "C:\\x", "\x00", "./README", "README/.."} {
		f.Add(seed)
	}
	b := newBed(f)
	root, place := b.project(f)
	v, err := b.view(f.Context(), place)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(v.close)
	f.Fuzz(func(t *testing.T, name string) {
		inside, err := v.inside(t.Context(), []string{name})
		if err != nil {
			return
		}
		for _, path := range inside {
			rel, err := filepath.Rel(root, filepath.Join(root, path))
			if err != nil || !filepath.IsLocal(rel) || slices.Contains(strings.Split(path, "/"), ".git") {
				t.Fatalf("%q became %q", name, path)
			}
		}
	})
}
