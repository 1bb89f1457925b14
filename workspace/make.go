package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"brabo.dev/runner/runner/failure"
)

// folderMode is what a new project folder and its new parents get, less the user's umask. They are the user's, so
// others may read where the umask lets them; write for others is never given, because a service manager's umask may
// be 0.
const folderMode = 0o755

// makeFolder makes path and its missing parents, and reports whether path was missing.
func makeFolder(path string, o Options) (created bool, err error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, o.fail(failure.RootNotFolder, path)
	}
	if err := os.MkdirAll(path, folderMode); err != nil {
		return false, o.cannotMake(path, err)
	}
	return true, nil
}

// cannotMake names why path could not become a folder.
func (o Options) cannotMake(path string, err error) error {
	at := nearest(path)
	if info, statErr := os.Lstat(at); statErr == nil {
		switch {
		case info.Mode()&fs.ModeSymlink != 0 && unresolvable(at):
			return o.fail(failure.RootNotFolder, path).
				Because("%s is a link that leads nowhere", at).Then("remove the link, or choose another folder").Wrap(err)
		case !isFolder(at):
			return o.fail(failure.RootNotFolder, path).Because("%s is a file", at).Wrap(err)
		}
	}
	if outOfSpace(err) {
		return o.fail(failure.DiskFull, path).Because("%s", causeOf(err, at)).Wrap(err)
	}
	return o.fail(failure.RootNotCreated, path).Because("%s", causeOf(err, at)).Then("%s", remedy(err, at)).Wrap(err)
}

// unresolvable reports whether link leads nowhere or in a circle, rather than to something we may not see.
func unresolvable(link string) bool {
	_, err := os.Stat(link)
	return err != nil && !errors.Is(err, fs.ErrPermission)
}

func isFolder(p string) bool {
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	info, err := os.Lstat(p)
	return err == nil && info.IsDir()
}
