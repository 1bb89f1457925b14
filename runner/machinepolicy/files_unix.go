//go:build unix

package machinepolicy

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openFile opens for reading, follows no link in the last place, and waits for no other end.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

// shared says why a file is not its owner's alone; "" where it is. A managed one may be read by all.
func shared(info fs.FileInfo, managed bool) string {
	others := fs.FileMode(0o077)
	if managed {
		others = 0o022
	}
	if mode := info.Mode().Perm(); mode&others != 0 {
		return fmt.Sprintf("others may reach it, by mode %04o; take that away with chmod %04o", mode, mode&^others)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Sprintf("it belongs to another user, %d", st.Uid)
	}
	return ""
}
