package workspace

import (
	"os"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// Confine checks the folder that a command wants to run in against the project root (protocol.md 7.3) and gives it
// back cleaned. cwd must be absolute, without NUL and `..`, and lie inside root as it is written and after its links
// are followed; root may be written as its real path too. The folders of also count as root does; one that is not an
// absolute path, or is the top of a file system, counts for nothing. An empty cwd is not absolute: that it means the
// root is the caller's to know.
//
// It fails with CwdNotAbsolute, CwdInvalid, CwdOutside or CwdMissing, and with RootNotAbsolute for a root that can't
// hold anything inside.
func Confine(root, cwd string, also ...string) (string, error) {
	if f := cwdForm(cwd); f != nil {
		return "", f
	}
	if !usable(root) {
		return "", failure.New(failure.RootNotAbsolute, shown(root))
	}
	path := filepath.Clean(cwd)
	written, real := areas(append([]string{root}, also...))
	if !insideAny(written, path, within) {
		return "", failure.New(failure.CwdOutside, cwd).
			Because("it does not lie inside the project folder %s", root)
	}
	led, err := RealPath(path)
	if err != nil {
		return "", failure.New(failure.CwdOutside, cwd).
			Because("where it leads can't be seen, so it may lead out of the project folder %s", root).
			Then("look at the links and modes on the way to it").Wrap(err)
	}
	if !insideAny(real, led, exactlyWithin) {
		return "", failure.New(failure.CwdOutside, cwd).
			Because("a link leads it to %s, which is not inside the project folder %s", led, root)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return "", failure.New(failure.CwdMissing, cwd).Wrap(err)
	}
	return path, nil
}

// cwdForm is the part of protocol.md 7.3 that needs no disk.
func cwdForm(cwd string) *failure.Failure {
	switch {
	case cwd == "":
		return failure.New(failure.CwdNotAbsolute, "an empty cwd")
	case strings.ContainsRune(cwd, 0):
		return failure.New(failure.CwdInvalid, shown(cwd)).
			Because("it holds a NUL character")
	case !filepath.IsAbs(cwd):
		return failure.New(failure.CwdNotAbsolute, cwd)
	case hasSegment(cwd, ".."):
		return failure.New(failure.CwdInvalid, cwd).Because("it has a `..` component")
	}
	return nil
}

// usable reports whether dir can be a fence: something absolute and plain that does not hold the whole file system.
func usable(dir string) bool {
	return filepath.IsAbs(dir) && !strings.ContainsRune(dir, 0) && !hasSegment(dir, "..") && !isTop(filepath.Clean(dir))
}

// areas gives the forms in which a path may be written to lie inside dirs, and the real folders it must lead to.
func areas(dirs []string) (written, real []string) {
	for _, d := range dirs {
		if !usable(d) {
			continue
		}
		d = filepath.Clean(d)
		r, err := RealPath(d)
		if err != nil || isTop(r) {
			continue
		}
		written, real = append(written, d, r), append(real, r)
	}
	return written, real
}

func insideAny(dirs []string, p string, in func(dir, p string) bool) bool {
	for _, d := range dirs {
		if in(d, p) {
			return true
		}
	}
	return false
}

// exactlyWithin compares real paths, which the system spells in one way only.
func exactlyWithin(dir, p string) bool {
	_, ok := rest(dir, p, false)
	return ok
}
