package machinepolicy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"brabo.dev/runner/runner/failure"
)

// FileName is what a policy is called in its folder.
const FileName = "policy.json"

// largestFile is more than any policy needs, in bytes.
const largestFile = 1 << 20

// Files are the two files of a machine. The zero value knows none. It is safe for concurrent use.
type Files struct {
	// Own is the person's file, in the config folder; Managed that of the machine. Either may be empty.
	Own, Managed string

	mu           sync.Mutex // guards what follows
	own, managed kept
}

// kept is what a file said when it was read last.
type kept struct {
	there      bool // it was found before
	understood bool // data is what policy was read from
	data       []byte
	policy     Policy
}

// Lock is what the files say now about a project. The error is MachinePolicyInvalid: then nothing may run.
func (f *Files) Lock(projectID string) (Lock, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.own.read(f.Own, false); err != nil {
		return Lock{}, err
	}
	if err := f.managed.read(f.Managed, true); err != nil {
		return Lock{}, err
	}
	return Together(f.own.policy, f.managed.policy, projectID), nil
}

// read brings k up to date; one that did not change is not parsed again.
func (k *kept) read(path string, managed bool) error {
	if path == "" {
		return nil
	}
	data, err := readFile(path, managed)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !k.there:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return failure.New(failure.MachinePolicyInvalid, path).Because("it was there before, and is gone").
			Then("put it back; if you took it away yourself, restart the daemon")
	case err != nil:
		return err
	case k.understood && bytes.Equal(k.data, data):
		return nil
	}
	k.there, k.understood = true, false
	if k.policy, err = Parse(path, data); err != nil {
		return err
	}
	k.data, k.understood = data, true
	return nil
}

// readFile gives the content of a real file that nobody else may change, and, where it is the person's own, read. The
// error is fs.ErrNotExist or a MachinePolicyInvalid.
func readFile(path string, managed bool) ([]byte, error) {
	bad := func(err error, format string, args ...any) error {
		return failure.New(failure.MachinePolicyInvalid, path).Because(format, args...).Wrap(err)
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, bad(nil, "it is %s, not a file", kindOf(info.Mode()))
	}
	file, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, bad(err, "it can't be read: %v", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, bad(err, "it is no file")
	}
	if why := shared(info, managed); why != "" {
		return nil, bad(nil, "%s", why)
	}
	data, err := io.ReadAll(io.LimitReader(file, largestFile+1))
	if err == nil && len(data) > largestFile {
		err = fmt.Errorf("it is larger than %d bytes", largestFile)
	}
	if err != nil {
		return nil, bad(err, "it can't be read: %v", err)
	}
	return data, nil
}

// kindOf says what stands where a file should be.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link, and links are not followed here"
	}
	return "something special"
}
