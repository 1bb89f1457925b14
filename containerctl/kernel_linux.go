package containerctl

import "golang.org/x/sys/unix"

// localKernel is this machine's kernel release. An engine that names another one runs elsewhere.
func localKernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
