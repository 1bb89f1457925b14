package git

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// changes lists what differs from the last commit and is not ignored, relative to the top of the work tree: all of it,
// or what lies at and below some paths. A repository of its own within this one, like another agent's work tree, is none
// of it.
func (v *view) changes(ctx context.Context, only []string) ([]string, error) {
	args := []string{"status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=dirty", "--no-renames"}
	if len(only) > 0 {
		args = append(append(args, "--"), only...)
	}
	out, err := v.run(ctx, call{args: args, limit: listMost})
	if err != nil {
		return nil, err
	}
	if out.Code != 0 {
		return nil, out.failure(args, v.tree)
	}
	changed, keys := v.g.changedPaths(string(out.Stdout))
	for _, k := range keys {
		if k.staged && len(only) == 0 {
			return nil, failure.New(failure.KeyNotCommitted, visible(k.path)).
				Then("take it out of the index with `git rm --cached`, and name it in .gitignore")
		}
	}
	if len(changed) == 0 && len(keys) > 0 {
		return nil, failure.New(failure.KeyNotCommitted, visible(keys[0].path))
	}
	return changed, nil
}

// changedKey is a changed file that holds a key of this machine.
type changedKey struct {
	path   string
	staged bool
}

// changedPaths reads what `git status --porcelain -z` prints without renames: XY, a space, the path. The files of Keys
// come by themselves, but for those that are deleted.
func (g Git) changedPaths(status string) (changed []string, keys []changedKey) {
	for item := range strings.SplitSeq(status, "\x00") {
		if len(item) <= 3 || strings.HasSuffix(item, "/") {
			continue
		}
		index, tree, file := item[0], item[1], item[3:]
		if deleted := tree == 'D' || index == 'D' && tree == ' '; deleted || !g.isKey(file) {
			changed = append(changed, file)
		} else {
			keys = append(keys, changedKey{file, !strings.ContainsRune(" ?D", rune(index))})
		}
	}
	// What is deleted in the index and there again is listed twice.
	for _, k := range keys {
		changed = slices.DeleteFunc(changed, func(file string) bool { return file == k.path })
	}
	return changed, keys
}

func (g Git) isKey(file string) bool {
	return slices.ContainsFunc(g.Keys, func(name string) bool { return strings.EqualFold(name, path.Base(file)) })
}

// inside gives paths, which are relative to where the action works, relative to the top of the work tree. Each has to
// lie in it, and be there or be known to git.
func (v *view) inside(ctx context.Context, paths []string) ([]string, error) {
	var inside []string
	for _, p := range paths {
		refused := func(cause string) error {
			return failure.New(failure.PathNotInRepository, cmp.Or(visible(p), "an empty path")).Because("%s", cause)
		}
		if p == "" || strings.ContainsRune(p, 0) || path.IsAbs(p) || filepath.IsAbs(p) {
			return nil, refused("it is not a path relative to the working directory")
		}
		at := path.Join(v.prefix, filepath.ToSlash(p))
		if !filepath.IsLocal(filepath.FromSlash(at)) || slices.Contains(strings.Split(at, "/"), ".git") {
			return nil, refused("it leads out of the work tree " + v.tree)
		}
		if _, err := os.Lstat(filepath.Join(v.tree, filepath.FromSlash(at))); err != nil {
			known, err := v.must(ctx, "ls-files", "--", at)
			if err != nil {
				return nil, err
			}
			if known == "" {
				return nil, refused("there is no such file, and git knows of none")
			}
		}
		inside = append(inside, at)
	}
	return inside, nil
}

// defined are the names of the filters that the repository's configuration defines.
func (v *view) defined() map[string]bool {
	names := map[string]bool{}
	for _, e := range v.config {
		if e.section == "filter" && e.sub != "" {
			names[e.sub] = true
		}
	}
	return names
}

// admitLFS gives Git LFS's filter its usual values, if the repository uses it and it is installed.
func (v *view) admitLFS() {
	if _, err := findProgram("", "git-lfs", v.g.Env); v.defined()["lfs"] && err == nil {
		v.filters = []string{
			"-c", "filter.lfs.clean=git-lfs clean -- %f", "-c", "filter.lfs.smudge=git-lfs smudge -- %f",
			"-c", "filter.lfs.process=git-lfs filter-process", "-c", "filter.lfs.required=true",
		}
	}
}

// admitFilters refuses the action where one of the paths passes through a filter that the repository's configuration
// defines. The one of Git LFS is let through where that is installed, with values of ours (admitLFS).
func (v *view) admitFilters(ctx context.Context, paths []string) error {
	defined := v.defined()
	if v.filters != nil {
		delete(defined, "lfs")
	}
	if len(defined) == 0 {
		return nil
	}
	args := []string{"check-attr", "-z", "--stdin", "filter"}
	out, err := v.run(ctx, call{args: args, stdin: []byte(strings.Join(paths, "\x00") + "\x00"), limit: listMost})
	if err != nil {
		return err
	}
	if out.Code != 0 {
		return out.failure(args, v.tree)
	}
	fields := strings.Split(string(out.Stdout), "\x00") // path, attribute, value
	for i := 0; i+2 < len(fields); i += 3 {
		if name := fields[i+2]; defined[name] {
			return failure.New(failure.RepositoryConfigRefused, filepath.Join(v.common, "config")).
				Because("the keys filter.%s.* name a program that %s would pass through", visible(name), visible(fields[i]))
		}
	}
	return nil
}

// listMost bounds a list of paths, in bytes (protocol.md 7.5).
const listMost = 32 << 20

// Files lists the files of the project at root: those that git knows and those that it does not ignore, relative to
// root. A repository of its own within it ends in `/`. There may be doubles.
//
// It fails with NotARepository, GitMissing, RepositoryConfigRefused, GitFailed, Cancelled or TimedOut.
func (g Git) Files(ctx context.Context, root string) ([]string, error) {
	v, err := g.look(ctx, Place{Cwd: root, Roots: []string{root}}, false)
	if err != nil {
		return nil, err
	}
	defer v.close()
	var files []string
	for _, args := range [][]string{{"ls-files", "-z"}, {"ls-files", "-z", "--others", "--exclude-standard"}} {
		out, err := v.run(ctx, call{args: args, limit: listMost})
		if err != nil {
			return nil, err
		}
		if out.Code != 0 {
			return nil, out.failure(args, root)
		}
		for file := range strings.SplitSeq(string(out.Stdout), "\x00") {
			if file != "" {
				files = append(files, file)
			}
		}
	}
	return files, nil
}
