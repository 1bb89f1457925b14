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

// Create is a project folder to be made below this execution's base (protocol.md 4.3 and 7.4).
type Create struct {
	// Base is the folder below which projects are made; empty: this execution has none.
	Base string
	// ProjectRoot is the root of the one project that this execution serves; empty where it serves many.
	ProjectRoot string
	// Segment is where the folder lies, relative to Base; it may have inner slashes.
	Segment string
	// Options are those of a project root.
	Options Options
	// Takes is the server's own test of a folder, such as Confirmable; nil: it takes any.
	Takes func(path string) error
	// Init makes an existing folder a repository.
	Init func(ctx context.Context, dir string) error
	// Clone clones into an existing empty folder; nil: the project begins with Init.
	Clone func(ctx context.Context, dir string) error
}

// Created is a project folder that is there.
type Created struct {
	Folder
	// Kept reports that the folder was a repository before, and was left as it was.
	Kept bool
}

// Reason is the contract's code for why no folder was made (protocol.md 4.3).
type Reason string

// The reasons. With ReasonGit the folder stays, empty where a clone was asked for.
const (
	ReasonNoBase    Reason = "sem-base"
	ReasonSegment   Reason = "segmento"
	ReasonNotFolder Reason = "nao-e-pasta"
	ReasonMkdir     Reason = "mkdir"
	ReasonGit       Reason = "git"
	ReasonUnknown   Reason = "desconhecido"
)

// CreateError is a named failure with the contract's code.
type CreateError struct {
	Reason Reason
	Err    error
}

func (e *CreateError) Error() string { return e.Err.Error() }

// Unwrap gives the failure.
func (e *CreateError) Unwrap() error { return e.Err }

// ReasonOf gives the code of an error of MakeProject.
func ReasonOf(err error) Reason {
	var e *CreateError
	if errors.As(err, &e) {
		return e.Reason
	}
	return ReasonUnknown
}

// cloneFolder begins the name of the folder, within the project's, that a clone is made in. Its content is moved up
// when it is whole, so that a clone that ended half-way is never taken for a repository, and what is removed is ours.
const cloneFolder = ".runner-clone-"

// MakeProject makes the project folder and the repository in it. Nothing is made before every rule has passed. A folder
// that is a repository already is a success, and is not touched. That no two run for one folder at once is the caller's
// to see to.
//
// Its errors are CreateErrors. Their failures are BaseMissing, BaseInvalid, SegmentInvalid, FolderNotEmpty, those of
// Materialize and Takes, and what Init and Clone fail with.
func MakeProject(ctx context.Context, c Create) (Created, error) {
	path, err := c.Path()
	if err != nil {
		return Created{}, err
	}
	real, err := permitted(path, c.Options)
	if err != nil {
		return Created{}, c.failed(err)
	}
	if c.Takes != nil {
		if err := c.Takes(path); err != nil {
			return Created{}, &CreateError{ReasonSegment, err}
		}
	}
	if _, err := os.Lstat(filepath.Join(real, ".git")); err == nil {
		return Created{Folder: Folder{Path: path, Real: real}, Kept: true}, nil
	}
	folder, err := Materialize(path, c.Options)
	if err != nil {
		return Created{}, c.failed(err)
	}
	dir, err := os.OpenRoot(folder.Real)
	if err != nil {
		return Created{}, &CreateError{ReasonMkdir, c.Options.cannotWrite(path, err)}
	}
	defer dir.Close()
	if c.Clone != nil {
		err = c.clone(ctx, dir, folder)
	} else if err = c.Init(ctx, folder.Real); err != nil {
		err = errors.Join(err, dir.RemoveAll(".git")) // it was not there before
	}
	if err != nil {
		return Created{}, &CreateError{ReasonGit, failure.From(err, path)}
	}
	return Created{Folder: folder}, nil
}

// failed gives a failure about the folder its code.
func (c Create) failed(err error) error {
	reason := ReasonSegment // what is left is about where the folder would lie
	switch failure.From(err, c.Segment).Name {
	case failure.RootNotFolder:
		reason = ReasonNotFolder
	case failure.RootNotCreated, failure.RootNotWritable, failure.DiskFull:
		reason = ReasonMkdir
	}
	return &CreateError{reason, err}
}

// clone clones beside nothing: into a new folder within the project's, whose content it then moves up, `.git` last.
func (c Create) clone(ctx context.Context, dir *os.Root, folder Folder) (err error) {
	if err := mustBeEmpty(dir, folder.Path); err != nil {
		return err
	}
	name := cloneFolder + rand.Text()
	if err := dir.Mkdir(name, folderMode); err != nil {
		return c.Options.cannotWrite(folder.Path, err)
	}
	defer func() { err = errors.Join(err, dir.RemoveAll(name)) }()
	if err := c.Clone(ctx, filepath.Join(folder.Real, name)); err != nil {
		return err
	}
	moved, err := moveUp(dir, name)
	if err != nil {
		for _, entry := range moved {
			err = errors.Join(err, dir.RemoveAll(entry))
		}
		return failure.New(failure.FolderNotEmpty, folder.Path).Because("the clone could not take its place: %v", err).Wrap(err)
	}
	return nil
}

// RemoveUnfinished removes what a clone into this folder left that was killed half-way. That none is at work there is the
// caller's to see to. A folder that is not there, or may not be, is left alone.
func (c Create) RemoveUnfinished() error {
	path, err := c.Path()
	if err != nil {
		return err
	}
	real, err := permitted(path, c.Options)
	if err != nil {
		return err
	}
	dir, err := os.OpenRoot(real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := readNames(dir, ".")
	for _, name := range entries {
		if strings.HasPrefix(name, cloneFolder) {
			err = errors.Join(err, dir.RemoveAll(name))
		}
	}
	return err
}

// mustBeEmpty refuses a folder that holds anything but what an earlier clone left.
func mustBeEmpty(dir *os.Root, path string) error {
	entries, err := readNames(dir, ".")
	if err != nil {
		return cannotList(path, err)
	}
	for _, name := range entries {
		if !strings.HasPrefix(name, cloneFolder) {
			return failure.New(failure.FolderNotEmpty, path).Because("it holds %q among %d entries, and is no repository", name, len(entries))
		}
	}
	for _, name := range entries {
		if err := dir.RemoveAll(name); err != nil {
			return failure.New(failure.FolderNotEmpty, path).Because("what an earlier clone left can't be removed: %v", err).Wrap(err)
		}
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
func moveUp(dir *os.Root, name string) (moved []string, err error) {
	entries, err := readNames(dir, name)
	if err != nil {
		return nil, err
	}
	git := false
	for _, entry := range entries {
		if entry == ".git" {
			git = true
			continue
		}
		if err := moveOne(dir, name, entry); err != nil {
			return moved, err
		}
		moved = append(moved, entry)
	}
	if !git {
		return moved, errors.New("git left no repository")
	}
	return moved, moveOne(dir, name, ".git")
}

func moveOne(dir *os.Root, from, entry string) error {
	if _, err := dir.Lstat(entry); err == nil {
		return fmt.Errorf("%s has appeared meanwhile", entry)
	}
	return dir.Rename(filepath.Join(from, entry), entry)
}
