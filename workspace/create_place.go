package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// A repository is made in a folder of ours within the project's, and moved up from there when it is whole, `.git` last.
// What ended half-way is so never taken for a repository, and what is removed is ours. The folder's name says how far it
// was, to whoever comes after one that was killed.
const (
	halfFolder  = ".runner-clone-"  // it is being made; it can go
	wholeFolder = ".runner-cloned-" // it is whole, and what is missing in it has been moved up
)

// begin makes the repository, by a clone or empty.
func (c Create) begin(ctx context.Context, dir *os.Root, folder Folder) (err error) {
	start := c.Init
	if c.Clone != nil {
		start = c.Clone
		if err := mustBeEmpty(dir, folder.Path); err != nil {
			return err
		}
	}
	id := rand.Text()
	half, whole := halfFolder+id, wholeFolder+id
	if err := dir.Mkdir(half, folderMode); err != nil {
		return c.Options.cannotWrite(folder.Path, err)
	}
	defer func() { err = errors.Join(err, dir.RemoveAll(half)) }()
	at := filepath.Join(folder.Real, half)
	if err := start(ctx, at); err != nil {
		if f := failure.As(err); f != nil && f.Subject == at {
			f.Subject = folder.Path // where it would have been
		}
		return err
	}
	outrun := func(err error) error {
		return failure.New(failure.FolderNotEmpty, folder.Path).Because("the repository could not take its place: %v", err).Wrap(err)
	}
	if !exists(dir, filepath.Join(half, ".git")) {
		return outrun(errors.New("git left no repository"))
	}
	if err := dir.Rename(half, whole); err != nil {
		return outrun(err)
	}
	c.stepped()
	if moved, err := c.moveUp(dir, whole); err != nil {
		for _, entry := range moved { // back, so that nothing stands in the project's folder that is not whole
			err = errors.Join(err, dir.Rename(entry, filepath.Join(whole, entry)))
		}
		return outrun(errors.Join(err, dir.Rename(whole, half)))
	}
	return dir.Remove(whole)
}

func (c Create) stepped() {
	if c.step != nil {
		c.step()
	}
}

// mustBeEmpty refuses a folder that holds anything.
func mustBeEmpty(dir *os.Root, path string) error {
	entries, err := readNames(dir, ".")
	if err != nil {
		return cannotList(path, err)
	}
	if len(entries) > 0 {
		return failure.New(failure.FolderNotEmpty, path).
			Because("it holds %q among %d entries, and is no repository", entries[0], len(entries))
	}
	return nil
}

func readNames(dir *os.Root, name string) ([]string, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// moveUp moves what is in the folder called name into dir, and gives what it has moved.
func (c Create) moveUp(dir *os.Root, name string) (moved []string, err error) {
	entries, err := readNames(dir, name)
	if err != nil {
		return nil, err
	}
	for _, entry := range append(without(entries, ".git"), ".git") {
		if exists(dir, entry) {
			return moved, fmt.Errorf("%s has appeared meanwhile", entry)
		}
		if err := dir.Rename(filepath.Join(name, entry), entry); err != nil {
			return moved, err
		}
		moved = append(moved, entry)
		c.stepped()
	}
	return moved, nil
}

func without(names []string, but string) []string {
	var others []string
	for _, name := range names {
		if name != but {
			others = append(others, name)
		}
	}
	return others
}

// Recover deals with what one that was killed left in this folder: what was whole is put in its place, and what was not
// is removed. That none is at work there is the caller's to see to. A folder that is not there, or may not be, is left
// alone.
func (c Create) Recover() error {
	path, err := c.Path()
	if err != nil {
		return err
	}
	real, err := permitted(path, c.Options)
	if err != nil {
		return err
	}
	return settle(real)
}

// settle is Recover of the folder at real.
func settle(real string) error {
	dir, err := os.OpenRoot(real)
	if errors.Is(err, fs.ErrNotExist) || err != nil && !isFolder(real) {
		return nil // who makes it says what is wrong with it
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := readNames(dir, ".")
	for _, name := range entries {
		switch info, lost := dir.Lstat(name); {
		case lost != nil || !info.IsDir(): // none of ours
		case strings.HasPrefix(name, wholeFolder):
			err = errors.Join(err, finish(dir, name))
		case strings.HasPrefix(name, halfFolder):
			err = errors.Join(err, dir.RemoveAll(name))
		}
	}
	return err
}

// finish moves up what is left in the folder called name. What has appeared in its place since is the person's, and stays;
// git has the repository's own. Where a repository has appeared, or is in its place already, nothing more is moved.
func finish(dir *os.Root, name string) error {
	entries, err := readNames(dir, name)
	if err != nil {
		return err
	}
	if others := without(entries, ".git"); len(others) < len(entries) && !exists(dir, ".git") {
		for _, entry := range append(others, ".git") {
			if exists(dir, entry) {
				continue
			}
			if err := dir.Rename(filepath.Join(name, entry), entry); err != nil {
				return err
			}
		}
	}
	return dir.RemoveAll(name)
}

func exists(dir *os.Root, name string) bool {
	_, err := dir.Lstat(name)
	return err == nil
}

// leftBehind names that what an earlier one left can't be dealt with.
func leftBehind(path string, err error) error {
	return failure.New(failure.FolderNotEmpty, path).
		Because("what an earlier, interrupted one left there can be neither finished nor removed: %v", err).Wrap(err)
}
