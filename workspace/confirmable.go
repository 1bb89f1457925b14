package workspace

import (
	"slices"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// serverRefuses are the folders that the api accepts no project folder in (protocol.md 7.2).
var serverRefuses = []string{"/bin", "/boot", "/data", "/dev", "/etc", "/lib", "/lib64", "/proc", "/root", "/run",
	"/sbin", "/sys", "/usr", "/var"}

// Confirmable is the api's own test of a confirmed path (protocol.md 7.2), so that one it would drop in silence is
// named here. What only the server can know, whether the path overlaps its own checkout, is not tested. It looks at
// the text alone and fails with RootNotConfirmable.
func Confirmable(path string) error {
	fail := func(cause string) error {
		return failure.New(failure.RootNotConfirmable, shown(path)).Because("%s", cause)
	}
	switch {
	case strings.ContainsRune(path, 0):
		return fail("the path holds a NUL character")
	case !strings.HasPrefix(path, "/"):
		return fail("the server takes only paths that begin with `/`")
	}
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	if len(parts) == 0 {
		return fail("the server does not take `/` as a project folder")
	}
	if slices.Contains(parts, "..") || slices.Contains(parts, ".") {
		return fail("the path has a `.` or `..` component")
	}
	if top := "/" + parts[0]; slices.Contains(serverRefuses, top) {
		return fail("the server takes no project folder at or below " + top)
	}
	return nil
}
