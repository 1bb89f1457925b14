package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unicode/utf8"

	"brabo.dev/runner/runner/failure"
)

// AddAllow adds entries to the allow list of the file at path, makes the file if there is none, and returns what it
// added: the entries whose exact text was not there yet. Nothing to add writes nothing. One process must not run two
// of these on one file at the same time; the caller holds the lock.
func AddAllow(path string, entries ...string) (added []string, err error) {
	f, err := Load(path)
	if err != nil {
		return nil, err
	}
	if added = f.Add(ListAllow, entries...); len(added) == 0 {
		return nil, nil
	}
	if err := f.Save(path); err != nil {
		return nil, err
	}
	return added, nil
}

// Save replaces the file at path. Whoever looks, also after a crash between any two steps, finds the old file or the
// new one, whole; such a crash can leave a temporary file .permissions.json.*.tmp beside it, which means nothing. The
// mode stays as it was, and 0600 for a new file.
//
// Save replaces no link and nothing that is not a file: it fails as Load does. Every other failure is
// failure.PermissionsFileNotWritten or failure.DiskFull, and the old file is still there.
func (f File) Save(path string) error {
	return f.save(path, func(string) {})
}

// save calls step after each of its steps, where a test may let it die.
func (f File) save(path string, step func(string)) error {
	for _, entry := range slices.Concat(f.Allow, f.Deny, f.Ask) {
		if !utf8.ValidString(entry) { // JSON would put other characters in its place
			return notWritten(path, fmt.Errorf("the entry %q is not UTF-8", entry))
		}
	}
	text := f.Text()
	if len(text) > MaxFileSize {
		return notWritten(path, errors.New("it would be larger than 4 MiB"))
	}
	old, err := os.Lstat(path)
	switch {
	case err == nil && !old.Mode().IsRegular():
		_, err := readFile(path)
		return err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return notWritten(path, err)
	}
	if err := replace(path, text, old, step); err != nil {
		return notWritten(path, err)
	}
	return nil
}

// replace writes beside path and renames. old is the file that stands there, or nil.
func replace(path string, text []byte, old fs.FileInfo, step func(string)) (err error) {
	folder := filepath.Dir(path)
	tmp, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*.tmp") // 0600, and never a file or link that was there
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
		}
	}()
	step("created")
	if _, err := tmp.Write(text); err != nil {
		return err
	}
	step("written")
	if old != nil {
		keepOwner(tmp, old)
		if err := tmp.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
	}
	step("mode")
	if err := tmp.Sync(); err != nil {
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	step("synced")
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	step("renamed")
	syncFolder(folder)
	return nil
}

func notWritten(path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return failure.New(failure.DiskFull, path).Wrap(err)
	}
	return failure.New(failure.PermissionsFileNotWritten, path).Wrap(err)
}
