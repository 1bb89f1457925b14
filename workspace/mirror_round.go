package workspace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// round is one Sync on its way.
type round struct {
	Mirrored
	from, to *trail
	prefix   []string // from the top of to down to the destination

	dir      string // the folder of the file before
	dirErr   error  // why it can't be gone into
	src, dst *os.Root

	before, known map[string]pair
	settling      time.Duration
	seen          time.Time // before the file whose turn it is was looked at
	failed        string    // the first file that could not be copied
	failedErr     error
	failures      int
}

// pair is what was known of the two sides of a file when they were the same.
type pair struct{ src, dst facts }

// Ends of a file's turn that are no errors, and one that is none of ours.
var (
	errSkipped = errors.New("skipped")
	errRefused = errors.New("refused")
)

func (r *round) close() {
	r.from.close()
	r.to.close()
}

// file has its turn. Nil means copied.
func (r *round) file(ctx context.Context, path string) error {
	if strings.HasSuffix(path, "/") {
		return errSkipped // a repository of its own within the project
	}
	if !filepath.IsLocal(filepath.FromSlash(path)) || strings.ContainsRune(path, 0) || hasSegment(path, "..") {
		return errRefused
	}
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	if isDotGit(name) {
		return errRefused
	}
	if dir != r.dir || r.src == nil {
		r.dir, r.src, r.dst = dir, nil, nil
		r.dirErr = r.enter(segments(dir))
	}
	if r.dirErr != nil {
		return r.dirErr
	}
	r.seen = time.Now()
	src, err := r.src.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !src.Mode().IsRegular() {
		return errSkipped
	}
	if err != nil {
		return err
	}
	if r.dst == nil { // made only when there is something to put into it
		dst, err := r.to.to(append(r.prefix[:len(r.prefix):len(r.prefix)], segments(dir)...), true)
		if err != nil {
			return refusedBy(err)
		}
		r.dst = dst
	}
	dst, err := r.dst.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		dst = nil
	case err != nil:
		return err
	case !dst.Mode().IsRegular():
		return errRefused
	}
	return r.regular(ctx, path, name, src, dst)
}

// enter goes into the folder of the files that follow, on the project's side.
func (r *round) enter(names []string) error {
	src, err := r.from.to(names, false)
	switch {
	case err == nil:
		r.src = src
		return nil
	case errors.Is(err, errDotGit):
		return errRefused
	case errors.Is(err, errLink), errors.Is(err, errNotFolder), errors.Is(err, fs.ErrNotExist):
		return errSkipped // what git lists there is no regular file of the project's
	}
	return err
}

func refusedBy(err error) error {
	if errors.Is(err, errLink) || errors.Is(err, errNotFolder) || errors.Is(err, errDotGit) {
		return errRefused
	}
	return err
}

// regular copies a regular file unless both sides are the same.
func (r *round) regular(ctx context.Context, path, name string, src, dst fs.FileInfo) error {
	if dst != nil && src.Size() == dst.Size() && src.ModTime().Equal(dst.ModTime()) && src.Mode().Perm() == dst.Mode().Perm() {
		now, told := pairOf(src, dst)
		if told && r.before[path] == now {
			r.remember(path, now)
			return errSkipped
		}
		same, err := r.compare(ctx, name)
		if err != nil {
			return refusedBy(err)
		}
		if same {
			if told && r.settled(now) {
				r.remember(path, now)
			}
			return errSkipped
		}
	}
	src, dst, err := r.copy(ctx, name)
	if err != nil {
		return refusedBy(err)
	}
	if now, told := pairOf(src, dst); told && r.settled(now) {
		r.remember(path, now)
	}
	return nil
}

func (r *round) remember(path string, now pair) {
	if len(r.known) < rememberMost {
		r.known[path] = now
	}
}

// pairOf gives the facts of both sides, if the system tells them.
func pairOf(src, dst fs.FileInfo) (pair, bool) {
	a, ok := factsOf(src)
	if !ok || dst == nil {
		return pair{}, false
	}
	b, ok := factsOf(dst)
	return pair{a, b}, ok
}

// settling is longer than the step of any usual file system's clock (FAT's is two seconds).
const settling = 2 * time.Second

// settled reports whether a write to the project's file since it was looked at is sure to have got another change time,
// however long it took to read. The other side's needs no such care: a write there also gives it another time of
// modification than the project's.
func (r *round) settled(p pair) bool {
	age := time.Duration(r.seen.UnixNano() - p.src.changed)
	return age >= r.settling || age <= -r.settling
}

// copy puts the project's file called name into the destination, and gives both sides' state as it was when it was
// read and when it was done. It is not brought to the disk file by file: after a power cut nothing is remembered, and
// the next round compares.
func (r *round) copy(ctx context.Context, name string) (src, dst fs.FileInfo, err error) {
	from, src, err := openPlain(r.src, name)
	if err != nil {
		return nil, nil, err
	}
	if from == nil {
		return nil, nil, errSkipped
	}
	defer from.Close()
	draft := draftName()
	err = writeDraft(r.dst, draft, src.Mode().Perm(), func(f *os.File) error {
		_, err := io.Copy(f, reader{ctx, from})
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	err = r.dst.Chtimes(draft, time.Time{}, src.ModTime())
	if err == nil {
		err = r.publish(draft, name)
	}
	if err != nil {
		return nil, nil, errors.Join(err, r.dst.Remove(draft))
	}
	dst, err = r.dst.Lstat(name)
	return src, dst, err
}

// publish gives the draft its name, in the place of a file alone.
func (r *round) publish(draft, name string) error {
	if there, err := r.dst.Lstat(name); err == nil && !there.Mode().IsRegular() {
		return errLink
	}
	return r.dst.Rename(draft, name)
}

// compare reports whether both sides of name hold the same.
func (r *round) compare(ctx context.Context, name string) (bool, error) {
	r.Compared++
	a, _, err := openPlain(r.src, name)
	if err != nil || a == nil {
		return false, err
	}
	defer a.Close()
	b, _, err := openPlain(r.dst, name)
	if err != nil || b == nil {
		return false, err
	}
	defer b.Close()
	return sameContent(reader{ctx, a}, b)
}

func sameContent(a, b io.Reader) (bool, error) {
	var x, y [32 << 10]byte
	for {
		n, err := io.ReadFull(a, x[:])
		m, errB := io.ReadFull(b, y[:])
		if !bytes.Equal(x[:n], y[:m]) {
			return false, nil
		}
		ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		switch {
		case err != nil && !ended:
			return false, err
		case errB != nil && !errors.Is(errB, io.EOF) && !errors.Is(errB, io.ErrUnexpectedEOF):
			return false, errB
		case ended:
			return true, nil
		}
	}
}

// count keeps the account of one file's turn.
func (r *round) count(path string, err error) {
	switch {
	case err == nil:
		r.Copied++
	case errors.Is(err, errSkipped):
		r.Skipped++
	default:
		r.Refused++
		if !errors.Is(err, errRefused) {
			if r.failures++; r.failures == 1 {
				r.failed, r.failedErr = path, err
			}
		}
	}
}

// verdict is the failure of a round in which some files could not be copied.
func (r *round) verdict() error {
	if r.failures == 0 {
		return nil
	}
	return failure.New(failure.MirrorIncomplete, r.Destination).
		Because("%d files could not be copied; the first is %s: %v", r.failures, r.failed, r.failedErr).Wrap(r.failedErr)
}
