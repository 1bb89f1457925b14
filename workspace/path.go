package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// segments splits p at every separator of this system and drops the empty ones.
func segments(p string) []string {
	return strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == os.PathSeparator })
}

// hasSegment reports whether one of p's segments is exactly name. It must look before Clean does its work, which
// resolves `..` without looking at links.
func hasSegment(p, name string) bool { return slices.Contains(segments(p), name) }

// isTop reports whether p, cleaned, is the top of a file system: `/`, or a bare volume on Windows.
func isTop(p string) bool { return filepath.Dir(p) == p }

// rest gives p relative to dir when p is dir (".") or lies below it, by whole segments: /base-2 is not inside /base.
// Both are absolute and cleaned. With fold, letters are compared without case.
func rest(dir, p string, fold bool) (string, bool) {
	if len(p) < len(dir) {
		return "", false
	}
	head := p[:len(dir)]
	if head != dir && (!fold || !strings.EqualFold(head, dir)) {
		return "", false
	}
	switch tail := p[len(dir):]; {
	case tail == "":
		return ".", true
	case os.IsPathSeparator(dir[len(dir)-1]): // dir is the top of a file system
		return tail, true
	case os.IsPathSeparator(tail[0]):
		return tail[1:], true
	}
	return "", false
}

// within reports whether p is dir or lies below it, for permitting: case counts, except where paths are written
// without regard to it by custom, and there the real path is compared exactly as well.
func within(dir, p string) bool {
	_, ok := rest(dir, p, customaryFold)
	return ok
}

// touches reports whether p is, holds or lies in dir, for refusing: case does not count on systems whose usual file
// system ignores it.
func touches(dir, p string) bool {
	_, in := rest(dir, p, refusalFold)
	_, around := rest(p, dir, refusalFold)
	return in || around
}

// shown is p as a failure shows it: never empty, and without the NUL that no terminal shows.
func shown(p string) string {
	if p == "" {
		return "an empty path"
	}
	return strings.ReplaceAll(p, "\x00", `\0`)
}
