package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"brabo.dev/runner/runner/failure"
)

// MaxContent is the most that one Write may hold, in bytes (protocol.md 12, write_file).
const MaxContent = 4 << 20

// Write is a file to be written into a project (protocol.md 12, write_file).
type Write struct {
	// Path is relative to the project root, with `/` between its parts.
	Path string
	// Content is all that the file holds afterwards, at most MaxContent bytes.
	Content []byte
	// Expect is what the file must hold now: nil for anything, else its SHA-256 in lower-case hex, or the empty string
	// where there must be nothing.
	Expect *string
	// Mode is 0644 or 0755; zero: the file's own, and 0644 for a new one.
	Mode fs.FileMode
}

// Written is what WriteFile did.
type Written struct {
	Path    string // as in Write, cleaned
	Bytes   int64
	SHA256  string // of the content, lower-case hex
	Created bool   // nothing was there before
}

// WriteFile writes w into the project at root. Parents that are missing are made. The file is replaced as a whole or
// not at all; no link is followed on the way to it nor in its place, also not one that is put there meanwhile; nothing
// is written below a `.git`, in whatever form that is spelled.
//
// It fails with WritePathInvalid, WriteIntoGit, LinkInTheWay, NotRegularFile, ContentTooLarge, ContentChanged,
// WriteFailed or DiskFull, and with Cancelled or TimedOut when ctx ended first.
func WriteFile(ctx context.Context, root string, w Write) (Written, error) {
	parts, err := w.parts()
	if err != nil {
		return Written{}, err
	}
	if len(w.Content) > MaxContent {
		return Written{}, failure.New(failure.ContentTooLarge, w.Path).
			Because("the content has %d bytes; at most %d are written at once", len(w.Content), MaxContent)
	}
	way, err := newTrail(root)
	if err != nil {
		return Written{}, w.fail(root, err)
	}
	defer way.close()
	name, parents := parts[len(parts)-1], parts[:len(parts)-1]
	dir, err := way.to(parents, w.Expect == nil || *w.Expect == "")
	if errors.Is(err, fs.ErrNotExist) {
		return Written{}, w.changed("there is no such file")
	}
	if err != nil {
		return Written{}, w.fail(root, err)
	}
	old, err := w.look(ctx, dir, name)
	if err != nil {
		return Written{}, w.fail(root, err)
	}
	if err := w.replace(dir, name, old); err != nil {
		return Written{}, w.fail(root, err)
	}
	sum := sha256.Sum256(w.Content)
	return Written{path.Join(parts...), int64(len(w.Content)), hex.EncodeToString(sum[:]), old == nil}, nil
}

// parts is w.Path by its parts, where it can be a path inside a project.
func (w Write) parts() ([]string, error) {
	invalid := func(cause string) error {
		return failure.New(failure.WritePathInvalid, shown(w.Path)).Because("%s", cause)
	}
	clean := path.Clean(w.Path)
	switch {
	case w.Path == "":
		return nil, invalid("the path is empty")
	case strings.ContainsRune(w.Path, 0):
		return nil, invalid("the path holds a NUL character")
	case path.IsAbs(w.Path) || filepath.IsAbs(w.Path) || filepath.VolumeName(w.Path) != "":
		return nil, invalid("the path is not relative to the project")
	case hasSegment(w.Path, ".."):
		return nil, invalid("the path has a `..` component")
	case clean == "." || strings.HasSuffix(w.Path, "/") || strings.HasSuffix(w.Path, "/."):
		return nil, invalid("the path names a folder")
	case !filepath.IsLocal(filepath.FromSlash(clean)):
		return nil, invalid("this system can't have a file of that name")
	}
	// A backslash is a separator where the tree is read by Windows.
	for _, name := range strings.FieldsFunc(clean, func(r rune) bool { return r == '/' || r == '\\' }) {
		if isDotGit(name) {
			return nil, failure.New(failure.WriteIntoGit, w.Path)
		}
	}
	return strings.Split(filepath.ToSlash(filepath.FromSlash(clean)), "/"), nil
}

