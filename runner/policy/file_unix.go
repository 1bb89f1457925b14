//go:build unix

package policy

import (
	"io/fs"
	"os"
	"syscall"
)

// openFile opens for reading, follows no link in the last place, and never waits for the other end of a pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// keepOwner gives f the owner of the file it is about to replace. Only a privileged process can; for everybody else
// the two are the same, or the file becomes that of who saves it.
func keepOwner(f *os.File, old fs.FileInfo) {
	if st, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = f.Chown(int(st.Uid), int(st.Gid))
	}
}

// syncFolder makes a rename in the folder last through a loss of power, where the file system lets it.
func syncFolder(path string) {
	d, err := os.Open(path)
	if err != nil {
		return // the new file stands there all the same
	}
	defer d.Close()
	_ = d.Sync()
}
