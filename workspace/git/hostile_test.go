package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"brabo.dev/runner/runner/failure"
	"brabo.dev/runner/runner/failure/failuretest"
)

// hostile is a repository whose own files try to have programs run that leave a mark, in every way that git knows.
func hostile(t *testing.T, b *bed, root, mark string) {
	t.Helper()
	program := put(t, "#!/bin/sh\necho \"$0 $*\" >>"+mark+"\ncat\nexit 0\n", b.home, "evil")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{
		{"core.fsmonitor", program}, {"core.sshCommand", program}, {"core.askPass", program}, {"core.editor", program},
		{"core.pager", program}, {"core.gitProxy", program}, {"core.alternateRefsCommand", program}, {"core.worktree", b.home},
		{"diff.external", program}, {"diff.evil.textconv", program}, {"diff.evil.command", program}, {"merge.evil.driver", program},
		{"gpg.program", program}, {"gpg.ssh.program", program}, {"commit.gpgSign", "true"}, {"push.gpgSign", "true"}, {"tag.gpgSign", "true"},
		{"credential.helper", program}, {"credential.https://127.0.0.1.helper", program}, {"http.proxy", "http://127.0.0.1:1"},
		{"http.sslVerify", "false"}, {"remote.origin.vcs", "evil"}, {"remote.origin.receivepack", program}, {"remote.origin.uploadpack", program},
		{"remote.origin.proxy", "http://127.0.0.1:1"}, {"remote.origin.mirror", "true"}, {"remote.origin.push", "+refs/heads/*:refs/heads/*"},
		{"gc.recentObjectsHook", program}, {"gc.auto", "1"}, {"pager.status", program}, {"sequence.editor", program}, {"trailer.x.command", program},
		{"submodule.recurse", "true"}, {"push.recurseSubmodules", "on-demand"}, {"uploadpack.packObjectsHook", program}, {"alias.commit", "!" + program},
		{"status.submoduleSummary", "true"}, {"protocol.ext.allow", "always"}, {"commit.template", "/etc/hostname"}, {"branch.autoSetupMerge", "always"},
		{"extensions.worktreeConfig", "true"}, {"filter.other.clean", program}, {"hook.evil.command", program}, {"hook.evil.event", "pre-commit"},
	} {
		b.raw(t, root, "config", "--local", pair[0], pair[1])
	}
	hooks := b.folder(t, "evil hooks")
	b.raw(t, root, "config", "--local", "core.hooksPath", hooks)
	put(t, "[core]\n\tfsmonitor = "+program+"\n\tsshCommand = "+program+"\n", root, ".git", "config.worktree")
	put(t, "* diff=evil merge=evil\n", root, ".git", "info", "attributes")
	put(t, "* diff=evil merge=evil\n", root, ".gitattributes")
	for _, hook := range []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-push", "reference-transaction",
		"post-index-change", "pre-auto-gc", "post-checkout", "fsmonitor-watchman", "post-rewrite"} {
		for _, dir := range []string{hooks, filepath.Join(root, ".git", "hooks")} {
			if err := os.Chmod(put(t, "#!/bin/sh\nexec "+program+" "+hook+" </dev/null\n", dir, hook), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A repository within, which git would look into with that one's configuration.
	sub := filepath.Join(root, "sub")
	b.raw(t, root, "init", "-q", sub)
	put(t, "x", sub, "x")
	b.raw(t, sub, "add", "x")
	b.raw(t, sub, "commit", "-qm", "m")
	id := b.raw(t, sub, "rev-parse", "HEAD")
	b.raw(t, sub, "config", "core.fsmonitor", program)
	b.raw(t, root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.worktree="+root, "update-index", "--add", "--cacheinfo", "160000,"+id+",sub")
	put(t, "y", sub, "x")
}

// Needs git, its http-backend and a POSIX shell.
func TestNothingOfTheRepositorysOwnIsRun(t *testing.T) {
	b := newBed(t)
	h := b.newHost(t, "host")
	root, place := b.project(t)
	path, address := h.Bare(t, "shop.git")
	b.raw(t, root, "remote", "add", "origin", address)
	mark := filepath.Join(b.home, "mark")
	hostile(t, b, root, mark)
	if err := os.RemoveAll(mark); err != nil { // what the preparation itself has run
		t.Fatal(err)
	}
	put(t, "two\n", root, "README")
	committed, err := b.Commit(patience(t), place, Commit{Message: "m"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Commit(patience(t), place, Commit{Message: "m", Paths: []string{"README"}}); !failure.Is(err, failure.NothingToCommit) {
		t.Error(err)
	}
	if _, err := b.CreateBranch(patience(t), place, Branch{Name: "other"}); err != nil {
		t.Error(err)
	}
	pushed, err := b.Push(patience(t), place, Push{Branch: "main", SetUpstream: true, Credential: Credential{username, token, h.Name}})
	if want := (Pushed{"origin", "main", committed.Commit}); err != nil || pushed != want {
		t.Errorf("%+v, %v", pushed, err)
	}
	if _, err := b.Files(patience(t), root); err != nil {
		t.Error(err)
	}
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("these ran:\n%s", ran)
	}
	if got := b.raw(t, path, "for-each-ref", "--format=%(refname) %(objectname)"); got != "refs/heads/main "+committed.Commit {
		t.Errorf("the other side has %q", got)
	}
	if got := b.raw(t, root, "config", "--file", ".git/config", "--get-regexp", `^branch\.main`); got != "branch.main.remote origin\nbranch.main.merge refs/heads/main" {
		t.Errorf("upstream: %q", got)
	}
	if got := b.raw(t, root, "config", "--file", ".git/config", "core.fsmonitor"); !strings.HasSuffix(got, "evil") {
		t.Errorf("the repository's configuration was changed: %q", got)
	}
}

// Needs git and a POSIX shell.
func TestHooksRunWhereTheSettingSaysSo(t *testing.T) {
	b := newBed(t)
	root, place := b.project(t)
	mark := filepath.Join(b.home, "mark")
	own := b.folder(t, "shop", "hooks of ours")
	for i, dir := range []string{filepath.Join(root, ".git", "hooks"), own} {
		hook := put(t, "#!/bin/sh\necho hook >>"+mark+"\n! grep -q forbidden \"$1\"\n", dir, "commit-msg")
		if err := os.Chmod(hook, 0o755); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			b.raw(t, root, "config", "core.hooksPath", "hooks of ours")
		}
		running := b.Git
		running.Hooks = true
		put(t, dir, root, "x")
		_, err := running.Commit(patience(t), place, Commit{Message: "a forbidden word"})
		failuretest.Produced(t, err, failure.GitFailed)
		if _, err := running.Commit(patience(t), place, Commit{Message: "m"}); err != nil {
			t.Error(err)
		}
		if ran, err := os.ReadFile(mark); err != nil || string(ran) != "hook\nhook\n" {
			t.Errorf("%s: %q, %v", dir, ran, err)
		}
		_ = os.Remove(mark)
	}
}

// Needs git.
func TestConfigurationThatCanNotBeSwitchedOffRefusesTheAction(t *testing.T) {
	for name, tt := range map[string]struct{ config, says string }{
		"insteadOf":     {"[url \"https://evil.example/\"]\n\tinsteadOf = https://good.example/\n", "url.https://evil.example/.insteadof"},
		"pushInsteadOf": {"[URL \"x\"]\n\tPushInsteadOf = y\n", "url.x.pushinsteadof"},
		"include":       {"[include]\n\tpath = ../other\n", "include.path"},
		"includeIf":     {"[includeIf \"gitdir:/\"]\n\tpath = other\n", "includeif.gitdir:/.path"},
		"broken":        {"[core\n", "git can't read it"},
		"filter":        {"[filter \"crypt\"]\n\tclean = evil\n", "filter.crypt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			root, place := b.project(t)
			put(t, "*.secret filter=crypt\n", root, ".gitattributes")
			put(t, "[core]\n\trepositoryformatversion = 0\n"+tt.config, root, ".git", "config")
			put(t, "x", root, "a.secret")
			_, err := b.Commit(patience(t), place, Commit{Message: "m"})
			f := failuretest.Produced(t, err, failure.RepositoryConfigRefused)
			if !strings.Contains(f.Cause, tt.says) {
				t.Errorf("%q does not name %q", f.Cause, tt.says)
			}
			_, err = b.Push(patience(t), place, Push{Branch: "main"})
			if name != "filter" {
				failuretest.Produced(t, err, failure.RepositoryConfigRefused)
				return
			}
			// A filter concerns the paths that pass through it, and no others.
			if got, err := b.Commit(patience(t), place, Commit{Message: "m", Paths: []string{".gitattributes"}}); err != nil || got.Files != 1 {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// Needs git.
func TestLFSIsLetThroughWithValuesOfOurs(t *testing.T) {
	b := newBed(t)
	root, place := b.project(t)
	put(t, "*.bin filter=lfs\n", root, ".gitattributes")
	put(t, "[core]\n\trepositoryformatversion = 0\n[filter \"lfs\"]\n\tprocess = touch "+filepath.Join(b.home, "ran")+"\n\trequired = true\n", root, ".git", "config")
	put(t, "x", root, "a.bin")
	_, err := b.Commit(patience(t), place, Commit{Message: "m"})
	failuretest.Produced(t, err, failure.RepositoryConfigRefused)
	// A stand-in for Git LFS: it knows only the plain filter, as git asks it after a process that does not answer.
	lfs := put(t, "#!/bin/sh\n[ \"$1\" = clean ] && exec echo pointer\nexit 1\n", b.home, "bin", "git-lfs")
	if err := os.Chmod(lfs, 0o755); err != nil {
		t.Fatal(err)
	}
	with := b.Git
	with.Env = []string{"HOME=" + b.home, "PATH=" + filepath.Dir(lfs) + string(os.PathListSeparator) + os.Getenv("PATH")}
	v, err := with.view(patience(t), place)
	if err != nil {
		t.Fatal(err)
	}
	defer v.close()
	if got, err := v.must(patience(t), "config", "filter.lfs.clean"); err != nil || got != "git-lfs clean -- %f" {
		t.Errorf("%q, %v", got, err)
	}
	if err := v.admitFilters(patience(t), []string{"a.bin"}); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(b.home, "ran")); err == nil {
		t.Error("the repository's own program ran")
	}
}

// FuzzConfiguration writes what counts of any configuration, and has git read what was written.
func FuzzConfiguration(f *testing.F) {
	for _, seed := range []string{"", "[core]\nfilemode\n[core]\n\tfsmonitor = x", "[remote \"a\\\"b\\\\\"]\n\turl = \"x\\n\\ty\" ; z\n", "[branch \"x\"]\n\tmerge = a\\\n b",
		"[USER]\nNAME=x\\b\"  y \"#\n", "[url \"a\"]\ninsteadOf=b", "[include]\npath=/dev/zero"} {
		f.Add(seed)
	}
	b := newBed(f)
	f.Fuzz(func(t *testing.T, text string) {
		root := t.TempDir()
		for _, dir := range []string{"objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(root, ".git", dir), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		put(t, "ref: refs/heads/main\n", root, ".git", "HEAD")
		put(t, text, root, ".git", "config")
		r, err := find(Place{Cwd: root})
		if err != nil {
			t.Fatal(err)
		}
		all, err := b.readConfig(t.Context(), r, t.TempDir())
		if err != nil {
			return
		}
		scratch := t.TempDir()
		written := repository{common: scratch}
		if err := writeConfig(filepath.Join(scratch, "config"), all, false); err != nil {
			t.Fatal(err)
		}
		again, err := b.readConfig(t.Context(), written, t.TempDir())
		if err != nil {
			t.Fatalf("git can't read what was written for %q: %v", text, err)
		}
		i := 0
		for _, e := range all {
			if !e.counts(false) {
				continue
			}
			if i == len(again) || again[i] != e {
				t.Fatalf("%q: %+v became %+v", text, e, again)
			}
			i++
		}
		if i != len(again) {
			t.Fatalf("%q: %+v", text, again[i:])
		}
	})
}
