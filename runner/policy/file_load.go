package policy

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"brabo.dev/runner/runner/failure"
)

// FileName is what the file is called in the scope root.
const FileName = "permissions.json"

// Load reads a permissions.json. No file is three empty lists; everything else that is not a file it can understand
// is failure.PermissionsFileInvalid, because a lost deny must not turn into a question and still less into a yes.
//
// The file must be a real one: a symbolic link in its place is refused, also one that leads nowhere, which would
// otherwise look like no file. What only pretends to be a file (a pipe, a device) is refused without waiting for it.
func Load(path string) (File, error) {
	data, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return noFile(), nil
	case err != nil:
		return File{}, err
	}
	return ParseFile(path, data)
}

// noFile is what counts where there is no file: each list is there, and empty.
func noFile() File {
	f := File{Permissions: Permissions{Allow: []string{}, Deny: []string{}, Ask: []string{}}}
	for _, name := range []List{ListAllow, ListDeny, ListAsk} {
		f.members = append(f.members, fileMember{name: string(name), value: []byte("[]")})
	}
	return f
}

// readFile gives the content, an error that is fs.ErrNotExist, or a failure.
func readFile(path string) ([]byte, error) {
	bad := func(err error, cause, next string) error {
		return failure.New(failure.PermissionsFileInvalid, path).Because("%s", cause).Then("%s", next).Wrap(err)
	}
	const move = "put a real file there, or move it away"
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && !info.Mode().IsRegular():
		return nil, bad(nil, "it is "+nameOf(info.Mode())+", not a file", move)
	}
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, bad(err, "it can't be read", "look at owner and mode of the file and of the folders above it")
	}
	defer f.Close()
	info, err = f.Stat()
	switch {
	case err != nil:
		return nil, bad(err, "it can't be read", "look at the file system")
	case !info.Mode().IsRegular():
		return nil, bad(nil, "it is "+nameOf(info.Mode())+", not a file", move)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileSize+1))
	switch {
	case err != nil:
		return nil, bad(err, "it can't be read", "look at the file system")
	case len(data) > MaxFileSize:
		return nil, bad(nil, "it is larger than 4 MiB", "take out what is no pattern; one entry with a star may stand for many")
	}
	return data, nil
}

// nameOf says what stands where a file should be.
func nameOf(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}
