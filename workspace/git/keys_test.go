package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Needs git.
func TestCommitLeavesKeysOfThisMachineOut(t *testing.T) {
	const key = "device-key.json"
	b := newBed(t)
	b.Keys = []string{key}
	root, place := b.project(t)
	committed := func() string { return b.raw(t, root, "show", "--name-only", "--format=", "HEAD") }
	wants := func(want string, paths ...string) {
		t.Helper()
		if _, err := b.Commit(patience(t), place, Commit{Message: "m", Paths: paths}); err != nil {
			t.Fatal(err)
		}
		if got := committed(); got != want {
			t.Errorf("it committed %q, want %q", got, want)
		}
	}
	refuses := func(paths ...string) {
		t.Helper()
		_, err := b.Commit(patience(t), place, Commit{Message: "m", Paths: paths})
		failuretest.Produced(t, err, failure.KeyNotCommitted)
	}
	put(t, "secret", root, key)
	put(t, "secret", root, "sub", strings.ToUpper(key))
	refuses()
	refuses(key)
	refuses("sub")
	put(t, "a", root, "sub", "a")
	wants("sub/a")
	put(t, "b", root, "sub", "b")
	wants("sub/b", "sub")
	// Somebody has added it: what is named is committed without it, and nothing else is.
	b.raw(t, root, "add", key)
	put(t, "c", root, "c")
	refuses()
	wants("c", "c")
	// Somebody has committed it: it may go, and its next content stays out, even where the index says that it is gone.
	b.raw(t, root, "commit", "-q", "-m", "by hand")
	put(t, "another secret", root, key)
	refuses()
	if err := os.Remove(filepath.Join(root, key)); err != nil {
		t.Fatal(err)
	}
	wants(key)
	put(t, "secret", root, key)
	b.raw(t, root, "add", key)
	b.raw(t, root, "commit", "-q", "-m", "by hand again")
	b.raw(t, root, "rm", "-q", "--cached", key)
	put(t, "d", root, "d")
	wants("d\n" + key)
	if kept := b.raw(t, root, "ls-files"); strings.Contains(kept, key) {
		t.Errorf("git still knows %s", kept)
	}
}
