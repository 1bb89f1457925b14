package workspace

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"brabo.dev/runner/runner/failure"
)

// Mirror keeps a copy of a project's files in another folder of this machine (protocol.md 7.5): in one direction,
// file by file, never deleting. It is for one goroutine at a time.
//
// A file is unchanged when neither side has changed since they were last seen to be the same: device, inode, size, mode,
// modification time and change time of both are what they were then. The system sets the change time at every write, and
// no program can choose it; the values are compared for being the same, never for being earlier or later, so a clock that
// jumps makes nothing look old. What was changed within two seconds of being seen is not relied on, since the next write
// may get the same time. Where nothing is known of a file, as in the first Sync, or the system tells no change time, the
// content of both sides is read and compared.
type Mirror struct {
	// Root is the project's folder.
	Root string
	// Destination is where the copy lies; it is made where it is missing.
	Destination string
	// Options are those of a project root, which bind the destination too.
	Options Options
	// Apart are further folders that the destination must neither be, hold nor lie in: other projects' roots.
	Apart []string
	// Files gives the paths of the project's files relative to Root, with `/` between their parts (git ls-files). Any
	// order will do, and doubles; one that ends in `/` is skipped.
	Files func(ctx context.Context) ([]string, error)
	// Withheld tells which of them are never copied, and count as refused; nil: none.
	Withheld func(file string) bool
	// Progress is told after each file how many are done; nil: nobody is.
	Progress func(done, total int)

	known    map[string]pair
	settling time.Duration // zero: the constant. Tests don't wait so long
}

// Mirrored is what one round did. Its three counts add up to the files, unless the round ended early.
type Mirrored struct {
	// Destination is the destination with every link followed.
	Destination string
	Copied      int
	// Skipped were unchanged, or are no regular files, or are gone.
	Skipped int
	// Refused must not be copied, because they are withheld or a link or something that is no file is in the way, or could
	// not be.
	Refused int
	// Compared were read on both sides to know whether they are the same.
	Compared int
}

// rememberMost bounds what a Mirror keeps in memory between rounds, in files. Beyond it contents are compared.
const rememberMost = 500_000

// Sync brings the destination up to date. Cancelling ctx ends it between two files or in the midst of one, which then
// stays as it was; each file is replaced as a whole or not at all, and keeps the mode and the time of the project's.
//
// The counts are right with an error, too. It fails with MirrorInvalid, MirrorInside, MirrorAround or
// MirrorNotAllowed about the destination, with what Files fails with, with MirrorFailed, with MirrorIncomplete when some
// files could not be copied, and with DiskFull, Cancelled or TimedOut when the round ended early.
func (m *Mirror) Sync(ctx context.Context) (Mirrored, error) {
	real, fence, err := m.judge()
	if err != nil {
		return Mirrored{}, err
	}
	files, err := m.list(ctx)
	if err != nil {
		return Mirrored{}, err
	}
	r, err := m.newRound(real, fence)
	if err != nil {
		return Mirrored{}, m.cannotBegin(err)
	}
	defer r.close()
	for i, file := range files {
		if err := ctx.Err(); err != nil {
			return r.Mirrored, m.ended(file, err)
		}
		err := errRefused
		if m.Withheld == nil || !m.Withheld(file) {
			err = r.file(ctx, file)
		}
		if endedBy(err) != "" || outOfSpace(err) {
			return r.Mirrored, m.ended(file, err)
		}
		r.count(file, err)
		if m.Progress != nil {
			m.Progress(i+1, len(files))
		}
	}
	m.known = r.known
	return r.Mirrored, r.verdict()
}

