package policy

import "strings"

// cleanPath resolves . and .. and repeated slashes without touching the disk. A relative path keeps leading "..".
func cleanPath(p string) string {
	if p != "" && p[0] == '/' && !strings.Contains(p, "//") && !strings.Contains(p, "/.") && (len(p) == 1 || p[len(p)-1] != '/') {
		return p
	}
	abs := strings.HasPrefix(p, "/")
	out := make([]byte, 0, len(p)+1)
	if abs {
		out = append(out, '/')
	}
	base := len(out)
	kept := 0 // components in out that .. can take away
	for p != "" {
		n := strings.IndexByte(p, '/')
		comp := p
		if n >= 0 {
			comp, p = p[:n], p[n+1:]
		} else {
			p = ""
		}
		switch comp {
		case "", ".":
			continue
		case "..":
			if kept > 0 {
				n := len(out) - 1
				for n > base && out[n] != '/' {
					n--
				}
				out = out[:max(n, base)]
				kept--
				continue
			}
			if abs {
				continue
			}
		default:
			kept++
		}
		if len(out) > base {
			out = append(out, '/')
		}
		out = append(out, comp...)
	}
	if len(out) == 0 {
		return "."
	}
	return string(out)
}

// joinPath is p as seen from a directory.
func joinPath(dir, p string) string {
	if strings.HasPrefix(p, "/") {
		return cleanPath(p)
	}
	return cleanPath(dir + "/" + p)
}

// below says whether a clean path is a clean folder or lies in it.
func below(p, dir string) bool {
	return p == dir || len(p) > len(dir) && p[len(dir)] == '/' && p[:len(dir)] == dir
}

// trimSlashes takes the slashes off the end in one backward scan.
func trimSlashes(p string) string {
	n := len(p)
	for n > 1 && p[n-1] == '/' {
		n--
	}
	return p[:n]
}

// validRoot says whether a path can be a scope root for decide: absolute, not /, without . and .. components.
func validRoot(p string) bool {
	if !strings.HasPrefix(p, "/") || strings.IndexByte(p, 0) >= 0 {
		return false
	}
	some := false
	for p != "" {
		var comp string
		comp, p, _ = strings.Cut(p, "/")
		if comp == "." || comp == ".." {
			return false
		}
		some = some || comp != ""
	}
	return some
}

// systemFolder: one of the folders that are no project's, or below one (section 9, the root).
func systemFolder(p string) bool {
	top, _, _ := strings.Cut(strings.TrimLeft(p, "/"), "/")
	switch top {
	case "bin", "boot", "data", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "usr", "var":
		return true
	}
	return false
}
