//go:build unix

package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// syncUnsupported are the answers of file systems that have no fsync.
var syncUnsupported = []error{syscall.EINVAL, syscall.ENOTSUP, syscall.ENOSYS}

// outOfSpace reports whether err means that nothing more fits.
func outOfSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// systemCause explains the errors that are not about rights.
func systemCause(err error, at string) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return "there is no space left on the disk that holds " + at
	case errors.Is(err, syscall.EDQUOT):
		return "this user's disk quota is used up at " + at
	case errors.Is(err, syscall.EROFS):
		return "the file system that holds " + at + " is mounted read-only"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "a part of the path, or the whole of it, is longer than the file system takes"
	case errors.Is(err, syscall.ELOOP):
		return "links on the way lead in a circle"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many files are open"
	case errors.Is(err, syscall.EIO):
		return "the disk that holds " + at + " reports an error of its own"
	}
	return ""
}

// ownership compares the owner and mode of the folder at with who we are.
func ownership(at string) string {
	info, err := os.Stat(at)
	if err != nil {
		return fmt.Sprintf("%s can't be looked at: %v", at, err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Sprintf("%s has mode %04o", at, info.Mode().Perm())
	}
	text := fmt.Sprintf("%s belongs to %s, group %s, with mode %04o, and we are %s", at,
		userName(st.Uid), groupName(st.Gid), info.Mode().Perm(), userName(uint32(os.Geteuid())))
	if os.Geteuid() == 0 || int(st.Uid) == os.Geteuid() && info.Mode().Perm()&0o300 == 0o300 {
		text += "; the mode would let us, so an attribute, an access list or a security module refuses"
	}
	return text
}

func userName(id uint32) string {
	uid := strconv.FormatUint(uint64(id), 10)
	if u, err := user.LookupId(uid); err == nil {
		return fmt.Sprintf("%s (uid %s)", u.Username, uid)
	}
	return "uid " + uid
}

func groupName(id uint32) string {
	gid := strconv.FormatUint(uint64(id), 10)
	if g, err := user.LookupGroupId(gid); err == nil {
		return fmt.Sprintf("%s (gid %s)", g.Name, gid)
	}
	return "gid " + gid
}
