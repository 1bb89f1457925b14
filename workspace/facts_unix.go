//go:build unix

package workspace

import (
	"io/fs"
	"syscall"
)

// facts are what tells whether a file has been touched.
type facts struct {
	dev, inode        uint64
	size              int64
	modified, changed int64 // nanoseconds since 1970
	mode              uint32
}

// factsOf reads them from what the system told of a file.
func factsOf(info fs.FileInfo) (facts, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return facts{}, false
	}
	return facts{uint64(st.Dev), st.Ino, st.Size, info.ModTime().UnixNano(), changeTime(st), uint32(st.Mode)}, true
}
