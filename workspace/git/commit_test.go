package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// Needs git.
func TestCommitTakesEverythingThatChangedAndIsNotIgnored(t *testing.T) {
	b := newBed(t)
	root, place := b.project(t)
	put(t, "*.log\n", root, ".gitignore")
	put(t, "x", root, "noise.log")
	put(t, "two\n", root, "README")
	put(t, "n", root, "dir", "new file\nwith a line")
	b.raw(t, root, "worktree", "add", "-q", ".worktrees/agent") // a work tree of its own is none of ours
	got, err := b.Commit(patience(t), place, Commit{Message: "Second\n\n'quoted' $(touch x) -m"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Commit != b.raw(t, root, "rev-parse", "HEAD") || got.Branch != "main" || got.Files != 3 {
		t.Errorf("%+v", got)
	}
	if got := b.raw(t, root, "show", "--name-only", "--format=%an <%ae>%n%B", "-z", "HEAD"); !strings.Contains(got, "Ana <ana@example.org>\nSecond\n\n'quoted' $(touch x) -m") ||
		strings.Contains(got, ".worktrees") || strings.Contains(got, "noise") {
		t.Errorf("%q", got)
	}
	_, err = b.Commit(patience(t), place, Commit{Message: "again"})
	failuretest.Produced(t, err, failure.NothingToCommit)
	if left, _ := os.ReadDir(b.Scratch); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if got := b.raw(t, root, "status", "--porcelain"); got != "?? .worktrees/" {
		t.Errorf("status afterwards: %q", got)
	}
}

// Needs git.
func TestCommitTakesNothingBesideThePathsThatAreNamed(t *testing.T) {
	b := newBed(t)
	root, place := b.project(t)
	put(t, "staged", root, "staged")
	b.raw(t, root, "add", "staged")
	put(t, "a", root, "sub", "a")
	put(t, "star", root, "sub", "*")
	put(t, "b", root, "sub", "b")
	place.Cwd = filepath.Join(root, "sub")
	got, err := b.Commit(patience(t), place, Commit{Message: "m", Paths: []string{"*", "../README"}, AuthorName: "Bot", AuthorEmail: "bot@example.org"})
	if err != nil || got.Files != 1 {
		t.Fatal(got, err)
	}
	if got := b.raw(t, root, "show", "--name-only", "--format=%an %ae %cn"); got != "Bot bot@example.org Ana\n\nsub/*" {
		t.Errorf("%q", got)
	}
	if err := os.Remove(filepath.Join(root, "README")); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Commit(patience(t), place, Commit{Message: "m", Paths: []string{"../README"}}); err != nil || got.Files != 1 {
		t.Errorf("a removed file: %+v, %v", got, err)
	}
	for _, path := range []string{"../../out", "/etc/passwd", "missing", "a\x00", "../.git/config"} {
		_, err := b.Commit(patience(t), place, Commit{Message: "m", Paths: []string{path}})
		failuretest.Produced(t, err, failure.PathNotInRepository)
	}
	if got := b.raw(t, root, "status", "--porcelain"); got != "A  staged\n?? sub/a\n?? sub/b" {
		t.Errorf("%q", got)
	}
}

// Needs git.
func TestCommitWorksInAWorkTreeAndOffABranch(t *testing.T) {
	b := newBed(t)
	root, place := b.project(t)
	tree := filepath.Join(root, ".worktrees", "agent")
	b.raw(t, root, "worktree", "add", "-qb", "agent", tree)
	place.Cwd = tree
	put(t, "x", tree, "x")
	got, err := b.Commit(patience(t), place, Commit{Message: "m"})
	if err != nil || got.Branch != "agent" || got.Commit != b.raw(t, root, "rev-parse", "agent") {
		t.Errorf("%+v, %v", got, err)
	}
	b.raw(t, tree, "checkout", "-q", "--detach")
	put(t, "y", tree, "x")
	if got, err := b.Commit(patience(t), place, Commit{Message: "m"}); err != nil || got.Branch != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if b.raw(t, root, "fsck", "--strict"); b.raw(t, root, "log", "--oneline", "-1", "main") == "" {
		t.Error("main is gone")
	}
}

// Needs git.
func TestCommitNamesWhatIsMissing(t *testing.T) {
	b := newBed(t)
	dir := b.folder(t, "plain")
	_, err := b.Commit(patience(t), Place{Cwd: dir, Roots: []string{dir}}, Commit{Message: "m"})
	failuretest.Produced(t, err, failure.NotARepository)
	root, place := b.project(t)
	sub := b.folder(t, "shop", "sub")
	if _, err := b.Commit(patience(t), Place{Cwd: sub, Roots: []string{sub}}, Commit{Message: "m"}); !failure.Is(err, failure.NotARepository) {
		t.Errorf("a repository above the project was found: %v", err)
	}
	put(t, "x", root, "x")
	_, err = b.Commit(patience(t), place, Commit{Message: " \n"})
	failuretest.Produced(t, err, failure.GitFailed)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = b.Commit(ended, place, Commit{Message: "m"})
	failuretest.Produced(t, err, failure.Cancelled)
	nobody := b.Git
	nobody.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.folder(t, "nobody")}
	_, err = nobody.Commit(patience(t), place, Commit{Message: "m", AuthorName: "Bot"})
	failuretest.Produced(t, err, failure.GitIdentityMissing)
	if _, err := nobody.Commit(patience(t), place, Commit{Message: "m", AuthorName: "Bot", AuthorEmail: "bot@x"}); err != nil {
		t.Errorf("the author does not stand in for the committer: %v", err)
	}
	nowhere := b.Git
	nowhere.Env = []string{"PATH=relative:/nowhere"}
	_, err = nowhere.Commit(patience(t), place, Commit{Message: "m"})
	failuretest.Produced(t, err, failure.GitMissing)
}

// Needs git.
func TestCommitFirstOfARepository(t *testing.T) {
	b := newBed(t)
	root := b.folder(t, "new")
	if err := b.Init(patience(t), root); err != nil {
		t.Fatal(err)
	}
	place := Place{Cwd: root}
	_, err := b.Commit(patience(t), place, Commit{Message: "m"})
	failuretest.Produced(t, err, failure.NothingToCommit)
	put(t, "x", root, "x")
	if got, err := b.Commit(patience(t), place, Commit{Message: "m"}); err != nil || got.Branch != "main" || got.Files != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = b.Commit(patience(t), place, Commit{Message: "m", Paths: []string{"x"}})
	failuretest.Produced(t, err, failure.NothingToCommit)
}

// Needs git.
func TestCreateBranchMakesABranchAndChecksNothingOut(t *testing.T) {
	b := newBed(t)
	root, place := b.project(t)
	first := b.raw(t, root, "rev-parse", "HEAD")
	put(t, "x", root, "x")
	second, err := b.Commit(patience(t), place, Commit{Message: "m"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, from, commit string }{
		{"feature/a", "", second.Commit}, {"b", "HEAD~1", first}, {"c", first[:8], first}, {"d", "feature/a", second.Commit},
	} {
		got, err := b.CreateBranch(patience(t), place, Branch{tt.name, tt.from})
		if want := (Branched{tt.name, tt.commit}); err != nil || got != want || b.raw(t, root, "rev-parse", "refs/heads/"+tt.name) != tt.commit {
			t.Errorf("%+v: %+v, %v", tt, got, err)
		}
	}
	if got := b.raw(t, root, "branch", "--show-current"); got != "main" {
		t.Errorf("checked out: %s", got)
	}
	for _, tt := range []struct {
		name, from string
		want       failure.Name
	}{
		{"", "", failure.BranchInvalid}, {"-f", "", failure.BranchInvalid}, {"a..b", "", failure.BranchInvalid}, {"a b", "", failure.BranchInvalid},
		{"x:y", "", failure.BranchInvalid}, {"+x", "", ""}, {"HEAD", "", failure.BranchInvalid}, {"a\nb", "", failure.BranchInvalid}, {"@{-1}", "", failure.BranchInvalid},
		{"b", "", failure.BranchExists}, {"main", "", failure.BranchExists},
		{"n", "nowhere", failure.RevisionNotFound}, {"n", "--all", failure.RevisionNotFound}, {"n", "-h", failure.RevisionNotFound}, {"n", "HEAD:x", failure.RevisionNotFound},
		{"feature", "", failure.GitFailed}, // a folder of branches
	} {
		_, err := b.CreateBranch(patience(t), place, Branch{tt.name, tt.from})
		if tt.want == "" {
			if err != nil {
				t.Error(tt, err)
			}
			continue
		}
		failuretest.Produced(t, err, tt.want)
	}
}

// Needs git.
func TestFilesAreThoseThatGitKnowsAndDoesNotIgnore(t *testing.T) {
	b := newBed(t)
	root, _ := b.project(t)
	put(t, "*.log\n", root, ".gitignore")
	put(t, "x", root, "noise.log")
	put(t, "x", root, "ü\n")
	b.raw(t, root, "worktree", "add", "-q", ".worktrees/agent")
	b.raw(t, root, "config", "core.fsmonitor", "touch "+filepath.Join(b.home, "ran"))
	got, err := b.Files(patience(t), root)
	if want := "README|.gitignore|.worktrees/agent/|ü\n"; err != nil || strings.Join(got, "|") != want {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(b.home, "ran")); err == nil {
		t.Error("the repository's own program ran")
	}
	_, err = b.Files(patience(t), b.folder(t, "plain"))
	failuretest.Produced(t, err, failure.NotARepository)
}
