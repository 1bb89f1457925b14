package workspace

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openFolder needs no right to read the folder, as a command that only stands in it needs none.
func openFolder(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	return os.NewFile(uintptr(fd), dir), nil
}

// whereIs is the real path of an open folder. One that was removed has a path that is no real one's.
func whereIs(opened *os.File) (string, error) {
	return os.Readlink("/proc/self/fd/" + strconv.Itoa(int(opened.Fd())))
}
