//go:build unix

package git

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// TestAttackLinkInWhatGitWrites has the project's files be written by whoever can't leave it, as a container's commands
// can't: git, outside of it, would follow. Needs git.
func TestAttackLinkInWhatGitWrites(t *testing.T) {
	b := newBed(t)
	for _, part := range []string{"logs/HEAD", "logs", "index", "HEAD", "COMMIT_EDITMSG", "config", "packed-refs",
		"refs/heads", "refs/heads/main", "refs/heads/new", "logs/refs/heads/main", "objects", "objects/pack", "objects/0f"} {
		root, place := b.project(t)
		path := filepath.Join(root, ".git", filepath.FromSlash(part))
		outside := filepath.Join(b.home, "outside")
		if _, err := os.Stat(path); err == nil {
			if err := os.Rename(path, outside); err != nil {
				t.Fatal(err)
			}
		} else {
			put(t, "mine\n", outside)
		}
		if err := os.Symlink(outside, path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(outside) // a folder has none
		put(t, part, root, "README")
		_, err := b.Commit(patience(t), place, Commit{Message: "m"})
		f := failuretest.Produced(t, err, failure.RepositoryConfigRefused)
		if f == nil || f.Subject != path {
			t.Errorf("%s: %+v", part, f)
		}
		_, err = b.CreateBranch(patience(t), place, Branch{Name: "other"})
		failuretest.Produced(t, err, failure.RepositoryConfigRefused)
		_, err = b.Push(patience(t), place, Push{Branch: "main"})
		failuretest.Produced(t, err, failure.RepositoryConfigRefused)
		if after, _ := os.ReadFile(outside); string(after) != string(before) {
			t.Errorf("%s: %q was written", part, after)
		}
		for _, gone := range []string{root, outside} {
			if err := os.RemoveAll(gone); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAttackGitFolderThatIsAnothersRepository: the .git of a project names a repository that knows nothing of it. Needs git.
func TestAttackGitFolderThatIsAnothersRepository(t *testing.T) {
	b := newBed(t)
	private, _ := b.project(t)
	if err := os.Rename(private, filepath.Join(b.home, "private")); err != nil {
		t.Fatal(err)
	}
	private = filepath.Join(b.home, "private")
	tip := b.raw(t, private, "rev-parse", "HEAD")
	for name, make := range map[string]func(root string) error{
		"a link": func(root string) error {
			return os.Symlink(filepath.Join(private, ".git"), filepath.Join(root, ".git"))
		},
		"a file": func(root string) error {
			put(t, "gitdir: ../private/.git\n", root, ".git")
			return nil
		},
		"a common folder": func(root string) error {
			put(t, "ref: refs/heads/main\n", root, ".git", "HEAD")
			put(t, filepath.Join(private, ".git")+"\n", root, ".git", "commondir")
			put(t, filepath.Join(root, ".git")+"\n", root, ".git", "gitdir")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := b.folder(t, "shop")
			if err := make(root); err != nil {
				t.Fatal(err)
			}
			put(t, name, root, "evil")
			_, err := b.Commit(patience(t), Place{Cwd: root, Roots: []string{root}}, Commit{Message: "m"})
			failuretest.Produced(t, err, failure.RepositoryConfigRefused)
			if got := b.raw(t, private, "rev-parse", "HEAD"); got != tip {
				t.Errorf("it has the commit %s", got)
			}
			if err := os.RemoveAll(root); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestRepositoryOutsideThatKnowsTheProject: a project may be a linked work tree or a submodule, and some things are linked to
// in good faith. Needs git.
func TestRepositoryOutsideThatKnowsTheProject(t *testing.T) {
	b := newBed(t)
	source, _ := b.project(t)
	above := b.folder(t, "above")
	b.raw(t, above, "init", "-q")
	b.raw(t, above, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", source, "part")
	tree := filepath.Join(b.home, "tree")
	b.raw(t, source, "worktree", "add", "-qb", "tree", tree)
	hooks := b.folder(t, "shared hooks")
	if err := os.RemoveAll(filepath.Join(source, ".git", "hooks")); err != nil {
		t.Fatal(err)
	}
	head := filepath.Join(source, ".git", "HEAD")
	if err := os.Remove(head); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{filepath.Join(source, ".git", "hooks"): hooks, head: "refs/heads/main"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{tree, filepath.Join(above, "part"), source} {
		put(t, root, root, "README")
		if got, err := b.Commit(patience(t), Place{Cwd: root, Roots: []string{root}}, Commit{Message: "m"}); err != nil || got.Files != 1 {
			t.Errorf("%s: %+v, %v", root, got, err)
		}
	}
}

// TestFileThatBecameAPipeIsNotWaitedFor: it was a file when it was looked at.
func TestFileThatBecameAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := openPlain(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := readPlain(path, configMost); err == nil {
		t.Error("a pipe is taken for a file")
	}
}