// judge applies the rules about the destination and gives its real path and the real folder of `roots` it lies below.
// Nothing is made.
func (m *Mirror) judge() (real, fence string, err error) {
	fail := func(name failure.Name) *failure.Failure { return failure.New(name, shown(m.Destination)) }
	if cause := rootForm(m.Destination); cause != "" {
		return "", "", fail(failure.MirrorInvalid).Because("%s", cause)
	}
	at := placeOf(m.Destination)
	switch project := placeOf(m.Root); {
	case project.holds(at):
		return "", "", fail(failure.MirrorInside)
	case at.holds(project):
		return "", "", fail(failure.MirrorAround)
	}
	if _, err := permitted(m.Destination, m.Options); err != nil {
		return "", "", fail(failure.MirrorNotAllowed).Because("%s", failure.As(err).Cause).Wrap(err)
	}
	for _, other := range m.Apart {
		if usable(other) && at.touches(placeOf(other)) {
			return "", "", fail(failure.MirrorNotAllowed).Because("it is, holds or lies in %s, which is another project's", other)
		}
	}
	var home *place
	if usable(m.Options.Home) {
		h := placeOf(m.Options.Home)
		home = &h
	}
	above, found := rootAbove(m.Options.roots(home), at)
	if !found { // the options let a root be where no folder of `roots` is; a mirror has no such exception
		return "", "", fail(failure.MirrorNotAllowed)
	}
	below, _ := rest(above.real, at.real, false)
	if slices.ContainsFunc(segments(below), isDotted) || isDotted(filepath.Base(at.written)) {
		return "", "", fail(failure.MirrorNotAllowed).Because("it is or lies in a dot folder, where programs keep their own files")
	}
	return at.real, above.real, nil
}

func isDotted(name string) bool { return strings.HasPrefix(name, ".") }

// holds reports whether b is a or lies below it, in any of their forms.
func (a place) holds(b place) bool {
	for _, x := range []string{a.written, a.real} {
		for _, y := range []string{b.written, b.real} {
			if _, ok := rest(x, y, refusalFold); ok {
				return true
			}
		}
	}
	return false
}

// list is the work of a round: each file once, the files of a folder together.
func (m *Mirror) list(ctx context.Context) ([]string, error) {
	files, err := m.Files(ctx)
	if f := failure.As(err); f != nil {
		return nil, f
	}
	if err != nil {
		return nil, failure.New(cmp.Or(endedBy(err), failure.MirrorFailed), m.Root).
			Because("the project's files could not be listed: %v", err).Wrap(err)
	}
	files = slices.Clone(files)
	slices.Sort(files)
	return slices.Compact(files), nil
}

func (m *Mirror) newRound(real, fence string) (*round, error) {
	root, err := RealPath(m.Root)
	if err != nil {
		return nil, err
	}
	from, err := newTrail(root)
	if err != nil {
		return nil, err
	}
	to, err := newTrail(fence)
	if err != nil {
		from.close()
		return nil, err
	}
	below, _ := rest(fence, real, false)
	r := &round{Mirrored: Mirrored{Destination: real}, from: from, to: to, prefix: segments(below), before: m.known, known: map[string]pair{},
		settling: cmp.Or(m.settling, settling)}
	if _, err := to.to(r.prefix, true); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (m *Mirror) cannotBegin(err error) error {
	name := failure.MirrorFailed
	if outOfSpace(err) {
		name = failure.DiskFull
	}
	f := failure.New(name, m.Destination).Wrap(err)
	switch {
	case errors.Is(err, errLink):
		return f.Because("the path led somewhere else while the folder was being made")
	case errors.Is(err, errNotFolder):
		return f.Because("there is something of that name that is no folder")
	case errors.Is(err, fs.ErrNotExist):
		return f.Because("the project folder %s is not there", m.Root)
	}
	return f.Because("%s", causeOf(err, nearest(m.Destination)))
}

// ended is the end of a round before its last file.
func (m *Mirror) ended(file string, err error) error {
	if name := endedBy(err); name != "" {
		return failure.New(name, m.Destination).Because("the round ended at %s", file).
			Then("the next round goes on where this one ended").Wrap(err)
	}
	return failure.New(failure.DiskFull, m.Destination).Because("the round ended at %s: %s", file, causeOf(err, m.Destination)).Wrap(err)
}
