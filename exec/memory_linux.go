package exec

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// HideMemory keeps other processes of this user out of this one's memory, its open files and the environment that it was
// started with, where its secrets are: its commands are such processes. What it starts is not hidden. root sees all.
func HideMemory() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("hiding this process's memory: %w", err)
	}
	return nil
}