// look reads what is called name now and compares it with what is expected. It gives nil where there is nothing.
func (w Write) look(ctx context.Context, dir *os.Root, name string) (fs.FileInfo, error) {
	file, old, err := openPlain(dir, name)
	if err != nil {
		return nil, err
	}
	if file == nil {
		if w.Expect != nil && *w.Expect != "" {
			return nil, w.changed("there is no such file")
		}
		return nil, nil
	}
	defer file.Close()
	switch {
	case w.Expect == nil:
		return old, nil
	case *w.Expect == "":
		return nil, w.changed("the file is there already")
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, reader{ctx, file}); err != nil {
		return nil, err
	}
	if sum := hex.EncodeToString(hash.Sum(nil)); sum != *w.Expect {
		return nil, w.changed("its SHA-256 is now " + sum)
	}
	return old, nil
}

// replace puts the content in the place of old, or makes the file new.
func (w Write) replace(dir *os.Root, name string, old fs.FileInfo) error {
	mode := w.Mode
	switch {
	case mode != 0:
	case old != nil:
		mode = old.Mode().Perm()
	default:
		mode = 0o644
	}
	draft := draftName()
	err := writeDraft(dir, draft, mode, func(f *os.File) error {
		if _, err := f.Write(w.Content); err != nil {
			return err
		}
		return syncFile(f)
	})
	if err != nil {
		return err
	}
	if err := w.publish(dir, draft, name, old); err != nil {
		return errors.Join(err, dir.Remove(draft))
	}
	syncFolder(dir)
	return nil
}

// publish gives the draft its name. Where nothing must be there, the system itself sees to it.
func (w Write) publish(dir *os.Root, draft, name string, old fs.FileInfo) error {
	now, err := dir.Lstat(name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && now.Mode()&fs.ModeSymlink != 0:
		return errLink
	case (err == nil) != (old != nil), err == nil && w.Expect != nil && !unchanged(old, now):
		if w.Expect != nil {
			return w.changed("another program changed it at this moment")
		}
	}
	if old == nil && w.Expect != nil {
		switch err := dir.Link(draft, name); {
		case err == nil:
			return dir.Remove(draft)
		case errors.Is(err, fs.ErrExist):
			return w.changed("another program made it at this moment")
		} // else the file system has no second names
	}
	return dir.Rename(draft, name)
}

// unchanged reports whether b is still the file a, as far as its facts tell.
func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// draftName is a name that nothing else has.
func draftName() string { return ".runner-draft-" + rand.Text() }

// writeDraft makes the new file draft in dir and has it filled. Where that fails nothing is left.
func writeDraft(dir *os.Root, draft string, mode fs.FileMode, fill func(*os.File) error) error {
	file, err := dir.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = file.Chmod(mode)
	if err == nil {
		err = fill(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, dir.Remove(draft))
	}
	return nil
}

// syncFolder brings a new name to the disk where the system can do that; where it can't, the content is safe anyway.
func syncFolder(dir *os.Root) {
	if d, err := dir.Open("."); err == nil {
		_ = d.Sync()
		d.Close()
	}
}

func (w Write) changed(cause string) error {
	return failure.New(failure.ContentChanged, w.Path).Because("%s", cause)
}

// fail names why w could not be written below root.
func (w Write) fail(root string, err error) error {
	name := failure.WriteFailed
	switch {
	case failure.As(err) != nil:
		return err
	case endedBy(err) != "":
		return failure.New(endedBy(err), w.Path).Wrap(err)
	case errors.Is(err, errLink):
		return failure.New(failure.LinkInTheWay, w.Path).Wrap(err)
	case errors.Is(err, errDotGit):
		return failure.New(failure.WriteIntoGit, w.Path).Wrap(err)
	case errors.Is(err, errNotRegular), errors.Is(err, errNotFolder):
		return failure.New(failure.NotRegularFile, w.Path).Wrap(err)
	case outOfSpace(err):
		name = failure.DiskFull
	}
	at := nearest(filepath.Dir(filepath.Join(root, filepath.FromSlash(w.Path))))
	return failure.New(name, w.Path).Because("%s", causeOf(err, at)).Wrap(err)
}
