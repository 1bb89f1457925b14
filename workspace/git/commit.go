package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Commit is what to commit (protocol.md 12, git_commit).
type Commit struct {
	Message string
	// Paths are relative to the place, and mean what they say: no pattern is expanded. None: everything that changed and
	// is not ignored.
	Paths []string
	// AuthorName and AuthorEmail are those of the person or agent that wrote it; empty: the configured ones.
	AuthorName, AuthorEmail string
}

// Committed is what Commit made.
type Committed struct {
	Commit string // the whole id
	Branch string // empty where HEAD is no branch
	Files  int    // that differ from the commit before
}

// Commit commits. Where paths are named, nothing else is committed, whatever stands in the index. A file of Keys is left
// out, unless it was deleted; one that somebody has put into the index fails with KeyNotCommitted.
//
// It fails with NothingToCommit, KeyNotCommitted, NotARepository, RepositoryConfigRefused, PathNotInRepository, GitIdentityMissing,
// GitMissing, GitFailed, DiskFull, Cancelled or TimedOut.
func (g Git) Commit(ctx context.Context, p Place, c Commit) (Committed, error) {
	v, err := g.view(ctx, p)
	if err != nil {
		return Committed{}, err
	}
	defer v.close()
	if strings.TrimSpace(c.Message) == "" {
		return Committed{}, failure.New(failure.GitFailed, v.tree).Because("the commit's message is empty").
			Then("propose the commit again with a message")
	}
	only, err := v.inside(ctx, c.Paths)
	if err != nil {
		return Committed{}, err
	}
	changed, err := v.changes(ctx, only)
	if err != nil {
		return Committed{}, err
	}
	if len(changed) == 0 {
		return Committed{}, failure.New(failure.NothingToCommit, v.tree)
	}
	if err := v.admitFilters(ctx, changed); err != nil {
		return Committed{}, err
	}
	author, err := v.author(ctx, c)
	if err != nil {
		return Committed{}, err
	}
	files, err := v.stage(ctx, changed, only)
	if err != nil {
		return Committed{}, err
	}
	if err := v.commit(ctx, c, author, len(only) > 0); err != nil {
		return Committed{}, err
	}
	id, err := v.must(ctx, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return Committed{}, err
	}
	return Committed{id, v.branch(ctx), files}, nil
}

// lists of paths and the message travel in files of our own, since there is no bound on them.
func (v *view) list() string    { return filepath.Join(v.folder, "paths") }
func (v *view) message() string { return filepath.Join(v.folder, "message") }

// stage puts the changed files into the index and gives the number of those that differ from the last commit.
func (v *view) stage(ctx context.Context, changed, only []string) (int, error) {
	for path, content := range map[string]string{v.list(): strings.Join(changed, "\x00") + "\x00"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return 0, failure.New(failure.GitFailed, path).Because("it could not be written: %v", err).Wrap(err)
		}
	}
	if _, err := v.must(ctx, "add", "--all", "--pathspec-from-file="+v.list(), "--pathspec-file-nul"); err != nil {
		return 0, err
	}
	args := []string{"diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--"}
	out, err := v.run(ctx, call{args: append(args, only...), limit: listMost})
	if err != nil {
		return 0, err
	}
	if out.Code != 0 {
		return 0, out.failure(args, v.tree)
	}
	files := strings.Count(string(out.Stdout), "\x00")
	if files == 0 && !v.merging() {
		return 0, failure.New(failure.NothingToCommit, v.tree)
	}
	return files, nil
}

// merging reports whether a merge waits to be committed, which may change no file.
func (v *view) merging() bool {
	_, err := os.Lstat(filepath.Join(v.dir, "MERGE_HEAD"))
	return err == nil
}

func (v *view) commit(ctx context.Context, c Commit, author []string, only bool) error {
	if err := os.WriteFile(v.message(), []byte(c.Message), 0o600); err != nil {
		return failure.New(failure.GitFailed, v.message()).Because("it could not be written: %v", err).Wrap(err)
	}
	args := []string{"commit", "--quiet", "--file=" + v.message()}
	if !v.g.Hooks {
		args = append(args, "--no-verify")
	}
	if only {
		args = append(args, "--only", "--pathspec-from-file="+v.list(), "--pathspec-file-nul")
	}
	out, err := v.run(ctx, call{args: args, env: author})
	if err != nil {
		return err
	}
	if out.Code != 0 {
		return out.failure(args, v.tree)
	}
	return nil
}

// author is the identity for the commit, as variables. Where this machine has no identity of its own, the author
// stands in as the committer.
func (v *view) author(ctx context.Context, c Commit) ([]string, error) {
	var env []string
	if c.AuthorName != "" {
		env = append(env, "GIT_AUTHOR_NAME="+c.AuthorName)
	}
	if c.AuthorEmail != "" {
		env = append(env, "GIT_AUTHOR_EMAIL="+c.AuthorEmail)
	}
	for _, pair := range env {
		if strings.ContainsAny(pair, "\x00\n") {
			return nil, failure.New(failure.GitIdentityMissing, "the author's name or address").
				Because("it holds a character that no commit can").Then("correct the author")
		}
	}
	out, err := v.run(ctx, call{args: []string{"-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT"}})
	if err != nil || out.Code == 0 {
		return env, err
	}
	if c.AuthorName == "" || c.AuthorEmail == "" {
		return nil, failure.New(failure.GitIdentityMissing, v.tree)
	}
	return append(env, "GIT_COMMITTER_NAME="+c.AuthorName, "GIT_COMMITTER_EMAIL="+c.AuthorEmail), nil
}

// branch is the branch that HEAD is, or empty.
func (v *view) branch(ctx context.Context) string {
	out, err := v.run(ctx, call{args: []string{"symbolic-ref", "--quiet", "HEAD"}})
	if err != nil || out.Code != 0 {
		return ""
	}
	return strings.TrimPrefix(out.text(), "refs/heads/")
}
