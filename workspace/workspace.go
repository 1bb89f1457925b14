// Package workspace looks after project folders: it makes them, proves that they can be written, and keeps what
// runs in them inside them.
//
// Two promises and one limit. Materialize changes nothing on the disk before every rule about the path has passed.
// Confine accepts a folder only when it lies inside the project both as it is written and after its links are
// followed. Both look at the disk and then answer, so a link that another process makes between the answer and its
// use is not covered: the rules of protocol.md section 7 are best effort by their own words.
//
// What works inside folders of people has no such gap: List, WriteFile and Mirror go down folder by folder, hold each
// open, and are led nowhere by a link that appears meanwhile.
//
// The package starts no goroutines. It keeps no state but a Mirror's memory of what it has seen.
package workspace

import (
	"path/filepath"

	"brabo.dev/runner/runner/failure"
)

// Options says what a project root is judged by. The zero value allows nothing, because it knows no folder below
// which a root may lie.
type Options struct {
	// Roots are the absolute folders below one of which a root must lie (settings.md, `roots`). None: Home.
	Roots []string
	// Home is the home folder of the user who runs the daemon. It is never a root itself.
	Home string
	// Ours are the runner's own config, state and data folders.
	Ours []string
	// AllowHomeRoot accepts Home itself as a root, for an existing install (settings.md, `allow_home_root`).
	AllowHomeRoot bool
	// Demo is for the folder that the demonstration makes for itself in the cache or temporary folder: it need not
	// lie below home, and may lie in a dot folder or in the system's temporary folder.
	Demo bool
	// Origin names the flag, variable, file or setting that the path came from, for failures. It may be empty.
	Origin string
}

// Folder is a project root that exists and can be written.
type Folder struct {
	// Path is the root as it was given, cleaned: what the server is told and what it sends back in `cwd`.
	Path string
	// Real is Path with every link followed.
	Real string
	// Created reports that the folder was not there before.
	Created bool
}

// Materialize makes root a project folder: it checks the path against every rule, makes the folder and its missing
// parents where they are missing, and proves by a file of its own that the folder can be written. An existing folder
// and its content stay as they are.
//
// It fails with RootNotAbsolute, RootSystemFolder, RootNotAllowed, RootHoldsOurs, HomeAsRoot, RootNotFolder,
// RootNotCreated, RootNotWritable or DiskFull.
func Materialize(root string, o Options) (Folder, error) {
	real, err := permitted(root, o)
	if err != nil {
		return Folder{}, err
	}
	path := filepath.Clean(root)
	created, err := makeFolder(path, o)
	if err != nil {
		return Folder{}, err
	}
	// The path is read again: a link put in the way meanwhile must not move the project out of what was allowed.
	now, err := RealPath(path)
	if err != nil || now != real {
		return Folder{}, o.fail(failure.RootNotAllowed, path).
			Because("the path led somewhere else while the folder was being made").
			Then("look at what changes this path, and try again").Wrap(err)
	}
	if err := probe(path, o); err != nil {
		return Folder{}, err
	}
	return Folder{Path: path, Real: real, Created: created}, nil
}

// Permitted checks root against the rules about the path alone; nothing is made. Its failures are those of
// Materialize that are about the path.
func Permitted(root string, o Options) error {
	_, err := permitted(root, o)
	return err
}

// fail is the failure called name about path, which also says where the path came from.
func (o Options) fail(name failure.Name, path string) *failure.Failure {
	path = shown(path)
	if o.Origin != "" {
		path += " (from " + o.Origin + ")"
	}
	return failure.New(name, path)
}
