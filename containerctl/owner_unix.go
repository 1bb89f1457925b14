//go:build unix

package containerctl

import (
	"io/fs"
	"syscall"
)

// owner gives the uid and gid of a file.
func owner(info fs.FileInfo) (uid, gid int64, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return int64(st.Uid), int64(st.Gid), true
}
