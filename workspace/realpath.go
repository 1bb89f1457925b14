package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// RealPath follows the links of p's nearest existing ancestor, p included, and puts the missing rest back behind it.
// p is absolute. A link that leads nowhere is an error, and so is a folder that can't be looked into: what p would
// become can't be known then.
func RealPath(p string) (string, error) {
	p = filepath.Clean(p)
	at, tail := p, ""
	for {
		_, err := os.Lstat(at)
		if err == nil {
			real, err := filepath.EvalSymlinks(at)
			if err != nil {
				return "", err
			}
			return filepath.Join(real, tail), nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return "", err
		}
		if isTop(at) {
			return "", err
		}
		at, tail = filepath.Dir(at), filepath.Join(filepath.Base(at), tail)
	}
}

// nearest is p's nearest ancestor, p included, that this user can see.
func nearest(p string) string {
	for !isTop(p) {
		if _, err := os.Lstat(p); err == nil {
			break
		}
		p = filepath.Dir(p)
	}
	return p
}
