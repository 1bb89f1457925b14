package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"

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
	// Init makes an existing empty folder a repository.
	Init func(ctx context.Context, dir string) error
	// Clone clones into an existing empty folder; nil: the project begins with Init.
	Clone func(ctx context.Context, dir string) error

	step func() // is called between the steps that put a repository in its place; nil but in tests
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

// MakeProject makes the project folder and the repository in it. Nothing is made before every rule has passed. A folder
// that is a repository already is a success, and is not touched; so is one that was killed when all but its move into
// place was done, which is then done. That no two run for one folder at once is the caller's to see to.
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
	left := settle(real)
	if _, err := os.Lstat(filepath.Join(real, ".git")); err == nil {
		return Created{Folder: Folder{Path: path, Real: real}, Kept: true}, nil
	}
	if left != nil {
		return Created{}, &CreateError{ReasonGit, leftBehind(path, left)}
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
	if err := c.begin(ctx, dir, folder); err != nil {
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
