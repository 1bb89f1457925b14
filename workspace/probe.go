package workspace

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"slices"

	"brabo.dev/runner/runner/failure"
)

// probeSize is one page, so that a full disk which still has names to give is noticed.
const probeSize = 4096

// probe proves that files can be made, written, brought to the disk and removed in the folder at path. Its file has a
// name that nothing else has, and is made new: no file that is there is ever opened, and no link followed.
func probe(path string, o Options) error {
	// The folder is held open, so that the file is removed where it was made.
	dir, err := os.OpenRoot(path)
	if err != nil {
		return o.cannotWrite(path, err)
	}
	defer dir.Close()
	name := ".runner-probe-" + rand.Text()
	file, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return o.cannotWrite(path, err)
	}
	_, err = file.Write(make([]byte, probeSize))
	if err == nil {
		err = syncFile(file)
	}
	err = errors.Join(err, file.Close(), dir.Remove(name))
	if err != nil {
		return o.cannotWrite(path, err)
	}
	return nil
}

// syncFile asks for the file to be brought to the disk. Some network and user-space file systems have no such call,
// which says nothing against writing there.
func syncFile(f *os.File) error {
	err := f.Sync()
	if slices.ContainsFunc(syncUnsupported, func(e error) bool { return errors.Is(err, e) }) {
		return nil
	}
	return err
}

// cannotWrite names why the folder at path can't be written.
func (o Options) cannotWrite(path string, err error) error {
	name := failure.RootNotWritable
	switch {
	case outOfSpace(err):
		name = failure.DiskFull
		return o.fail(name, path).Because("%s", causeOf(err, path)).Wrap(err)
	case errors.Is(err, fs.ErrNotExist):
		return o.fail(name, path).Because("the folder went away while it was being tried").
			Then("look at what removes it, and try again").Wrap(err)
	}
	return o.fail(name, path).Because("%s", causeOf(err, path)).Then("%s", remedy(err, path)).Wrap(err)
}
