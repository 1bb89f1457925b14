package workspace

import (
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// place is one folder in its two forms.
type place struct{ written, real string }

// placeOf gives p in both forms. Where p can't be followed, its written form stands for both: the rules that refuse
// still see it, and nothing that exists can be found below it.
func placeOf(p string) place {
	p = filepath.Clean(p)
	real, err := RealPath(p)
	if err != nil {
		real = p
	}
	return place{p, real}
}

func (a place) touches(b place) bool {
	return touches(a.written, b.written) || touches(a.real, b.real) ||
		touches(a.written, b.real) || touches(a.real, b.written)
}

func (a place) same(b place) bool {
	for _, x := range []string{a.written, a.real} {
		for _, y := range []string{b.written, b.real} {
			if r, ok := rest(x, y, refusalFold); ok && r == "." {
				return true
			}
		}
	}
	return false
}

// permitted applies every rule about a root's path and gives its real path.
func permitted(root string, o Options) (string, error) {
	if cause := rootForm(root); cause != "" {
		return "", o.fail(failure.RootNotAbsolute, root).Because("%s", cause)
	}
	path := filepath.Clean(root)
	real, err := RealPath(path)
	if err != nil {
		return "", o.cannotMake(path, err)
	}
	at := place{path, real}

	var home *place
	if usable(o.Home) {
		h := placeOf(o.Home)
		home = &h
	}
	atHome := home != nil && at.same(*home)
	if atHome && !o.AllowHomeRoot {
		return "", o.fail(failure.HomeAsRoot, path).
			Then("move the project into a folder of its own, %s for instance, or set `allow_home_root`",
				filepath.Join(o.Home, "project"))
	}
	if dir := systemFolder(at, home); dir != "" && (!o.Demo || isTop(real)) {
		return "", o.fail(failure.RootSystemFolder, path).Because("%s is a folder of the system", dir)
	}
	if atHome {
		return real, nil // it holds our own folders, and lies below none of Roots: that is what was allowed
	}
	for _, own := range o.Ours {
		if usable(own) && at.touches(placeOf(own)) {
			return "", o.fail(failure.RootHoldsOurs, path).
				Because("it is, holds or lies in %s, which is the runner's own", own)
		}
	}
	if o.Demo {
		return real, nil
	}
	if home != nil {
		if dir := privateFolder(at, *home); dir != "" {
			return "", o.fail(failure.RootNotAllowed, path).
				Because("it lies in %s, where programs keep their own files", filepath.Join(o.Home, dir)).
				Then("choose a folder beside it")
		}
	}
	return real, o.belowRoots(at, home)
}

// rootForm says what is wrong with the form of a root, or nothing.
func rootForm(root string) string {
	switch {
	case root == "":
		return "the path is empty"
	case strings.ContainsRune(root, 0):
		return "the path holds a NUL character"
	case !filepath.IsAbs(root):
		return "the path is not absolute"
	case hasSegment(root, "..") || hasSegment(root, "."):
		return "the path has a `.` or `..` component"
	}
	return volumeForm(root)
}

// systemFolder gives the folder of the system that at is or lies in, or nothing. What lies below the user's own home
// is not the system's, wherever some systems put homes.
func systemFolder(at place, home *place) string {
	if isTop(at.written) {
		return at.written
	}
	if isTop(at.real) {
		return at.real
	}
	for _, p := range []string{at.written, at.real} {
		dir := systemFolderOf(p)
		if dir == "" || home != nil && homeLivesThere(*home) && (within(home.written, p) || within(home.real, p)) {
			continue
		}
		return dir
	}
	return ""
}

// homeLivesThere reports whether home is one of those that systems keep in a folder which is otherwise their own:
// /root, /var/home/ana, /var/lib/ci. A home like /bin, which old accounts have, is none.
func homeLivesThere(home place) bool {
	for _, dir := range homesAmongSystem {
		if r, ok := rest(dir, home.real, refusalFold); ok && (r != "." || dir == rootsHome) {
			return true
		}
	}
	return false
}

// privateFolder gives the folder directly below home that programs keep for themselves and at lies in, or nothing.
func privateFolder(at, home place) string {
	for _, h := range []string{home.written, home.real} {
		for _, p := range []string{at.written, at.real} {
			r, ok := rest(h, p, refusalFold)
			if !ok || r == "." {
				continue
			}
			first := segments(r)[0]
			if first[0] == '.' || strings.EqualFold(first, "Library") || strings.EqualFold(first, "AppData") {
				return first
			}
		}
	}
	return ""
}

// belowRoots demands that at lies below one of the folders of Roots, as written and really.
func (o Options) belowRoots(at place, home *place) error {
	roots := o.roots(home)
	if _, found := rootAbove(roots, at); found {
		return nil
	}
	f := o.fail(failure.RootNotAllowed, at.written)
	switch {
	case len(roots) == 0:
		return f.Because("`roots` is not set and this user's home folder is not known").
			Then("set `roots` to the folder below which projects may lie")
	case at.real != at.written:
		return f.Because("it leads to %s, and a project must lie below one of: %s", at.real, strings.Join(roots, ", "))
	}
	return f.Because("a project must lie below one of: %s", strings.Join(roots, ", "))
}

// roots are the folders below which a root may lie.
func (o Options) roots(home *place) []string {
	if len(o.Roots) == 0 && home != nil {
		return []string{o.Home}
	}
	return o.Roots
}

// rootAbove gives the first of roots that at lies below, as written and really.
func rootAbove(roots []string, at place) (place, bool) {
	for _, r := range roots {
		if !filepath.IsAbs(r) || hasSegment(r, "..") {
			continue
		}
		dir := placeOf(r)
		written := strictlyBelow(dir.written, at.written, customaryFold) || strictlyBelow(dir.real, at.written, customaryFold)
		if written && strictlyBelow(dir.real, at.real, false) {
			return dir, true
		}
	}
	return place{}, false
}

func strictlyBelow(dir, p string, fold bool) bool {
	r, ok := rest(dir, p, fold)
	return ok && r != "."
}
