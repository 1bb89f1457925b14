//go:build unix

package doctor

import "golang.org/x/sys/unix"

// freeBytes is how much room this user has on the disk that holds path.
func freeBytes(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}
