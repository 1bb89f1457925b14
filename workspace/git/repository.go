package git

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// repository is where the parts of a repository lie, all absolute.
type repository struct {
	tree   string // the work tree's top
	dir    string // HEAD, index and what else belongs to this work tree
	common string // objects, refs, configuration
	prefix string // from tree to where the action works, with `/`; "." at the top
}

// find looks for the repository at p.Cwd and above it, no higher than p.Roots. The configuration has no word in it.
func find(p Place) (repository, error) {
	cwd := filepath.Clean(p.Cwd)
	for at := cwd; ; at = filepath.Dir(at) {
		r := repository{tree: at}
		if r.open() {
			below, err := filepath.Rel(at, cwd)
			if err != nil {
				break
			}
			r.prefix = filepath.ToSlash(below)
			return r, nil
		}
		if filepath.Dir(at) == at || slices.ContainsFunc(p.Roots, func(root string) bool { return filepath.Clean(root) == at }) {
			break
		}
	}
	return repository{}, failure.New(failure.NotARepository, p.Cwd)
}

// open finds the parts of the repository whose work tree is r.tree, if there is one.
func (r *repository) open() bool {
	r.dir = filepath.Join(r.tree, ".git")
	info, err := os.Stat(r.dir)
	if err != nil {
		return false
	}
	if !info.IsDir() { // a linked work tree, or a submodule
		line, err := firstLine(r.dir)
		target, found := strings.CutPrefix(line, "gitdir: ")
		if err != nil || !found || target == "" {
			return false
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(r.tree, target)
		}
		r.dir = filepath.Clean(target)
	}
	r.common = r.dir
	if line, err := firstLine(filepath.Join(r.dir, "commondir")); err == nil && line != "" {
		if !filepath.IsAbs(line) {
			line = filepath.Join(r.dir, line)
		}
		r.common = filepath.Clean(line)
	}
	for _, part := range []string{filepath.Join(r.dir, "HEAD"), filepath.Join(r.common, "objects"), filepath.Join(r.common, "refs")} {
		if _, err := os.Stat(part); err != nil {
			return false
		}
	}
	return true
}

// firstLine is the one line of one of git's small files.
func firstLine(path string) (string, error) {
	data, err := readPlain(path, 8<<10)
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

var errNotPlain = errors.New("it is no regular file, or a very large one")

// readPlain reads a regular file of at most most bytes.
func readPlain(path string, most int64) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, errors.Join(errNotPlain, err)
	}
	f, err := openPlain(path) // it may have become a pipe
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(errNotPlain, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = errNotPlain
	}
	return data, err
}
