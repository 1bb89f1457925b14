package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// refuseElsewhere keeps an action that writes within the project: whoever writes the project's files, in a container that
// sees nothing else perhaps, can make a link of what git writes, and git follows it with the rights of this process. What
// becomes a link while git runs is not seen.
func (v *view) refuseElsewhere(roots []string) error {
	if path := v.outside(roots); path != "" {
		return failure.New(failure.RepositoryConfigRefused, path).
			Because("the project's .git leads there, out of the project, and nothing there names the project as its work tree").
			Then("make the work tree known there by `git worktree repair`, or move the repository into the project; nothing was done")
	}
	path, err := v.link()
	if err != nil {
		return failure.New(failure.GitFailed, v.tree).Because("its repository could not be looked through: %v", err).Wrap(err)
	}
	if path != "" {
		return failure.New(failure.RepositoryConfigRefused, path).
			Because("it is a link, and git would write where it leads").
			Then("put what it leads to in its place; nothing was done")
	}
	return nil
}

// outside is the part of the repository that lies in none of the roots, if there are any, and does not know the work tree;
// "" where none does.
func (v *view) outside(roots []string) string {
	dir, common := below(v.dir, roots), below(v.common, roots)
	switch {
	case len(roots) == 0, dir && common:
		return ""
	case dir:
		return v.common // the project itself says that it belongs there
	case v.linked() || v.absorbed():
		return ""
	}
	return v.dir
}

// linked tells whether the repository knows the tree as one of its linked work trees.
func (v *view) linked() bool {
	file, err := firstLine(filepath.Join(v.dir, "gitdir"))
	return err == nil && file != "" && same(from(v.dir, file), filepath.Join(v.tree, ".git")) &&
		same(v.common, filepath.Join(v.dir, "..", ".."))
}

// absorbed tells whether the repository knows the tree as that of a submodule.
func (v *view) absorbed() bool {
	return same(v.common, v.dir) && slices.ContainsFunc(v.config, func(e entry) bool {
		return e.key() == "core.worktree" && e.value != "" && same(from(v.dir, e.value), v.tree)
	})
}

// from is a path as it is meant in a folder.
func from(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// below tells whether a path really lies in one of the folders.
func below(path string, roots []string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err == nil && slices.ContainsFunc(roots, func(root string) bool {
		root, err := filepath.EvalSymlinks(root)
		if err != nil {
			return false
		}
		rel, err := filepath.Rel(root, real)
		return err == nil && filepath.IsLocal(rel)
	})
}

// unwritten are the parts that no action writes, and that people do link to.
var unwritten = []string{"hooks", "info"}

// link is the first link among what git writes; "" where there is none.
func (v *view) link() (string, error) {
	for _, dir := range slices.Compact([]string{v.dir, v.common}) {
		found, err := linkIn(dir, func(name string) bool {
			return slices.Contains(unwritten, name) || name == "HEAD" && refersWithin(filepath.Join(dir, name))
		})
		for _, part := range []string{"refs", "logs", "reftable"} {
			if found == "" && err == nil {
				found, err = linkBelow(filepath.Join(dir, part))
			}
		}
		if found != "" || err != nil {
			return found, err
		}
	}
	return linkIn(filepath.Join(v.common, "objects"), func(string) bool { return false })
}

// refersWithin is about a HEAD as git made it when it was young: a link to the branch.
func refersWithin(head string) bool {
	to, err := os.Readlink(head)
	return err == nil && filepath.IsLocal(to) && strings.HasPrefix(filepath.ToSlash(filepath.Clean(to)), "refs/")
}

// linkIn is the first link in a folder that is not let through.
func linkIn(folder string, through func(name string) bool) (string, error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 && !through(e.Name()) {
			return filepath.Join(folder, e.Name()), nil
		}
	}
	return "", err
}

// linkBelow is the first link in a folder and all that are in it; it need not exist.
func linkBelow(folder string) (found string, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil // it never was, or went meanwhile
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0:
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found, err
}
