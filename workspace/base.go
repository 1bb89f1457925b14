package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// PermittedBase checks the folder below which this execution makes projects (protocol.md 7.4): absolute and plain, not
// the top of a file system, at or below one of the folders of `roots`, no file, and not the root of this execution's
// one project (empty where it serves many) nor inside it. It need not exist yet. It fails with BaseMissing or
// BaseInvalid.
func PermittedBase(base, projectRoot string, o Options) error {
	if base == "" {
		return failure.New(failure.BaseMissing, "workspace_create")
	}
	refused := func(cause string, args ...any) error {
		return failure.New(failure.BaseInvalid, shown(base)).Because(cause, args...)
	}
	switch {
	case strings.ContainsRune(base, 0):
		return refused("it holds a NUL character")
	case !filepath.IsAbs(base):
		return refused("it is not absolute")
	case hasSegment(base, ".."):
		return refused("it has a `..` component")
	}
	at := placeOf(base)
	if isTop(at.written) || isTop(at.real) {
		return refused("it is the top of a file system")
	}
	var home *place
	if usable(o.Home) {
		h := placeOf(o.Home)
		home = &h
	}
	if roots := o.roots(home); !atOrBelow(roots, at) {
		return refused("it lies neither at nor below one of: %s", strings.Join(roots, ", "))
	}
	if info, err := os.Stat(at.written); err == nil && !info.IsDir() {
		return refused("it is a file")
	}
	if usable(projectRoot) && placeOf(projectRoot).holds(at) {
		return refused("it is the project folder %s or lies inside it", projectRoot)
	}
	return nil
}

// atOrBelow reports whether at is one of roots or lies below it, as written and really.
func atOrBelow(roots []string, at place) bool {
	for _, r := range roots {
		if !filepath.IsAbs(r) || hasSegment(r, "..") {
			continue
		}
		root := placeOf(r)
		if (within(root.written, at.written) || within(root.real, at.written)) && exactlyWithin(root.real, at.real) {
			return true
		}
	}
	return false
}

// Path applies the rules of base and segment, and gives the folder's path. Nothing is made. It fails as MakeProject does.
func (c Create) Path() (string, error) {
	if err := PermittedBase(c.Base, c.ProjectRoot, c.Options); err != nil {
		return "", &CreateError{ReasonNoBase, err}
	}
	refused := func(cause string, args ...any) error {
		return &CreateError{ReasonSegment, failure.New(failure.SegmentInvalid, shown(c.Segment)).Because(cause, args...)}
	}
	switch {
	case c.Segment == "":
		return "", refused("it is empty")
	case strings.ContainsRune(c.Segment, 0):
		return "", refused("it holds a NUL character")
	case strings.HasPrefix(c.Segment, "/") || filepath.IsAbs(c.Segment) || filepath.VolumeName(c.Segment) != "":
		return "", refused("it is not relative to the base")
	case hasSegment(c.Segment, ".."):
		return "", refused("it has a `..` component")
	case slices.ContainsFunc(segments(c.Segment), isDotGit):
		return "", refused("it leads into `.git`, which belongs to git itself")
	}
	base := filepath.Clean(c.Base)
	path := filepath.Join(base, filepath.FromSlash(c.Segment))
	if path == base {
		return "", refused("it is the base itself")
	}
	real, err := RealPath(path)
	if err != nil {
		return "", c.failed(c.Options.cannotMake(path, err))
	}
	within := placeOf(base)
	if !strictlyBelow(base, path, customaryFold) || !strictlyBelow(within.real, real, false) {
		return "", refused("it leads to %s, which is not inside the base %s", real, base)
	}
	return path, nil
}
