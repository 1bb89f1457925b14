package git

import (
	"cmp"
	"context"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Branch is a new branch (protocol.md 12, git_branch_create).
type Branch struct {
	Name string
	From string // a revision; empty: HEAD
}

// Branched is what CreateBranch made.
type Branched struct {
	Branch string
	Commit string // the whole id
}

// CreateBranch makes a branch. It is not checked out.
//
// It fails with BranchInvalid, BranchExists, RevisionNotFound, NotARepository, RepositoryConfigRefused, GitMissing,
// GitFailed, Cancelled or TimedOut.
func (g Git) CreateBranch(ctx context.Context, p Place, b Branch) (Branched, error) {
	v, err := g.view(ctx, p)
	if err != nil {
		return Branched{}, err
	}
	defer v.close()
	if err := v.branchName(ctx, b.Name); err != nil {
		return Branched{}, err
	}
	from := b.From
	if from == "" {
		from = "HEAD"
	}
	commit, err := v.resolve(ctx, from)
	if err != nil {
		return Branched{}, err
	}
	ref := "refs/heads/" + b.Name
	if _, err := v.resolve(ctx, ref); err == nil {
		return Branched{}, failure.New(failure.BranchExists, b.Name)
	}
	// With the old value, git itself sees to it that nobody made the branch at this moment.
	if _, err := v.must(ctx, "update-ref", "-m", "branch: created from "+oneLine(from), ref, commit, strings.Repeat("0", len(commit))); err != nil {
		return Branched{}, err
	}
	return Branched{b.Name, commit}, nil
}

// branchName checks the name of a branch, by git's own rules.
func (v *view) branchName(ctx context.Context, name string) error {
	refused := failure.New(failure.BranchInvalid, cmp.Or(visible(name), "an empty name"))
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n") || name == "HEAD" {
		return refused
	}
	out, err := v.run(ctx, call{args: []string{"check-ref-format", "refs/heads/" + name}})
	if err != nil {
		return err
	}
	if out.Code != 0 {
		return refused
	}
	return nil
}

// resolve gives the commit that a revision is.
func (v *view) resolve(ctx context.Context, revision string) (string, error) {
	if strings.ContainsAny(revision, "\x00\n") {
		return "", failure.New(failure.RevisionNotFound, visible(revision))
	}
	out, err := v.run(ctx, call{args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}})
	if err != nil {
		return "", err
	}
	if out.Code != 0 {
		return "", failure.New(failure.RevisionNotFound, visible(revision))
	}
	return out.text(), nil
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
