//go:build unix

package exec

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// DropCores makes this process, and with it every command that it starts, write no core files.
func DropCores() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switching core files off: %w", err)
	}
	return nil
}
