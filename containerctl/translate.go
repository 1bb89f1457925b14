package containerctl

import (
	"path"
	"strings"
)

// MountPoint is where a project's folder is inside its container (protocol.md 4.4).
const MountPoint = "/work"

// Translate gives the path inside the container for the host path cwd: root's prefix becomes MountPoint. An empty
// cwd is the root, and a path that is not below root comes back as it is. Paths with a drive letter are compared as
// Windows does, without regard to case and to the kind of slash; all others literally, on every system.
func Translate(root, cwd string) string {
	if cwd == "" {
		return MountPoint
	}
	if isWindows(root) {
		return translateFold(root, cwd)
	}
	rest, ok := below(path.Clean(root), path.Clean(cwd))
	if !ok {
		return cwd
	}
	return path.Join(MountPoint, rest)
}

func translateFold(root, cwd string) string {
	slash := func(s string) string { return path.Clean(strings.ReplaceAll(s, `\`, "/")) }
	r, c := slash(root), slash(cwd)
	if len(c) < len(r) || !strings.EqualFold(r, c[:len(r)]) {
		return cwd
	}
	rest, ok := below(r, r+c[len(r):])
	if !ok {
		return cwd
	}
	return path.Join(MountPoint, rest)
}

// below gives what is left of p behind root, when p is root or lies below it.
func below(root, p string) (string, bool) {
	if p == root {
		return "", true
	}
	if root != "/" {
		root += "/"
	}
	return strings.CutPrefix(p, root)
}

func isWindows(p string) bool {
	if strings.HasPrefix(p, `\\`) {
		return true
	}
	return len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') &&
		(p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}
