package git

import (
	"context"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Push is what to push (protocol.md 12, git_push): one branch, never by force.
type Push struct {
	Remote      string // the name of a remote of the repository; empty: origin
	Branch      string
	SetUpstream bool
	Credential  Credential
}

// Pushed is what Push did.
type Pushed struct {
	Remote, Branch string
	Commit         string // the whole id
}

// Push pushes a branch to the branch of the same name.
//
// It fails with RemoteNotFound, BranchInvalid, RevisionNotFound, PushRejected, GitAuthFailed, GitProtocolRefused,
// RemoteUnreachable, NotARepository, RepositoryConfigRefused, GitMissing, GitFailed, Cancelled or TimedOut.
func (g Git) Push(ctx context.Context, p Place, c Push) (Pushed, error) {
	v, err := g.view(ctx, p)
	if err != nil {
		return Pushed{}, err
	}
	defer v.close()
	if c.Remote == "" {
		c.Remote = "origin"
	}
	if !v.hasRemote(c.Remote) {
		return Pushed{}, failure.New(failure.RemoteNotFound, visible(c.Remote)).
			Because("the repository has no remote of this name").Then("add the remote, or name one that is there")
	}
	if err := v.branchName(ctx, c.Branch); err != nil {
		return Pushed{}, err
	}
	ref := "refs/heads/" + c.Branch
	commit, err := v.resolve(ctx, ref)
	if err != nil {
		return Pushed{}, failure.New(failure.RevisionNotFound, visible(c.Branch)).
			Because("the repository has no branch of this name").Wrap(err)
	}
	if err := v.push(ctx, c, ref); err != nil {
		return Pushed{}, err
	}
	if c.SetUpstream {
		if err := v.setUpstream(ctx, c, ref); err != nil {
			return Pushed{}, err
		}
	}
	return Pushed{c.Remote, c.Branch, commit}, nil
}

func (v *view) hasRemote(name string) bool {
	for _, e := range v.config {
		if e.section == "remote" && e.sub == name && e.name == "url" && e.value != "" && !strings.HasPrefix(name, "-") {
			return true
		}
	}
	return false
}

func (v *view) push(ctx context.Context, c Push, ref string) error {
	args, env := v.g.with(c.Credential)
	args = append(args, "push", "--porcelain", "--no-follow-tags", "--no-recurse-submodules", "--no-force-with-lease", "--no-signed")
	if !v.g.Hooks {
		args = append(args, "--no-verify")
	}
	args = append(args, "--", c.Remote, ref+":"+ref)
	out, err := v.run(ctx, call{args: args, env: env})
	if err != nil {
		return err
	}
	out = out.without(c.Credential.Token)
	if out.Code == 0 {
		return nil
	}
	for line := range strings.Lines(string(out.Stdout)) {
		if strings.HasPrefix(line, "!") { // ! TAB refs TAB why
			_, why, _ := strings.Cut(strings.TrimSpace(line[1:]), "\t")
			f := failure.New(failure.PushRejected, c.Remote+" "+c.Branch).Because("the other side says: %s", visible(why))
			if words := out.words(); strings.Contains(words, "remote:") {
				f.Because("the other side says: %s; %s", visible(why), words)
			}
			return f
		}
	}
	f := out.failure([]string{"push"}, c.Remote)
	if f.Name == failure.GitAuthFailed && c.Credential.Token != "" && c.Credential.Host == "" {
		f.Because("the credential came without the host that it is for, so it was not handed over (%s)", out.words())
	}
	return f
}

// setUpstream writes what `git push --set-upstream` would, into the repository's own configuration.
func (v *view) setUpstream(ctx context.Context, c Push, ref string) error {
	config := filepath.Join(v.common, "config")
	for _, pair := range [][2]string{{"remote", c.Remote}, {"merge", ref}} {
		if _, err := v.must(ctx, "config", "--file", config, "branch."+c.Branch+"."+pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}
