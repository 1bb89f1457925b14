package workspace

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// Why a way through a tree can't be taken.
var (
	errLink   = errors.New("a link is in the way")
	errDotGit = errors.New("it belongs to git itself")
)

// trail is a way down from a folder, held open folder by folder. No link is ever followed, neither one that is there
// nor one that another process puts there meanwhile: each folder is opened within the one above it, and is compared
// with what was seen before it was opened.
type trail struct {
	open  []*os.Root // from the top down
	names []string   // of all but the top
}

// newTrail begins at dir. What dir itself leads through is its caller's to know.
func newTrail(dir string) (*trail, error) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &trail{open: []*os.Root{top}}, nil
}

// to goes to the folder that names lead to from the top. With make, folders that are missing are made. A folder that
// git keeps for itself is refused, by whatever name the file system gives it.
func (t *trail) to(names []string, make bool) (*os.Root, error) {
	same := 0
	for same < len(t.names) && same < len(names) && t.names[same] == names[same] {
		same++
	}
	t.back(same)
	for _, name := range names[same:] {
		next, err := down(t.open[len(t.open)-1], name, make)
		if err != nil {
			return nil, err
		}
		t.open, t.names = append(t.open, next), append(t.names, name)
	}
	return t.open[len(t.open)-1], nil
}

// back closes what lies deeper than depth below the top.
func (t *trail) back(depth int) {
	for len(t.names) > depth {
		last := len(t.names)
		t.open[last].Close()
		t.open, t.names = t.open[:last], t.names[:last-1]
	}
}

func (t *trail) close() {
	t.back(0)
	t.open[0].Close()
}

// down opens the folder called name in at.
func down(at *os.Root, name string, make bool) (*os.Root, error) {
	if isDotGit(name) {
		return nil, errDotGit
	}
	info, err := at.Lstat(name)
	if make && errors.Is(err, fs.ErrNotExist) {
		if err := at.Mkdir(name, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		info, err = at.Lstat(name)
	}
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errLink
	case !info.IsDir():
		return nil, errNotFolder
	}
	if git, err := at.Lstat(".git"); err == nil && os.SameFile(git, info) {
		return nil, errDotGit
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if now, err := next.Stat("."); err != nil || !os.SameFile(info, now) {
		next.Close()
		return nil, errors.Join(errLink, err)
	}
	return next, nil
}

// openPlain opens the regular file called name in at for reading; nil without an error where there is none. Like down
// it follows no link and waits for no pipe.
func openPlain(at *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := at.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, nil, errLink
	case !info.Mode().IsRegular():
		return nil, nil, errNotRegular
	}
	file, err := at.OpenFile(name, os.O_RDONLY|openWithoutWaiting, 0)
	if err != nil {
		return nil, nil, err
	}
	now, err := file.Stat()
	if err != nil || !os.SameFile(info, now) {
		file.Close()
		return nil, nil, errors.Join(errLink, err)
	}
	return file, now, nil
}

var errNotRegular = errors.New("not a regular file")

// isDotGit reports whether some file system takes name for `.git`: one that ignores case, one that ignores the
// invisible characters of Unicode (HFS+), or one that ignores dots and spaces at the end, knows streams behind a colon
// and has short names (NTFS, FAT).
func isDotGit(name string) bool {
	name = strings.ToLower(strings.Map(visible, name))
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	if name == ".git" {
		return true
	}
	short, numbered := strings.CutPrefix(name, "git~")
	return numbered && short != "" && strings.Trim(short, "0123456789") == ""
}

// visible drops the characters that HFS+ ignores in a name.
func visible(r rune) rune {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return -1
	}
	return r
}
