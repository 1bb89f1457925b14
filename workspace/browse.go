package workspace

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"brabo.dev/runner/runner/failure"
)

// Browse says what a folder picker may see (settings.md, `roots` and `browse.max_entries`).
type Browse struct {
	// Roots are the absolute folders at or below which a folder may be listed. None: Home.
	Roots []string
	// Home is the home folder of the user who runs the daemon.
	Home string
	// MaxEntries bounds the entries of one Listing; zero: 5,000.
	MaxEntries int
	// MaxBytes bounds what the entries of one Listing take as JSON; zero: 1 MiB.
	MaxBytes int
}

// Entry is one entry of a folder.
type Entry struct {
	Name string
	// IsDir is true for a folder alone; a link to one is none (protocol.md 4.6).
	IsDir bool
}

// Listing is a folder's entries: folders first, then by name.
type Listing struct {
	// Path is the folder, with every link followed.
	Path string
	// Entries is never nil.
	Entries []Entry
	// Total counts the entries that the folder has, beyond Entries too.
	Total int
	// Skipped are the first few entries whose names are no UTF-8, which no message can carry; for the log.
	Skipped []string
	// Cut is a listing_cut where Entries is not all, else nil.
	Cut *failure.Failure
}

// chunk is how many entries are read at once, and skippedNames how many names Skipped holds.
const (
	chunk        = 1024
	skippedNames = 10
)

// List lists the folder at path, which must be absolute, without NUL and `..`, and lie at or below one of the roots
// as written and after its links are followed. What it keeps in memory is bounded by MaxEntries, however many entries
// the folder has. On Windows `/` stands for the drives.
//
// It fails with PathInvalid, BrowseOutside, FolderMissing or FolderUnreadable.
func List(ctx context.Context, path string, b Browse) (Listing, error) {
	if drivesTop(path) {
		l := Listing{Path: path, Entries: drives(b.roots())}
		l.Total = len(l.Entries)
		return l, nil
	}
	if cause := plainForm(path); cause != "" {
		return Listing{Entries: []Entry{}}, failure.New(failure.PathInvalid, shown(path)).Because("%s", cause)
	}
	path = filepath.Clean(path)
	real, fence, err := b.admit(path)
	if err != nil {
		return Listing{Path: path, Entries: []Entry{}}, err
	}
	l := Listing{Path: real}
	if err := l.read(ctx, fence, b); err != nil {
		return Listing{Path: real, Entries: []Entry{}}, cannotList(path, err)
	}
	return l, nil
}

// HomeDir is where a picker begins: the home folder where it may be listed, else the first of the roots that is a
// folder. It fails with BrowseOutside.
func (b Browse) HomeDir() (string, error) {
	for _, dir := range append([]string{b.Home}, b.Roots...) {
		if plainForm(dir) != "" {
			continue
		}
		dir = filepath.Clean(dir)
		if _, _, err := b.admit(dir); err == nil && isFolder(dir) {
			return dir, nil
		}
	}
	return "", failure.New(failure.BrowseOutside, shown(b.Home)).
		Because("none of the folders below which this machine may be browsed is there: %s", strings.Join(b.roots(), ", "))
}

func (b Browse) roots() []string {
	if len(b.Roots) == 0 && b.Home != "" {
		return []string{b.Home}
	}
	return b.Roots
}

// admit gives the real path of path and the real root that it lies at or below.
func (b Browse) admit(path string) (real, fence string, err error) {
	real, err = RealPath(path)
	if err != nil {
		return "", "", cannotList(path, err)
	}
	for _, r := range b.roots() {
		if plainForm(r) != "" {
			continue
		}
		root := placeOf(r)
		if (within(root.written, path) || within(root.real, path)) && exactlyWithin(root.real, real) {
			return real, root.real, nil
		}
	}
	return "", "", failure.New(failure.BrowseOutside, path).
		Because("this machine may be browsed at and below these folders alone: %s", strings.Join(b.roots(), ", "))
}

// read reads the folder l.Path through the real root it lies below, so that a link put in the way meanwhile can't
// lead out.
func (l *Listing) read(ctx context.Context, fence string, b Browse) error {
	root, err := os.OpenRoot(fence)
	if err != nil {
		return err
	}
	defer root.Close()
	below, _ := rest(fence, l.Path, false)
	dir, err := root.Open(below)
	if err != nil {
		return err
	}
	defer dir.Close()
	if info, err := dir.Stat(); err != nil || !info.IsDir() {
		return errors.Join(errNotFolder, err)
	}
	first := newFirst(b.MaxEntries)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		some, err := dir.ReadDir(chunk)
		for _, e := range some {
			l.Total++
			if !utf8.ValidString(e.Name()) {
				if len(l.Skipped) < skippedNames {
					l.Skipped = append(l.Skipped, e.Name())
				}
				continue
			}
			first.add(Entry{e.Name(), e.IsDir()})
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	l.Entries = first.within(b.MaxBytes)
	if first.seen > len(l.Entries) {
		l.Cut = failure.New(failure.ListingCut, l.Path).
			Because("the folder has %d entries, and the first %d of them are shown", first.seen, len(l.Entries))
	}
	return nil
}

var errNotFolder = errors.New("not a folder")

// cannotList names why the folder at path can't be listed.
func cannotList(path string, err error) error {
	switch {
	case errors.Is(err, errNotFolder):
		return failure.New(failure.FolderMissing, path).Because("it is no folder").Wrap(err)
	case errors.Is(err, fs.ErrNotExist):
		return failure.New(failure.FolderMissing, path).Wrap(err)
	case endedBy(err) != "":
		return failure.New(failure.FolderUnreadable, path).Because("reading it took too long").
			Then("try again; the folder is very large, or its disk does not answer").Wrap(err)
	}
	return failure.New(failure.FolderUnreadable, path).Because("%s", causeOf(err, nearest(path))).Wrap(err)
}

// plainForm says what is wrong with the form of an absolute path, or nothing.
func plainForm(p string) string {
	switch {
	case p == "":
		return "the path is empty"
	case strings.ContainsRune(p, 0):
		return "the path holds a NUL character"
	case !filepath.IsAbs(p):
		return "the path is not absolute"
	case hasSegment(p, ".."):
		return "the path has a `..` component"
	}
	return volumeForm(p)
}
